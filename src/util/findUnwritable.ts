import { formatPath, type Path } from './checks.js';
import { orUndefined } from './paths.js';
import { isTooDeep, TOO_DEEP } from './records.js';

/**
 * Which value keeps an input from being written as JSON, and why: for messages, where what the engine says would tell
 * nobody what to mend.
 *
 * @param input a field of it that is missing counts as well
 */
export function findUnwritable(input: object): string {
  for (const [name, value] of Object.entries(input) as [string, unknown][]) {
    if (value === undefined) return `${name} is missing`;
    // Where it cannot be read, the look at its fields says which one.
    if (orUndefined(() => isTooDeep(value))) return `${name} is ${TOO_DEEP}`;
    const found = look(value, [name]);
    if (found) return found;
  }
  const isRead = Object.keys(input).length > 0;
  return isRead ? 'all of it together is too long' : 'a field of it cannot be read';
}

function look(value: unknown, path: Path): string | undefined {
  if (typeof value === 'bigint') return `${formatPath(path)} is a BigInt`;
  if (typeof value !== 'object' || value === null) return undefined;
  for (const key of Object.keys(value)) {
    const at = [...path, Array.isArray(value) ? Number(key) : key];
    try {
      const found = look((value as Record<string, unknown>)[key], at);
      if (found) return found;
    } catch {
      return `${formatPath(at)} cannot be read`;
    }
  }
  // One that says itself how it is written may fail in doing so.
  const isWritable = !('toJSON' in value) || orUndefined(() => (JSON.stringify(value), true));
  return isWritable ? undefined : `${formatPath(path)} cannot be read`;
}
