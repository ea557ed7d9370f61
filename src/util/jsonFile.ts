import { describe } from './checks.js';
import { isShortage, onDemand, waitForDescriptors } from './descriptors.js';
import { errorMessage } from './errorMessage.js';
import { readGuardedFile, type GuardedFileOptions, type GuardedReading } from './guardedFile.js';
import type { JsonDocument, Position } from './jsonDocument.js';
import { isRecord } from './records.js';

export type JsonReading =
  | {
      readonly status: 'read';
      readonly value: Record<string, unknown>;
      readonly document: JsonDocument;
      readonly text: string;
    }
  | {
      /** It is no JSON, or no object. */
      readonly status: 'invalid';
      readonly reason: string;
      readonly position: Position;
      readonly text: string;
    }
  | Exclude<GuardedReading, { status: 'read' }>;

const loadParser = onDemand(() => import('./jsonDocument.js'));

/**
 * Reads a JSON file that holds an object, with comments and trailing commas, unless somebody else could have written
 * it; see `readGuardedFile`.
 *
 * @param file absolute path
 * @param what completes "expected …"
 * @returns never rejects
 */
export async function readJsonFile(
  file: string,
  options: GuardedFileOptions,
  what = 'an object',
): Promise<JsonReading> {
  const reading = await readGuardedFile(file, options);
  if (reading.status !== 'read') return reading;
  try {
    const { text } = reading;
    const { parseJsonDocument } = await waitForDescriptors(loadParser);
    const document = parseJsonDocument(text);
    const { value, syntaxError } = document;
    if (isRecord(value)) return { status: 'read', value, document, text };
    const reason = syntaxError
      ? `not valid JSON: ${syntaxError.message}`
      : `expected ${what}, got ${describe(value)}`;
    return { status: 'invalid', reason, position: syntaxError ?? document.locate([]), text };
  } catch (error) {
    const reason = `it cannot be read (${errorMessage(error)})`;
    return { status: 'refused', reason, isShortage: isShortage(error) };
  }
}
