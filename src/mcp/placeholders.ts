import { isRecord } from '../util/records.js';

/** `${tool_input.file_path}`: a path of names and positions. */
const PLACEHOLDER = /\$\{([^${}]+)\}/gu;

/**
 * The arguments of a tool, with what the hook reads in place of `${…}`. A value is put in as it is, and never looked
 * through again; one that is no text is put in as JSON.
 *
 * @param read what the hook reads
 * @param isGuard whether what is not there is an error; else it is an empty text
 * @throws Error that names what is not there
 */
export function fillIn(
  input: Readonly<Record<string, unknown>>,
  read: unknown,
  isGuard: boolean,
): Record<string, unknown> {
  const fill = (value: unknown): unknown => {
    if (typeof value === 'string') {
      return value.replaceAll(PLACEHOLDER, (_, path: string) => textAt(read, path, isGuard));
    }
    if (Array.isArray(value)) return value.map(fill);
    return isRecord(value) ? fillAll(value) : value;
  };
  const fillAll = (fields: Readonly<Record<string, unknown>>) =>
    Object.fromEntries(Object.entries(fields).map(([key, value]) => [key, fill(value)]));
  return fillAll(input);
}

function textAt(read: unknown, path: string, isGuard: boolean): string {
  let value = read;
  for (const step of path.trim().split('.')) {
    const isThere = typeof value === 'object' && value !== null && Object.hasOwn(value, step);
    value = isThere ? (value as Record<string, unknown>)[step] : undefined;
  }
  if (typeof value === 'string') return value;
  if (value !== undefined) return JSON.stringify(value);
  if (isGuard) throw new Error(`its "input" names ${path}, which this event does not have`);
  return '';
}
