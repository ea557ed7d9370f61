import { onDemand } from '../util/descriptors.js';
import type { ConsentOptions, HookConsent } from './consent.js';

const loadConsent = onDemand(() => import('./consent.js'));

/**
 * Reads what the user has allowed of a project. Loads what it takes at the first call, since most hosts have no hooks
 * that need consent.
 *
 * @returns what cannot be read allows nothing, and is among the `problems` of the result. Rejects where the system has
 *   no descriptors left, or does not tell the home directory
 */
export async function openConsent(options: ConsentOptions): Promise<HookConsent> {
  const { HookConsent: Consent } = await loadConsent();
  return Consent.read(options);
}
