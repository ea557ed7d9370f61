import type { Attributes, Context, HrTime, SpanStatus, Tracer } from '@opentelemetry/api';
import type { BasicTracerProvider, SpanExporter } from '@opentelemetry/sdk-trace-base';
import { errorMessage } from '../../util/errorMessage.js';
import { loadOptional } from '../../util/optionalPackage.js';
import type { HookEnvironmentPolicy } from '../../run/hookEnvironment.js';
import { orUndefined } from '../../util/paths.js';
import { toSpanRecord, type SpanRecord } from '../../trace/record.js';
import { listenToSpans } from '../../trace/span.js';

/** How spans are sent to a collector of OpenTelemetry. */
export interface OtlpOptions {
  /** Where it takes them, over HTTP: `http://HOST:4318` or `http://HOST:4318/v1/traces`. */
  readonly url: string;
  /** Called with each change: spans are not taken any more, are taken again, or were lost. */
  readonly onProblem: (message: string) => void;
}

/** What sends spans, until it is closed. */
export interface OtlpExport {
  add(span: SpanRecord): void;
  /** Sends what is left, for some seconds. */
  close(): Promise<void>;
}

/** Spans that wait to be sent; more are lost. */
const MAX_WAITING = 16_384;
/** Ms that one request may take, with all of its tries. */
const REQUEST_MS = 5000;
/** Ms after which what waits is sent. */
const PAUSE_MS = 1000;

/**
 * Sends spans with the packages of OpenTelemetry, as records of them: masked and cut, and without what models, tools and
 * hooks said. `OTEL_EXPORTER_OTLP_HEADERS`, `OTEL_SERVICE_NAME` and `OTEL_RESOURCE_ATTRIBUTES` of the environment count.
 *
 * @throws Error that says which package to install
 */
export async function openOtlp(options: OtlpOptions): Promise<OtlpExport> {
  return new Exporting(await loadPackages(), options);
}

class Exporting implements OtlpExport {
  readonly #exporter: Told;
  readonly #provider: BasicTracerProvider;
  readonly #tracer: Tracer;
  /** What the span that is made next has. */
  readonly #next = { trace: '', id: '' };

  constructor(
    private readonly packages: Packages,
    { url, onProblem }: OtlpOptions,
  ) {
    const { sdk, resources, otlp } = packages;
    const sending = { url: endpointOf(url), timeoutMillis: REQUEST_MS };
    this.#exporter = new Told(new otlp.OTLPTraceExporter(sending), url, onProblem);
    const waiting = { maxQueueSize: MAX_WAITING, scheduledDelayMillis: PAUSE_MS };
    this.#provider = new sdk.BasicTracerProvider({
      resource: resources
        .resourceFromAttributes({ 'service.name': 'hookstack' })
        .merge(resources.detectResources({ detectors: [resources.envDetector] })),
      sampler: new sdk.AlwaysOnSampler(),
      idGenerator: {
        generateTraceId: () => this.#next.trace,
        generateSpanId: () => this.#next.id,
      },
      spanProcessors: [new sdk.BatchSpanProcessor(this.#exporter, waiting)],
    });
    this.#tracer = this.#provider.getTracer('hookstack');
  }

  add(span: SpanRecord): void {
    const { SpanKind } = this.packages.api;
    this.#exporter.expected += 1;
    this.#next.trace = traceOf(span);
    this.#next.id = span.id;
    const facts = {
      kind: span.kind === 'model' ? SpanKind.CLIENT : SpanKind.INTERNAL,
      startTime: toHrTime(span.start),
      attributes: attributesOf(span),
    };
    const open = this.#tracer.startSpan(nameOf(span), facts, this.#around(span));
    const status = statusOf(span);
    if (status) open.setStatus(status);
    open.end(toHrTime(span.start + span.durationMs));
  }

  async close(): Promise<void> {
    await this.#provider.shutdown().catch(() => undefined);
    this.#exporter.tellLost();
  }

  #around({ parent }: SpanRecord): Context {
    const { ROOT_CONTEXT, TraceFlags, trace } = this.packages.api;
    if (parent === null) return ROOT_CONTEXT;
    const around = {
      traceId: this.#next.trace,
      spanId: parent,
      traceFlags: TraceFlags.SAMPLED,
    };
    return trace.setSpanContext(ROOT_CONTEXT, around);
  }
}

/** A number would be one since the begin of this process, where it is a time before that. */
function toHrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}

/**
 * Sends all spans of this process that end from now on.
 *
 * @param environment whose values are masked; see {@link toSpanRecord}
 * @returns what ends that
 */
