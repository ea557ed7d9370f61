import { once } from 'node:events';
import { appendFileSync } from 'node:fs';
import path from 'node:path';
import { ApiError, FinishReason, type Part } from '@google/genai';
import { describe, expect, it, vi } from 'vitest';
import type { ConfigOptions } from '../../src/config/config.js';
import { GeminiChat, type GeminiChatOptions } from '../../src/core/geminiChat.js';
import { HookEventName, type HookDefinitions } from '../../src/protocol/types.js';
import { nextServerResponse, partsOf, readToEnd, textsOf } from './helpers/chats.js';
import { atOnce, type HookScript } from './helpers/hookScripts.js';
import { chunk, failure, reply, stream, type RecordedAnswer } from './helpers/modelAnswers.js';
import { useSandbox } from './helpers/sandbox.js';

const { BeforeModel, AfterModel, BeforeToolSelection } = HookEventName;
const modelEvents = [BeforeToolSelection, BeforeModel, AfterModel];
const sandbox = useSandbox();

const earlier = [
  { role: 'user', parts: [{ text: 'hello' }] },
  { role: 'model', parts: [{ text: 'hi' }] },
];

interface ChatSetup extends Partial<Omit<GeminiChatOptions, 'config'>> {
  readonly hooks?: HookDefinitions;
  readonly config?: ConfigOptions;
  readonly answers: readonly RecordedAnswer[];
}

/** A chat that has exchanged a greeting with its model. */
async function startChat({ hooks = {}, config, answers, ...options }: ChatSetup) {
  const { models, sent } = await sandbox.startModel(...answers);
  const chat = new GeminiChat({
    config: sandbox.createConfig(hooks, config),
    models,
    model: 'gemini-2.5-flash',
    history: earlier,
    ...options,
  });
  return { chat, sent, ask: (text: string) => readToEnd(chat.sendMessageStream(text)) };
}

function redact(text = 'Redacted.') {
  return sandbox.says({ hookSpecificOutput: { llm_response: { text } } });
}

function stop() {
  return sandbox.says({ continue: false, stopReason: 'Enough.' });
}

