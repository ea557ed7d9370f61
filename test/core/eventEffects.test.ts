import { describe, expect, it } from 'vitest';
import { runAgent } from '../../src/agent/agent.js';
import type { AgentEvent } from '../../src/agent/agentEvents.js';
import { HookEventName, type HookDefinitions } from '../../src/protocol/types.js';
import { asHookContext } from '../../src/protocol/llmContent.js';
import { referenceTools } from '../../src/agent/tools/referenceTools.js';
import { textsOf } from './helpers/chats.js';
import { atOnce, inSequence, type HookScript } from './helpers/hookScripts.js';
import { callTools, reply } from './helpers/modelAnswers.js';
import { useSandbox } from './helpers/sandbox.js';

const { BeforeTool, AfterTool, BeforeModel, AfterModel, BeforeToolSelection } = HookEventName;
const sandbox = useSandbox();

const prompt = 'Write a note.';
const writeNote = {
  id: 'call-1',
  name: 'write_file',
  args: { file_path: 'note.txt', content: 'of the model' },
};

/** Runs an agent whose model has a file written, reads what came of it, and says that it is done. */
async function runWriter(hooks: HookDefinitions, onEvent?: (event: AgentEvent) => void) {
  sandbox.remove('note.txt');
  const { models, sent } = await sandbox.startModel(callTools(writeNote), reply('Done.'));
  const result = await runAgent({
    config: sandbox.createConfig(hooks, { sessionId: 'session' }),
    models,
    model: 'gemini-2.5-flash',
    prompt,
    tools: referenceTools,
    onEvent,
  });
  return { result, sent: sent(), note: sandbox.read('note.txt') };
}

/** What the model was told of its tool call. */
function toolResponseIn({ sent }: Awaited<ReturnType<typeof runWriter>>) {
  return sent[1]?.contents.at(-1)?.parts?.[0]?.functionResponse?.response;
}

/** What is sent, written and returned must be what it is without the hook. */
async function expectNoEffect(event: HookEventName, hook: HookScript) {
  const without = await runWriter({});
  const { result, ...others } = await runWriter({ [event]: atOnce(hook) });
  expect(hook.inputs()[0]).toMatchObject({ hook_event_name: event });
  expect({ ...others, result: { ...result, hooks: [] } }).toEqual(without);
}

const forgedResponse = { llm_response: { text: 'forged' } };
const forgedResult = { llmContent: 'forged', returnDisplay: 'forged' };
const forgedToolResponse = { tool_response: forgedResult, ...forgedResult };
const changedRequest = {
  llm_request: { messages: [{ role: 'user', content: 'forged' }], config: { temperature: 2 } },
};
const changedInput = { tool_input: { content: 'forged' } };
const context = { additionalContext: 'Mind the gap.' };

describe('without hooks', () => {
  it('the model has the file written and reads the result', async () => {
    const run = await runWriter({});
    expect(run.note).toBe('of the model');
    expect(run.sent).toHaveLength(2);
    expect(toolResponseIn(run)).toEqual({ output: 'Created note.txt (12 bytes).' });
    expect(run.result).toMatchObject({ response: 'Done.', stopped: null, turns: 2, hooks: [] });
  });
});

describe('BeforeTool', () => {
  it.each<[string, () => HookScript]>([
    ['decision block', () => sandbox.says({ decision: 'block', reason: 'Not here.' })],
    ['decision deny', () => sandbox.says({ decision: 'deny', reason: 'Not here.' })],
    ['exit code 2', () => sandbox.runs('echo "Not here." >&2; exit 2')],
  ])('can block (%s): the tool does not run and the model reads why', async (_how, hook) => {
    const run = await runWriter({ BeforeTool: atOnce(hook()) });
    expect(run.note).toBeUndefined();
    expect(toolResponseIn(run)).toEqual({ error: 'Not here.' });
    expect(run.result).toMatchObject({ response: 'Done.', stopped: null });
  });

  it('can modify the input', async () => {
    const hook = sandbox.says({ hookSpecificOutput: { tool_input: { content: 'of the hook' } } });
    const run = await runWriter({ BeforeTool: atOnce(hook) });
    expect(run.note).toBe('of the hook');
    expect(run.result.toolCalls[0]).toMatchObject({
      originalInput: writeNote.args,
      input: { file_path: 'note.txt', content: 'of the hook' },
    });
  });

  it('cannot modify the output', () =>
    expectNoEffect(
      BeforeTool,
      sandbox.says({ hookSpecificOutput: { ...forgedToolResponse, ...forgedResponse } }),
    ));

  it('can stop the agent before the tool runs', async () => {
    const hook = sandbox.says({ continue: false, stopReason: 'Enough.' });
    const run = await runWriter({ BeforeTool: atOnce(hook) });
    expect(run.note).toBeUndefined();
    expect(run.sent).toHaveLength(1);
    expect(run.result.stopped).toMatchObject({ event: BeforeTool, reason: 'Enough.' });
  });

  it('cannot inject context', () =>
    expectNoEffect(BeforeTool, sandbox.says({ hookSpecificOutput: context })));
});

