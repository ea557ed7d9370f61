import type { Approver } from '../protocol/approval.js';
import type { FleetSettings } from './fleetSettings.js';
import { parseFleetAddress } from './address.js';
import { withFiles } from './files.js';
import { postTo } from './postApproval.js';
import { remoteApprover } from './remoteApprover.js';
import { readSecret } from './secret.js';

/**
 * Has questions of hooks answered by the people of a fleet, on the page of its policy servers.
 *
 * @param settings `settings.fleet`
 * @returns for the option `approver` of `Config`; `undefined` where `approvals` is not true. What is wrong with the
 *   settings, or with the servers, is a no
 */
export function fleetApprover(settings: FleetSettings | undefined): Approver | undefined {
  if (!settings?.approvals) return undefined;
  return async (request, options) => (await open(settings))(request, options);
}

/** Each time anew: the secret may have been replaced. */
async function open({ url, ...others }: FleetSettings): Promise<Approver> {
  if (url === undefined) {
    throw new Error('"fleet" in the settings has no url: write nats://HOST:PORT/TEAM/AGENT');
  }
  const { caFile, certFile, keyFile, ...source } = withFiles(others);
  const secret = await readSecret(source);
  return remoteApprover(postTo(parseFleetAddress(url), { secret, caFile, certFile, keyFile }));
}
