import type { Config } from '../../config/config.js';
import type { OtlpExport } from './otlp.js';
import { printNotice } from './terminal.js';
import { orUsageError } from './usageError.js';

/**
 * Opens the way to a collector of OpenTelemetry.
 *
 * @throws UsageError that says which package to install
 */
export async function openSpans(url: string): Promise<OtlpExport> {
  const { openOtlp } = await import('./otlp.js');
  return orUsageError(openOtlp({ url, onProblem: warn }), String);
}

function warn(text: string): void {
  printNotice('warning', text, 'otlp');
}

/**
 * Does some work, and sends the spans of this process meanwhile.
 *
 * @param url of `--otlp`; without one, nothing is loaded or sent
 * @throws UsageError as {@link openSpans}, or what `work` throws
 */
export async function withOtlp<T>(
  url: string | undefined,
  config: Pick<Config, 'getHookEnvironment'>,
  work: () => Promise<T>,
): Promise<T> {
  if (url === undefined) return work();
  const spans = await openSpans(url);
  const { sendSpans } = await import('./otlp.js');
  const end = sendSpans(spans, config.getHookEnvironment());
  try {
    return await work();
  } finally {
    end();
    await spans.close();
  }
}
