import { randomBytes } from 'node:crypto';
import type { Content, GenerateContentParameters, Part, PartListUnion } from '@google/genai';
import { toContents } from '../hooks/messages.js';

/** Appends text to what a model reads of a tool's result: to the text itself, or as a further part. */
export function appendText(content: PartListUnion, text: string): PartListUnion {
  if (typeof content === 'string') return `${content}${text}`;
  return [...(Array.isArray(content) ? content : [content]), { text }];
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

/** Every form in which the SDK takes parts, as a list of parts. */
export function toParts(content: PartListUnion): Part[] {
  const list = Array.isArray(content) ? content : [content];
  return list.map((part) => (typeof part === 'string' ? { text: part } : part));
}

/** A request with one more message at its end. */
export function withMessage(
  request: GenerateContentParameters,
  text: string,
): GenerateContentParameters {
  const message: Content = { role: 'user', parts: [{ text }] };
  return { ...request, contents: [...toContents(request.contents), message] };
}
