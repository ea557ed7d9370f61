import { Config } from '../../src/config/config.js';
import type { HookDefinitions } from '../../src/protocol/types.js';

/** A config whose hooks a host may change, and that counts how often they are read. */
export class ChangingConfig extends Config {
  reads = 0;
  hooks: HookDefinitions = {};

  override getHooks(): HookDefinitions {
    this.reads += 1;
    return this.hooks;
  }
}
