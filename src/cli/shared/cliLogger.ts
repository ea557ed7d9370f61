import { lastLine } from '../../run/explainStderr.js';
import { DebugLogger } from '../../util/debugLogger.js';
import { printNotice, toOneLine } from './terminal.js';

/** In characters. Hooks may say 10,000 at a time. */
const MAX_MESSAGE = 10_500;

/** One line on stderr. `DEBUG` shows the details. */
export class CliLogger extends DebugLogger {
  /** @param told what has been said, where nothing is to be said twice */
  constructor(
    namespace: string,
    private readonly told?: Set<string>,
  ) {
    super(namespace);
  }

  override warn(message: string, details?: object): void {
    const text = `${toOneLine(message, MAX_MESSAGE)}${excerptOf(details)}`;
    if (!this.told?.has(text)) printNotice('warning', text);
    this.told?.add(text);
    if (details) this.debug(message, details);
  }

  override error(message: string, details?: object): void {
    printNotice('error', toOneLine(message, MAX_MESSAGE));
    if (details) this.debug(message, details);
  }

  override extend(part: string): CliLogger {
    return new CliLogger(`${this.namespace}:${part}`, this.told);
  }
}

/** For commands that show themselves what there is to say. */
export class SilentLogger extends DebugLogger {
  override warn(message: string, details?: object): void {
    this.debug(message, details);
  }
}

/** In characters. A path may be long. */
const MAX_EXCERPT = 600;

/** Event of a failed hook, and its exception, else the last line of its stderr: usually all that its author needs. */
function excerptOf(details: { event?: unknown; stderr?: unknown; why?: unknown } = {}): string {
  const { event, stderr, why } = details;
  const line = typeof stderr === 'string' ? lastLine(stderr) : '';
  const cause = typeof why === 'string' ? why : line && toOneLine(`stderr: ${line}`);
  const text = [typeof event === 'string' ? event : '', cause].filter(Boolean).join('; ');
  return text && ` (${toOneLine(text, MAX_EXCERPT)})`;
}