describe('AfterTool', () => {
  it.each<[string, () => HookScript]>([
    ['decision block', () => sandbox.says({ decision: 'block', reason: 'Bad note.' })],
    ['exit code 2', () => sandbox.runs('echo "Bad note." >&2; exit 2')],
  ])('cannot block (%s): the reason goes to the model with the result', async (_how, hook) => {
    const run = await runWriter({ AfterTool: atOnce(hook()) });
    expect(run.note).toBe('of the model');
    expect(toolResponseIn(run)).toEqual({
      output: `Created note.txt (12 bytes).\n\n${asHookContext('Bad note.')}`,
    });
    expect(run.result).toMatchObject({ response: 'Done.', stopped: null });
    expect(run.result.toolCalls[0]).toMatchObject({ status: 'success' });
  });

  it('cannot modify the input', () =>
    expectNoEffect(
      AfterTool,
      sandbox.says({ hookSpecificOutput: { ...changedInput, ...changedRequest } }),
    ));

  it('cannot modify the output, but by a field that is there for it', () =>
    expectNoEffect(
      AfterTool,
      sandbox.says({ hookSpecificOutput: { ...forgedResult, ...forgedResponse } }),
    ));

  it.each<[string, unknown, { llmContent: string; returnDisplay: string }]>([
    ['a text', '***', { llmContent: '***', returnDisplay: '***' }],
    [
      'what the model reads',
      { llmContent: '***' },
      { llmContent: '***', returnDisplay: 'Created note.txt' },
    ],
    [
      'what the user reads',
      { returnDisplay: '***' },
      { llmContent: 'Created note.txt (12 bytes).', returnDisplay: '***' },
    ],
    [
      'both, as it read them',
      { llmContent: 'a', returnDisplay: 'b', metadata: { forged: true }, error: 'forged' },
      { llmContent: 'a', returnDisplay: 'b' },
    ],
  ])('can replace the output: %s', async (_what, response, result) => {
    const hook = sandbox.says({ hookSpecificOutput: { tool_response: response } });
    const run = await runWriter({ AfterTool: atOnce(hook) });
    expect(toolResponseIn(run)).toEqual({ output: result.llmContent });
    expect(run.result.toolCalls[0]).toMatchObject({ status: 'success' });
    expect(run.result.toolCalls[0]?.result).toEqual(result);
  });

  it('replaces in a chain what the hook before it left', async () => {
    const first = sandbox.says({ hookSpecificOutput: { tool_response: { llmContent: 'one' } } });
    const second = sandbox.says({
      hookSpecificOutput: { tool_response: { returnDisplay: 'two' } },
    });
    const run = await runWriter({ AfterTool: inSequence(first, second) });
    expect(second.inputs()[0]).toMatchObject({
      tool_response: { llmContent: 'one', returnDisplay: 'Created note.txt' },
    });
    expect(run.result.toolCalls[0]?.result).toEqual({ llmContent: 'one', returnDisplay: 'two' });
  });

  it.each<[string, unknown]>([
    ['a number', 7],
    ['an object with nothing of it', { text: 'x' }],
    ['a display that is no text', { returnDisplay: { a: 1 } }],
    ['content that is a number', { llmContent: 7 }],
  ])('is left as it is by what cannot be read: %s', (_what, response) =>
    expectNoEffect(AfterTool, sandbox.says({ hookSpecificOutput: { tool_response: response } })),
  );

  it('can hide the output from the user, and the model still reads it', async () => {
    const run = await runWriter({ AfterTool: atOnce(sandbox.says({ suppressOutput: true })) });
    expect(run.result.toolCalls[0]?.result).toMatchObject({ suppressDisplay: true });
    expect(toolResponseIn(run)).toEqual({ output: 'Created note.txt (12 bytes).' });
  });

  it('can add a system message to what the model reads, not to what the user sees', async () => {
    const hook = sandbox.says({ systemMessage: 'Keep notes short.' });
    const run = await runWriter({ AfterTool: atOnce(hook) });
    expect(toolResponseIn(run)).toEqual({
      output: 'Created note.txt (12 bytes).\n\n[System] Keep notes short.',
    });
    expect(run.result.toolCalls[0]?.result?.returnDisplay).toBe('Created note.txt');
  });

  it('can stop the agent after the tool has run', async () => {
    const hook = sandbox.says({ continue: false, stopReason: 'Enough.' });
    const run = await runWriter({ AfterTool: atOnce(hook) });
    expect(run.note).toBe('of the model');
    expect(run.sent).toHaveLength(1);
    expect(run.result.stopped).toMatchObject({ event: AfterTool, reason: 'Enough.' });
  });

  it('can inject context', async () => {
    const run = await runWriter({
      AfterTool: atOnce(sandbox.says({ hookSpecificOutput: context })),
    });
    expect(toolResponseIn(run)).toEqual({
      output: `Created note.txt (12 bytes).\n\n${asHookContext('Mind the gap.')}`,
    });
  });
});

