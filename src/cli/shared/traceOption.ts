import type { Config } from '../config/config.js';
import { printNotice } from './terminal.js';

/** The option of commands that run hooks. */
export interface TraceOption {
  /** File to append spans to. */
  readonly trace?: string;
}

/** Does some work, and writes its spans where that is wanted. */
export async function withTrace<T>(
  { trace }: TraceOption,
  config: Config,
  work: () => Promise<T>,
): Promise<T> {
  if (!trace) return work();
  const { traceToFile } = await import('../trace/traceFile.js');
  const file = traceToFile(trace, {
    environment: config.getHookEnvironment(),
    onProblem: (message) => printNotice('warning', 'yellow', message),
  });
  try {
    return await work();
  } finally {
    file.close();
  }
}
