import { inspect } from 'node:util';
import {
  array,
  boolean,
  enums,
  number,
  optional,
  record,
  string,
  type,
  unknown,
} from 'superstruct';
import { DEFAULT_BLOCK_REASON } from './hookOutput.js';
import { dropUnsafeKeys, isRecord } from './merge.js';
import { sanitizeText } from './sanitizeText.js';
import type { HookOutput } from './types.js';

/** What a script printed, as far as it could be understood. */
export interface ReadOutput {
  /** Absent when the script said nothing. */
  readonly output?: HookOutput;
  /** What was ignored and why, one sentence each. */
  readonly problems: readonly string[];
}

/**
 * Reads the stdout of a hook that exited with code 0: a JSON object, a JSON string that contains one, or plain
 * text, which becomes a message to the model. Unknown or mistyped fields are ignored and reported.
 */
export function readHookOutput(stdout: string): ReadOutput {
  const text = stdout.trim();
  if (text === '') return { problems: [] };
  const parsed = parseObject(text);
  if (parsed) return readFields(parsed);
  return { output: convertPlainTextToHookOutput(text, 0), problems: describeNoise(text) };
}

/**
 * What plain text means, by exit code: a message to the model (0), the reason of a block (2), a warning
 * (anything else).
 */
export function convertPlainTextToHookOutput(text: string, exitCode: number): HookOutput {
  const clean = sanitizeText(text.trim());
  if (exitCode === 0) return { decision: 'allow', systemMessage: clean };
  if (exitCode === 2) return { decision: 'deny', reason: clean || DEFAULT_BLOCK_REASON };
  return { decision: 'allow', systemMessage: `Warning: ${clean}` };
}

function parseObject(text: string): Record<string, unknown> | undefined {
  let value = parseJson(text);
  if (typeof value === 'string') value = parseJson(value);
  if (!isRecord(value)) return undefined;
  dropUnsafeKeys(value);
  return value;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

/** The object in `{…}` that would have counted, had nothing else been printed with it. */
function describeNoise(text: string): string[] {
  const start = text.indexOf('{');
  const end = text.lastIndexOf('}');
  if (start < 0 || end < start || !parseObject(text.slice(start, end + 1))) return [];
  const noise = start > 0 ? text.slice(0, start) : text.slice(end + 1);
  return [
    `stdout looks like JSON with other text around it and is taken as plain text, so its decision does not count; print nothing else on stdout (found ${JSON.stringify(sanitizeText(noise.trim()).slice(0, 80))})`,
  ];
}

/** A check of superstruct, as far as it is needed here. */
interface Check {
  is(value: unknown): boolean;
  readonly type: string;
}

/** What is known of an object: each field is checked by itself, or is an object that is read the same way. */
interface Shape {
  readonly [field: string]: Check | { readonly fields: Shape };
}

const anyObject = record(string(), unknown());
const modelConfig: Shape = {
  temperature: number(),
  maxOutputTokens: number(),
  topP: number(),
  topK: number(),
  stopSequences: array(string()),
  candidateCount: number(),
  presencePenalty: number(),
  frequencyPenalty: number(),
};
const toolConfig: Shape = {
  mode: enums(['AUTO', 'ANY', 'NONE']),
  allowedFunctionNames: array(string()),
};
const message = type({ role: enums(['user', 'model', 'system']), content: string() });
const candidate = type({
  content: optional(type({ parts: optional(array(string())) })),
  finishReason: optional(string()),
  index: optional(number()),
  safetyRatings: optional(array(anyObject)),
});

const outputShape: Shape = {
  decision: enums(['block', 'deny', 'allow', 'approve', 'ask']),
  reason: string(),
  continue: boolean(),
  stopReason: string(),
  suppressOutput: boolean(),
  systemMessage: string(),
  hookSpecificOutput: {
    fields: {
      hookEventName: string(),
      additionalContext: string(),
      tool_input: anyObject,
      permissionDecision: string(),
      permissionDecisionReason: string(),
      llm_request: {
        fields: {
          model: string(),
          messages: array(message),
          config: { fields: modelConfig },
          toolConfig: { fields: toolConfig },
        },
      },
      llm_response: {
        fields: { text: string(), candidates: array(candidate), usageMetadata: anyObject },
      },
      toolConfig: { fields: toolConfig },
    },
  },
};

/** Texts that reach a model or a terminal. */
const SPOKEN = new Set([
  'reason',
  'stopReason',
  'systemMessage',
  'additionalContext',
  'permissionDecisionReason',
]);

function readFields(parsed: Record<string, unknown>): ReadOutput {
  const problems: string[] = [];
  const output: HookOutput = readShape(parsed, outputShape, '', problems);
  return { output, problems };
}

function readShape(
  value: Record<string, unknown>,
  shape: Shape,
  at: string,
  problems: string[],
): Record<string, unknown> {
  const fields: Record<string, unknown> = {};
  for (const [key, field] of Object.entries(value)) {
    if (field === null) continue;
    const known = Object.hasOwn(shape, key) ? shape[key] : undefined;
    const path = `${at}${key}`;
    if (!known) {
      problems.push(`${path} is not a known field and has no effect`);
      // Below the top level it is kept as data, for middleware that understands more.
      if (at !== '') fields[key] = field;
    } else if ('fields' in known) {
      if (isRecord(field)) fields[key] = readShape(field, known.fields, `${path}.`, problems);
      else problems.push(`${path} must be an object and is ignored: ${excerpt(field)}`);
    } else if (known.is(field)) {
      fields[key] = typeof field === 'string' && SPOKEN.has(key) ? sanitizeText(field) : field;
    } else {
      problems.push(`${path} is not a valid ${known.type} and is ignored: ${excerpt(field)}`);
    }
  }
  return fields;
}

function excerpt(value: unknown): string {
  return inspect(value, {
    depth: 2,
    maxStringLength: 60,
    maxArrayLength: 5,
    breakLength: Infinity,
  });
}
