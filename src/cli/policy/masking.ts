import type { Config } from '../../config/config.js';
import { hostEnvironment } from '../../util/requester.js';
import type { Policy } from './policy.js';

const NONE: readonly string[] = [];

/**
 * Whose values are masked in what is written of hooks: what any policy names that has counted, as hooks of one that is
 * replaced may still speak. It grows while it is used.
 */
export class Masking implements Pick<Config, 'getHookEnvironment'> {
  readonly #all = { redact: NONE, tokenVariables: NONE, host: hostEnvironment() };

  /** To be called before the policy counts. */
  add({ config }: Policy): void {
    const { redact = NONE, tokenVariables = NONE } = config.getHookEnvironment();
    this.#all.redact = [...new Set([...this.#all.redact, ...redact])];
    this.#all.tokenVariables = [...new Set([...this.#all.tokenVariables, ...tokenVariables])];
  }

  getHookEnvironment() {
    return this.#all;
  }
}
