import type { OpenMetricsContentType } from 'prom-client';
import { errorCode } from '../../util/errorMessage.js';
import type { CurrentPolicy } from '../policy/currentPolicy.js';
import type { Answered, Refusal } from './answers.js';

/** Why a request was refused before it was a question. */
export type HttpRefusal = 'unauthorised' | 'too_large' | 'wrong_request';

/** The figures of a server. */
export interface Metrics {
  readonly answered: (answered: Answered) => void;
  readonly refused: (reason: Refusal | HttpRefusal) => void;
  /** What a shadow policy said, in place of what counted. */
  readonly shadowed: (counted: string, shadow: string) => void;
  /** As OpenMetrics; missing where the package that writes it is not installed. */
  readonly page?: () => Promise<{ readonly text: string; readonly contentType: string }>;
}

/**
 * Counts what a server does, where `prom-client` is installed: an optional peer, as it takes more room than all of this
 * package. Labels have few values: nothing that an agent or a model says is one.
 *
 * @param inFlight how many questions hooks work on
 * @param policy which one counts
 */
export async function openMetrics(
  inFlight: () => number,
  policy: Pick<CurrentPolicy, 'now' | 'onFailure'>,
): Promise<Metrics> {
  const prometheus = await import('prom-client').catch((error: unknown) => {
    if (errorCode(error) !== 'ERR_MODULE_NOT_FOUND') throw error;
  });
  if (!prometheus) return { answered: ignore, refused: ignore, shadowed: ignore };
  const { Counter, Gauge, Histogram, Registry } = prometheus;
  // Its types know no argument of the constructor.
  const registry = new Registry<OpenMetricsContentType>();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  const registers = [registry];
  const counter = <L extends string>(name: string, help: string, ...labelNames: L[]) =>
    new Counter({ name: `hookstack_${name}`, help, labelNames, registers });
  const answers = 'Questions that were answered, by event and verdict';
  const questions = counter('questions_total', answers, 'event', 'verdict');
  const durations = new Histogram({
    name: 'hookstack_question_duration_seconds',
    help: 'From when a question was read to its answer',
    labelNames: ['event'],
    buckets: [0.0001, 0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    registers,
  });
  const refused = 'Questions that no hook has answered, by reason';
  const refusals = counter('refused_total', refused, 'reason');
  const working = new Gauge({
    name: 'hookstack_questions_in_flight',
    help: 'Questions that hooks work on',
    registers: [],
    collect() {
      this.set(inFlight());
    },
  });
  registry.registerMetric(working);
  const info = new Gauge({
    name: 'hookstack_policy_info',
    help: 'The version of the policy that counts',
    labelNames: ['version'],
    registers: [],
    collect() {
      this.reset();
      this.set({ version: policy.now.version }, 1);
    },
  });
  registry.registerMetric(info);
  const broken = 'How often the settings file was read anew, and was no policy';
  const failures = counter('policy_reload_failures_total', broken);
  policy.onFailure = () => failures.inc();
  const beside =
    'Questions that were put to the shadow policy, too, by the verdict that counted and its own';
  const shadows = counter('shadow_total', beside, 'verdict', 'shadow');
  return {
    answered: ({ event, verdict, durationMs }) => {
      questions.inc({ event, verdict });
      durations.observe({ event }, durationMs / 1000);
    },
    refused: (reason) => refusals.inc({ reason }),
    shadowed: (verdict, shadow) => shadows.inc({ verdict, shadow }),
    page: async () => ({ text: await registry.metrics(), contentType: registry.contentType }),
  };
}

function ignore(): void {}
