import createDebug from 'debug';

/**
 * Local structured logging on top of `debug`. `debug` and `log` records appear when `DEBUG` names the
 * namespace (`DEBUG=llxprt:core:hooks:*`); `warn` and `error` records always appear on stderr.
 */
export class DebugLogger {
  readonly #channels: Record<Level, createDebug.Debugger>;

  /** @param namespace colon-separated, such as `llxprt:core:hooks:runner` */
  constructor(readonly namespace: string) {
    this.#channels = {
      debug: createDebug(namespace),
      log: createDebug(namespace),
      warn: alwaysOn(`${namespace}:warn`),
      error: alwaysOn(`${namespace}:error`),
    };
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

  /** A logger for a part of this one: `llxprt:core:hooks` extended by `runner`. */
  extend(part: string): DebugLogger {
    return new DebugLogger(`${this.namespace}:${part}`);
  }

  #write(level: Level, message: string, details?: object): void {
    const channel = this.#channels[level];
    if (!channel.enabled) return;
    if (details === undefined) channel('%s', message);
    else channel('%s %O', message, details);
  }
}

type Level = 'debug' | 'log' | 'warn' | 'error';

function alwaysOn(namespace: string): createDebug.Debugger {
  const channel = createDebug(namespace);
  channel.enabled = true;
  return channel;
}