describe('the way of a call', () => {
  it('passes BeforeToolSelection, BeforeModel, the model and AfterModel, in this order', async () => {
    const journal = path.join(sandbox.workingDir, 'journal');
    const script = sandbox.runs(
      `printf '%s\\n' "$input" | sed 's/.*"hook_event_name":"\\([A-Za-z]*\\)".*/\\1/' >>journal`,
    );
    const { models } = await sandbox.startModel(reply('answer'));
    const { ask } = await startChat({
      hooks: Object.fromEntries(modelEvents.map((event) => [event, atOnce(script)])),
      answers: [],
      models: {
        generateContentStream(request) {
          appendFileSync(journal, 'call\n');
          return models.generateContentStream(request);
        },
      },
    });
    await ask('go');
    expect(sandbox.read('journal')).toBe('BeforeToolSelection\nBeforeModel\ncall\nAfterModel\n');
  });

  it('sends history, message and generation config, and keeps the answer', async () => {
    const { chat, sent, ask } = await startChat({
      answers: [reply('one ', 'two')],
      generationConfig: { temperature: 0.5, systemInstruction: 'Be brief.' },
    });
    const { shown, turn } = await ask('go');
    expect(shown).toEqual(['one ', 'two']);
    expect(turn).toMatchObject({
      verdict: { kind: 'allow' },
      blocked: false,
      synthetic: false,
      suppressDisplay: false,
    });
    expect(turn.response.text).toBe('one two');
    expect(textsOf(sent()[0]?.contents)).toEqual(['hello', 'hi', 'go']);
    expect(sent()[0]).toMatchObject({
      generationConfig: { temperature: 0.5 },
      systemInstruction: { parts: [{ text: 'Be brief.' }] },
    });
    expect(textsOf(chat.getHistory())).toEqual(['hello', 'hi', 'go', 'one two']);
  });

  it('shows chunks as they arrive, also with AfterModel hooks', async () => {
    const { chat } = await startChat({
      hooks: { AfterModel: atOnce(redact()) },
      answers: [{ ...reply('one', 'two', 'three'), delayMs: 500 }],
    });
    const server = nextServerResponse();
    for await (const event of chat.sendMessageStream('go')) {
      expect(event).toMatchObject({ type: 'chunk', value: { text: 'one' } });
      expect((await server).writableEnded).toBe(false);
      break;
    }
  });

  it('fires AfterModel once, on the whole answer', async () => {
    const hook = sandbox.says({});
    const { ask } = await startChat({
      hooks: { AfterModel: atOnce(hook) },
      answers: [reply('one ', 'two ', 'three')],
    });
    await ask('go');
    expect(hook.inputs()).toMatchObject([{ llm_response: { text: 'one two three' } }]);
  });

  it('tells AfterModel what was sent, not what was asked for', async () => {
    const before = sandbox.says({
      hookSpecificOutput: { llm_request: { config: { temperature: 0.25 } } },
    });
    const selection = sandbox.says({
      hookSpecificOutput: { toolConfig: { mode: 'ANY', allowedFunctionNames: ['glob'] } },
    });
    const after = sandbox.says({});
    const { ask, sent } = await startChat({
      hooks: {
        BeforeToolSelection: atOnce(selection),
        BeforeModel: atOnce(before),
        AfterModel: atOnce(after),
      },
      answers: [reply('answer')],
      generationConfig: { temperature: 1, topK: 3 },
    });
    await ask('go');
    expect(sent()[0]?.generationConfig).toEqual({ temperature: 0.25, topK: 3 });
    expect(after.inputs<HookEventName.AfterModel>()[0]?.llm_request).toEqual({
      model: 'gemini-2.5-flash',
      messages: [
        { role: 'user', content: 'hello' },
        { role: 'model', content: 'hi' },
        { role: 'user', content: 'go' },
      ],
      config: { temperature: 0.25, topK: 3 },
      toolConfig: { mode: 'ANY', allowedFunctionNames: ['glob'] },
    });
  });
});

describe('what the user sees of an answer that AfterModel changed', () => {
  it.each([
    { display: 'stream', shown: ['my ', 'secret'] },
    { display: 'hold', shown: ['Redacted.'] },
  ] as const)('$display: $shown; the change is kept either way', async ({ display, shown }) => {
    const { chat, ask } = await startChat({
      hooks: { AfterModel: atOnce(redact()) },
      config: { afterModelDisplay: display },
      answers: [reply('my ', 'secret')],
    });
    const outcome = await ask('go');
    expect(outcome.shown).toEqual(shown);
    expect(outcome.turn.response.text).toBe('Redacted.');
    expect(textsOf(chat.getHistory()).at(-1)).toBe('Redacted.');
  });

  it.each([
    { display: 'stream', shown: ['my ', 'secret'] },
    { display: 'hold', shown: [] },
  ] as const)('$display, suppressed: $shown; the model keeps it', async ({ display, shown }) => {
    const { chat, ask } = await startChat({
      hooks: { AfterModel: atOnce(sandbox.says({ suppressOutput: true })) },
      config: { afterModelDisplay: display },
      answers: [reply('my ', 'secret')],
    });
    const outcome = await ask('go');
    expect(outcome.shown).toEqual(shown);
    expect(outcome.turn.suppressDisplay).toBe(true);
    expect(textsOf(chat.getHistory()).at(-1)).toBe('my secret');
  });

  it('hold without an AfterModel hook holds nothing back', async () => {
    const { ask } = await startChat({
      config: { afterModelDisplay: 'hold' },
      answers: [reply('one', 'two')],
    });
    expect((await ask('go')).shown).toEqual(['one', 'two']);
  });

  it('shows nothing of a synthetic answer that its hook suppressed', async () => {
    const hook = sandbox.says({
      decision: 'block',
      suppressOutput: true,
      hookSpecificOutput: { llm_response: { text: 'For the history only.' } },
    });
    const { chat, ask } = await startChat({
      hooks: { BeforeModel: atOnce(hook) },
      answers: [],
    });
    const { shown, turn } = await ask('go');
    expect(turn.suppressDisplay).toBe(true);
    expect(shown).toEqual([]);
    expect(textsOf(chat.getHistory()).at(-1)).toBe('For the history only.');
  });
});

