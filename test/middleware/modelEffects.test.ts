import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { GenerateContentResponse } from '@google/genai';
import { describe, expect, it } from 'vitest';
import { modelStages, readOrWarn, type FireHook } from '../../middleware/callerEffects.js';
import type { Middleware } from '../../src/compose.js';
import { Config, type ConfigOptions } from '../../src/config/config.js';
import { createModelCall, type AnyHookContext, type ModelCall } from '../../src/context.js';
import { fireHook, mayBeRead, skipIdle } from '../../src/hooks/fireHook.js';
import { collectResponse, textResponse } from '../../src/protocol/response.js';
import type { Approver } from '../../src/protocol/approval.js';
import {
  HookEventName,
  type CommandHookConfig,
  type HookDefinitions,
} from '../../src/protocol/types.js';
import { hook, saying } from '../helpers/hooks.js';
import { countingNext } from '../helpers/next.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';

const temp = useTempDir();
const request = { model: 'm', contents: 'hi' };

/** The stages over hooks that have been read, a call, and what was fired for it. */
async function open(
  hooks: HookDefinitions,
  options: ConfigOptions = {},
  middleware?: Middleware<AnyHookContext>,
) {
  const logger = new RecordingLogger();
  const config = new Config({
    enableHooks: true,
    workingDir: temp.path,
    debugLogger: logger,
    hooks,
    ...options,
  });
  if (middleware) config.use('hook', middleware);
  await config.getHookSystem()?.initialize();
  const fired: HookEventName[] = [];
  const fire: FireHook = (event, payload, given) => {
    fired.push(event);
    return fireHook(config, event, payload, given);
  };
  const opened: unknown[] = [];
  const call = createModelCall(request, async (sent) => {
    opened.push(sent);
    return streamOf('a', 'b');
  });
  const stages = modelStages(fire, {
    skipIdle: (event) => skipIdle(config, event),
    mayBeRead: (event) => mayBeRead(config, event),
    holdsAnswers: () => config.holdsAnswers(),
    askPerson: config.askPerson,
    getDebugLogger: () => logger,
  });
  return { stages, call, fired, opened, config, logger };
}

async function* streamOf(...texts: string[]): AsyncGenerator<GenerateContentResponse> {
  for (const text of texts) yield textResponse(text);
}

/** The texts of a call's stream; after each of them, `seen` is called. */
async function read(call: ModelCall, seen: (text?: string) => void = () => undefined) {
  const texts = [];
  for await (const { text } of call.stream ?? []) {
    texts.push(text);
    seen(text);
  }
  return texts;
}

describe.each(['beforeToolSelection', 'beforeModel'] as const)('%s', (name) => {
  const event = name === 'beforeModel' ? 'BeforeModel' : 'BeforeToolSelection';

  it('calls the next stage at once where there is nothing to run', async () => {
    const { stages, call } = await open({});
    const next = countingNext();
    const passing = stages[name](call, next);
    expect(next.calls).toBe(1);
    await passing;
    expect(call.contextForModel).toEqual([]);
  });

  it('fires nothing for a call that is refused already', async () => {
    const { stages, call, fired } = await open({ [event]: [{ hooks: [hook('true')] }] });
    call.block('not today');
    const next = countingNext();
    await stages[name](call, next);
    expect({ fired, calls: next.calls }).toEqual({ fired: [], calls: 0 });
  });

  it('leaves no note where a stop has none', async () => {
    const { stages, call } = await open({ [event]: [{ hooks: [saying({ continue: false })] }] });
    await stages[name](call, countingNext());
    expect(call.contextForModel).toEqual([]);
  });
});

describe('a choice of tools', () => {
  it.each([{}, { config: {} }, { config: { toolConfig: {} } }])(
    'is added to a request that has none: %j',
    async (given) => {
      const { stages, call } = await open({
        BeforeToolSelection: [
          { hooks: [saying({ hookSpecificOutput: { toolConfig: { mode: 'ANY' } } })] },
        ],
      });
      call.request = { ...request, ...given };
      await stages.beforeToolSelection(call, countingNext());
      expect(call.request.config?.toolConfig).toEqual({ functionCallingConfig: { mode: 'ANY' } });
    },
  );
});

