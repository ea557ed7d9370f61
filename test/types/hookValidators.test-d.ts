import type { GenerateContentParameters } from '@google/genai';
import { describe, expectTypeOf, it } from 'vitest';
import {
  validateAfterAgentInput,
  validateAfterModelInput,
  validateAfterToolInput,
  validateBeforeAgentInput,
  validateBeforeModelInput,
  validateBeforeToolInput,
  validateBeforeToolSelectionInput,
  validateNotificationInput,
  validatePreCompressInput,
  validateSessionEndInput,
  validateSessionStartInput,
  validateToolBatchEndInput,
  type AfterToolInput,
  type BatchedCall,
  type BeforeAgentInput,
  type BeforeToolInput,
  type EventFields,
  type HookEventName,
  type HookInput,
  type ModelErrorInput,
  type ModelFault,
  type NotificationType,
  type PreCompressInput,
  type SessionEndInput,
  type SessionStartInput,
  type SubagentStopInput,
  type ToolBatchEndInput,
} from '../../src/index.js';

declare const input: unknown;

/** The fields of an event's own. */
type Own<T extends HookInput> = Omit<T, keyof HookInput>;

describe('a validator', () => {
  it('narrows what it has checked', () => {
    if (validateBeforeToolInput(input)) {
      expectTypeOf(input).toEqualTypeOf<EventFields<HookEventName.BeforeTool>>();
      expectTypeOf(input.tool_name).toEqualTypeOf<string>();
      expectTypeOf(input.tool_input).toEqualTypeOf<Record<string, unknown>>();
    } else {
      expectTypeOf(input).toBeUnknown();
    }
    // @ts-expect-error
    void input.tool_name;
  });

  it('takes anything', () => {
    expectTypeOf(validateBeforeToolInput).parameter(0).toBeUnknown();
    expectTypeOf(validateToolBatchEndInput).guards.toEqualTypeOf<
      EventFields<HookEventName.ToolBatchEnd>
    >();
    expectTypeOf(validateNotificationInput).parameter(0).toBeUnknown();
  });

  it('is a type predicate of its event', () => {
    expectTypeOf(validateBeforeToolInput).guards.toEqualTypeOf<
      EventFields<HookEventName.BeforeTool>
    >();
    expectTypeOf(validateAfterToolInput).guards.toEqualTypeOf<
      EventFields<HookEventName.AfterTool>
    >();
    expectTypeOf(validateBeforeModelInput).guards.toEqualTypeOf<
      EventFields<HookEventName.BeforeModel>
    >();
    expectTypeOf(validateAfterModelInput).guards.toEqualTypeOf<
      EventFields<HookEventName.AfterModel>
    >();
    expectTypeOf(validateBeforeToolSelectionInput).guards.toEqualTypeOf<
      EventFields<HookEventName.BeforeToolSelection>
    >();
    expectTypeOf(validateBeforeAgentInput).guards.toEqualTypeOf<
      EventFields<HookEventName.BeforeAgent>
    >();
    expectTypeOf(validateAfterAgentInput).guards.toEqualTypeOf<
      EventFields<HookEventName.AfterAgent>
    >();
    expectTypeOf(validateSessionStartInput).guards.toEqualTypeOf<
      EventFields<HookEventName.SessionStart>
    >();
    expectTypeOf(validateSessionEndInput).guards.toEqualTypeOf<
      EventFields<HookEventName.SessionEnd>
    >();
    expectTypeOf(validatePreCompressInput).guards.toEqualTypeOf<
      EventFields<HookEventName.PreCompress>
    >();
    expectTypeOf(validateNotificationInput).guards.toEqualTypeOf<
      EventFields<HookEventName.Notification>
    >();
  });
});

describe('the fields of an event', () => {
  it('are those that its scripts read', () => {
    expectTypeOf<EventFields<HookEventName.BeforeTool>>().toEqualTypeOf<Own<BeforeToolInput>>();
    expectTypeOf<EventFields<HookEventName.AfterTool>>().toEqualTypeOf<Own<AfterToolInput>>();
    expectTypeOf<EventFields<HookEventName.BeforeAgent>>().toEqualTypeOf<Own<BeforeAgentInput>>();
    expectTypeOf<EventFields<HookEventName.SessionStart>>().toExtend<Own<SessionStartInput>>();
    expectTypeOf<EventFields<HookEventName.SessionEnd>>().toExtend<Own<SessionEndInput>>();
    expectTypeOf<EventFields<HookEventName.PreCompress>>().toExtend<Own<PreCompressInput>>();
    expectTypeOf<EventFields<HookEventName.ModelError>['error']>().toEqualTypeOf<ModelFault>();
    expectTypeOf<ModelErrorInput['error']>().toEqualTypeOf<ModelFault>();
    expectTypeOf<SubagentStopInput['agent_id']>().toEqualTypeOf<string>();
    expectTypeOf<ToolBatchEndInput['tool_calls']>().toEqualTypeOf<readonly BatchedCall[]>();
  });

  it('have defaults for some', () => {
    expectTypeOf<EventFields<HookEventName.AfterAgent>['stop_hook_active']>().toEqualTypeOf<
      boolean | undefined
    >();
    expectTypeOf<
      EventFields<HookEventName.Notification>['notification_type']
    >().toEqualTypeOf<NotificationType>();
  });

  it('are those of the SDK where they describe the model', () => {
    expectTypeOf<
      EventFields<HookEventName.BeforeModel>['llm_request']
    >().toExtend<GenerateContentParameters>();
  });
});
