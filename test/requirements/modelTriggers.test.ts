import type { GenerateContentParameters } from '@google/genai';
import { describe, expect, it } from 'vitest';
import { Config } from '../../src/config/config.js';
import type { AnyHookContext } from '../../src/context.js';
import {
  fireAfterModelHook,
  fireBeforeModelHook,
  fireBeforeToolSelectionHook,
} from '../../src/core/geminiChatHookTriggers.js';
import { fireAfterToolHook, fireBeforeToolHook } from '../../src/core/coreToolHookTriggers.js';
import { textResponse } from '../../src/protocol/response.js';
import { makeEmptySuccessResult } from '../../middleware/aggregator.js';
import { events } from '../../src/protocol/events.js';
import type { HookSystem } from '../../src/hooks/hookSystem.js';
import type { HookDefinitions } from '../../src/protocol/types.js';
import { hook, keepInput, saying } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';

const temp = useTempDir();
const request: GenerateContentParameters = {
  model: 'm',
  contents: 'hi',
  config: { temperature: 1, tools: [{ functionDeclarations: [{ name: 'glob' }] }] },
};
const response = textResponse('hello');

/** A config of which each model event has one hook, which prints this. */
function createConfig(output: object): Config {
  const group = [{ hooks: [saying(output)] }];
  const hooks = { BeforeModel: group, AfterModel: group, BeforeToolSelection: group };
  return configWith(hooks);
}

function configWith(hooks: HookDefinitions, debugLogger = new RecordingLogger()): Config {
  return new Config({
    enableHooks: true,
    workingDir: temp.path,
    hooks,
    debugLogger,
  });
}

class BrokenConfig extends Config {
  override getHookSystem(): HookSystem | undefined {
    throw new Error('no hook system');
  }
}

describe('the triggers', () => {
  it('of the model events show their hooks the request that they are given', async () => {
    const keep = [{ hooks: [hook(keepInput('seen.json'))] }];
    const config = configWith({ BeforeToolSelection: keep, BeforeModel: keep, AfterModel: keep });
    const llm_request = {
      model: 'm',
      messages: [{ role: 'user', content: 'hi' }],
      config: { temperature: 1 },
      tools: [{ name: 'glob' }],
    };
    await fireBeforeToolSelectionHook(config, request);
    expect(await temp.readJson('seen.json')).toMatchObject({ llm_request });
    await fireBeforeModelHook(config, request);
    expect(await temp.readJson('seen.json')).toMatchObject({ llm_request });
    await fireAfterModelHook(config, request, response);
    const answered = { llm_request, llm_response: { text: 'hello' } };
    expect(await temp.readJson('seen.json')).toMatchObject(answered);
  });

  it('go on when the hook system cannot be reached', async () => {
    const config = new BrokenConfig({ enableHooks: true });
    expect(await fireBeforeModelHook(config, request)).toEqual({ blocked: false });
    expect(await fireAfterModelHook(config, request, response)).toEqual({ response });
    expect(await fireBeforeToolSelectionHook(config, request)).toEqual({});
    expect(await fireBeforeToolHook(config, 'x', {})).toBeUndefined();
    expect(await fireAfterToolHook(config, 'x', {}, {})).toBeUndefined();
  });

  it.each<[string, GenerateContentParameters]>([
    ['is none', null as never],
    [
      'throws',
      {
        model: 'm',
        contents: 'hi',
        get config(): never {
          throw new Error('no config');
        },
      },
    ],
  ])('go on when there is no logger either, and the request %s', async (_, unreadable) => {
    const config = new BrokenConfig({ enableHooks: true });
    config.getDebugLogger = () => {
      throw new Error('no logger');
    };
    expect(await fireBeforeModelHook(config, unreadable)).toEqual({ blocked: false });
    expect(await fireAfterModelHook(config, unreadable, response)).toEqual({ response });
    expect(await fireBeforeToolSelectionHook(config, unreadable)).toEqual({});
    expect(await fireBeforeToolHook(config, 'x', unreadable as never)).toBeUndefined();
    expect(await fireAfterToolHook(config, 'x', unreadable as never, {})).toBeUndefined();
  });

  it('go on, and say so, when what the hooks said cannot be read', async () => {
    const logger = new RecordingLogger();
    const config = configWith({}, logger).use('hook', async (ctx: AnyHookContext) => {
      const finalOutput = new events[ctx.event].Output({
        hookSpecificOutput: {
          llm_request: { messages: [null] },
          llm_response: { candidates: 5 },
          toolConfig: { allowedFunctionNames: 5 },
        },
      });
      ctx.aggregated = { ...makeEmptySuccessResult(), finalOutput };
    });
    expect(await fireBeforeModelHook(config, request)).toEqual({ blocked: false });
    expect(await fireAfterModelHook(config, request, response)).toEqual({ response });
    expect(await fireBeforeToolSelectionHook(config, request)).toEqual({});
    expect(logger.warnings).toEqual(
      ['BeforeModel', 'AfterModel', 'BeforeToolSelection'].map((event) =>
        expect.stringMatching(`^${event}: .* could not be applied`),
      ),
    );
  });

  it('go on without hooks', async () => {
    const config = configWith({});
    expect(await fireBeforeModelHook(config, request)).toEqual({ blocked: false });
    expect((await fireAfterModelHook(config, request, response)).response).toBe(response);
    expect(await fireBeforeToolSelectionHook(config, request)).toEqual({});
  });

  it('go on without a word when hooks say nothing', async () => {
    const silent = [{ hooks: [hook('true')] }];
    const logger = new RecordingLogger();
    const hooks = { BeforeToolSelection: silent, BeforeModel: silent, AfterModel: silent };
    const config = configWith(hooks, logger);
    expect(await fireBeforeModelHook(config, request)).toEqual({ blocked: false });
    expect((await fireAfterModelHook(config, request, response)).response).toBe(response);
    expect(await fireBeforeToolSelectionHook(config, request)).toEqual({});
    expect(logger.warnings).toEqual([]);
  });

  it('of the model events tell a stop and its reason', async () => {
    const config = createConfig({ continue: false, stopReason: 'Enough.' });
    const stop = { stopped: true, stopReason: 'Enough.', decidedBy: [expect.any(String)] };
    expect(await fireBeforeModelHook(config, request)).toMatchObject(stop);
    expect(await fireAfterModelHook(config, request, response)).toMatchObject(stop);
    expect(await fireBeforeToolSelectionHook(config, request)).toEqual(stop);
  });

  it('of the model events tell what is for the model and what not for the user', async () => {
    const said = { systemMessage: 'Mind the gap.', suppressOutput: true };
    const config = createConfig(said);
    expect(await fireBeforeModelHook(config, request)).toMatchObject({ blocked: false, ...said });
    expect(await fireAfterModelHook(config, request, response)).toMatchObject(said);
    expect(await fireBeforeToolSelectionHook(config, request)).toEqual(said);
  });
});

