import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import type { Content, GenerateContentParameters, Part, PartListUnion } from '@google/genai';
import type { LateAnswer } from './lateAnswer.js';
import { toContents } from './messages.js';
import type { ToolResult } from '../tools/tools.js';

/** A result with notes behind what the model reads of it; without any, the result itself. */
export function withNotes(result: ToolResult, notes: readonly (string | undefined)[]): ToolResult {
  const text = notes.filter(Boolean).join('\n\n');
  return text === '' ? result : { ...result, llmContent: appendText(result.llmContent, text) };
}

/** Appends to a text, or adds a part. A tool's content may be of any type, or missing. */
function appendText(content: PartListUnion | null | undefined, text: string): PartListUnion {
  if (content === undefined || content === null) return text;
  if (typeof content === 'string') return `${content}\n\n${text}`;
  return [...(Array.isArray(content) ? content : [content]), { text: `\n\n${text}` }];
}

/** How a message of the hook system itself is marked for the model. */
export function asSystemNote(message: string): string {
  return `[System] ${message}`;
}

let fence: string | undefined;

/**
 * How text of a hook is shown to the model, so that it cannot pass for the user's. The name of the fence is random, the
 * same for all of a process, so that what a tool gives cannot imitate it; text of a hook cannot hold a fence at all.
 */
export function asHookContext(text: string): string {
  fence ??= `hook_context-${randomBytes(6).toString('hex')}`;
  return `<${fence}>\n${text}\n</${fence}>`;
}

/** What the model is to read of what a hook said late, in its words. */
export function textsOf({ context, reason, systemMessage }: LateAnswer): readonly string[] {
  const note = systemMessage && asSystemNote(systemMessage);
  return [context, reason, note].filter((text): text is string => Boolean(text));
}

/** The same as our model reads all that hooks say: fenced. */
export function notesOf({ context, reason, systemMessage }: LateAnswer): readonly string[] {
  const fenced = [context, reason].filter(Boolean).map((text) => asHookContext(String(text)));
  return [...fenced, ...(systemMessage ? [asSystemNote(systemMessage)] : [])];
}

/**
 * Every form in which the SDK takes parts, as a list of parts. A tool may give anything: what is not a part becomes text,
 * and nothing is left out.
 */
export function toParts(content: PartListUnion | null | undefined): Part[] {
  const list: readonly unknown[] = Array.isArray(content) ? content : [content];
  return list.flatMap((part) => {
    if (part === undefined || part === null) return [];
    if (typeof part === 'object') return [part];
    return [{ text: typeof part === 'string' ? part : inspect(part) }];
  });
}

/** A request with one more message at its end. */
export function withMessage(
  request: GenerateContentParameters,
  text: string,
): GenerateContentParameters {
  const message: Content = { role: 'user', parts: [{ text }] };
  return { ...request, contents: [...toContents(request.contents), message] };
}
