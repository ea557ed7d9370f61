import { describe, expect, it, vi } from 'vitest';
import { HookEventName } from '../../src/protocol/types.js';
import type { Runner } from '../../middleware/runner.js';
import { hook } from '../helpers/hooks.js';
import { ask, inputs, startHandler, type RequestFields } from './helpers.js';

const { BeforeTool } = HookEventName;
const UUID = /^[\da-f]{8}(-[\da-f]{4}){3}-[\da-f]{12}$/;

/** A handler that tells whether an event got as far as being planned or run. */
function startWatched() {
  const createExecutionPlan = vi.fn(() => ({
    eventName: BeforeTool,
    hookConfigs: [hook('true')],
    sequential: false,
  }));
  const run = vi.fn<Runner['executeHooksParallel']>(async () => []);
  const hooks = { executeHooksParallel: run, executeHooksSequential: run };
  const definition = [{ hooks: [hook('true')] }];
  const definitions = Object.fromEntries(
    Object.values(HookEventName).map((event) => [event, definition]),
  );
  const { bus, logger } = startHandler(
    { hooks: definitions },
    { plans: { createExecutionPlan }, hooks },
  );
  const isTouched = () => createExecutionPlan.mock.calls.length + run.mock.calls.length > 0;
  return { bus, logger, isTouched };
}

/** An AfterModel request of which only the response is bad. */
function answered(response: unknown): RequestFields {
  return {
    eventName: HookEventName.AfterModel,
    input: { ...inputs.AfterModel, llm_response: response },
  };
}

describe('a bad request', () => {
  it.each<[string, RequestFields, string, string[]]>([
    ['an unknown event', { eventName: 'BeforeLunch' }, 'HOOK_UNKNOWN_EVENT', ['eventName']],
    [
      'an event in the wrong case',
      { eventName: 'beforetool' },
      'HOOK_UNKNOWN_EVENT',
      ['eventName'],
    ],
    ['a key of all objects', { eventName: 'toString' }, 'HOOK_UNKNOWN_EVENT', ['eventName']],
    ['no event', { eventName: undefined }, 'HOOK_UNKNOWN_EVENT', ['eventName']],
    ['an event that is no JSON', { eventName: 1n }, 'HOOK_UNKNOWN_EVENT', ['eventName']],
    ['no input', { input: undefined }, 'HOOK_INVALID_PAYLOAD', ['input']],
    ['an input that is null', { input: null }, 'HOOK_INVALID_PAYLOAD', ['input']],
    ['an input that is a list', { input: [] }, 'HOOK_INVALID_PAYLOAD', ['input']],
    ['an input that is a text', { input: 'x' }, 'HOOK_INVALID_PAYLOAD', ['input']],
    [
      'a missing field',
      { input: { tool_name: 'x' } },
      'HOOK_INVALID_PAYLOAD',
      ['input.tool_input'],
    ],
    [
      'two bad fields',
      { input: { tool_name: 5, tool_input: [] } },
      'HOOK_INVALID_PAYLOAD',
      ['input.tool_name', 'input.tool_input'],
    ],
    [
      'a bad field inside of another',
      { eventName: 'BeforeModel', input: { llm_request: { model: 5, contents: 'x' } } },
      'HOOK_INVALID_PAYLOAD',
      ['input.llm_request.model'],
    ],
    [
      'a list in place of a request',
      { eventName: 'BeforeModel', input: { llm_request: [{ model: 'm' }] } },
      'HOOK_INVALID_PAYLOAD',
      ['input.llm_request', 'input.llm_request.model', 'input.llm_request.contents'],
    ],
    [
      'a request of the model as hooks read it',
      {
        eventName: 'BeforeModel',
        input: { llm_request: { model: 'm', messages: [{ role: 'user', content: 'SECRET' }] } },
      },
      'HOOK_INVALID_PAYLOAD',
      ['input.llm_request.contents'],
    ],
    [
      'a response of the model as hooks read it',
      answered({ candidates: [{ content: { role: 'model', parts: ['SECRET'] } }] }),
      'HOOK_INVALID_PAYLOAD',
      ['input.llm_response.candidates'],
    ],
    [
      'a response of the model as hooks write it',
      answered({ text: 'SECRET' }),
      'HOOK_INVALID_PAYLOAD',
      ['input.llm_response'],
    ],
    [
      'a reason that does not exist',
      { eventName: 'SessionEnd', input: { reason: 'Exit' } },
      'HOOK_INVALID_PAYLOAD',
      ['input.reason'],
    ],
  ])('with %s is refused, by the name of the field', async (_, fields, code, paths) => {
    const { bus, logger, isTouched } = startWatched();
    const response = await ask(bus, { correlationId: 'mine', ...fields });
    expect(response).toMatchObject({ correlationId: 'mine', success: false, error: { code } });
    const details = response.error?.details as { path: string; message: string }[];
    expect(details.map(({ path }) => path)).toEqual(paths);
    expect(response.error?.message).toContain(paths[0]);
    expect(response.error?.message).not.toContain('SECRET');
    expect(isTouched()).toBe(false);
    expect(logger.warnings).toHaveLength(1);
  });

  it('whose fields cannot be read is refused', async () => {
    const { bus, isTouched } = startWatched();
    const input = {
      get tool_name(): string {
        throw new Error('unreadable');
      },
    };
    const response = await ask(bus, { correlationId: 'mine', input });
    expect(response).toMatchObject({
      correlationId: 'mine',
      success: false,
      error: { code: 'HOOK_INVALID_PAYLOAD', message: expect.stringContaining('unreadable') },
    });
    expect(response.error?.details).toBeDefined();
    expect(isTouched()).toBe(false);
  });

  it('is told which events there are', async () => {
    const { bus } = startWatched();
    const { error } = await ask(bus, { eventName: 'beforetool' });
    for (const event of Object.values(HookEventName)) expect(error?.message).toContain(event);
  });

  it.each([5, true, {}, ['a']])(
    'with the correlationId %j is refused, under an id that is made up',
    async (correlationId) => {
      const { bus, isTouched } = startWatched();
      const response = await ask(bus, { correlationId });
      expect(response.correlationId).toMatch(UUID);
      expect(response).toMatchObject({
        success: false,
        error: {
          code: 'HOOK_INVALID_PAYLOAD',
          message: expect.stringContaining('correlationId'),
          details: [{ path: 'correlationId' }],
        },
      });
      expect(isTouched()).toBe(false);
    },
  );

  it.each([undefined, null, ''])('with the correlationId %j gets one', async (correlationId) => {
    const { bus, isTouched } = startWatched();
    const response = await ask(bus, { correlationId });
    expect(response.correlationId).toMatch(UUID);
    expect(response).toMatchObject({ success: true });
    expect(isTouched()).toBe(true);
  });

  it.each(Object.values(HookEventName))('of %s is only bad where it says so', async (eventName) => {
    const { bus, isTouched } = startWatched();
    const response = await ask(bus, { eventName, input: inputs[eventName] });
    expect(response.error).toBeUndefined();
    expect(response.success).toBe(true);
    expect(isTouched()).toBe(true);
  });
});