describe('BeforeModel', () => {
  it.each<[string, () => HookScript]>([
    ['decision block', () => sandbox.says({ decision: 'block', reason: 'No calls.' })],
    ['exit code 2', () => sandbox.runs('exit 2')],
  ])('can block (%s): the model is not called', async (_how, hook) => {
    const run = await runWriter({ BeforeModel: atOnce(hook()) });
    expect(run.sent).toEqual([]);
    expect(run.note).toBeUndefined();
    expect(run.result).toMatchObject({ response: '', turns: 1, stopped: null });
    expect(run.result.modelCalls).toMatchObject([{ blocked: true, synthetic: false }]);
  });

  it('can block with an answer of its own', async () => {
    const hook = sandbox.says({
      decision: 'deny',
      hookSpecificOutput: { llm_response: { text: 'Answered by the hook.' } },
    });
    const run = await runWriter({ BeforeModel: atOnce(hook) });
    expect(run.sent).toEqual([]);
    expect(run.result).toMatchObject({ response: 'Answered by the hook.', stopped: null });
    expect(run.result.modelCalls).toMatchObject([{ blocked: true, synthetic: true }]);
  });

  it('can modify the input', async () => {
    const hook = sandbox.says({
      hookSpecificOutput: {
        llm_request: {
          messages: [{ role: 'user', content: 'Write a poem.' }],
          config: { temperature: 0.25 },
        },
      },
    });
    const { sent } = await runWriter({ BeforeModel: atOnce(hook) });
    expect(textsOf(sent[0]?.contents)).toEqual(['Write a poem.']);
    expect(sent[0]?.generationConfig).toEqual({ temperature: 0.25 });
    expect(sent[0]?.tools).toHaveLength(1);
  });

  it('cannot modify the output: an answer without a block does not count', () =>
    expectNoEffect(BeforeModel, sandbox.says({ hookSpecificOutput: forgedResponse })));

  it('can stop the agent before the model is called', async () => {
    const hook = sandbox.says({ continue: false, stopReason: 'Enough.' });
    const run = await runWriter({ BeforeModel: atOnce(hook) });
    expect(run.sent).toEqual([]);
    expect(run.result.stopped).toMatchObject({ event: BeforeModel, reason: 'Enough.' });
  });

  it('can inject context by adding messages', async () => {
    const hook = sandbox.computes<HookEventName.BeforeModel>(({ llm_request: { messages } }) => ({
      hookSpecificOutput: {
        llm_request: { messages: [...messages, { role: 'user', content: 'Mind the gap.' }] },
      },
    }));
    const run = await runWriter({ BeforeModel: atOnce(hook) });
    expect(textsOf(run.sent[0]?.contents)).toEqual([prompt, 'Mind the gap.']);
    expect(run.sent[1]?.contents.map(({ parts }) => Object.keys(parts?.[0] ?? {})[0])).toEqual([
      'text',
      'functionCall',
      'functionResponse',
      'text',
    ]);
    expect(run.note).toBe('of the model');
  });
});