describe('fireBeforeModelHook', () => {
  it.each([
    ['a block', { decision: 'block', reason: 'no' }],
    ['a denial', { decision: 'deny', reason: 'no' }],
    ['a stop without a decision', { continue: false, stopReason: 'no' }],
  ])('reports %s as blocked', async (_, output) => {
    const result = await fireBeforeModelHook(createConfig(output), request);
    expect(result).toMatchObject({ blocked: true, reason: 'no' });
    expect(result.syntheticResponse).toBeUndefined();
  });

  it('gives the synthetic response of a block as one of the SDK', async () => {
    const llm_response = { text: 'cached' };
    const config = createConfig({ decision: 'deny', hookSpecificOutput: { llm_response } });
    const { blocked, syntheticResponse } = await fireBeforeModelHook(config, request);
    expect(blocked).toBe(true);
    expect(syntheticResponse?.candidates?.[0]?.content?.parts).toEqual([{ text: 'cached' }]);
  });

  it('gives a changed request as one of the SDK, and leaves the original', async () => {
    const before = structuredClone(request);
    const llm_request = { config: { temperature: 0 } };
    const config = createConfig({ hookSpecificOutput: { llm_request } });
    const { blocked, modifiedRequest } = await fireBeforeModelHook(config, request);
    expect(blocked).toBe(false);
    expect(modifiedRequest).toEqual({ ...request, config: { ...request.config, temperature: 0 } });
    expect(request).toEqual(before);
  });

  it('gives no request where the hook changes nothing in it', async () => {
    const config = createConfig({ reason: 'r' });
    expect((await fireBeforeModelHook(config, request)).modifiedRequest).toBeUndefined();
  });
});

describe('fireAfterModelHook', () => {
  it('gives the response of the hook, or that of the model', async () => {
    const llm_response = { text: 'redacted' };
    const changing = createConfig({ hookSpecificOutput: { llm_response } });
    const changed = await fireAfterModelHook(changing, request, response);
    expect(changed.response.text).toBe('redacted');
    expect(response.text).toBe('hello');
    const kept = await fireAfterModelHook(createConfig({ reason: 'r' }), request, response);
    expect(kept.response).toBe(response);
  });
});

describe('fireBeforeToolSelectionHook', () => {
  it('gives the tool configuration of the hook, and the definitions as they were', async () => {
    const toolConfig = { mode: 'ANY', allowedFunctionNames: ['glob'] };
    const config = createConfig({ hookSpecificOutput: { toolConfig } });
    expect(await fireBeforeToolSelectionHook(config, request)).toEqual({
      toolConfig: { functionCallingConfig: toolConfig },
      tools: request.config?.tools,
    });
  });
});
