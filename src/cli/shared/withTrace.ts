import type { Config } from '../../config/config.js';
import { printNotice } from './terminal.js';

export async function withTrace<T>(
  trace: string | undefined,
  config: Config,
  work: () => Promise<T>,
): Promise<T> {
  if (!trace) return work();
  const { traceToFile } = await import('../../trace/traceFile.js');
  const file = traceToFile(trace, {
    environment: config.getHookEnvironment(),
    onProblem: (message) => printNotice('warning', message),
  });
  try {
    return await work();
  } finally {
    file.close();
  }
}