describe('AfterModel', () => {
  it.each<[string, () => HookScript]>([
    ['decision block', () => sandbox.says({ decision: 'block', reason: 'Bad answer.' })],
    ['exit code 2', () => sandbox.runs('echo "Bad answer." >&2; exit 2')],
  ])('cannot block (%s)', (_how, hook) => expectNoEffect(AfterModel, hook()));

  it('cannot modify the input', () =>
    expectNoEffect(
      AfterModel,
      sandbox.says({ hookSpecificOutput: { ...changedRequest, ...changedInput } }),
    ));

  it('can modify the output, also where it is sent back to the model', async () => {
    const hook = sandbox.says({ hookSpecificOutput: { llm_response: { text: 'Redacted.' } } });
    const run = await runWriter({ AfterModel: atOnce(hook) });
    expect(run.result.response).toBe('Redacted.');
    expect(run.sent[1]?.contents[1]?.parts).toEqual([
      { text: 'Redacted.' },
      { functionCall: writeNote },
    ]);
    expect(run.note).toBe('of the model');
  });

  it('can hide the output from the user, and its tool calls still run', async () => {
    const run = await runWriter({ AfterModel: atOnce(sandbox.says({ suppressOutput: true })) });
    expect(run.result.response).toBe('');
    expect(run.note).toBe('of the model');
  });

  it('can stop the agent: the answer becomes the reason, and its tool calls do not run', async () => {
    const hook = sandbox.says({ continue: false, stopReason: 'Enough.' });
    const run = await runWriter({ AfterModel: atOnce(hook) });
    expect(run.note).toBeUndefined();
    expect(run.sent).toHaveLength(1);
    expect(run.result).toMatchObject({
      response: 'Enough.',
      stopped: { event: AfterModel, reason: 'Enough.' },
    });
  });

  it('cannot inject context', () =>
    expectNoEffect(AfterModel, sandbox.says({ hookSpecificOutput: context })));
});

describe('BeforeToolSelection', () => {
  it.each<[string, () => HookScript]>([
    ['decision block', () => sandbox.says({ decision: 'block', reason: 'No tools.' })],
    ['exit code 2', () => sandbox.runs('echo "No tools." >&2; exit 2')],
  ])('cannot block (%s)', (_how, hook) => expectNoEffect(BeforeToolSelection, hook()));

  it('cannot modify the input', () =>
    expectNoEffect(
      BeforeToolSelection,
      sandbox.says({ hookSpecificOutput: { ...changedRequest, ...changedInput } }),
    ));

  it('cannot modify the output', () =>
    expectNoEffect(
      BeforeToolSelection,
      sandbox.says({ hookSpecificOutput: { ...forgedResponse, ...forgedToolResponse } }),
    ));

  it('can stop the agent before the model is called', async () => {
    const hook = sandbox.says({ continue: false, stopReason: 'Enough.' });
    const run = await runWriter({ BeforeToolSelection: atOnce(hook) });
    expect(run.sent).toEqual([]);
    expect(run.result.stopped).toMatchObject({ event: BeforeToolSelection, reason: 'Enough.' });
  });

  it('cannot inject context', () =>
    expectNoEffect(BeforeToolSelection, sandbox.says({ hookSpecificOutput: context })));

  it.each(['AUTO', 'ANY', 'NONE'])('can set the mode %s', async (mode) => {
    const hook = sandbox.says({ hookSpecificOutput: { toolConfig: { mode } } });
    const run = await runWriter({ BeforeToolSelection: atOnce(hook) });
    expect(run.sent[0]?.toolConfig?.functionCallingConfig).toMatchObject({ mode });
    expect(run.note).toBe(mode === 'NONE' ? undefined : 'of the model');
  });

  it('can restrict the tools: definitions stay, and a call outside of the list is refused', async () => {
    const toolConfig = { mode: 'ANY', allowedFunctionNames: ['read_file', 'glob'] };
    const hook = sandbox.says({ hookSpecificOutput: { toolConfig } });
    const run = await runWriter({ BeforeToolSelection: atOnce(hook) });
    expect(run.sent[0]?.toolConfig?.functionCallingConfig).toEqual({
      mode: 'ANY',
      allowedFunctionNames: ['glob', 'read_file'],
    });
    expect(run.sent[0]?.tools).toEqual([
      { functionDeclarations: referenceTools.map((tool) => tool.declaration) },
    ]);
    expect(run.note).toBeUndefined();
    expect(toolResponseIn(run)).toEqual({ error: expect.stringContaining('glob, read_file') });
  });
});

describe.each([BeforeTool, AfterTool, BeforeModel, AfterModel, BeforeToolSelection])(
  'a hook of %s',
  (event) => {
    it('that fails has no effect, whatever it printed', () =>
      expectNoEffect(
        event,
        sandbox.runs(`echo '{"decision":"block","continue":false}'; echo broken >&2; exit 1`),
      ));

    it('that says "ask" lets everything go on', () =>
      expectNoEffect(event, sandbox.says({ decision: 'ask', reason: 'Sure?' })));
  },
);

