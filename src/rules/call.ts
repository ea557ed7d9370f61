import { isRecord } from '../util/records.js';
import type { Call } from './types.js';

/**
 * A call as conditions look at it.
 *
 * @param cwd to which relative paths belong. Default: the project
 */
export function makeCall(tool: string, input: unknown, project: string, cwd = project): Call {
  return { tool, input: isRecord(input) ? input : {}, cwd, project };
}
