import type {
  Content,
  GenerateContentParameters,
  Part,
  PartListUnion,
  PartUnion,
} from '@google/genai';
import { toContents } from '../hooks/messages.js';
import { quoteMarks } from '../hooks/sanitizeText.js';
import type { ToolResult } from '../tools/tools.js';

/** Appends text to what a model reads of a tool's result: to the text itself, or as a further part. */
export function appendText(content: PartListUnion, text: string): PartListUnion {
  if (typeof content === 'string') return `${content}${text}`;
  return [...(Array.isArray(content) ? content : [content]), { text }];
}

/** How a message of the hook system itself is marked for the model. */
export function asSystemNote(message: string): string {
  return `[System] ${message}`;
}

/** How text of a hook is shown to the model, so that it cannot pass for the user's. It cannot hold the marks itself. */
export function asHookContext(text: string): string {
  return `<hook_context>\n${text}\n</hook_context>`;
}

/** What a tool gave, with marks of the hook system in it made visible as quoted. */
export function withQuotedMarks(result: ToolResult): ToolResult {
  const { llmContent: content } = result;
  const llmContent = Array.isArray(content) ? content.map(quotedPart) : quotedPart(content);
  return llmContent === content ? result : { ...result, llmContent };
}

function quotedPart(part: PartUnion): PartUnion {
  if (typeof part === 'string') return quoteMarks(part);
  const text = part.text && quoteMarks(part.text);
  return text === part.text ? part : { ...part, text };
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
