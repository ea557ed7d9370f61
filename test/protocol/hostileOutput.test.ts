import { describe, expect, it } from 'vitest';
import { aggregateResults } from '../../middleware/aggregator.js';
import { HookRunner } from '../../src/hooks/hookRunner.js';
import { HookEventName, type CommandHookConfig } from '../../src/protocol/types.js';
import { beforeToolInput, blocking, hook } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';

const { BeforeTool } = HookEventName;
const temp = useTempDir();

/** A hook that prints `template`, with a list that is 200,000 levels deep for `@`. */
function sayingDeep(template: string): CommandHookConfig {
  const script = `const deep = '['.repeat(200_000) + ']'.repeat(200_000);
    process.stdout.write(${JSON.stringify(template)}.replace('@', deep));`;
  return hook(`node - <<'END'\n${script}\nEND`);
}

const hostile: readonly [string, CommandHookConfig][] = [
  ['deep arguments', sayingDeep('{"hookSpecificOutput":{"tool_input":{"x":@}}}')],
  ['a deep reason', sayingDeep('{"reason":@}')],
  ['a deep unknown field', sayingDeep('{"x":@}')],
  ['a reason that is not a text', hook(`echo '{"reason":{"toString":1}}'`)],
  [
    'names that are no texts',
    hook(`echo '{"hookSpecificOutput":{"toolConfig":{"allowedFunctionNames":[{"toString":1}]}}}'`),
  ],
  ['endless output', hook('head -c 5000000 /dev/zero | tr "\\0" x')],
  ['bytes that are no text', hook(String.raw`printf '\377\376\000{'`)],
];

describe.each(hostile)('a hook that prints %s', (_, attacker) => {
  const guard = blocking('guarded');
  const hooks = new HookRunner(new RecordingLogger());

  it.each([
    ['beside', 'executeHooksParallel'],
    ['behind', 'executeHooksSequential'],
  ] as const)('does not silence a guard %s it', async (_place, method) => {
    const results = await hooks[method]([attacker, guard], BeforeTool, beforeToolInput(temp.path));
    const { finalOutput } = aggregateResults(results, BeforeTool);
    expect(results.map(({ hookConfig }) => hookConfig)).toEqual([attacker, guard]);
    expect(finalOutput?.isBlockingDecision()).toBe(true);
    expect(finalOutput?.getEffectiveReason()).toContain('guarded');
  });
});
