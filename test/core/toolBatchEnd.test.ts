import type { FunctionCall } from '@google/genai';
import { describe, expect, it } from 'vitest';
import {
  CoreToolScheduler,
  toFunctionResponse,
  type ScheduleOptions,
} from '../../src/core/coreToolScheduler.js';
import { asHookContext } from '../../src/protocol/llmContent.js';
import type { HookDefinitions, HookEventName } from '../../src/protocol/types.js';
import { atOnce } from './helpers/hookScripts.js';
import { useSandbox } from './helpers/sandbox.js';

const sandbox = useSandbox();

const echo = {
  name: 'echo',
  declaration: { name: 'echo' },
  execute: async ({ text }: Record<string, unknown>) => ({
    llmContent: `said ${String(text)}`,
    returnDisplay: '',
  }),
};

function schedule(
  calls: readonly FunctionCall[],
  hooks: HookDefinitions,
  options: ScheduleOptions = {},
) {
  const config = sandbox.createConfig(hooks);
  const session = { sessionId: 's7', agentId: 'a7' };
  return new CoreToolScheduler({ config, tools: [echo], session }).schedule(calls, options);
}

const call = (id: string) => ({ id, name: 'echo', args: { text: id } });

describe('the end of the tool calls of one answer', () => {
  it('is told once, with all calls: those that ran, failed and were blocked', async () => {
    const batch = sandbox.says({});
    const block = sandbox.runs(`case $input in *'"text":"b"'*) echo no >&2; exit 2;; esac`);
    const calls = [call('a'), call('b'), { id: 'c', name: 'nothing' }];
    const completed = await schedule(calls, {
      BeforeTool: atOnce(block),
      ToolBatchEnd: atOnce(batch),
    });
    expect(batch.inputs()).toMatchObject([
      {
        session_id: 's7',
        agent_id: 'a7',
        tool_calls: [
          { call_id: 'a', tool_name: 'echo', tool_input: { text: 'a' } },
          { call_id: 'b', tool_response: { llmContent: 'no', error: { type: 'blocked_by_hook' } } },
          {
            call_id: 'c',
            tool_name: 'nothing',
            tool_response: { error: { type: 'unknown_tool' } },
          },
        ],
      },
    ]);
    expect(completed.map(({ notes }) => notes)).toEqual([undefined, undefined, undefined]);
  });

  it('is not told where nothing was called, and where the agent ends anyway', async () => {
    const batch = sandbox.says({});
    const hooks = { ToolBatchEnd: atOnce(batch) };
    await schedule([], hooks);
    await schedule([call('a')], hooks, { signal: AbortSignal.abort() });
    const stop = sandbox.says({ continue: false });
    await schedule([call('a')], { ...hooks, BeforeTool: atOnce(stop) });
    expect(batch.inputs()).toEqual([]);
  });

  it('has its notes and the reason of a block with the last call, for the model to read', async () => {
    const hook = sandbox.says({
      decision: 'block',
      reason: 'Too many.',
      hookSpecificOutput: { additionalContext: 'Two ran.' },
    });
    const [first, last] = await schedule([call('a'), call('b')], { ToolBatchEnd: atOnce(hook) });
    expect(first?.notes).toBeUndefined();
    expect(last).toMatchObject({
      status: 'success',
      notes: [asHookContext('Two ran.'), asHookContext('Too many.')],
    });
    expect(last && toFunctionResponse(last).slice(1)).toEqual(
      last?.notes?.map((text) => ({ text })),
    );
  });

  it('stops the agent where a hook says so, and where a guard fails', async () => {
    const stop = sandbox.says({ continue: false, stopReason: 'Enough.' });
    const [stopped] = await schedule([call('a')], { ToolBatchEnd: atOnce(stop) });
    expect(stopped).toMatchObject({
      status: 'success',
      stopped: { event: 'ToolBatchEnd', reason: 'Enough.', hooks: [stop.config.name] },
    });
    const guard = { ...sandbox.runs('exit 7').config, onFailure: 'deny' as const };
    const [failed] = await schedule([call('a')], { ToolBatchEnd: [{ hooks: [guard] }] });
    expect(failed?.stopped).toMatchObject({ event: 'ToolBatchEnd', hooks: [guard.name] });
    expect(failed?.stopped?.reason).toContain('must not be bypassed');
  });

  it('is read by a hook as the tools left it', async () => {
    const batch = sandbox.computes<HookEventName.ToolBatchEnd>(({ tool_calls }) => ({
      systemMessage: tool_calls.map((each) => each.tool_response['llmContent']).join(', '),
    }));
    const completed = await schedule([call('a'), call('b')], { ToolBatchEnd: atOnce(batch) });
    expect(completed.at(-1)?.notes?.join('')).toContain('said a, said b');
  });
});