describe('an answer in place of the model', () => {
  it('is not shown where the hook hides it', async () => {
    const answer = { hookSpecificOutput: { llm_response: { text: 'cached' } } };
    const denial = saying({ decision: 'deny', suppressOutput: true, ...answer });
    const { stages, call } = await open({ BeforeModel: [{ hooks: [denial] }] });
    await stages.beforeModel(call, countingNext());
    expect(call).toMatchObject({ synthetic: true, suppressDisplay: true, stream: undefined });
    expect(call.response?.text).toBe('cached');
  });
});

/** Has the hooks ask a person who says no; `asked` is what about. */
async function refuse(...hooks: CommandHookConfig[]) {
  const asked: unknown[] = [];
  const approver: Approver = ({ input, originalInput }) => {
    asked.push({ input, originalInput });
    return { decision: 'deny', reason: 'never' };
  };
  const { stages, call } = await open({ BeforeModel: [{ hooks }] }, { approver });
  const next = countingNext();
  await stages.beforeModel(call, next);
  expect(next.calls).toBe(0);
  return { asked, verdict: call.verdict };
}

describe('a person who is asked about a request', () => {
  const asks = saying({
    decision: 'ask',
    hookSpecificOutput: { llm_request: { config: { temperature: 0.25 } } },
  });

  it('sees it as it will be sent and as it was, and may say no', async () => {
    const { asked, verdict } = await refuse(asks);
    const input = { ...request, config: { temperature: 0.25 } };
    expect(asked).toMatchObject([{ input, originalInput: request }]);
    expect(verdict).toMatchObject({ kind: 'block', hooks: [asks.command] });
  });

  it('is not asked where another hook stops', async () => {
    const { asked, verdict } = await refuse(asks, saying({ continue: false }));
    expect(asked).toEqual([]);
    expect(verdict.kind).toBe('stop');
  });
});

describe('a request that is changed after hooks have seen it', () => {
  const tools = { config: { tools: [{ functionDeclarations: [{ name: 'glob' }] }] } };
  const both = ['beforeToolSelection', 'beforeModel'] as const;

  it.each([
    { names: both, change: {}, again: [] },
    { names: both, change: { contents: 'other' }, again: ['BeforeModel'] },
    { names: both, change: tools, again: ['BeforeToolSelection', 'BeforeModel'] },
    { names: ['beforeModel'] as const, change: tools, again: ['BeforeModel'] },
    { names: [], change: tools, again: [] },
  ])('by $change is put again to $again', async ({ names, change, again }) => {
    const silent = [{ hooks: [hook('true')] }];
    const hooks = { BeforeToolSelection: silent, BeforeModel: silent };
    const { stages, call, fired, opened } = await open(hooks);
    for (const name of names) await stages[name](call, countingNext());
    fired.length = 0;
    if (Object.keys(change).length > 0) call.request = { ...call.request, ...change };
    await stages.openStream(call, countingNext());
    expect(fired).toEqual(again);
    expect(opened).toEqual([{ ...request, ...change }]);
  });
});

describe('the stream', () => {
  it('is not opened, and nothing is thrown, for a call that is refused and given up', async () => {
    const { stages, opened } = await open({});
    const call = createModelCall(request, async () => streamOf('a'), {
      signal: AbortSignal.abort(),
    });
    call.block('not today');
    await stages.openStream(call, countingNext());
    expect(opened).toEqual([]);
    expect(call.stream).toBeUndefined();
  });

  it('is not opened for a call that is refused', async () => {
    const { stages, call, opened } = await open({});
    call.block('not today');
    const next = countingNext();
    await stages.openStream(call, next);
    expect({ opened, calls: next.calls }).toEqual({ opened: [], calls: 0 });
  });
});

/** A call whose answer, a and b, is on its way through AfterModel hooks. */
async function answering(
  hooks: HookDefinitions['AfterModel'],
  options?: ConfigOptions,
  middleware?: Middleware<AnyHookContext>,
) {
  const opened = await open({ AfterModel: hooks }, options, middleware);
  const { stages, call } = opened;
  await stages.afterModel(call, () => stages.openStream(call, countingNext()));
  return opened;
}

