import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { aggregateResults } from '../../middleware/aggregator.js';
import { HookRunner } from '../../src/hooks/hookRunner.js';
import { mergeModelData, mergeRecords } from '../../src/util/records.js';
import {
  HookEventName,
  type HookExecutionResult,
  type HookInput,
  type HookOutput,
} from '../../src/protocol/types.js';
import { commonInput, healthy, hook, keepInput, saying } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';
import * as any from './arbitraries.js';

const { BeforeTool, BeforeModel, BeforeAgent, AfterTool } = HookEventName;
const temp = useTempDir();
const hooks = new HookRunner(new RecordingLogger());

const fields: Partial<Record<HookEventName, object>> = {
  BeforeTool: { tool_name: 't', tool_input: { glob: 1, x: 'kept' } },
  BeforeModel: {
    llm_request: { model: 'm', messages: [], config: { temperature: 1, topP: 0.5 } },
  },
  BeforeAgent: { prompt: 'p' },
  AfterTool: { tool_name: 't', tool_input: {}, tool_response: {} },
};

const createInput = (event: HookEventName): HookInput => ({
  ...commonInput(event, temp.path),
  ...fields[event],
});

/** What the hook behind all of these reads. */
function chainAll(outputs: readonly HookOutput[], event: HookEventName): HookInput {
  return outputs.reduce(
    (input, output) => hooks.applyHookOutputToInput(input, output, event),
    createInput(event),
  );
}

function aggregatedField(outputs: readonly HookOutput[], event: HookEventName, field: string) {
  const results = outputs.map((output) => healthy(output));
  const specific = aggregateResults(results, event).finalOutput?.hookSpecificOutput;
  return (specific?.[field] ?? {}) as Record<string, unknown>;
}

const ownField = (input: HookInput, field: string) =>
  (input as unknown as Record<string, Record<string, unknown>>)[field] ?? {};

describe('what the last hook of a chain would read', () => {
  it.each([
    [BeforeTool, 'tool_input', mergeRecords],
    [BeforeModel, 'llm_request', mergeModelData],
  ] as const)('of %s is what the aggregate makes of the first input', (event, field, apply) => {
    fc.assert(
      fc.property(fc.array(any.output, { maxLength: 6 }), (outputs) => {
        const before = createInput(event);
        const chained = chainAll(outputs, event);
        expect(ownField(chained, field)).toEqual(
          apply(ownField(before, field), aggregatedField(outputs, event, field)),
        );
        expect({ ...chained, [field]: undefined }).toEqual({ ...before, [field]: undefined });
      }),
      { numRuns: 1_000 },
    );
  });
});

const keeping = (command: string, index: number) =>
  hook(`${keepInput(`${index}.json`)}; ${command}`);

const essence = ({ success, exitCode, output, stdout, stderr }: HookExecutionResult) => ({
  success,
  exitCode,
  output,
  stdout,
  stderr,
});

describe('a chain of processes', () => {
  const step = fc.oneof(
    { weight: 5, arbitrary: any.output.map((each) => saying(each)) },
    { weight: 1, arbitrary: fc.constantFrom('exit 0', 'exit 1', 'echo text').map((c) => hook(c)) },
    { weight: 1, arbitrary: fc.constant(hook('echo no >&2; exit 2')) },
  );
  it('gives what its hooks give one at a time', async () => {
    const events = fc.constantFrom(BeforeTool, BeforeModel, BeforeAgent, AfterTool);
    const steps = fc.array(step, { minLength: 1, maxLength: 4 });
    await fc.assert(
      fc.asyncProperty(events, steps, async (event, chain) => {
        const kept = chain.map(({ command }, index) => keeping(command, index));
        const results = await hooks.executeHooksSequential(kept, event, createInput(event));

        let input = createInput(event);
        let ended = false;
        const expected: HookExecutionResult[] = [];
        for (const [index, each] of chain.entries()) {
          if (ended) break;
          expect(await temp.readJson(`${index}.json`)).toEqual(JSON.parse(JSON.stringify(input)));
          const result = await hooks.executeHook(each, event, input);
          const output = aggregateResults([result], event).finalOutput;
          ended = Boolean(output?.isBlockingDecision() || output?.shouldStopExecution());
          if (result.output && result.success) {
            input = hooks.applyHookOutputToInput(input, result.output, event);
          }
          expected.push(result);
        }
        expect(results.map(essence)).toEqual(expected.map(essence));
      }),
      { numRuns: 12 },
    );
  });
});
