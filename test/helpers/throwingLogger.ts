import { DebugLogger } from '../../src/util/debugLogger.js';

/** The logger of a host whose disk is full: nothing that is told it arrives. */
export class ThrowingLogger extends DebugLogger {
  override debug(): never {
    throw new Error('the disk is full');
  }

  override log(): never {
    throw new Error('the disk is full');
  }

  override warn(): never {
    throw new Error('the disk is full');
  }

  override error(): never {
    throw new Error('the disk is full');
  }

  override extend(_part: string): DebugLogger {
    throw new Error('the disk is full');
  }
}