describe('a call that does not come to its end', () => {
  it('rejects when it is aborted midway, and leaves no trace', async () => {
    const hook = sandbox.says({});
    const { chat, ask } = await startChat({
      hooks: { AfterModel: atOnce(hook) },
      answers: [{ ...reply('one', 'two', 'three'), delayMs: 300 }, reply('again')],
    });
    const user = new AbortController();
    const reading = (async () => {
      for await (const _event of chat.sendMessageStream('go', { signal: user.signal }))
        user.abort();
    })();
    await expect(reading).rejects.toThrow(/abort/i);
    expect(hook.inputs()).toEqual([]);
    expect(chat.getHistory()).toEqual(earlier);
    expect((await ask('once more')).shown).toEqual(['again']);
  });

  it.each([true, false])(
    "heeds the host's own signal, midway (hooks on: %s)",
    async (enableHooks) => {
      const host = new AbortController();
      const { chat } = await startChat({
        answers: [reply('one', 'two', 'three')],
        hooks: { AfterModel: atOnce(sandbox.says({})) },
        config: { enableHooks },
        generationConfig: { abortSignal: host.signal },
      });
      const reading = async () => {
        for await (const _event of chat.sendMessageStream('go')) host.abort();
      };
      await expect(reading()).rejects.toThrow(/abort/i);
      expect(chat.getHistory()).toEqual(earlier);
    },
  );

  it("sends nothing where the host's own signal was aborted before", async () => {
    const { chat, sent } = await startChat({
      answers: [reply('one')],
      generationConfig: { abortSignal: AbortSignal.abort() },
    });
    const signal = new AbortController().signal;
    await expect(readToEnd(chat.sendMessageStream('go', { signal }))).rejects.toThrow(/abort/i);
    expect(sent()).toEqual([]);
  });

  it('sends nothing when it was aborted before', async () => {
    const { chat, sent } = await startChat({ answers: [reply('never')] });
    const signal = AbortSignal.abort();
    await expect(readToEnd(chat.sendMessageStream('go', { signal }))).rejects.toThrow(/abort/i);
    expect(sent()).toEqual([]);
    expect(chat.getHistory()).toEqual(earlier);
  });

  it.each([BeforeToolSelection, BeforeModel])(
    'sends nothing when it is aborted while a hook of %s runs',
    async (event) => {
      const hook = sandbox.runs('exec sleep 60');
      const { chat, sent } = await startChat({
        hooks: { [event]: atOnce(hook) },
        answers: [reply('never')],
      });
      const user = new AbortController();
      const asked = expect(
        readToEnd(chat.sendMessageStream('go', { signal: user.signal })),
      ).rejects.toThrow(/abort/i);
      await vi.waitFor(() => expect(hook.inputs()).toHaveLength(1));
      user.abort();
      await asked;
      expect(sent()).toEqual([]);
      expect(chat.getHistory()).toEqual(earlier);
    },
  );

  it('shows and keeps nothing when it is aborted before AfterModel hooks have redacted it', async () => {
    const hook = sandbox.runs('exec sleep 60');
    const { chat } = await startChat({
      hooks: { AfterModel: atOnce(hook) },
      config: { afterModelDisplay: 'hold' },
      answers: [reply('my secret')],
    });
    const user = new AbortController();
    const events: unknown[] = [];
    const reading = (async () => {
      for await (const event of chat.sendMessageStream('go', { signal: user.signal })) {
        events.push(event);
      }
    })();
    const aborted = expect(reading).rejects.toThrow(/abort/i);
    await vi.waitFor(() => expect(hook.inputs()).toHaveLength(1));
    user.abort();
    await aborted;
    expect(events).toEqual([]);
    expect(chat.getHistory()).toEqual(earlier);
  });

  it('rejects when the stream breaks, and leaves no trace', async () => {
    const hook = sandbox.says({});
    const { chat, ask } = await startChat({
      hooks: { AfterModel: atOnce(hook) },
      answers: [{ ...reply('one', 'two', 'three'), abortAfter: 2 }, reply('again')],
    });
    await expect(ask('go')).rejects.toThrow('terminated');
    expect(hook.inputs()).toEqual([]);
    expect(chat.getHistory()).toEqual(earlier);
    expect((await ask('once more')).shown).toEqual(['again']);
  });

  it('passes on what the SDK throws', async () => {
    const hook = sandbox.says({});
    const { chat, ask } = await startChat({
      hooks: { AfterModel: atOnce(hook) },
      answers: [failure(503, 'The model is overloaded.'), reply('again')],
    });
    const error: unknown = await ask('go').catch((reason: unknown) => reason);
    expect(error).toBeInstanceOf(ApiError);
    expect(error).toMatchObject({ status: 503, message: expect.stringContaining('overloaded') });
    expect(hook.inputs()).toEqual([]);
    expect(chat.getHistory()).toEqual(earlier);
    expect((await ask('once more')).shown).toEqual(['again']);
  });

  it("closes the server's stream when its reader leaves after one chunk", async () => {
    const hook = sandbox.says({});
    const { chat } = await startChat({
      hooks: { AfterModel: atOnce(hook) },
      answers: [{ ...reply('one', 'two', 'three'), delayMs: 300 }],
    });
    const server = nextServerResponse();
    for await (const event of chat.sendMessageStream('go')) {
      expect(event.type).toBe('chunk');
      break;
    }
    const response = await server;
    if (!response.closed) await once(response, 'close');
    expect(response.writableEnded).toBe(false);
    expect(hook.inputs()).toEqual([]);
    expect(chat.getHistory()).toEqual(earlier);
  });
});

