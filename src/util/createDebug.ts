import { createRequire } from 'node:module';
import type { Debug } from 'debug';
import setup from 'debug/src/common.js';

/**
 * The `debug` of this process, which its host may use too. In a bundle without packages beside it there is none, and
 * bundlers cannot take in the part of `debug` for terminals, as it calls `require`. The rest of it serves there: it
 * reads DEBUG as well, and writes without colours.
 */
export const createDebug = (isLoud() ? loadDebug() : undefined) ?? setupPlain();

/** Set by the build for a process in which nobody but this package runs, so that no host can switch records on later. */
declare const IS_OWN_PROCESS: boolean | undefined;

function isLoud(): boolean {
  return typeof IS_OWN_PROCESS === 'undefined' || Boolean(process.env['DEBUG']);
}

function loadDebug(): Debug | undefined {
  try {
    return createRequire(import.meta.url)('debug') as Debug;
  } catch {
    return undefined;
  }
}

function setupPlain(): Debug {
  return setup({
    log: (...args) => console.error(...args),
    formatArgs(args) {
      args[0] = `${new Date().toISOString()} ${this.namespace} ${String(args[0])}`;
    },
    load: () => process.env['DEBUG'],
    save: () => undefined,
    useColors: () => false,
    colors: [0],
    destroy: () => undefined,
  });
}
