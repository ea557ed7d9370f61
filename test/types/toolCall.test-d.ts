import type { PartListUnion } from '@google/genai';
import { describe, expectTypeOf, it } from 'vitest';
import {
  executeToolWithHooks,
  fireAfterToolHook,
  fireBeforeToolHook,
  type Config,
  type DefaultHookOutput,
  type ToolCall,
  type ToolResult,
  type Verdict,
} from '../../src/index.js';

declare const config: Config;
declare const call: ToolCall;

describe('ToolResult', () => {
  it('has what the model sees, what the user sees, and four optional fields', () => {
    expectTypeOf<ToolResult['llmContent']>().toEqualTypeOf<PartListUnion>();
    expectTypeOf<ToolResult['returnDisplay']>().toEqualTypeOf<string>();
    expectTypeOf<ToolResult['metadata']>().toEqualTypeOf<Record<string, unknown> | undefined>();
    expectTypeOf<ToolResult['suppressDisplay']>().toEqualTypeOf<boolean | undefined>();
    expectTypeOf<ToolResult['error']>().toEqualTypeOf<
      { message: string; type?: string } | undefined
    >();
    expectTypeOf<{ llmContent: string; returnDisplay: string }>().toExtend<ToolResult>();
    expectTypeOf<{ llmContent: string }>().not.toExtend<ToolResult>();
    expectTypeOf<ToolResult>().not.toHaveProperty('blocked');
  });
});

describe('executeToolWithHooks', () => {
  const result: ToolResult = { llmContent: '', returnDisplay: '' };

  it('returns a tool result', () => {
    expectTypeOf(executeToolWithHooks).returns.toEqualTypeOf<Promise<ToolResult>>();
  });

  it('takes a function of the final arguments, or of none', () => {
    void executeToolWithHooks(config, 'x', {}, async (input) => {
      expectTypeOf(input).toEqualTypeOf<Record<string, unknown>>();
      return result;
    });
    void executeToolWithHooks(config, 'x', {}, async () => result);
    void executeToolWithHooks(config, 'x', {}, () => Promise.resolve(result), {
      signal: new AbortController().signal,
      onHooks: (event, aggregated) => {
        expectTypeOf(event).toExtend<string>();
        expectTypeOf(aggregated.success).toEqualTypeOf<boolean>();
      },
    });
  });

  it('refuses a function of other arguments, or without a result', () => {
    // @ts-expect-error
    void executeToolWithHooks(config, 'x', {}, async (path: string) => ({ ...result, path }));
    // @ts-expect-error
    void executeToolWithHooks(config, 'x', {}, async () => 'done');
    // @ts-expect-error
    void executeToolWithHooks(config, 'x', {}, () => result);
    // @ts-expect-error
    void executeToolWithHooks(config, 'x', 'path', async () => result);
    // @ts-expect-error
    void executeToolWithHooks(config, 'x', {});
  });
});

describe('the triggers', () => {
  it('return what the hooks said, or nothing', () => {
    type Output = Promise<DefaultHookOutput | undefined>;
    expectTypeOf(fireBeforeToolHook).returns.toEqualTypeOf<Output>();
    expectTypeOf(fireAfterToolHook).returns.toEqualTypeOf<Output>();
    expectTypeOf(fireBeforeToolHook).toBeCallableWith(config, 'x', {});
    expectTypeOf(fireAfterToolHook).toBeCallableWith(config, 'x', {}, {});
  });
});

describe('ToolCall', () => {
  it('lets middleware replace input and result, and nothing that it was made from', () => {
    expectTypeOf<ToolCall>().toHaveProperty('input').toEqualTypeOf<Record<string, unknown>>();
    expectTypeOf<ToolCall>().toHaveProperty('result').toEqualTypeOf<ToolResult | undefined>();
    // @ts-expect-error
    call.toolName = 'other';
    // @ts-expect-error
    call.originalInput['path'] = 'other';
    // @ts-expect-error
    call.execute = async () => ({ llmContent: '', returnDisplay: '' });
  });

  it('has a verdict with a reason, unless it is allowed', () => {
    expectTypeOf<Extract<Verdict, { kind: 'allow' }>>().not.toHaveProperty('reason');
    expectTypeOf<Exclude<Verdict, { kind: 'allow' }>['reason']>().toEqualTypeOf<string>();
  });
});
