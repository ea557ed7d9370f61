import type { Config } from '../../config/config.js';
import { hostEnvironment } from '../../util/requester.js';
import type { Policy } from './policy.js';

/**
 * Whose values are masked in what is written of hooks: what any policy names that has counted, as hooks of one that is
 * replaced may still speak. It grows while it is used.
 */
export class Masking implements Pick<Config, 'getHookEnvironment'> {
  readonly #environment = {
    redact: [] as readonly string[],
    tokenVariables: [] as readonly string[],
    host: hostEnvironment(),
  };

  /** To be called before the policy counts. */
  add({ config }: Policy): void {
    const { redact = [], tokenVariables = [] } = config.getHookEnvironment();
    const all = this.#environment;
    all.redact = [...new Set([...all.redact, ...redact])];
    all.tokenVariables = [...new Set([...all.tokenVariables, ...tokenVariables])];
  }

  /** Stays the same object. */
  getHookEnvironment() {
    return this.#environment;
  }
}
