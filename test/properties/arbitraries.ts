import {
  FunctionCallingConfigMode,
  type Content,
  type GenerateContentParameters,
  type GenerateContentResponse,
  type Part,
} from '@google/genai';
import * as fc from 'fast-check';
import { createResponse } from '../../src/core/response.js';
import { HookEventName, type HookExecutionResult, type HookOutput } from '../../src/hooks/types.js';
import { failed, healthy } from '../helpers/hooks.js';

export const event = fc.constantFrom(...Object.values(HookEventName));

/** Short texts, which are often equal to each other or parts of each other, and some of any characters. */
const text = fc.oneof(
  fc.string({ unit: fc.constantFrom('a', 'b', ' ', '\n'), maxLength: 4 }),
  fc.string({ unit: 'binary', maxLength: 6 }),
);
const line = fc.string({ unit: fc.constantFrom('a', 'b', '"', 'é'), minLength: 1, maxLength: 3 });

const name = fc.constantFrom('read_file', 'write_file', 'glob', 'x');
const bytes = fc.base64String({ maxLength: 8 });

export const textPart: fc.Arbitrary<Part> = fc.oneof(
  text.map((each) => ({ text: each })),
  fc.record({ text, thoughtSignature: bytes }),
);

/** What hooks do not see. */
export const otherPart: fc.Arbitrary<Part> = fc.oneof(
  fc.record({ text, thought: fc.constant(true) }),
  fc.record({ text, thought: fc.constant(true), thoughtSignature: bytes }),
  fc.record({ functionCall: fc.record({ name, args: fc.dictionary(name, fc.jsonValue()) }) }),
  fc.record({
    functionResponse: fc.record({ name, response: fc.dictionary(name, fc.jsonValue()) }),
  }),
  fc.record({ inlineData: fc.record({ mimeType: fc.constant('image/png'), data: bytes }) }),
  fc.record({ fileData: fc.record({ fileUri: fc.constant('gs://x') }) }),
);

const parts = fc.array(fc.oneof(textPart, otherPart), { minLength: 1, maxLength: 5 });
const role = fc.constantFrom('user', 'model');

const content: fc.Arbitrary<Content> = fc.record({ role, parts });

const contents: fc.Arbitrary<GenerateContentParameters['contents']> = fc.oneof(
  { weight: 8, arbitrary: fc.array(content, { maxLength: 6 }) },
  { weight: 1, arbitrary: text },
  { weight: 1, arbitrary: textPart },
  { weight: 1, arbitrary: otherPart },
  { weight: 1, arbitrary: content },
  { weight: 2, arbitrary: fc.array(fc.oneof(text, textPart, otherPart), { maxLength: 4 }) },
);

const toolConfig = fc.record(
  {
    functionCallingConfig: fc.record(
      {
        mode: fc.constantFrom(...Object.values(FunctionCallingConfigMode)),
        allowedFunctionNames: fc.array(name, { maxLength: 3 }),
      },
      { requiredKeys: [] },
    ),
    retrievalConfig: fc.record({ languageCode: fc.constant('fr') }),
  },
  { requiredKeys: [] },
);

const number = fc.double({ min: 0, max: 2, noNaN: true });

/** Any request of the model. */
export const request: fc.Arbitrary<GenerateContentParameters> = fc.record(
  {
    model: name,
    contents,
    config: fc.record(
      {
        temperature: number,
        topK: fc.nat(),
        maxOutputTokens: fc.nat(),
        stopSequences: fc.array(text, { maxLength: 2 }),
        seed: fc.nat(),
        systemInstruction: text,
        tools: fc.constant([{ functionDeclarations: [{ name: 'read_file' }] }]),
        toolConfig,
      },
      { requiredKeys: [] },
    ),
  },
  { requiredKeys: ['model', 'contents'] },
);

/** Any response of the model. */
export const response: fc.Arbitrary<GenerateContentResponse> = fc
  .record(
    {
      candidates: fc.array(
        fc.record(
          {
            content: fc.record({ role: fc.constant('model'), parts }),
            index: fc.nat({ max: 3 }),
            finishReason: fc.constantFrom('STOP', 'SAFETY'),
            safetyRatings: fc.constant([{ category: 'a', probability: 'LOW', blocked: false }]),
          },
          { requiredKeys: [] },
        ),
        { maxLength: 3 },
      ),
      responseId: text,
      usageMetadata: fc.record({ promptTokenCount: fc.nat(), cachedContentTokenCount: fc.nat() }),
    },
    { requiredKeys: ['candidates'] },
  )
  .map((fields) => createResponse(fields as Partial<GenerateContentResponse>));

const partial = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(fields, { requiredKeys: [] }) as fc.Arbitrary<Record<string, unknown>>;

const modelData = partial({
  model: name,
  messages: fc.array(fc.record({ role, content: text }), { maxLength: 2 }),
  config: partial({ temperature: number, topK: fc.nat(), maxOutputTokens: fc.nat() }),
});

/** What a hook may say under `toolConfig`. */
export const hookToolConfig = partial({
  mode: fc.constantFrom('AUTO', 'ANY', 'NONE'),
  allowedFunctionNames: fc.array(name, { maxLength: 3 }),
});

/** Any output in the format of hooks. */
export const output: fc.Arbitrary<HookOutput> = partial({
  decision: fc.constantFrom('block', 'deny', 'allow', 'approve', 'ask', null, undefined),
  reason: line,
  continue: fc.boolean(),
  stopReason: line,
  suppressOutput: fc.boolean(),
  systemMessage: line,
  hookSpecificOutput: partial({
    additionalContext: line,
    permissionDecision: fc.constantFrom('allow', 'deny', 'ask', 'block'),
    permissionDecisionReason: line,
    tool_input: fc.dictionary(name, fc.jsonValue({ maxDepth: 1 })),
    toolConfig: hookToolConfig,
    llm_request: modelData,
  }),
});

/** Something in place of an output, or of its fields, as only a broken runner would let through. */
export const malformedOutput = fc.oneof(
  fc.anything({ withNullPrototype: true, withBigInt: true, withMap: true, withDate: true }),
  partial({
    reason: fc.anything(),
    continue: fc.anything(),
    stopReason: fc.anything(),
    suppressOutput: fc.anything(),
    systemMessage: fc.anything(),
    hookSpecificOutput: fc.anything(),
  }),
) as fc.Arbitrary<HookOutput>;

/** What became of any hook, whether it did well, blocked or failed. */
export const result: fc.Arbitrary<HookExecutionResult> = fc.oneof(
  { weight: 6, arbitrary: output.map((each) => healthy(each)) },
  { weight: 1, arbitrary: fc.constant(healthy(undefined)) },
  { weight: 1, arbitrary: line.map((reason) => failed(2, { decision: 'deny', reason })) },
  {
    weight: 1,
    arbitrary: line.map((warning) =>
      failed(1, { decision: 'allow', systemMessage: `Warning: ${warning}` }),
    ),
  },
  { weight: 1, arbitrary: fc.constant(failed(1)) },
);
