import type { GenerateContentParameters, GenerateContentResponse } from '@google/genai';
import { describe, expect, it } from 'vitest';
import { callModelWithHooks, type ModelCallOptions } from '../../src/core/modelCall.js';
import { textResponse } from '../../src/protocol/response.js';
import type { HookDefinitions, HookEventName } from '../../src/protocol/types.js';
import { atOnce } from './helpers/hookScripts.js';
import { useSandbox } from './helpers/sandbox.js';

const sandbox = useSandbox();
const REQUEST: GenerateContentParameters = {
  model: 'm',
  contents: [{ role: 'user', parts: [{ text: 'Hi.' }] }],
};

class Overloaded extends Error {
  readonly status = 503;
  readonly code = 'EBUSY';
}

/** An answer of texts; it fails after them where there is an error. */
async function* answer(
  texts: readonly string[],
  error?: unknown,
): AsyncGenerator<GenerateContentResponse> {
  for (const text of texts) yield textResponse(text);
  if (error !== undefined) throw error;
}

type Try = () => AsyncIterable<GenerateContentResponse>;

const failsAtOnce: Try = () => {
  throw new Overloaded('overloaded');
};
const failsUnread: Try = () => answer([], new Overloaded('overloaded'));
const failsLater: Try = () => answer(['half'], new Overloaded('overloaded'));
const works: Try = () => answer(['whole']);

/** One model call, whose tries go as these do. */
async function call(tries: readonly Try[], hooks: HookDefinitions, options: ModelCallOptions = {}) {
  let opened = 0;
  const open = async () => {
    const next = tries[opened++];
    if (!next) throw new Error('asked too often');
    return next();
  };
  const config = sandbox.createConfig(hooks);
  const shown: (string | undefined)[] = [];
  const turn = callModelWithHooks(config, REQUEST, open, options);
  const read = async () => {
    for (;;) {
      const step = await turn.next();
      if (step.done) return step.value.response.text;
      shown.push(step.value.text);
    }
  };
  const ended = await read().then(
    (text) => ({ text }),
    (error: unknown) => ({ error }),
  );
  return { ended, shown, opened: () => opened };
}

const no = () => sandbox.says({ hookSpecificOutput: { retry: false } });
const again = (fields: object = {}) =>
  sandbox.says({ hookSpecificOutput: { retry: true, ...fields } });

describe('a model call that fails', () => {
  it.each([
    ['before its answer', failsAtOnce],
    ['before anything of its answer is read', failsUnread],
  ])('%s is made again where a hook says so', async (_when, fails) => {
    const retry = again();
    const { ended, shown } = await call([fails, fails, works], { ModelError: atOnce(retry) });
    expect(ended).toEqual({ text: 'whole' });
    expect(shown).toEqual(['whole']);
    expect(retry.inputs()).toMatchObject([
      {
        attempt: 1,
        error: { message: 'overloaded', status: 503, code: 'EBUSY' },
        llm_request: { model: 'm', messages: [{ role: 'user', content: 'Hi.' }] },
      },
      { attempt: 2 },
    ]);
  });

  it('is not made again once something of the answer has been read', async () => {
    const retry = again();
    const { ended, shown, opened } = await call([failsLater], { ModelError: atOnce(retry) });
    expect(ended).toEqual({ error: expect.any(Overloaded) });
    expect(shown).toEqual(['half']);
    expect(opened()).toBe(1);
    expect(retry.inputs()).toHaveLength(1);
  });

  it('is made again three times at most', async () => {
    const retry = again();
    const tries = Array.from({ length: 5 }, () => failsAtOnce);
    const { ended, opened } = await call(tries, { ModelError: atOnce(retry) });
    expect(ended).toEqual({ error: expect.any(Overloaded) });
    expect(opened()).toBe(4);
    expect(retry.inputs<HookEventName.ModelError>().map(({ attempt }) => attempt)).toEqual([
      1, 2, 3, 4,
    ]);
  });

  it('is not made again where one hook says no, in whatever order', async () => {
    for (const hooks of [
      [again(), no()],
      [no(), again()],
    ]) {
      const { opened } = await call([failsAtOnce, works], { ModelError: atOnce(...hooks) });
      expect(opened()).toBe(1);
    }
  });

  it.each([
    ['a stop', () => sandbox.says({ continue: false, hookSpecificOutput: { retry: true } }).config],
    [
      'a guard that fails',
      () => ({ ...sandbox.runs('exit 7').config, onFailure: 'deny' as const }),
    ],
  ])('is not made again after %s', async (_what, make) => {
    const hooks = { ModelError: [{ hooks: [again().config, make()] }] };
    const { ended, opened } = await call([failsAtOnce, works], hooks);
    expect(ended).toEqual({ error: expect.any(Overloaded) });
    expect(opened()).toBe(1);
  });

  it('is made again after the longest time that a hook says', async () => {
    const hooks = { ModelError: atOnce(again({ retryAfterMs: 300 }), again({ retryAfterMs: 1 })) };
    const startedAt = performance.now();
    const { ended } = await call([failsAtOnce, works], hooks);
    expect(ended).toEqual({ text: 'whole' });
    expect(performance.now() - startedAt).toBeGreaterThan(290);
  });

  it('ends with an abort, also while it waits', async () => {
    const reason = new Error('the user has left');
    const abort = new AbortController();
    const { ended, opened } = await call(
      [failsAtOnce, works],
      { ModelError: atOnce(again({ retryAfterMs: 60_000 })) },
      { signal: abort.signal, onHooks: () => abort.abort(reason) },
    );
    expect(ended).toEqual({ error: reason });
    expect(opened()).toBe(1);
  });

  it('by an abort is no ModelError', async () => {
    const abort = new AbortController();
    const retry = again();
    const aborting: Try = () => {
      abort.abort();
      throw new Overloaded('overloaded');
    };
    const hooks = { ModelError: atOnce(retry) };
    await call([aborting, works], hooks, { signal: abort.signal });
    expect(retry.inputs()).toEqual([]);
  });

  it('that the host makes itself, once, fails as it has failed', async () => {
    const error = new Overloaded('overloaded');
    const retry = again();
    const once: Try = () => {
      throw error;
    };
    const { ended } = await call([once, once, once], { ModelError: atOnce(retry) });
    expect(ended).toEqual({ error });
    expect(retry.inputs()).toHaveLength(1);
  });
});
