import { DebugLogger } from '../../util/debugLogger.js';
import { printNotice, toOneLine } from './terminal.js';

/** In characters. Hooks may say 10,000 at a time. */
const MAX_MESSAGE = 10_500;

/** One line on stderr. `DEBUG` shows the details. */
export class CliLogger extends DebugLogger {
  override warn(message: string, details?: object): void {
    printNotice('warning', `${toOneLine(message, MAX_MESSAGE)}${excerptOf(details)}`);
    if (details) this.debug(message, details);
  }

  override error(message: string, details?: object): void {
    printNotice('error', toOneLine(message, MAX_MESSAGE));
    if (details) this.debug(message, details);
  }

  override extend(part: string): CliLogger {
    return new CliLogger(`${this.namespace}:${part}`);
  }
}

/** Event and first line of stderr of a failed hook: usually all that its author needs. */
function excerptOf(details: { event?: unknown; stderr?: unknown } = {}): string {
  const { event, stderr } = details;
  const line = typeof stderr === 'string' ? stderr.trim().split('\n')[0] : '';
  const facts = [typeof event === 'string' ? event : '', line ? `stderr: ${line}` : ''];
  const text = facts.filter(Boolean).join('; ');
  return text && ` (${toOneLine(text)})`;
}
