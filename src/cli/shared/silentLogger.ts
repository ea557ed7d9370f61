import { DebugLogger } from '../../util/debugLogger.js';

/** For commands that show themselves what there is to say. */
export class SilentLogger extends DebugLogger {
  override warn(message: string, details?: object): void {
    this.debug(message, details);
  }
}
