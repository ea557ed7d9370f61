import type { Debugger } from 'debug';
import { createDebug } from './createDebug.js';

/**
 * Local structured logging on top of `debug`. `debug` and `log` records appear when `DEBUG` names the
 * namespace (`DEBUG=llxprt:core:hooks:*`); `warn` and `error` records always appear on stderr.
 *
 * A host that wants its records elsewhere overrides the methods. Loggers that `extend` makes tell its methods too.
 */
export class DebugLogger {
  readonly #channels: Record<Level, Debugger>;
  /** Whose methods count, where they differ from those of this class. */
  #host: DebugLogger | undefined;

  /** @param namespace colon-separated, such as `llxprt:core:hooks:runner` */
  constructor(readonly namespace: string) {
    this.#channels = {
      debug: createDebug(namespace),
      log: createDebug(namespace),
      warn: alwaysOn(`${namespace}:warn`),
      error: alwaysOn(`${namespace}:error`),
    };
  }

  /**
   * The same logger for those who must not fail with it: what its methods throw, at once or later, is dropped, and so
   * is what they throw in loggers that `extend` makes of it.
   */
  static safe(logger: DebugLogger): DebugLogger {
    return logger.#host ? logger : DebugLogger.#partOf(logger, logger.namespace);
  }

  static #partOf(host: DebugLogger, namespace: string): DebugLogger {
    const part = new DebugLogger(namespace);
    part.#host = host;
    return part;
  }

  /** Whether anybody reads `debug` records: `DEBUG` names the namespace, or a host takes them. */
  get isDebugOn(): boolean {
    return this.#channels.debug.enabled || this.#overrides('debug');
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

  #write(level: Level, message: string, details?: object): void {
    try {
      if (this.#host && this.#overrides(level)) {
        dropRejection(this.#host[level](message, details));
        return;
      }
      const channel = this.#channels[level];
      if (!channel.enabled) return;
      if (details === undefined) channel('%s', message);
      else channel('%s %O', message, details);
    } catch {
      // A log that cannot be written must not change what it tells of.
    }
  }
}

type Level = 'debug' | 'log' | 'warn' | 'error';

/** A host's method may be asynchronous, and nobody else looks at what it gives. */
function dropRejection(given: unknown): void {
  if (given !== undefined) Promise.resolve(given).catch(() => undefined);
}

function alwaysOn(namespace: string): Debugger {
  const channel = createDebug(namespace);
  channel.enabled = true;
  return channel;
}