describe('a call that a hook blocks', () => {
  it('gives the answer of the hook as if it were the model', async () => {
    const hook = sandbox.says({
      decision: 'block',
      hookSpecificOutput: { llm_response: { text: 'Served from the cache.' } },
    });
    const after = sandbox.says({});
    const { chat, ask, sent } = await startChat({
      hooks: { BeforeModel: atOnce(hook), AfterModel: atOnce(after) },
      answers: [],
    });
    const { shown, turn } = await ask('go');
    expect(shown).toEqual(['Served from the cache.']);
    expect(turn).toMatchObject({ blocked: true, synthetic: true, verdict: { kind: 'block' } });
    expect(sent()).toEqual([]);
    expect(textsOf(chat.getHistory())).toEqual(['hello', 'hi', 'go', 'Served from the cache.']);
  });

  it('without an answer shows and keeps nothing, and says why', async () => {
    const hook = sandbox.says({ decision: 'deny', reason: 'Over budget.' });
    const { chat, ask, sent } = await startChat({
      hooks: { BeforeModel: atOnce(hook) },
      answers: [],
    });
    const { shown, retries, turn } = await ask('go');
    expect({ shown, retries, sent: sent() }).toEqual({ shown: [], retries: [], sent: [] });
    expect(turn).toMatchObject({
      blocked: true,
      synthetic: false,
      verdict: { kind: 'block', event: BeforeModel, reason: 'Over budget.' },
      response: { candidates: [] },
    });
    expect(chat.getHistory()).toEqual(earlier);
    expect(hook.inputs()).toHaveLength(1);
  });

  it('keeps the response of a tool, which the history cannot miss', async () => {
    const { chat } = await startChat({
      hooks: { BeforeModel: atOnce(sandbox.says({ decision: 'deny' })) },
      answers: [],
    });
    const functionResponse = { name: 'glob', response: { output: 'a.txt' } };
    await readToEnd(chat.sendMessageStream([{ functionResponse }]));
    expect(chat.getHistory()).toEqual([
      ...earlier,
      { role: 'user', parts: [{ functionResponse }] },
    ]);
  });
});

