import { createRequire } from 'node:module';
import type { Debug, Debugger } from 'debug';
import setup from 'debug/src/common.js';
import { orUndefined } from './paths.js';

/**
 * Local structured logging on top of `debug`. `debug` and `log` records appear when `DEBUG` names the
 * namespace (`DEBUG=llxprt:core:hooks:*`); `warn` and `error` records always appear on stderr.
 *
 * A host that wants its records elsewhere overrides the methods. Loggers that `extend` makes call its methods, too.
 */
export class DebugLogger {
  /** Made when first needed: most loggers of an event say nothing. */
  readonly #channels = new Map<Level, Debugger>();
  /** The host's logger, whose overridden methods are called in place of ours. */
  #host: DebugLogger | undefined;

  /** @param namespace colon-separated, such as `llxprt:core:hooks:runner` */
  constructor(readonly namespace: string) {}

  /**
   * The same logger for those who must not fail with it: what its methods throw, at once or later, is dropped, and so
   * is what they throw in loggers that `extend` makes of it.
   */
  static safe(logger: DebugLogger): DebugLogger {
    return logger.#host ? logger : DebugLogger.#partOf(logger, logger.namespace);
  }

  /** The logger of a host, safe like that; where the host cannot even give one, our own. */
  static safeOf(host: { getDebugLogger(): DebugLogger }): DebugLogger {
    try {
      return DebugLogger.safe(host.getDebugLogger());
    } catch {
      return new DebugLogger('llxprt:core:hooks');
    }
  }

  static #partOf(host: DebugLogger, namespace: string): DebugLogger {
    const part = new DebugLogger(namespace);
    part.#host = host;
    return part;
  }

  /** Whether anybody reads `debug` records: `DEBUG` names the namespace, or a host takes them. */
  get isDebugOn(): boolean {
    return this.details.enabled;
  }

  /** Tells so as long as it is kept. A host has overridden `debug` by then, or does not take them. */
  get details(): { readonly enabled: boolean } {
    return this.#overrides('debug') ? { enabled: true } : this.#channel('debug');
  }

  /** Details that only somebody who looks for them needs. */
  debug(message: string, details?: object): void {
    this.#write('debug', message, details);
  }

  /** What happened, in the normal course of things. */
  log(message: string, details?: object): void {
    this.#write('log', message, details);
  }

  /** Something went wrong and the work went on without it. */
  warn(message: string, details?: object): void {
    this.#write('warn', message, details);
  }

  /** Something went wrong and the work could not go on. */
  error(message: string, details?: object): void {
    this.#write('error', message, details);
  }

  /** A logger for a part of this one: `llxprt:core:hooks` extended by `runner`. It never throws. */
  extend(part: string): DebugLogger {
    const host = this.#host ?? this;
    try {
      if (host !== this && this.#overrides('extend')) {
        const made = host.extend(part);
        dropRejection(made);
        return DebugLogger.safe(made);
      }
    } catch {
      // Then the part is made here.
    }
    return DebugLogger.#partOf(host, `${this.namespace}:${part}`);
  }

  #overrides(method: Level | 'extend'): boolean {
    return (this.#host ?? this)[method] !== DebugLogger.prototype[method];
  }

  #channel(level: Level): Debugger {
    const made = this.#channels.get(level) ?? openChannel(level, this.namespace);
    this.#channels.set(level, made);
    return made;
  }

  #write(level: Level, message: string, details?: object): void {
    try {
      if (this.#host && this.#overrides(level)) {
        dropRejection(this.#host[level](message, details));
        return;
      }
      const channel = this.#channel(level);
      if (!channel.enabled) return;
      if (details === undefined) channel('%s', message);
      else channel('%s %O', message, details);
    } catch {
      // A failing log must not make the work fail that it is about.
    }
  }
}

type Level = 'debug' | 'log' | 'warn' | 'error';

/** A host's method may be asynchronous, and nobody awaits it. */
function dropRejection(given: unknown): void {
  if (given !== undefined) Promise.resolve(given).catch(() => undefined);
}

function openChannel(level: Level, namespace: string): Debugger {
  if (level === 'debug' || level === 'log') return createDebug(namespace);
  const channel = createDebug(`${namespace}:${level}`);
  // Warnings and errors are for everybody.
  channel.enabled = true;
  return channel;
}

/**
 * The `debug` of this process, which its host may use too. In a bundle without packages beside it there is none, and
 * bundlers cannot take in the part of `debug` for terminals, as it calls `require`. The rest of it serves there: it
 * reads DEBUG as well, and writes without colours.
 */
const createDebug = (isLoud() ? orUndefined(loadDebug) : undefined) ?? setupPlain();

/** Set by the build for a process in which nobody but this package runs, so that no host can switch records on later. */
declare const IS_OWN_PROCESS: boolean | undefined;

function isLoud(): boolean {
  return typeof IS_OWN_PROCESS === 'undefined' || Boolean(process.env['DEBUG']);
}

function loadDebug(): Debug {
  return createRequire(import.meta.url)('debug') as Debug;
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
