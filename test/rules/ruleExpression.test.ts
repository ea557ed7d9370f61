import { describe, expect, it } from 'vitest';
import { Config } from '../../src/config/config.js';
import { executeToolWithHooks } from '../../src/core/coreToolHookTriggers.js';
import type { CommandHookConfig } from '../../src/protocol/types.js';
import { ToolErrorType } from '../../src/tools/tools.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';

const temp = useTempDir();

/** Runs a tool that a rule looks at. */
async function run(fields: Partial<CommandHookConfig>, input: Record<string, unknown>) {
  const hook = { type: 'rule', command: '', name: 'r', ...fields } satisfies CommandHookConfig;
  const config = new Config({
    enableHooks: true,
    workingDir: temp.path,
    debugLogger: new RecordingLogger(),
    hooks: { BeforeTool: [{ hooks: [hook] }] },
  });
  return executeToolWithHooks(config, 'transfer', input, async (given) => ({
    llmContent: JSON.stringify(given),
    returnDisplay: '',
  }));
}

const LARGE = { expr: 'tool_input.amount > 100', decision: 'deny', reason: 'Too much.' } as const;

describe('a rule with an expression', () => {
  it('denies where it holds, and says nothing where it does not', async () => {
    const { error } = await run(LARGE, { amount: 101 });
    expect(error).toEqual({ type: ToolErrorType.Blocked, message: 'Too much.' });
    expect((await run(LARGE, { amount: 100 })).llmContent).toBe('{"amount":100}');
  });

  it('denies as a guard where it cannot be told, and says why', async () => {
    const { error } = await run(LARGE, { amonut: 1 });
    expect(error?.message).toContain(
      'The expression "tool_input.amount > 100" failed at character 11: field not found: amount',
    );
    const slow = { ...LARGE, expr: 'tool_input.text.matches(tool_input.text)' };
    const text = 'ab'.repeat(1_000_000);
    expect((await run(slow, { text })).error?.message).toContain('it took longer than 50 ms');
  });

  it('denies as a guard where it is no expression, and says why', async () => {
    const { error } = await run({ ...LARGE, expr: 'tool_input.amount >' }, { amount: 1 });
    expect(error?.message).toContain('is no CEL expression at character 19');
  });

  it('lets pass where what only looks on cannot be told', async () => {
    const allowing = { ...LARGE, decision: 'allow' } as const;
    expect((await run(allowing, { amonut: 1 })).llmContent).toBe('{"amonut":1}');
  });

  it('sees what it looks at, and changes nothing of it', async () => {
    const expr = 'size(tool_input.list + [4]) == 4 && tool_input.list.map(x, x * 2) == [2, 4, 6]';
    const set = { checked: true };
    const { llmContent } = await run({ expr, set }, { list: [1, 2, 3] });
    expect(llmContent).toBe('{"list":[1,2,3],"checked":true}');
  });
});