describe('a stop from BeforeToolSelection with a system message', () => {
  it('has the model read it with the next message', async () => {
    const selection = sandbox.computes<HookEventName.BeforeToolSelection>(({ llm_request }) =>
      llm_request.messages.at(-1)?.content === 'go'
        ? { continue: false, systemMessage: 'Mind the gap.' }
        : {},
    );
    const { ask, sent } = await startChat({
      hooks: { BeforeToolSelection: atOnce(selection) },
      history: [],
      answers: [reply('answer')],
    });
    await ask('go');
    await ask('on');
    expect(JSON.stringify(sent()[0]?.contents)).toContain('[System] Mind the gap.');
  });
});

describe.each(modelEvents)('a stop from %s', (event) => {
  it('ends the call with the reason', async () => {
    const { ask, sent } = await startChat({
      hooks: { [event]: atOnce(stop()) },
      answers: [reply('answer')],
    });
    const { turn } = await ask('go');
    expect(turn.verdict).toMatchObject({ kind: 'stop', event, reason: 'Enough.' });
    expect(turn.blocked).toBe(event !== AfterModel);
    expect(sent()).toHaveLength(event === AfterModel ? 1 : 0);
    expect(turn.response.text).toBe(event === AfterModel ? 'Enough.' : undefined);
  });
});

describe('a system message', () => {
  it.each([BeforeToolSelection, BeforeModel])(
    'of %s goes out with the request that it is about',
    async (event) => {
      const { ask, sent } = await startChat({
        hooks: { [event]: atOnce(sandbox.says({ systemMessage: 'Mind the gap.' })) },
        answers: [reply('answer')],
      });
      const { shown } = await ask('go');
      expect(textsOf(sent()[0]?.contents)).toEqual(['hello', 'hi', 'go', '[System] Mind the gap.']);
      expect(shown).toEqual(['answer']);
    },
  );

  it('of AfterModel goes out with the next message, once, and is not shown', async () => {
    const hook = sandbox.runs('[ -e said ] || echo \'{"systemMessage":"Mind the gap."}\'; : >said');
    const { ask, sent } = await startChat({
      hooks: { AfterModel: atOnce(hook) },
      answers: [reply('one'), reply('two'), reply('three')],
    });
    expect((await ask('first')).shown).toEqual(['one']);
    await ask('second');
    await ask('third');
    expect(textsOf(sent()[2]?.contents)).toEqual([
      'hello',
      'hi',
      'first',
      'one',
      'second|[System] Mind the gap.',
      'two',
      'third',
    ]);
  });

  it('of a hook that blocks goes out with the next message', async () => {
    const hook = sandbox.runs(
      '[ -e said ] || echo \'{"decision":"block","systemMessage":"Ask for less."}\'; : >said',
    );
    const { ask, sent } = await startChat({
      hooks: { BeforeModel: atOnce(hook) },
      answers: [reply('answer')],
    });
    await ask('first');
    await ask('second');
    expect(textsOf(sent()[0]?.contents)).toEqual(['hello', 'hi', 'second|[System] Ask for less.']);
  });

  it('waits for the next message that is sent when a call is blocked in between', async () => {
    const after = sandbox.runs(
      '[ -e said ] || echo \'{"systemMessage":"Mind the gap."}\'; : >said',
    );
    const before = sandbox.computes<HookEventName.BeforeModel>(({ llm_request: { messages } }) =>
      messages.at(-1)?.content.startsWith('blocked') ? { decision: 'block' } : {},
    );
    const { ask, sent } = await startChat({
      hooks: { AfterModel: atOnce(after), BeforeModel: atOnce(before) },
      answers: [reply('one'), reply('two')],
    });
    await ask('first');
    expect((await ask('blocked')).turn.blocked).toBe(true);
    await ask('second');
    expect(textsOf(sent()[1]?.contents).at(-1)).toBe('second|[System] Mind the gap.');
  });

  it('waits for the next message that is sent when a call fails in between', async () => {
    const hook = sandbox.runs('[ -e said ] || echo \'{"systemMessage":"Mind the gap."}\'; : >said');
    const { ask, sent } = await startChat({
      hooks: { AfterModel: atOnce(hook) },
      answers: [reply('one'), failure(503, 'overloaded'), reply('two')],
    });
    await ask('first');
    await expect(ask('failing')).rejects.toThrow('overloaded');
    await ask('second');
    expect(textsOf(sent()[2]?.contents).at(-1)).toBe('second|[System] Mind the gap.');
  });
});

