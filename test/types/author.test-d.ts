import type { PartListUnion } from '@google/genai';
import { describe, expectTypeOf, it } from 'vitest';
import { Block, defineHook, type HookAnswer, type HookReads } from '../../src/author.js';
import type { LLMRequest } from '../../src/index.js';

describe('defineHook', () => {
  it('types what the hook reads, by event', () => {
    void defineHook('BeforeTool', (input) => {
      expectTypeOf(input.tool_input).toEqualTypeOf<Record<string, unknown>>();
      // @ts-expect-error
      void input.prompt;
    });
    void defineHook('BeforeModel', async (input) => {
      expectTypeOf(input.llm_request).toEqualTypeOf<LLMRequest>();
    });
    expectTypeOf<HookReads<'BeforeAgent'>['prompt']>().toEqualTypeOf<string>();
  });

  it('takes the answers of the event, sync and async', () => {
    void defineHook('BeforeTool', () => ({ decision: 'deny', reason: 'no' }));
    void defineHook('BeforeTool', async () => ({
      hookSpecificOutput: { tool_input: { file_path: 'x' } },
    }));
    void defineHook('AfterModel', () => ({ hookSpecificOutput: { llm_response: { text: 'x' } } }));
    void defineHook('SessionEnd', () => undefined);
    expectTypeOf<HookAnswer<'AfterTool'>['hookSpecificOutput']>().toEqualTypeOf<
      | {
          additionalContext?: string;
          tool_response?: string | { llmContent?: PartListUnion; returnDisplay?: string };
        }
      | undefined
    >();
  });

  it('refuses what has no effect', () => {
    // @ts-expect-error
    void defineHook('BeforeLunch', () => undefined);
    // @ts-expect-error
    void defineHook('BeforeTool', () => ({ decision: 'maybe' }));
    // @ts-expect-error
    void defineHook('BeforeTool', () => ({ hookSpecificOutput: { additionalContext: 'x' } }));
    // @ts-expect-error
    void defineHook('AfterTool', () => 'text');
  });

  it('never gives control back', () => {
    expectTypeOf(defineHook('Notification', () => undefined)).resolves.toBeNever();
    expectTypeOf(new Block('x')).toExtend<Error>();
  });
});
