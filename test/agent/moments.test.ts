import { describe, expect, it } from 'vitest';
import { AgentError, runAgent, type AgentOptions } from '../../src/agent/agent.js';
import { referenceTools } from '../../src/agent/tools/referenceTools.js';
import { asHookContext, asSystemNote } from '../../src/protocol/llmContent.js';
import type { HookDefinitions, HookEventName } from '../../src/protocol/types.js';
import { textsOf } from '../core/helpers/chats.js';
import { atOnce } from '../core/helpers/hookScripts.js';
import {
  callTools,
  chunk,
  failure,
  reply,
  stream,
  type RecordedAnswer,
} from '../core/helpers/modelAnswers.js';
import { useSandbox } from '../core/helpers/sandbox.js';

const sandbox = useSandbox();

const write = (id: string) => ({
  id,
  name: 'write_file',
  args: { file_path: `${id}.txt`, content: id },
});
const long = (id: string) =>
  stream({
    ...chunk([{ functionCall: write(id) }]),
    usageMetadata: { promptTokenCount: 120, candidatesTokenCount: 1, totalTokenCount: 121 },
  });

async function runTo(
  answers: readonly RecordedAnswer[],
  hooks: HookDefinitions,
  options: Partial<AgentOptions> = {},
) {
  const { models, sent } = await sandbox.startModel(...answers);
  const result = await runAgent({
    config: sandbox.createConfig(hooks),
    models,
    model: 'gemini-2.5-flash',
    prompt: 'Begin.',
    tools: referenceTools,
    ...options,
  });
  return { result, sent: sent() };
}

describe('PostCompress', () => {
  const answers = [callTools(write('a')), long('b'), reply('All in short.'), reply('Done.')];

  it('has the summary, and what its hooks say is read next', async () => {
    const add = sandbox.says({ hookSpecificOutput: { additionalContext: 'Keep to the plan.' } });
    const { sent } = await runTo(answers, { PostCompress: atOnce(add) }, { compressAtTokens: 100 });
    expect(add.inputs()).toMatchObject([
      { trigger: 'auto', summary: 'Summary of the conversation so far:\nAll in short.' },
    ]);
    expect(textsOf(sent[3]?.contents).at(-1)).toContain(asHookContext('Keep to the plan.'));
  });

  it('does not fire where there is no summary', async () => {
    const watch = sandbox.says({});
    const none = stream(chunk([{ functionCall: { name: 'glob' } }]));
    await runTo(
      [callTools(write('a')), long('b'), none, reply('Done.')],
      { PostCompress: atOnce(watch) },
      { compressAtTokens: 100 },
    );
    expect(watch.inputs()).toEqual([]);
  });

  it('ends the agent where a hook stops, and where a guard fails', async () => {
    const stop = sandbox.says({ continue: false, stopReason: 'Enough.' });
    const stopped = await runTo(answers, { PostCompress: atOnce(stop) }, { compressAtTokens: 100 });
    expect(stopped.result.stopped).toMatchObject({ event: 'PostCompress', reason: 'Enough.' });
    const guard = { ...sandbox.runs('exit 7').config, onFailure: 'deny' as const };
    const failed = await runTo(
      answers,
      { PostCompress: [{ hooks: [guard] }] },
      { compressAtTokens: 100 },
    );
    expect(failed.result.stopped).toMatchObject({ event: 'PostCompress', hooks: [guard.name] });
  });
});

describe('ToolBatchEnd', () => {
  it('fires once for all calls of an answer, before the next model call', async () => {
    const note = sandbox.says({
      systemMessage: 'Two files.',
      hookSpecificOutput: { additionalContext: 'They are new.' },
    });
    const { sent } = await runTo([callTools(write('a'), write('b')), reply('Done.')], {
      ToolBatchEnd: atOnce(note),
    });
    const [batch, ...others] = note.inputs<HookEventName.ToolBatchEnd>();
    expect(others).toEqual([]);
    expect(batch?.tool_calls).toMatchObject([
      { call_id: 'a', tool_name: 'write_file', tool_input: { file_path: 'a.txt' } },
      {
        call_id: 'b',
        tool_name: 'write_file',
        tool_response: { returnDisplay: expect.any(String) },
      },
    ]);
    expect(sent[1]?.contents.at(-1)?.parts).toMatchObject([
      { functionResponse: { id: 'a' } },
      { functionResponse: { id: 'b' } },
      { text: asHookContext('They are new.') },
      { text: asSystemNote('Two files.') },
    ]);
  });

  it('ends the agent where a hook stops', async () => {
    const stop = sandbox.says({ continue: false, stopReason: 'Enough.' });
    const { result, sent } = await runTo([callTools(write('a'))], { ToolBatchEnd: atOnce(stop) });
    expect(result.stopped).toEqual({
      event: 'ToolBatchEnd',
      reason: 'Enough.',
      hooks: [stop.config.name],
    });
    expect(sent).toHaveLength(1);
  });
});

describe('ModelError', () => {
  it('has a failed call made again', async () => {
    const retry = sandbox.says({ hookSpecificOutput: { retry: true } });
    const { result } = await runTo([failure(503, 'overloaded'), reply('Done.')], {
      ModelError: atOnce(retry),
    });
    expect(result).toMatchObject({ response: 'Done.', turns: 1 });
  });

  it('leaves the failure as it is where no hook wants that', async () => {
    const watch = sandbox.says({});
    const running = runTo([failure(503, 'overloaded')], { ModelError: atOnce(watch) });
    await expect(running).rejects.toThrow(AgentError);
    expect(watch.inputs()).toMatchObject([{ attempt: 1, error: { status: 503 } }]);
  });
});