describe('parts that hooks do not see', () => {
  const thought: Part = { text: 'Let me think.', thought: true };
  const call: Part = {
    functionCall: { id: 'call-1', name: 'glob', args: { pattern: '*' } },
    thoughtSignature: 'c2lnbmVk',
  };
  const signedText: Part = { text: 'my secret', thoughtSignature: 'dGV4dA==' };

  it('survive a change of the text around them, on the way back to the model too', async () => {
    const hook = redact();
    const { chat, ask, sent } = await startChat({
      hooks: { AfterModel: atOnce(hook) },
      answers: [stream(chunk([thought]), chunk([signedText]), chunk([call])), reply('next')],
    });
    const { turn } = await ask('go');
    expect(hook.inputs<HookEventName.AfterModel>()[0]?.llm_response).toEqual({
      text: 'my secret',
      candidates: [{ index: 0, content: { role: 'model', parts: ['my secret'] } }],
    });
    const expected = [thought, { ...signedText, text: 'Redacted.' }, call];
    expect(partsOf(turn.response)).toEqual(expected);
    expect(turn.response.functionCalls).toEqual([call.functionCall]);
    expect(chat.getHistory().at(-1)).toEqual({ role: 'model', parts: expected });
    await ask('on');
    expect(sent()[1]?.contents.at(-2)).toEqual({ role: 'model', parts: expected });
  });

  it('survive a change that BeforeModel makes to the text of the history', async () => {
    const hook = sandbox.computes<HookEventName.BeforeModel>(({ llm_request: { messages } }) => ({
      hookSpecificOutput: {
        llm_request: {
          messages: messages.map(({ role, content }) => ({ role, content: content.toUpperCase() })),
        },
      },
    }));
    const functionResponse = { id: 'call-1', name: 'glob', response: { output: 'a.txt' } };
    const { chat, sent } = await startChat({
      hooks: { BeforeModel: atOnce(hook) },
      answers: [reply('answer')],
      history: [
        { role: 'user', parts: [{ text: 'list' }] },
        { role: 'model', parts: [thought, signedText, call] },
      ],
    });
    await readToEnd(chat.sendMessageStream([{ functionResponse }]));
    expect(sent()[0]?.contents).toEqual([
      { role: 'user', parts: [{ text: 'LIST' }] },
      { role: 'model', parts: [thought, { ...signedText, text: 'MY SECRET' }, call] },
      { role: 'user', parts: [{ functionResponse }] },
    ]);
  });
});

