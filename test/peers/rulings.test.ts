import type { GenerateContentParameters } from '@google/genai';
import { describe, expect, it } from 'vitest';
import {
  defaultHookTranslator,
  executeToolWithHooks,
  fireBeforeModelHook,
  fireBeforeToolHook,
  HookAggregator,
  HookEventName,
  processCommonHookOutputFields,
  type ConfigOptions,
  type HookDefinitions,
  type HookExecutionResponse,
} from '../../src/index.js';
import {
  createRequest,
  HOOK_EXECUTION_RESPONSE,
  startHost,
  ask,
} from '../confirmation-bus/helpers.js';
import { useSandbox } from '../core/helpers/sandbox.js';
import { healthy, hook, saying } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';

// Cases of the peers' tests that the rulings on what arrives as it was said decide.

const sandbox = useSandbox();
const request = { model: 'm', contents: [{ role: 'user', parts: [{ text: 'hi' }] }] };

async function open(hooks: HookDefinitions, options: ConfigOptions = {}) {
  const logger = new RecordingLogger();
  const config = sandbox.createConfig(hooks, { debugLogger: logger, ...options });
  const system = config.getHookSystem();
  if (!system) throw new Error('hooks are off');
  await system.initialize();
  return { config, logger, events: system.getEventHandler() };
}

describe('outputs', () => {
  it('passes over contents that are null', () => {
    const broken = { model: 'm', contents: [null] } as unknown as GenerateContentParameters;
    expect(defaultHookTranslator.toHookLLMRequest(broken)).toEqual({ model: 'm', messages: [] });
  });

  it('trims the reason of a stop (LLxprt)', async () => {
    const stop = saying({ continue: false, stopReason: '  enough \n' });
    const { events } = await open({ BeforeTool: [{ hooks: [stop] }] });
    const aggregated = await events.fireBeforeToolEvent('any', {});
    expect(processCommonHookOutputFields(aggregated).stopReason).toBe('enough');
  });

  it('resolves the reason of a stop in the result of an event (LLxprt)', async () => {
    const stop = saying({ continue: false, reason: 'enough' });
    const { events } = await open({ BeforeTool: [{ hooks: [stop] }] });
    const { finalOutput } = await events.fireBeforeToolEvent('any', {});
    expect(finalOutput?.stopReason).toBe('enough');
  });

  // Both peers join the reasons of all hooks.
  it('explains a block with the words of those that block', () => {
    const results = [
      healthy({ decision: 'allow', reason: 'fine for me' }),
      healthy({ decision: 'block', reason: 'not for me' }),
    ];
    const { finalOutput } = new HookAggregator().aggregateResults(
      results,
      HookEventName.BeforeTool,
    );
    expect(finalOutput).toMatchObject({ decision: 'block', reason: 'not for me' });
  });
});

describe('callers', () => {
  it('give no verdict where the host cannot name the session (LLxprt)', async () => {
    const hooks = [{ hooks: [hook('true')] }];
    const { config } = await open({ BeforeTool: hooks, BeforeModel: hooks });
    config.getSessionId = () => {
      throw new Error('no session');
    };
    expect(await fireBeforeToolHook(config, 'any', {})).toBeUndefined();
    expect(await fireBeforeModelHook(config, request)).toEqual({ blocked: false });
  });

  it('replace a result that a hook for Gemini CLI denies by its reason', async () => {
    const deny = saying({ decision: 'deny', reason: 'Result denied' });
    const { config } = await open({ AfterTool: [{ dialect: 'gemini', hooks: [deny] }] });
    const result = await executeToolWithHooks(config, 'any', {}, async () => ({
      llmContent: 'a secret',
      returnDisplay: 'a secret',
    }));
    expect(JSON.stringify(result.llmContent)).toContain('Result denied');
    expect(JSON.stringify(result.llmContent)).not.toContain('a secret');
  });
});

describe('registry', () => {
  it('tells of hooks that are skipped because their folder is not trusted (Gemini CLI)', async () => {
    const hooks = { BeforeTool: [{ hooks: [hook('true', { onFailure: 'deny' })] }] };
    const { logger } = await open(hooks, { trustedFolder: false });
    expect(logger.warnings).toHaveLength(1);
  });
});

describe('events', () => {
  it('are logged where no hook matches (LLxprt)', async () => {
    const { events, logger } = await open({});
    const before = logger.records.length;
    await events.fireBeforeModelEvent(request);
    const records = logger.records.slice(before);
    expect(records).toContainEqual(expect.objectContaining({ level: 'debug' }));
    expect(JSON.stringify(records)).toContain('BeforeModel');
  });

  it('are not answered over a bus from the call of dispose() on (LLxprt)', async () => {
    const { bus, system } = startHost({ workingDir: sandbox.workingDir });
    await ask(bus);
    const responses: HookExecutionResponse[] = [];
    bus.subscribe(HOOK_EXECUTION_RESPONSE, (each) => void responses.push(each));
    const disposed = system.dispose();
    bus.publish(createRequest({ correlationId: 'too late' }));
    await disposed;
    startHost({ workingDir: sandbox.workingDir, messageBus: bus });
    await ask(bus, { correlationId: 'of the second' });
    expect(responses.map(({ correlationId }) => correlationId)).toEqual(['of the second']);
  });
});
