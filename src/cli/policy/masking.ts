import type { Config } from '../../config/config.js';
import { hostEnvironment } from '../../util/requester.js';
import type { Policy } from './policy.js';

/** Who says whose values are masked. */
export type Masking = Pick<Config, 'getHookEnvironment'>;

/**
 * Whose values are masked in what is written of hooks: what any of the policies names that has counted, as hooks of one that
 * is replaced may still speak. It grows while it is used.
 */
export function maskingOf(policies: readonly { readonly now: Policy }[]): Masking {
  const named = { redact: new Set<string>(), tokenVariables: new Set<string>() };
  const read = (key: keyof typeof named): string[] => {
    for (const { now } of policies) {
      for (const each of now.config.getHookEnvironment()[key] ?? []) named[key].add(each);
    }
    return [...named[key]];
  };
  const environment = {
    get redact() {
      return read('redact');
    },
    get tokenVariables() {
      return read('tokenVariables');
    },
    host: hostEnvironment(),
  };
  return { getHookEnvironment: () => environment };
}
