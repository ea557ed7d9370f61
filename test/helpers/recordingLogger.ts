import { DebugLogger } from '../../src/util/debugLogger.js';

export interface LogRecord {
  readonly level: 'debug' | 'log' | 'warn' | 'error';
  readonly namespace: string;
  readonly message: string;
  readonly details: object | undefined;
}

/** Keeps what is logged, by itself and by the loggers made from it, and prints nothing. */
export class RecordingLogger extends DebugLogger {
  readonly records: LogRecord[];

  constructor(namespace = 'test', records: LogRecord[] = []) {
    super(namespace);
    this.records = records;
  }

  /** The messages of all warnings so far. */
  get warnings(): string[] {
    return this.records.filter(({ level }) => level === 'warn').map(({ message }) => message);
  }

  override debug(message: string, details?: object): void {
    this.#record('debug', message, details);
  }

  override log(message: string, details?: object): void {
    this.#record('log', message, details);
  }

  override warn(message: string, details?: object): void {
    this.#record('warn', message, details);
  }

  override error(message: string, details?: object): void {
    this.#record('error', message, details);
  }

  override extend(part: string): RecordingLogger {
    return new RecordingLogger(`${this.namespace}:${part}`, this.records);
  }

  #record(level: LogRecord['level'], message: string, details?: object): void {
    this.records.push({ level, namespace: this.namespace, message, details });
  }
}
