import { Counter, Gauge, Histogram, Registry, type OpenMetricsContentType } from 'prom-client';
import type { Answered } from './answers.js';

/** The figures of a server, as OpenMetrics. Labels have few values: nothing that an agent or a model says is one. */
export class PromMetrics {
  readonly #registry = openMetrics();
  readonly #questions = new Counter({
    name: 'hookstack_questions_total',
    help: 'Questions that were answered, by event and verdict',
    labelNames: ['event', 'verdict'],
    registers: [this.#registry],
  });
  readonly #durations = new Histogram({
    name: 'hookstack_question_duration_seconds',
    help: 'From when a question was read to its answer',
    labelNames: ['event'],
    buckets: [0.0001, 0.001, 0.005, 0.02, 0.1, 0.5, 2, 10, 60],
    registers: [this.#registry],
  });
  readonly #refused = new Counter({
    name: 'hookstack_refused_total',
    help: 'Questions that no hook has answered, by reason',
    labelNames: ['reason'],
    registers: [this.#registry],
  });

  /** @param inFlight how many questions hooks work on */
  constructor(inFlight: () => number) {
    const gauge = new Gauge({
      name: 'hookstack_questions_in_flight',
      help: 'Questions that hooks work on',
      registers: [],
      collect() {
        this.set(inFlight());
      },
    });
    this.#registry.registerMetric(gauge);
  }

  readonly answered = ({ event, verdict, durationMs }: Answered): void => {
    this.#questions.inc({ event, verdict });
    this.#durations.observe({ event }, durationMs / 1000);
  };

  readonly refused = (reason: string): void => {
    this.#refused.inc({ reason });
  };

  readonly page = async () => ({
    text: await this.#registry.metrics(),
    contentType: this.#registry.contentType,
  });
}

/** Its types know no argument of the constructor. */
function openMetrics(): Registry<OpenMetricsContentType> {
  const registry = new Registry<OpenMetricsContentType>();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  return registry;
}
