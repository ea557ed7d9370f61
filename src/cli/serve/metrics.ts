import type { OpenMetricsContentType } from 'prom-client';
import type { Answered, Refusal } from './answers.js';
import type { CurrentPolicy } from '../policy/currentPolicy.js';

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
  policy?: Pick<CurrentPolicy, 'now' | 'onFailure'>,
): Promise<Metrics> {
  const prometheus = await loadPrometheus();
  if (!prometheus) return { answered: ignore, refused: ignore, shadowed: ignore };
  const { Counter, Gauge, Histogram, Registry } = prometheus;
  // Its types know no argument of the constructor.
  const registry = new Registry<OpenMetricsContentType>();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  const registers = [registry];
  const questions = new Counter({
    name: 'hookstack_questions_total',
    help: 'Questions that were answered, by event and verdict',
    labelNames: ['event', 'verdict'],
    registers,
  });
  const durations = new Histogram({
    name: 'hookstack_question_duration_seconds',
    help: 'From when a question was read to its answer',
    labelNames: ['event'],
    buckets: [0.0001, 0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    registers,
  });
  const refusals = new Counter({
    name: 'hookstack_refused_total',
    help: 'Questions that no hook has answered, by reason',
    labelNames: ['reason'],
    registers,
  });
  const gauge = new Gauge({
    name: 'hookstack_questions_in_flight',
    help: 'Questions that hooks work on',
    registers: [],
    collect() {
      this.set(inFlight());
    },
  });
  registry.registerMetric(gauge);
  if (policy) {
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
    const failures = new Counter({
      name: 'hookstack_policy_reload_failures_total',
      help: 'How often the settings file was read anew, and was no policy',
      registers,
    });
    policy.onFailure = () => failures.inc();
  }
  const shadows = new Counter({
    name: 'hookstack_shadow_total',
    help: 'Questions that were put to the shadow policy, too, by the verdict that counted and its own',
    labelNames: ['verdict', 'shadow'],
    registers,
  });
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

async function loadPrometheus() {
  try {
    return await import('prom-client');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ERR_MODULE_NOT_FOUND') throw error;
    return undefined;
  }
}

function ignore(): void {}