describe('a system message', () => {
  it.each([BeforeTool, AfterTool, BeforeModel, AfterModel, BeforeToolSelection])(
    'of %s reaches the model, and never the user',
    async (event) => {
      const told: AgentEvent[] = [];
      const hook = sandbox.says({ systemMessage: 'Mind the gap.' });
      const { sent, result } = await runWriter({ [event]: atOnce(hook) }, (each) =>
        told.push(each),
      );
      expect(JSON.stringify(sent.map(({ contents }) => contents))).toContain(
        '[System] Mind the gap.',
      );
      const texts = told.map((each) => (each.type === 'text' ? each.text : ''));
      const displays = result.toolCalls.map((call) => call.result?.returnDisplay);
      expect([texts.join(''), result.response, ...displays]).toEqual([
        'Done.',
        'Done.',
        'Created note.txt',
      ]);
    },
  );
});

describe('conflicts between hooks', () => {
  it.each([false, true])('NONE wins against an allow-list (NONE last: %s)', async (isLast) => {
    const none = sandbox.says({ hookSpecificOutput: { toolConfig: { mode: 'NONE' } } });
    const list = sandbox.says({
      hookSpecificOutput: {
        toolConfig: { mode: 'AUTO', allowedFunctionNames: ['read_file', 'write_file'] },
      },
    });
    const order = isLast ? [list, none] : [none, list];
    const run = await runWriter({ BeforeToolSelection: atOnce(...order) });
    const { mode, allowedFunctionNames = [] } =
      run.sent[0]?.toolConfig?.functionCallingConfig ?? {};
    expect({ mode, allowedFunctionNames }).toEqual({ mode: 'NONE', allowedFunctionNames: [] });
    expect(run.note).toBeUndefined();
    expect(toolResponseIn(run)).toEqual({
      error: expect.stringContaining('no tool may be called'),
    });
  });

  it('of two temperatures set at once, that of the later hook is sent', async () => {
    const [cold, hot] = [0, 1].map((temperature) => ({
      hookSpecificOutput: { llm_request: { config: { temperature } } },
    }));
    // The first hook answers last, so that only the order of the plan can decide.
    const first = sandbox.runs(
      `until [ -e answered ]; do sleep 0.02; done; echo '${JSON.stringify(cold)}'`,
    );
    const second = sandbox.runs(`echo '${JSON.stringify(hot)}'; : >answered`);
    const { sent } = await runWriter({ BeforeModel: atOnce(first, second) });
    expect(sent[0]?.generationConfig).toEqual({ temperature: 1 });
  });

  it('of two temperatures set in sequence, the later hook sees the first and may override it', async () => {
    const [cold, hot] = [0, 1].map((temperature) =>
      sandbox.says({ hookSpecificOutput: { llm_request: { config: { temperature } } } }),
    );
    if (!cold || !hot) throw new Error('Two hooks were made');
    const { sent } = await runWriter({ BeforeModel: inSequence(cold, hot) });
    expect(hot.inputs<HookEventName.BeforeModel>()[0]?.llm_request.config).toEqual({
      temperature: 0,
    });
    expect(sent[0]?.generationConfig).toEqual({ temperature: 1 });
  });

  it('in sequence, a later hook may keep the temperature and set something else', async () => {
    const cold = sandbox.says({
      hookSpecificOutput: { llm_request: { config: { temperature: 0 } } },
    });
    const short = sandbox.says({
      hookSpecificOutput: { llm_request: { config: { maxOutputTokens: 10 } } },
    });
    const { sent } = await runWriter({ BeforeModel: inSequence(cold, short) });
    expect(sent[0]?.generationConfig).toEqual({ temperature: 0, maxOutputTokens: 10 });
  });

  it.each([false, true])('a block wins against an allow (allow last: %s)', async (isAllowLast) => {
    const allow = sandbox.says({ decision: 'allow' });
    const block = sandbox.says({ decision: 'block', reason: 'Policy violation' });
    const order = isAllowLast ? [block, allow] : [allow, block];
    const run = await runWriter({ BeforeTool: atOnce(...order) });
    expect(run.note).toBeUndefined();
    expect(toolResponseIn(run)).toEqual({ error: 'Policy violation' });
  });
});
