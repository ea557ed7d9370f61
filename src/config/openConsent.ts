import type { ConsentOptions, HookConsent } from './consent.js';

/**
 * Reads what the user has allowed of a project. Loads what it takes at the first call, since most hosts have no hooks
 * that need consent.
 *
 * @returns never rejects: what cannot be read allows nothing, and is among the `problems` of the result
 */
export async function openConsent(options: ConsentOptions): Promise<HookConsent> {
  const { HookConsent: Consent } = await import('./consent.js');
  return Consent.open(options);
}
