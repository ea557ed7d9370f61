import type { CommandHookConfig, DialectName } from '../protocol/types.js';
import { NOT_OVER_NATS, isReadOverNats, parseFleetAddress } from './address.js';
import { withFiles } from './files.js';

/**
 * Refuses a remote hook that is asked nowhere, whatever its variables hold.
 *
 * @throws Error that says why
 */
export function requireAskable(hook: CommandHookConfig, dialect: DialectName | undefined): void {
  // What a variable holds is known where the hook runs, and where its extension lies.
  withFiles({ extensionPath: '/', ...hook });
  const { kind } = parseFleetAddress(hook.url ?? '', () => 'name');
  if (kind === 'nats' && !isReadOverNats(dialect)) throw new Error(NOT_OVER_NATS);
  // NATS carries none of them.
  const headers = kind === 'http' ? Object.entries(hook.headers ?? {}) : [];
  if (headers.length === 0) return;
  const { validateHeaderName, validateHeaderValue } = process.getBuiltinModule('node:http');
  for (const [name, value] of headers) {
    validateHeaderName(name);
    validateHeaderValue(name, value);
  }
}
