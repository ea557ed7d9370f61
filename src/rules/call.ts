import { isRecord } from '../util/records.js';
import type { KnownCall } from './types.js';

/**
 * A call as conditions look at it.
 *
 * @param cwd to which relative paths belong. Default: the project
 */
export function makeCall(tool: string, given: unknown, project: string, cwd = project): KnownCall {
  const input = isRecord(given) ? given : {};
  return { tool, input, given, cwd, project, found: new Map() };
}
