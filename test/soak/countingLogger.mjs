import { DebugLogger } from '../../dist/index.js';

/** Counts warnings instead of printing them, its own and those of every part of the hook system. */
export class CountingLogger extends DebugLogger {
  /** All warnings so far. */
  warnings = 0;
  /** Those among them that say that a hook failed, and in which way. */
  failures = 0;

  constructor() {
    super('soak');
  }

  /** Counts. */
  warn(_message, details) {
    this.warnings += 1;
    if (details?.kind) this.failures += 1;
  }

  /** One logger for all parts, so that there is one count. */
  extend() {
    return this;
  }
}
