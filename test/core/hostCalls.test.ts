import type { GenerateContentParameters, GenerateContentResponse } from '@google/genai';
import { describe, expect, it } from 'vitest';
import type { ToolCallAbandonedError } from '../../src/core/coreToolHookTriggers.js';
import { executeToolWithHooks, openToolCall } from '../../src/core/coreToolHookTriggers.js';
import { CoreToolScheduler } from '../../src/core/coreToolScheduler.js';
import { callModelWithHooks, type ModelTurn } from '../../src/core/modelCall.js';
import { createResponse } from '../../src/protocol/response.js';
import type { HookDefinitions } from '../../src/protocol/types.js';
import { blocking, saying } from '../helpers/hooks.js';
import { useSandbox } from './helpers/sandbox.js';

const sandbox = useSandbox();
const done = { llmContent: 'done', returnDisplay: 'done' };

/** The call, where it is not refused. */
async function opened(starting: ReturnType<typeof openToolCall>) {
  const call = await starting;
  if ('refused' in call) throw new Error('The call was refused');
  return call;
}

/** A hook that keeps what it reads. */
const keep = (file: string) => saying({}, { before: `cat > ${file}` });
const read = (file: string) => JSON.parse(sandbox.read(file) ?? '{}') as Record<string, unknown>;

describe('a tool call in two halves', () => {
  const context = saying({ hookSpecificOutput: { additionalContext: 'checked' } });
  const hooks: HookDefinitions = {
    BeforeTool: [
      { matcher: 'delete', hooks: [blocking('never')] },
      { matcher: 'add', hooks: [saying({ hookSpecificOutput: { tool_input: { b: 10 } } })] },
    ],
    AfterTool: [{ hooks: [context] }],
  };

  /** What a middleware around the tool has seen. */
  function open(signal?: AbortSignal) {
    const seen: unknown[] = [];
    const config = sandbox.createConfig(hooks);
    config.use('tool', async (call, next) => {
      await next().catch((error: unknown) => {
        seen.push(error);
        throw error;
      });
      seen.push(call.result?.llmContent);
    });
    const start = async (name: string) => openToolCall(config, name, { a: 1 }, { signal });
    return { seen, start };
  }

  it('has the arguments that hooks left, and its result what hooks make of it', async () => {
    const { seen, start } = open();
    const call = await opened(start('add'));
    expect(call.input).toEqual({ a: 1, b: 10 });
    expect(seen).toEqual([]);
    const result = await call.finish(done);
    expect(result.llmContent).toContain('checked');
    expect(seen).toEqual([result.llmContent]);
  });

  it('is refused with what the model reads, and no second half', async () => {
    const { start } = open();
    expect(await start('delete')).toMatchObject({
      refused: { llmContent: 'never', error: { type: 'blocked_by_hook' } },
    });
  });

  it('fails as the tool does, which middleware sees', async () => {
    const { seen, start } = open();
    const call = await opened(start('add'));
    const error = new Error('no disk');
    await expect(call.fail(error)).rejects.toBe(error);
    expect(seen).toEqual([error]);
  });

  it('can be abandoned, and nobody is told but middleware', async () => {
    const { seen, start } = open();
    const call = await opened(start('add'));
    expect(await call.abandon()).toBeUndefined();
    const [error] = seen as ToolCallAbandonedError[];
    expect(error).toMatchObject({ code: 'TOOL_CALL_ABANDONED', message: /"add" was abandoned/ });
  });

  it('is ended by an abort, and an end that comes later changes nothing', async () => {
    const controller = new AbortController();
    const { seen, start } = open(controller.signal);
    const call = await opened(start('add'));
    const reason = new Error('enough');
    controller.abort(reason);
    await expect(call.finish(done)).rejects.toBe(reason);
    await expect.poll(() => seen).toEqual([reason]);
    expect(await call.abandon()).toBeUndefined();
  });

  it('ends once: what is said later gives the same result', async () => {
    const { start } = open();
    const call = await opened(start('add'));
    const [first, second] = await Promise.all([call.finish(done), call.fail(new Error('no'))]);
    expect(second).toBe(first);
  });

  it('refuses options that do not exist', async () => {
    const wrong = { sinal: undefined, callID: '1' };
    const starting = openToolCall(sandbox.createConfig({}), 'add', {}, wrong as object);
    await expect(starting).rejects.toThrow('openToolCall() has no option "callID"');
  });
});

const request: GenerateContentParameters = {
  model: 'm',
  contents: [{ role: 'user', parts: [{ text: 'Hello' }] }],
  config: {
    systemInstruction: 'Be brief.',
    tools: [{ functionDeclarations: [{ name: 'add', description: 'Adds.' }, { name: 'sum' }] }],
  },
};

const answer = (text: string) =>
  createResponse({ candidates: [{ content: { role: 'model', parts: [{ text }] } }] });

