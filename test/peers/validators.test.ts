import { describe, expect, it } from 'vitest';
import * as fc from 'fast-check';
import * as validators from '../../src/hooks/hookValidators.js';
import { HookEventName } from '../../src/index.js';
import { inputs } from '../confirmation-bus/helpers.js';

// What the validators of LLxprt are tested for. Where ours differ, see differences.test.ts.

type Validate = (input: unknown) => boolean;
const validatorOf = (event: HookEventName) =>
  (validators as unknown as Record<string, Validate>)[`validate${event}Input`] as Validate;

const eventNames = Object.values(HookEventName);

/** Fields that an event cannot do without, and a value of a wrong type for each. */
const required: [HookEventName, field: string, wrong: unknown][] = [
  [HookEventName.BeforeTool, 'tool_name', 5],
  [HookEventName.BeforeTool, 'tool_input', 'text'],
  [HookEventName.AfterTool, 'tool_name', 5],
  [HookEventName.AfterTool, 'tool_input', 'text'],
  [HookEventName.AfterTool, 'tool_response', 'text'],
  [HookEventName.BeforeModel, 'llm_request', 'text'],
  [HookEventName.AfterModel, 'llm_request', 'text'],
  [HookEventName.AfterModel, 'llm_response', 'text'],
  [HookEventName.BeforeToolSelection, 'llm_request', []],
  [HookEventName.BeforeAgent, 'prompt', 123],
  [HookEventName.AfterAgent, 'prompt', 123],
  [HookEventName.AfterAgent, 'prompt_response', 123],
  [HookEventName.Notification, 'notification_type', 'Unknown'],
  [HookEventName.Notification, 'message', 123],
];

describe('an input', () => {
  it.each(eventNames)('of %s is taken, with fields that nobody knows too', (event) => {
    expect(validatorOf(event)(inputs[event])).toBe(true);
    expect(validatorOf(event)({ ...inputs[event], extra_flag: true, extra_count: 3 })).toBe(true);
  });

  it.each(required)('of %s is refused without %s, or with a wrong one', (event, field, wrong) => {
    const { [field]: _removed, ...others } = inputs[event];
    expect(validatorOf(event)(others)).toBe(false);
    expect(validatorOf(event)({ ...others, [field]: wrong })).toBe(false);
  });

  it.each(eventNames)('of %s is refused where it is not an object', (event) => {
    const noObject = fc.oneof(
      fc.constantFrom(null, undefined),
      fc.integer(),
      fc.float(),
      fc.boolean(),
      fc.string(),
    );
    fc.assert(fc.property(noObject, (value) => !validatorOf(event)(value)));
    expect(validatorOf(event)([])).toBe(false);
  });

  it('of a tool is taken whatever its arguments are', () => {
    const toolInput = fc.dictionary(fc.string(), fc.jsonValue());
    fc.assert(
      fc.property(fc.string({ minLength: 1 }), toolInput, (toolName, args) =>
        validators.validateBeforeToolInput({ tool_name: toolName, tool_input: args }),
      ),
    );
  });

  it.each<[HookEventName, object]>([
    [HookEventName.BeforeModel, { contents: [] }],
    [HookEventName.AfterModel, { contents: [] }],
    [HookEventName.BeforeToolSelection, { contents: [] }],
  ])('of %s is refused where its request names no model', (event, request) => {
    expect(validatorOf(event)({ ...inputs[event], llm_request: request })).toBe(false);
  });
});
