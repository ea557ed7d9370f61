import type {
  GenerateContentParameters,
  GenerateContentResponse,
  ToolConfig,
  ToolListUnion,
} from '@google/genai';
import { describe, expectTypeOf, it } from 'vitest';
import { fireHook } from '../../src/hooks/fireHook.js';
import {
  fireAfterModelHook,
  fireBeforeModelHook,
  fireBeforeToolSelectionHook,
  HookEventName,
  type AfterModelHookResult,
  type AnyHookContext,
  type BeforeModelHookResult,
  type BeforeToolSelectionHookResult,
  type Config,
  type HookContext,
  type HookDecision,
  type HookEventHandler,
  type HookSystem,
  type ProcessedHookResult,
  type LLMRequest,
  type LLMResponse,
  type SessionEndReason,
  type SessionStartSource,
} from '../../src/index.js';

declare const config: Config;
declare const ctx: AnyHookContext;

describe('HookContext', () => {
  it('is narrowed by its event', () => {
    if (ctx.event === HookEventName.BeforeTool) {
      expectTypeOf(ctx).toEqualTypeOf<HookContext<HookEventName.BeforeTool>>();
      expectTypeOf(ctx.payload.toolName).toEqualTypeOf<string>();
      expectTypeOf(ctx.input?.tool_input).toEqualTypeOf<Record<string, unknown> | undefined>();
    }
    if (ctx.event === HookEventName.AfterModel) {
      expectTypeOf(ctx.payload.llmResponse).toEqualTypeOf<GenerateContentResponse>();
      expectTypeOf(ctx.input?.llm_request).toEqualTypeOf<LLMRequest | undefined>();
      expectTypeOf(ctx.input?.llm_response).toEqualTypeOf<LLMResponse | undefined>();
    }
    if (ctx.event === HookEventName.SessionEnd) {
      expectTypeOf(ctx.payload.reason).toEqualTypeOf<SessionEndReason>();
    }
  });

  it('has no field of another event', () => {
    if (ctx.event === HookEventName.BeforeAgent) {
      expectTypeOf(ctx.payload).not.toHaveProperty('toolName');
      // @ts-expect-error
      void ctx.input?.tool_name;
    }
    // @ts-expect-error
    void ctx.payload.toolName;
  });

  it('lets nobody replace what the caller handed in', () => {
    if (ctx.event === HookEventName.BeforeAgent) {
      // @ts-expect-error
      ctx.payload = { prompt: 'other' };
    }
    // @ts-expect-error
    ctx.event = HookEventName.AfterTool;
  });
});

describe('fireHook', () => {
  it('takes the payload of its event, and may have nothing to do', () => {
    const fired = fireHook(config, HookEventName.BeforeAgent, { prompt: 'p' });
    expectTypeOf(fired).toEqualTypeOf<Promise<ProcessedHookResult> | undefined>();
    // @ts-expect-error
    void fireHook(config, HookEventName.BeforeAgent, { toolName: 'x', toolInput: {} });
    // @ts-expect-error
    void fireHook(config, 'BeforeLunch', { prompt: 'p' });
  });
});

describe('the results of the model triggers', () => {
  it('are those of the specification', () => {
    expectTypeOf(fireBeforeModelHook).returns.resolves.toEqualTypeOf<BeforeModelHookResult>();
    expectTypeOf(fireAfterModelHook).returns.resolves.toEqualTypeOf<AfterModelHookResult>();
    expectTypeOf(
      fireBeforeToolSelectionHook,
    ).returns.resolves.toEqualTypeOf<BeforeToolSelectionHookResult>();
    expectTypeOf(fireAfterModelHook).parameter(1).toEqualTypeOf<GenerateContentParameters>();
  });

  it('have these fields', () => {
    expectTypeOf<BeforeModelHookResult['blocked']>().toEqualTypeOf<boolean>();
    expectTypeOf<BeforeModelHookResult['reason']>().toEqualTypeOf<string | undefined>();
    expectTypeOf<BeforeModelHookResult['syntheticResponse']>().toEqualTypeOf<
      GenerateContentResponse | undefined
    >();
    expectTypeOf<BeforeModelHookResult['modifiedRequest']>().toEqualTypeOf<
      GenerateContentParameters | undefined
    >();
    expectTypeOf<AfterModelHookResult['response']>().toEqualTypeOf<GenerateContentResponse>();
    expectTypeOf<BeforeToolSelectionHookResult['toolConfig']>().toEqualTypeOf<
      ToolConfig | undefined
    >();
    expectTypeOf<BeforeToolSelectionHookResult['tools']>().toEqualTypeOf<
      ToolListUnion | undefined
    >();
  });

  it('tell a stop from a block', () => {
    expectTypeOf<BeforeModelHookResult['stopped']>().toEqualTypeOf<boolean | undefined>();
    expectTypeOf<AfterModelHookResult['stopped']>().toEqualTypeOf<boolean | undefined>();
    expectTypeOf<BeforeToolSelectionHookResult['stopReason']>().toEqualTypeOf<string | undefined>();
  });
});

describe('the classes', () => {
  it('have the specified accessors', () => {
    expectTypeOf<HookSystem['getStatus']>().returns.toEqualTypeOf<{
      initialized: boolean;
      totalHooks: number;
    }>();
    expectTypeOf<HookSystem['initialize']>().returns.toEqualTypeOf<Promise<void>>();
    expectTypeOf<HookSystem['getEventHandler']>().returns.toEqualTypeOf<HookEventHandler>();
  });

  it('take the reasons of a session as enums', () => {
    expectTypeOf<HookEventHandler['fireSessionStartEvent']>()
      .parameter(0)
      .toEqualTypeOf<{ source: SessionStartSource }>();
    expectTypeOf<HookEventHandler['fireSessionEndEvent']>()
      .parameter(0)
      .toEqualTypeOf<{ reason: SessionEndReason }>();
  });

  it('know every decision', () => {
    expectTypeOf<HookDecision>().toEqualTypeOf<
      'block' | 'deny' | 'allow' | 'approve' | 'ask' | null | undefined
    >();
  });
});