/** Calls a model that answers in these chunks, and reads all of it. */
async function callModel(hooks: HookDefinitions, chunks: readonly string[] = ['Hel', 'lo.']) {
  const sent: GenerateContentParameters[] = [];
  async function* stream(): AsyncGenerator<GenerateContentResponse> {
    yield* chunks.map(answer);
  }
  const calling = callModelWithHooks(
    sandbox.createConfig(hooks),
    request,
    async (changed) => {
      sent.push(changed);
      return stream();
    },
    {},
  );
  const shown: (string | undefined)[] = [];
  let step: IteratorResult<GenerateContentResponse, ModelTurn>;
  while (!(step = await calling.next()).done) shown.push(step.value.text);
  return { sent, shown, turn: step.value };
}

async function* endless(): AsyncGenerator<GenerateContentResponse> {
  for (;;) yield answer('.');
}

async function fail(): Promise<never> {
  throw new Error('no model');
}

describe('a model call of its own', () => {
  it('gives its chunks, and in the end how it ended', async () => {
    const { shown, turn, sent } = await callModel({});
    expect(shown).toEqual(['Hel', 'lo.']);
    expect(turn).toMatchObject({ blocked: false, synthetic: false, verdict: { kind: 'allow' } });
    expect(turn.response.text).toBe('Hello.');
    expect(sent).toEqual([request]);
  });

  it('is blocked, answered in its place, and changed by hooks', async () => {
    const blocked = await callModel({ BeforeModel: [{ hooks: [blocking('no')] }] });
    expect([blocked.sent, blocked.shown]).toEqual([[], []]);
    expect(blocked.turn.verdict).toMatchObject({ kind: 'block', reason: 'no' });
    const synthetic = {
      decision: 'block',
      hookSpecificOutput: { llm_response: { text: 'Mine.' } },
    };
    const replaced = await callModel({ BeforeModel: [{ hooks: [saying(synthetic)] }] });
    expect(replaced).toMatchObject({ sent: [], shown: ['Mine.'], turn: { synthetic: true } });
    const colder = { hookSpecificOutput: { llm_request: { config: { temperature: 0 } } } };
    const changed = await callModel({ BeforeModel: [{ hooks: [saying(colder)] }] });
    expect(changed.sent).toMatchObject([{ config: { temperature: 0 } }]);
    const redacted = { hookSpecificOutput: { llm_response: { text: 'H.' } } };
    const after = await callModel({ AfterModel: [{ hooks: [saying(redacted)] }] });
    expect(after.turn.response.text).toBe('H.');
  });

  it('tells the model that its reader has left', async () => {
    const signals: AbortSignal[] = [];
    const chunks = callModelWithHooks(sandbox.createConfig({}), request, async (_, signal) => {
      signals.push(signal);
      return endless();
    });
    for await (const _ of chunks) break;
    expect(signals.map(({ aborted }) => aborted)).toEqual([true]);
  });

  it('throws what the model throws, the reason of an abort, and for options that do not exist', async () => {
    const config = sandbox.createConfig({});
    await expect(callModelWithHooks(config, request, fail).next()).rejects.toThrow('no model');
    const options = { signal: AbortSignal.abort(new Error('enough')) };
    const aborted = callModelWithHooks(config, request, fail, options);
    await expect(aborted.next()).rejects.toThrow('enough');
    const wrong = callModelWithHooks(config, request, fail, {
      onHook: undefined,
      callId: '1',
    } as object);
    await expect(wrong.next()).rejects.toThrow('callModelWithHooks() has no option "callId"');
  });
});

describe('hooks of a model call', () => {
  it.each(['BeforeToolSelection', 'BeforeModel', 'AfterModel'])(
    'read at %s which tools there are, and the system instruction',
    async (event) => {
      await callModel({ [event]: [{ hooks: [keep('seen.json')] }] });
      expect(read('seen.json')['llm_request']).toMatchObject({
        tools: [{ name: 'add', description: 'Adds.' }, { name: 'sum' }],
        systemInstruction: 'Be brief.',
      });
    },
  );

  it('change neither of the two, for the model and for the next hook', async () => {
    const llm_request = { tools: [], systemInstruction: 'Say all.', config: { topK: 1 } };
    const { sent } = await callModel({
      BeforeModel: [
        {
          sequential: true,
          hooks: [saying({ hookSpecificOutput: { llm_request } }), keep('next.json')],
        },
      ],
    });
    expect(sent[0]?.config).toEqual({ ...request.config, topK: 1 });
    expect(read('next.json')['llm_request']).toMatchObject({
      tools: [{ name: 'add' }, { name: 'sum' }],
      systemInstruction: 'Be brief.',
    });
  });
});

