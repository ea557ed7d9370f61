import { commandLine } from '../protocol/identity.js';
import { forbiddenVariables } from '../run/hookEnvironment.js';
import { MAX_EXPRESSION_LENGTH } from '../util/limitedRegExp.js';
import type { ProjectHook } from './consentItem.js';

/** Longer commands of a project are refused: nobody reads them, and each is looked at before anybody allows it. */
const MAX_COMMAND_BYTES = 64 * 1024;

/** Why a hook of a project must not run whoever trusts it; `undefined` for one that may. */
export function harmOf({ group: { matcher = '' }, config }: ProjectHook): string | undefined {
  const forbidden = forbiddenVariables(config.env);
  if (forbidden !== undefined) return forbidden;
  if (Buffer.byteLength(commandLine(config)) > MAX_COMMAND_BYTES) {
    return 'its command is longer than 64 KB; put it into a script';
  }
  if (matcher.length <= MAX_EXPRESSION_LENGTH) return undefined;
  return `its matcher is longer than ${MAX_EXPRESSION_LENGTH} characters; simplify it`;
}
