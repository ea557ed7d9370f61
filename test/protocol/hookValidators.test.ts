import { describe, expect, it } from 'vitest';
import { textResponse } from '../../src/protocol/response.js';
import * as validators from '../../src/hooks/hookValidators.js';
import { HookEventName } from '../../src/protocol/types.js';
import { inputs } from '../confirmation-bus/helpers.js';

/** The validator of each event, the fields that it insists on, and those that may be absent. */
const events: readonly [HookEventName, (input: unknown) => boolean, string[], string[]][] = [
  [HookEventName.BeforeTool, validators.validateBeforeToolInput, ['tool_name', 'tool_input'], []],
  [
    HookEventName.AfterTool,
    validators.validateAfterToolInput,
    ['tool_name', 'tool_input', 'tool_response'],
    [],
  ],
  [HookEventName.BeforeModel, validators.validateBeforeModelInput, ['llm_request'], []],
  [
    HookEventName.AfterModel,
    validators.validateAfterModelInput,
    ['llm_request', 'llm_response'],
    [],
  ],
  [
    HookEventName.BeforeToolSelection,
    validators.validateBeforeToolSelectionInput,
    ['llm_request'],
    [],
  ],
  [HookEventName.BeforeAgent, validators.validateBeforeAgentInput, ['prompt'], []],
  [
    HookEventName.AfterAgent,
    validators.validateAfterAgentInput,
    ['prompt', 'prompt_response'],
    ['stop_hook_active'],
  ],
  [HookEventName.SessionStart, validators.validateSessionStartInput, ['source'], []],
  [HookEventName.SessionEnd, validators.validateSessionEndInput, ['reason'], []],
  [HookEventName.PreCompress, validators.validatePreCompressInput, ['trigger'], []],
  [
    HookEventName.Notification,
    validators.validateNotificationInput,
    ['notification_type', 'message'],
    ['details'],
  ],
  [
    HookEventName.SubagentStart,
    validators.validateSubagentStartInput,
    ['agent_id', 'agent_type', 'prompt'],
    [],
  ],
  [
    HookEventName.SubagentStop,
    validators.validateSubagentStopInput,
    ['agent_id', 'agent_type', 'prompt', 'prompt_response'],
    ['stop_hook_active'],
  ],
  [HookEventName.PostCompress, validators.validatePostCompressInput, ['trigger'], ['summary']],
  [
    HookEventName.ModelError,
    validators.validateModelErrorInput,
    ['llm_request', 'error', 'attempt'],
    [],
  ],
  [HookEventName.ToolBatchEnd, validators.validateToolBatchEndInput, ['tool_calls'], []],
];

const exported: Readonly<Record<string, unknown>> = validators;

describe.each(Object.values(HookEventName))('the input of %s', (event) => {
  it('has a validator of its own, which takes it and nothing else', () => {
    const row = events.find(([named]) => named === event);
    const validate = row?.[1];
    expect(validate).toBe(exported[`validate${event}Input`]);
    expect(validate?.(inputs[event])).toBe(true);
    const foreign = Object.values(HookEventName).filter((each) => !isSameShape(each, event));
    for (const each of foreign) expect([each, validate?.(inputs[each])]).toEqual([each, false]);
    expect(validate?.({})).toBe(false);
  });
});

/** Whether an input of one event has all that another asks for. */
function isSameShape(event: HookEventName, other: HookEventName): boolean {
  const required = events.find(([named]) => named === other)?.[2] ?? [];
  return required.every((field) => field in inputs[event]);
}

describe.each(events)('the validator of %s', (event, validate, required, optional) => {
  const good = inputs[event];

  it('takes an input with all fields, and lets others through', () => {
    expect(validate(good)).toBe(true);
    expect(validate({ ...good, session_id: 5, more: {} })).toBe(true);
    expect(Object.keys(good).toSorted()).toEqual([...required, ...optional].toSorted());
  });

  it('modifies nothing', () => {
    const before = structuredClone(good);
    validate(good);
    expect(good).toEqual(before);
  });

  it.each([undefined, null, 'text', 5, true, [], [good], () => good])('refuses %s', (input) => {
    expect(validate(input)).toBe(false);
  });

  it.each(required)('insists on %s', (field) => {
    const { [field]: _, ...rest } = good;
    expect(validate(rest)).toBe(false);
    expect(validate({ ...good, [field]: undefined })).toBe(false);
    expect(validate({ ...good, [field]: null })).toBe(false);
  });

  it.each([...required, ...optional])('refuses a %s of another type', (field) => {
    for (const wrong of [0, [5]]) expect(validate({ ...good, [field]: wrong })).toBe(false);
  });

  it('does without the fields that have a default', () => {
    const rest = Object.fromEntries(required.map((field) => [field, good[field]]));
    expect(validate(rest)).toBe(true);
  });
});

it.each([
  [validators.validateSessionStartInput, { source: 'Startup' }],
  [validators.validateSessionEndInput, { reason: 'promptInputExit' }],
  [validators.validatePreCompressInput, { trigger: 'AUTO' }],
  [validators.validateNotificationInput, { notification_type: 'idle', message: 'm' }],
])('%o refuses a value in the wrong case: %j', (validate, input) => {
  expect(validate(input)).toBe(false);
});

const isRequest = (request: unknown) =>
  validators.validateBeforeModelInput({ llm_request: request });

describe('a request of the model', () => {
  it.each([
    { model: 'm', contents: 'hi' },
    { model: 'm', contents: { text: 'hi' } },
    { model: 'm', contents: [] },
    { model: 'm', contents: ['hi', { text: 'ho' }], config: {} },
    { model: 'm', contents: [{ role: 'user', parts: [] }], more: 1 },
  ])('may be %j', (request) => {
    expect(isRequest(request)).toBe(true);
  });

  it.each([
    {},
    { model: 'm' },
    { contents: 'hi' },
    { model: 5, contents: 'hi' },
    { model: 'm', contents: 5 },
    { model: 'm', contents: 'hi', config: 'hot' },
  ])('may not be %j', (request) => {
    expect(isRequest(request)).toBe(false);
  });
});

const isResponse = (response: unknown) =>
  validators.validateAfterModelInput({
    llm_request: { model: 'm', contents: 'hi' },
    llm_response: response,
  });

const partsOf = (...parts: unknown[]) => ({ candidates: [{ content: { role: 'model', parts } }] });

describe('a response of the model', () => {
  it.each([
    {},
    { candidates: [] },
    { candidates: [{}], usageMetadata: {} },
    { candidates: [null, { content: null }, { content: {} }, { content: { parts: null } }] },
    partsOf({ text: 'a' }, { functionCall: { name: 'f' } }, {}, null),
    { text: 'a', ...partsOf({ text: 'a' }) },
    { text: undefined, promptFeedback: {} },
    { text: '' },
    textResponse('a'),
  ])('may be %j', (response) => {
    expect(isResponse(response)).toBe(true);
  });

  it.each([
    'text',
    { candidates: {} },
    { candidates: 'a' },
    { candidates: ['a'] },
    { candidates: [{ content: 'a' }] },
    { candidates: [{ content: ['a'] }] },
    { candidates: [{ content: { parts: 'a' } }] },
    partsOf('a'),
    partsOf({ text: 'a' }, ['b']),
    { candidates: [...partsOf({ text: 'a' }).candidates, ...partsOf('b').candidates] },
    { text: 'a' },
    { text: 'a', candidates: [] },
  ])('may not be %j', (response) => {
    expect(isResponse(response)).toBe(false);
  });
});