describe('an empty answer', () => {
  const silence = stream(chunk([{ text: '' }]));

  it('is asked for again, and the history knows nothing of it', async () => {
    const { chat, ask, sent } = await startChat({ answers: [silence, reply('answer')] });
    const { retries, turn } = await ask('go');
    expect(retries).toHaveLength(1);
    expect(turn.response.text).toBe('answer');
    expect(sent()[1]).toEqual(sent()[0]);
    expect(textsOf(chat.getHistory())).toEqual(['hello', 'hi', 'go', 'answer']);
  });

  it('is asked for again twice at most', async () => {
    const { ask, sent } = await startChat({
      answers: [silence, silence, silence, reply('never')],
    });
    const { retries, turn } = await ask('go');
    expect(retries).toHaveLength(2);
    expect(sent()).toHaveLength(3);
    expect(turn.response.text ?? '').toBe('');
  });

  it('without a single chunk is asked for again too', async () => {
    const { ask, sent } = await startChat({ answers: [stream(), reply('answer')] });
    expect((await ask('go')).turn.response.text).toBe('answer');
    expect(sent()).toHaveLength(2);
  });

  it.each<[string, RecordedAnswer]>([
    ['a tool call', stream(chunk([{ functionCall: { name: 'glob' } }]))],
    ['another end than STOP', stream(chunk([], { finishReason: FinishReason.SAFETY }))],
  ])('is not what %s is', async (_what, answer) => {
    const { ask, sent } = await startChat({ answers: [answer, reply('never')] });
    expect((await ask('go')).retries).toEqual([]);
    expect(sent()).toHaveLength(1);
  });

  it('is not what an AfterModel hook made empty', async () => {
    const { ask, sent } = await startChat({
      hooks: { AfterModel: atOnce(redact('')) },
      answers: [reply('my secret'), reply('never')],
    });
    const { turn } = await ask('go');
    expect(turn.response.text ?? '').toBe('');
    expect(sent()).toHaveLength(1);
  });

  it('is not asked for again when a hook stops the agent', async () => {
    const { ask, sent } = await startChat({
      hooks: { AfterModel: atOnce(stop()) },
      answers: [silence, reply('never')],
    });
    expect((await ask('go')).turn.verdict.kind).toBe('stop');
    expect(sent()).toHaveLength(1);
  });
});

describe('a history that is summed up', () => {
  const longer = [...earlier, ...earlier];

  it('has its summary, whatever BeforeToolSelection hooks want of tools', async () => {
    const toolConfig = { mode: 'ANY', allowedFunctionNames: ['glob'] };
    const hook = sandbox.says({ hookSpecificOutput: { toolConfig } });
    const { chat, sent } = await startChat({
      hooks: { BeforeToolSelection: atOnce(hook) },
      answers: [reply('They met.')],
      history: longer,
    });
    await chat.compressHistory();
    expect(sent()[0]?.toolConfig).toEqual({ functionCallingConfig: { mode: 'NONE' } });
    expect(textsOf(chat.getHistory())).toEqual([
      'Summary of the conversation so far:\nThey met.',
      'hi',
      'hello',
      'hi',
    ]);
  });

  it('stays as it is where the model gives no text', async () => {
    const silence = stream(chunk([{ functionCall: { name: 'glob' } }]));
    const { chat } = await startChat({ answers: [silence], history: longer });
    expect(await chat.compressHistory()).toBeDefined();
    expect(chat.getHistory()).toEqual(longer);
  });
});

describe('hooks that fail', () => {
  it.each<[string, () => HookScript]>([
    ['exit code 1', () => sandbox.runs('exit 1')],
    ['a signal', () => sandbox.runs('kill -9 $$')],
    ['unreadable JSON', () => sandbox.runs(`printf '{"decision":'`)],
  ])('let the call go on: %s', async (_how, hook) => {
    const script = hook();
    const { ask, sent } = await startChat({
      hooks: Object.fromEntries(modelEvents.map((event) => [event, atOnce(script)])),
      answers: [reply('answer')],
    });
    const { shown, turn } = await ask('go');
    expect(shown).toEqual(['answer']);
    expect(turn.verdict.kind).toBe('allow');
    expect(sent()).toHaveLength(1);
    expect(script.inputs()).toHaveLength(3);
  });
});

describe('a chat that is used in a way that would lose something', () => {
  it('refuses a message while it is answering another one, and takes it afterwards', async () => {
    const { chat, ask } = await startChat({ answers: [reply('one'), reply('two')] });
    const first = chat.sendMessageStream('first');
    await first.next();
    await expect(ask('second')).rejects.toThrow(/still answering/);
    await readToEnd(first);
    await ask('second');
    expect(chat.getHistory()).toHaveLength(6);
  });

  it('fails when a middleware ends a call and says nothing', async () => {
    const { models } = await sandbox.startModel(reply('answer'));
    const config = sandbox.createConfig({}).use('model', async () => undefined);
    const chat = new GeminiChat({ config, models, model: 'm' });
    await expect(readToEnd(chat.sendMessageStream('go'))).rejects.toThrow(/set call\.response/);
  });
});
