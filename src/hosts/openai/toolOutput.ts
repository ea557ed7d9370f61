import type { PartListUnion } from '@google/genai';
import { toParts } from '../../protocol/llmContent.js';
import type { ToolResult } from '../../tools/tools.js';
import { isRecord } from '../../util/records.js';
import { asText } from '../shared.js';

/** What the host's tool gave, as hooks read it. */
export function toToolResult(output: unknown): ToolResult {
  if (typeof output === 'string') return { llmContent: output, returnDisplay: output };
  if (isStructured(output)) {
    return {
      llmContent: (Array.isArray(output) ? output : [output]) as PartListUnion,
      returnDisplay: '',
    };
  }
  const text = asText(output);
  return { llmContent: text, returnDisplay: text };
}

/** What the host takes for the output of its tool: the same where nothing was changed. */
export function toToolOutput(
  { llmContent }: ToolResult,
  given: ToolResult | undefined,
  output: unknown,
): unknown {
  if (llmContent === given?.llmContent) return output;
  if (typeof llmContent === 'string') return llmContent;
  const parts = toParts(llmContent);
  if (parts.every((part) => !('type' in part))) return parts.map(({ text = '' }) => text).join('');
  return parts.map((part) => ('type' in part ? part : { type: 'text', text: part.text ?? '' }));
}

/** Whether the host sends it to the model in pieces, such as images. Hooks read the same pieces. */
function isStructured(output: unknown): boolean {
  return Array.isArray(output) ? output.length > 0 && output.every(isPiece) : isPiece(output);
}

function isPiece(value: unknown): boolean {
  return isRecord(value) && /^(?:text|image|file)$/.test(String(value['type']));
}
