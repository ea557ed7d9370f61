import type { Answered, Refusal } from './answers.js';

/** Why a request was refused before it was a question. */
export type HttpRefusal = 'unauthorised' | 'too_large' | 'wrong_request';

/** The figures of a server. */
export interface Metrics {
  readonly answered: (answered: Answered) => void;
  readonly refused: (reason: Refusal | HttpRefusal) => void;
  /** As OpenMetrics; missing where the package that writes it is not installed. */
  readonly page?: () => Promise<{ readonly text: string; readonly contentType: string }>;
}

/**
 * Counts what a server does, where `prom-client` is installed: an optional peer, as it takes more room than all of this
 * package.
 *
 * @param inFlight how many questions hooks work on
 */
export async function openMetrics(inFlight: () => number): Promise<Metrics> {
  try {
    const { PromMetrics } = await import('./promMetrics.js');
    return new PromMetrics(inFlight);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    return { answered: ignore, refused: ignore };
  }
}

function ignore(): void {}
