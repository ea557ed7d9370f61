import { DebugLogger } from '../debugLogger.js';
import { printNotice, toOneLine } from './terminal.js';

/** Shows what goes wrong on one line of stderr. The details appear where `DEBUG` names the namespace. */
export class CliLogger extends DebugLogger {
  override warn(message: string, details?: object): void {
    printNotice('warning', 'yellow', toOneLine(message));
    if (details) this.debug(message, details);
  }

  override error(message: string, details?: object): void {
    printNotice('error', 'red', toOneLine(message));
    if (details) this.debug(message, details);
  }

  override extend(part: string): CliLogger {
    return new CliLogger(`${this.namespace}:${part}`);
  }
}