const redacting = saying({ hookSpecificOutput: { llm_response: { text: 'redacted' } } });

describe('while the answer comes', () => {
  it.each([
    ['a', ['a']],
    ['b', ['a', 'b']],
  ])('a block after "%s" drops the rest, and fires nothing', async (at, shown) => {
    const { call, fired } = await answering([{ hooks: [redacting] }]);
    const texts = await read(call, (text) => {
      if (text === at) call.block('not today');
    });
    expect(texts).toEqual(shown);
    expect(fired).toEqual([]);
    expect(call.response?.text).not.toBe('redacted');
  });

  it.each(['stream', 'hold'] as const)(
    'a block while hooks look at all of it counts more than what they say: %s',
    async (afterModelDisplay) => {
      const output = {
        systemMessage: 'note',
        hookSpecificOutput: { llm_response: { text: 'redacted' } },
      };
      const slow = saying(output, {
        before: ': > begun; until [ -e blocked ]; do sleep 0.01; done',
      });
      const { call, fired } = await answering([{ hooks: [slow] }], { afterModelDisplay });
      const reading = read(call);
      await expect.poll(() => temp.readLines('begun').catch(() => undefined)).toEqual([]);
      call.block('not today');
      await writeFile(path.join(temp.path, 'blocked'), '');
      expect(await reading).toEqual(afterModelDisplay === 'stream' ? ['a', 'b'] : []);
      expect(fired).toEqual(['AfterModel']);
      expect(call.verdict).toMatchObject({ kind: 'block', reason: 'not today' });
      expect(call.contextForModel).toEqual([]);
      expect(call.response?.text).not.toBe('redacted');
    },
  );

  it('hooks that are switched off meanwhile change nothing', async () => {
    const { call, config } = await answering([{ hooks: [{ ...redacting, name: 'redact' }] }]);
    const texts = await read(call, () => {
      config.getHookSystem()?.setHookEnabled('redact', false);
    });
    expect(texts).toEqual(['a', 'b']);
    expect(call.response).toBeUndefined();
  });

  it('the answer is what came of it, and nothing else, where hooks say nothing', async () => {
    const { call } = await answering([{ hooks: [saying({})] }]);
    await read(call);
    expect(call.response).toEqual(collectResponse([textResponse('a'), textResponse('b')]));
  });

  it('no note is left where hooks have none', async () => {
    const { call } = await answering([{ hooks: [redacting] }]);
    await read(call);
    expect(call.response?.text).toBe('redacted');
    expect(call.contextForModel).toEqual([]);
  });

  it('the answer stays where what hooks said cannot be read', async () => {
    const { call, logger } = await answering([{ hooks: [redacting] }], {}, async (ctx, next) => {
      await next();
      const { finalOutput } = ctx.aggregated ?? {};
      if (finalOutput) finalOutput.hookSpecificOutput = { llm_response: { candidates: 5 } };
    });
    await read(call);
    expect(call.response?.text).toBe('ab');
    expect(logger.warnings).toEqual([
      expect.stringMatching(/^AfterModel: .* could not be applied/),
    ]);
  });
});

describe('understood', () => {
  const { BeforeModel } = HookEventName;

  it('changes nothing where what was said cannot be read, and says why', () => {
    const logger = new RecordingLogger();
    const host = { getDebugLogger: () => logger };
    const error = new Error('no response');
    const fail = (): string => {
      throw error;
    };
    expect(readOrWarn(BeforeModel, host, fail, 'otherwise')).toBe('otherwise');
    expect(logger.records).toMatchObject([
      {
        level: 'warn',
        message:
          'BeforeModel: what the hooks wanted changed could not be applied; what they decided counts',
        details: { error },
      },
    ]);
    expect(readOrWarn(BeforeModel, host, () => 'read', 'otherwise')).toBe('read');
    expect(logger.records).toHaveLength(1);
  });
});
