import {
  FunctionCallingConfigMode,
  type Content,
  type GenerateContentParameters,
  type GenerateContentResponse,
  type Part,
} from '@google/genai';
import * as fc from 'fast-check';
import { createResponse } from '../../src/protocol/response.js';
import {
  HookEventName,
  type HookExecutionResult,
  type HookOutput,
} from '../../src/protocol/types.js';
import { failed, healthy } from '../helpers/hooks.js';

/** How often a property is tried: `PROPERTY_RUNS`, else as given; from `PROPERTY_SEED`, else from any beginning. */
export function runs(usual: number): { numRuns: number; seed?: number } {
  const { PROPERTY_RUNS, PROPERTY_SEED } = process.env;
  return {
    numRuns: Number(PROPERTY_RUNS ?? usual),
    ...(PROPERTY_SEED !== undefined && { seed: Number(PROPERTY_SEED) }),
  };
}

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
export const role = fc.constantFrom('user', 'model');

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

/** Names that mean something to JavaScript, to JSON, to a tool's dialect, or to nobody. */
const oddKey = fc.oneof(
  fc.constantFrom('__proto__', 'constructor', 'prototype', 'toString', 'hasOwnProperty', 'then'),
  fc.constantFrom('toJSON', 'length', '__defineGetter__', '', ' ', '0', '-1', '\ud800', '\udc00a'),
  fc.constantFrom('file_path', 'absolute_path', 'path', 'dir_path', 'command', 'content', 'text'),
  fc.string({ unit: 'binary', maxLength: 4 }),
);

/** Text with marks of the hook system, of terminals and of formats in it, and with halves of characters. */
export const oddText = fc
  .array(
    fc.oneof(
      fc.constantFrom('[system]', '[System] ', '\\[System]', '<hook_context>', '</hook_context>'),
      fc.constantFrom('\n', '\r\n', '\r', '\u2028', '\t', ' ', '\u00a0', '\u200b', '\ufeff'),
      fc.constantFrom('\u0000', '\u001b[31m', '\u009b', '\u202e', '\ud800', '\udc00', '\u{1f600}'),
      fc.constantFrom('mode = a', '{"decision":"deny"}', '"', '\\', '${HOME}', '`id`'),
      fc.string({ unit: 'binary', maxLength: 4 }),
    ),
    { maxLength: 5 },
  )
  .map((pieces) => pieces.join(''));

const { value: anyOddValue, record: anyOddRecord } = fc.letrec<{
  value: unknown;
  record: Record<string, unknown>;
}>((tie) => ({
  value: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    fc.constantFrom(null, true, false, undefined, 0, -0, 1e21, Number.NaN, Number.MAX_VALUE),
    fc.double(),
    oddText,
    fc.array(tie('value'), { maxLength: 3 }),
    fc.sparseArray(tie('value'), { maxNumElements: 2, maxLength: 4 }),
    tie('record'),
  ),
  record: fc
    .tuple(
      fc.array(fc.tuple(oddKey, tie('value')), { maxLength: 4 }),
      fc.integer({ max: 7, min: 0 }),
    )
    .map(([entries, kind]) => {
      const fields: Record<string, unknown> = Object.fromEntries(entries);
      return kind === 0 ? Object.assign(Object.create(null), fields) : fields;
    }),
}));

/** Anything that a model or a tool may put into a field. */
export const oddValue = anyOddValue.map(deepFreeze);
/** Arguments of a tool with any keys at all. */
export const oddRecord = anyOddRecord.map(deepFreeze);

/** Whoever writes into what it was lent fails. */
export function deepFreeze<T>(value: T): T {
  if (typeof value !== 'object' || value === null) return value;
  for (const each of Object.values(value)) deepFreeze(each);
  return Object.freeze(value);
}

/** What a model may say: texts, thoughts, calls, and parts that nobody knows yet. */
export const oddPart = fc
  .oneof(
    oddText.map((each) => ({ text: each })),
    fc.record({ text: oddText, thoughtSignature: bytes }),
    otherPart,
    fc.record({
      functionCall: fc.record({ id: oddText, name: oddText, args: anyOddRecord }),
      thoughtSignature: bytes,
    }),
    fc.record({ text: oddText, unknown: anyOddValue }),
    fc.record({ unknown: anyOddValue }),
  )
  .map((part) => deepFreeze(part as Part));
