import { randomBytes } from 'node:crypto';
import { inspect } from 'node:util';
import type { Content, GenerateContentParameters, Part, PartListUnion } from '@google/genai';
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