export function sendSpans(to: OtlpExport, environment?: HookEnvironmentPolicy): () => void {
  return listenToSpans((span) => {
    // A listener that throws would end the process.
    orUndefined(() => to.add(toSpanRecord(span, environment)));
  });
}

type Packages = Awaited<ReturnType<typeof loadPackages>>;

async function loadPackages() {
  const load = <T>(name: string) =>
    loadOptional<T>(`@opentelemetry/${name}`, '--otlp needs', PACKAGES);
  const [api, sdk, resources, otlp] = await Promise.all([
    load<typeof import('@opentelemetry/api')>('api'),
    load<typeof import('@opentelemetry/sdk-trace-base')>('sdk-trace-base'),
    load<typeof import('@opentelemetry/resources')>('resources'),
    load<typeof import('@opentelemetry/exporter-trace-otlp-http')>('exporter-trace-otlp-http'),
  ]);
  return { api, sdk, resources, otlp };
}

/** Later ones need a later Node. */
const PACKAGES =
  '@opentelemetry/api@1.9 @opentelemetry/sdk-trace-base@2 @opentelemetry/resources@2 @opentelemetry/exporter-trace-otlp-http@0.223';

/** Whoever records may write anything, and older versions write none. */
function traceOf({ id, trace = '' }: SpanRecord): string {
  return /^[0-9a-f]{32}$/u.test(trace) ? trace : id.padStart(32, '0');
}

function endpointOf(url: string): string {
  const { href, pathname } = new URL(url);
  return pathname === '/' ? new URL('/v1/traces', href).href : href;
}

function nameOf({ kind, name }: SpanRecord): string {
  if (kind === 'tool') return `execute_tool ${name}`;
  return kind === 'model' ? `chat ${name}` : `${kind} ${name}`;
}

/** By the semantic conventions where they have a name, and below `hookstack` where not. */
function attributesOf(span: SpanRecord): Attributes {
  const { kind, name, verdict, sizes = {} } = span;
  const { promptTokens, answerTokens, ...others } = sizes;
  return {
    'hookstack.kind': kind,
    'hookstack.name': name,
    'hookstack.verdict': verdict,
    'hookstack.event': span.event,
    'hookstack.moment': span.moment,
    'hookstack.reason': span.reason,
    'hookstack.decided_by': span.decidedBy && [...span.decidedBy],
    'hookstack.own_ms': span.ownMs,
    'hookstack.process': span.process,
    'hookstack.from': span.from,
    'process.command_line': span.command,
    'process.exit.code': span.exitCode,
    'hookstack.signal': span.signal,
    'error.type': verdict === 'fail' ? kind : undefined,
    ...(kind === 'session' && { 'session.id': name, 'gen_ai.conversation.id': name }),
    ...(kind === 'tool' && { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name }),
    ...(kind === 'model' && { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': name }),
    'gen_ai.usage.input_tokens': promptTokens,
    'gen_ai.usage.output_tokens': answerTokens,
    ...Object.fromEntries(
      Object.entries(others).map(([of, size]) => [`hookstack.size.${of}`, size]),
    ),
  };
}

/** What was blocked has not failed. */
function statusOf({ verdict, error, reason }: SpanRecord): SpanStatus | undefined {
  const ERROR = 2;
  return verdict === 'fail' ? { code: ERROR, message: error ?? reason ?? '' } : undefined;
}

/** An exporter that says what becomes of its spans, which the packages tell nobody. */
class Told implements SpanExporter {
  expected = 0;
  #taken = 0;
  #isFailing = false;

  constructor(
    private readonly exporter: SpanExporter,
    private readonly url: string,
    private readonly tell: (message: string) => void,
  ) {}

  export(...[spans, done]: Parameters<SpanExporter['export']>): void {
    this.exporter.export(spans, (result) => {
      const isFailing = result.code !== 0;
      if (!isFailing) this.#taken += spans.length;
      if (isFailing !== this.#isFailing) this.#tellChange(result.error);
      this.#isFailing = isFailing;
      done(result);
    });
  }

  shutdown(): Promise<void> {
    return this.exporter.shutdown();
  }

  tellLost(): void {
    const lost = this.expected - this.#taken;
    if (lost > 0) this.tell(`${lost} of ${this.expected} spans were not taken at ${this.#where}`);
  }

  get #where(): string {
    return new URL(this.url).host;
  }

  #tellChange(error: Error | undefined): void {
    const where = `OpenTelemetry at ${this.#where}`;
    if (this.#isFailing) this.tell(`${where} takes spans again`);
    else {
      const why = error ? ` (${errorMessage(error)})` : '';
      this.tell(`${where} takes no spans${why}; the work goes on without. See whether it runs`);
    }
  }
}
