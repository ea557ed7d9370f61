import { describe, expect, it } from 'vitest';
import { runAgent } from '../../src/agent/agent.js';
import { HookEventName, type HookDefinitions } from '../../src/protocol/types.js';
import { asHookContext } from '../../src/protocol/llmContent.js';
import { referenceTools } from '../../src/agent/tools/referenceTools.js';
import { textsOf } from '../core/helpers/chats.js';
import { atOnce } from '../core/helpers/hookScripts.js';
import { callTools, reply, type RecordedAnswer } from '../core/helpers/modelAnswers.js';
import { useSandbox } from '../core/helpers/sandbox.js';

const { BeforeModel, AfterModel, BeforeToolSelection } = HookEventName;
const sandbox = useSandbox();

const listing = callTools({ id: 'call-1', name: 'list_directory', args: { dir_path: '.' } });

/** Runs an agent over these answers of its model. */
async function runWith(hooks: HookDefinitions, answers: readonly RecordedAnswer[]) {
  const { models, sent } = await sandbox.startModel(...answers);
  const result = await runAgent({
    config: sandbox.createConfig(hooks),
    models,
    model: 'gemini-2.5-flash',
    prompt: 'What is here?',
    tools: referenceTools,
  });
  return { result, sent: sent() };
}

describe.each([BeforeToolSelection, BeforeModel, AfterModel])('a hook of %s', (event) => {
  it('fires on every call of the model, whatever its matcher says', async () => {
    const hook = sandbox.says({});
    const group = { matcher: '^no_such_tool$', hooks: [hook.config] };
    await runWith({ [event]: [group] }, [listing, reply('Nothing.')]);
    expect(hook.inputs().map((input) => input.hook_event_name)).toEqual([event, event]);
  });
});

describe('BeforeModel', () => {
  it('reads the request as it stands right before it is sent', async () => {
    const toolConfig = { mode: 'ANY', allowedFunctionNames: ['list_directory'] };
    const selection = sandbox.says({ hookSpecificOutput: { toolConfig } });
    const before = sandbox.says({});
    const hooks = { BeforeToolSelection: atOnce(selection), BeforeModel: atOnce(before) };
    await runWith(hooks, [reply('Nothing.')]);
    expect(before.inputs<HookEventName.BeforeModel>()[0]?.llm_request).toEqual({
      model: 'gemini-2.5-flash',
      messages: [{ role: 'user', content: 'What is here?' }],
      toolConfig,
      tools: expect.arrayContaining([
        { name: 'list_directory', description: expect.stringContaining('directory') },
      ]),
    });
  });
});

describe('AfterModel', () => {
  it('may put another response in the place of that of the model', async () => {
    const llm_response = {
      candidates: [
        { content: { role: 'model', parts: ['Of the ', 'hook.'] }, finishReason: 'STOP', index: 0 },
      ],
      usageMetadata: { totalTokenCount: 7 },
    };
    const hook = sandbox.runs(
      `[ -e answered ] || echo '${JSON.stringify({ hookSpecificOutput: { llm_response } })}'; : >answered`,
    );
    const again = sandbox.computes<HookEventName.AfterAgent>(({ prompt_response }) =>
      prompt_response === 'Of the hook.' ? { decision: 'block', reason: 'Go on.' } : {},
    );
    const { result, sent } = await runWith(
      { AfterModel: atOnce(hook), AfterAgent: atOnce(again) },
      [reply('Of the ', 'model.'), reply('Done.')],
    );
    expect(again.inputs()[0]).toMatchObject({ prompt_response: 'Of the hook.' });
    expect(textsOf(sent[1]?.contents)).toEqual([
      'What is here?',
      'Of the hook.',
      asHookContext('Go on.'),
    ]);
    expect(result).toMatchObject({ response: 'Done.', usage: { totalTokenCount: 7 } });
  });
});