describe('what hooks do not see of a request', () => {
  const ORIGINAL = Symbol('original');

  it('stays as it is, unknown and symbol keys of contents and parts included', async () => {
    const part = { text: 'Hello', [ORIGINAL]: { id: 1 }, providerOptions: { cache: true } };
    const image = { inlineData: { data: 'AAAA', mimeType: 'image/png' }, [ORIGINAL]: { id: 2 } };
    const content = { role: 'user', parts: [part, image], [ORIGINAL]: 'message', name: 'ada' };
    const kept = { role: 'model', parts: [{ text: 'Yes', [ORIGINAL]: 3 }], extra: [1] };
    const sent: GenerateContentParameters[] = [];
    const hook = saying({
      hookSpecificOutput: {
        llm_request: {
          messages: [
            { role: 'user', content: 'Changed' },
            { role: 'model', content: 'Yes' },
          ],
        },
      },
    });
    const calling = callModelWithHooks(
      sandbox.createConfig({ BeforeModel: [{ hooks: [hook] }] }),
      { model: 'm', contents: [content, kept], config: { seed: 7 } },
      async (changed) => {
        sent.push(changed);
        return (async function* () {
          yield answer('ok');
        })();
      },
    );
    while (!(await calling.next()).done);
    const [{ contents, config } = { contents: [], config: {} }] = sent;
    expect(config).toEqual({ seed: 7 });
    const [first, second] = contents as (typeof content)[];
    expect(first).toMatchObject({ [ORIGINAL]: 'message', name: 'ada' });
    expect(first?.parts[0]).toEqual({ ...part, text: 'Changed' });
    expect(first?.parts[1]).toBe(image);
    expect(second).toBe(kept);
  });
});

describe('a call for a session of its own', () => {
  const keeping = saying(
    {},
    { before: 'cat > seen.json; pwd > pwd.txt; echo $CLAUDE_PROJECT_DIR >> pwd.txt' },
  );
  const session = {
    sessionId: 'other',
    cwd: '/elsewhere',
    transcriptPath: '/elsewhere/t.jsonl',
    agent: 'reviewer',
  };
  const asRead = {
    session_id: 'other',
    cwd: '/elsewhere',
    transcript_path: '/elsewhere/t.jsonl',
    agent: 'reviewer',
  };

  it('has hooks read its identity, and run where they were allowed', async () => {
    const config = sandbox.createConfig({ BeforeTool: [{ hooks: [keeping] }] });
    const fields = { session };
    await executeToolWithHooks(config, 'add', {}, async () => done, fields);
    expect(read('seen.json')).toMatchObject(asRead);
    expect(sandbox.read('pwd.txt')).toBe(`${sandbox.workingDir}\n${sandbox.workingDir}\n`);
    // Also once a shell was made ready.
    await executeToolWithHooks(config, 'add', {}, async () => done, fields);
    expect(sandbox.read('pwd.txt')).toBe(`${sandbox.workingDir}\n${sandbox.workingDir}\n`);
  });

  it('has it in a model call, two halves and the scheduler too', async () => {
    const hooks = { BeforeTool: [{ hooks: [keeping] }], BeforeModel: [{ hooks: [keeping] }] };
    const config = sandbox.createConfig(hooks);
    const calling = callModelWithHooks(config, request, async () => (async function* () {})(), {
      session,
    });
    while (!(await calling.next()).done);
    expect(read('seen.json')).toMatchObject(asRead);
    sandbox.remove('seen.json');
    const call = await openToolCall(config, 'add', {}, { session });
    expect(read('seen.json')).toMatchObject(asRead);
    if ('abandon' in call) await call.abandon();
    sandbox.remove('seen.json');
    const tools = [{ name: 'add', declaration: { name: 'add' }, execute: async () => done }];
    await new CoreToolScheduler({ config, tools, session }).schedule([{ name: 'add' }]);
    expect(read('seen.json')).toMatchObject(asRead);
  });

  it('has what is left out from the Config, but no transcript of another session', async () => {
    const config = sandbox.createConfig(
      { BeforeTool: [{ hooks: [keeping] }] },
      { sessionId: 'own', transcriptPath: '/own.jsonl' },
    );
    const run = async (given: object) => {
      await executeToolWithHooks(config, 'add', {}, async () => done, { session: given });
      return read('seen.json');
    };
    expect(await run({})).toMatchObject({ session_id: 'own', transcript_path: '/own.jsonl' });
    expect(await run({ agent: 'a' })).toMatchObject({ session_id: 'own', agent: 'a' });
    expect(await run({ sessionId: 'other' })).toMatchObject({ transcript_path: '' });
  });

  it('is asked about for itself: a yes for a session counts for no other one', async () => {
    const asked: [string, string][] = [];
    const config = sandbox.createConfig(
      { BeforeTool: [{ hooks: [saying({ decision: 'ask' })] }] },
      {
        approver: ({ sessionId, workingDir }) => {
          asked.push([sessionId, workingDir]);
          return { decision: 'allow', remember: 'session' };
        },
      },
    );
    for (const sessionId of ['one', 'two', 'one', 'two']) {
      await executeToolWithHooks(config, 'add', {}, async () => done, {
        session: { sessionId, cwd: `/${sessionId}` },
      });
    }
    expect(asked).toEqual([
      ['one', '/one'],
      ['two', '/two'],
    ]);
  });
});
