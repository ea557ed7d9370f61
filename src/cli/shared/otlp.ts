import type * as Api from '@opentelemetry/api';
import type * as Otlp from '@opentelemetry/exporter-trace-otlp-http';
import type * as Resources from '@opentelemetry/resources';
import type * as Sdk from '@opentelemetry/sdk-trace-base';
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
/** A collector refuses a request of some megabytes, with all spans in it. In characters of one text. */
const MAX_TEXT = 1024;
/** Items of one list, and sizes by name. */
const MAX_ITEMS = 64;
/** Nanoseconds since 1970 have 63 bits: what is later is none of a clock. In ms. */
const LATEST_MS = 9e12;

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
  readonly #provider: Sdk.BasicTracerProvider;
  readonly #tracer: Api.Tracer;
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
      spanLimits: { attributeValueLengthLimit: MAX_TEXT },
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

  #around({ parent }: SpanRecord): Api.Context {
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
function toHrTime(time: number): Api.HrTime {
  const ms = Math.min(time, LATEST_MS);
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
  const [api, sdk, resources, otlp] = await Promise.all([
    load<typeof Api>('api'),
    load<typeof Sdk>('sdk-trace-base'),
    load<typeof Resources>('resources'),
    load<typeof Otlp>('exporter-trace-otlp-http'),
  ]);
  return { api, sdk, resources, otlp };
}

function load<T>(name: string): Promise<T> {
  return loadOptional<T>(`@opentelemetry/${name}`, '--otlp needs', PACKAGES);
}

/** Later ones need a later Node. */
const PACKAGES =
  '@opentelemetry/api@1.9 @opentelemetry/sdk-trace-base@2 @opentelemetry/resources@2 @opentelemetry/exporter-trace-otlp-http@0.223';

/** Whoever records may write anything, and older versions write none. */
function traceOf({ id, trace = '' }: SpanRecord): string {
  return /^(?!0+$)[0-9a-f]{32}$/u.test(trace) ? trace : id.padStart(32, '0');
}

function endpointOf(url: string): string {
  const { href, pathname } = new URL(url);
  return pathname === '/' ? new URL('/v1/traces', href).href : href;
}

function nameOf({ kind, name }: SpanRecord): string {
  const what = { tool: 'execute_tool', model: 'chat' }[kind as string] ?? kind;
  return `${what} ${name}`.slice(0, MAX_TEXT);
}

/** By the semantic conventions where they have a name, and below `hookstack` where not. */
function attributesOf(span: SpanRecord): Api.Attributes {
  const { kind, name, verdict, sizes = {}, session = kind === 'session' ? name : undefined } = span;
  const { promptTokens, answerTokens, ...others } = sizes;
  return {
    'hookstack.kind': kind,
    'hookstack.name': name,
    'hookstack.verdict': verdict,
    'hookstack.event': span.event,
    'hookstack.moment': span.moment,
    'hookstack.reason': span.reason,
    'hookstack.decided_by': span.decidedBy?.slice(0, MAX_ITEMS),
    'hookstack.policy': span.policy,
    'hookstack.shadow': span.isShadow,
    'hookstack.approver': span.approver,
    'hookstack.own_ms': span.ownMs,
    'hookstack.process': span.process,
    'hookstack.from': span.from,
    'process.command_line': span.command,
    'process.exit.code': toCarried(span.exitCode),
    'hookstack.signal': span.signal,
    'error.type': verdict === 'fail' ? kind : undefined,
    'session.id': session,
    'gen_ai.conversation.id': session,
    'gen_ai.agent.name': span.agent,
    'gen_ai.tool.call.id': span.call,
    ...(kind === 'tool' && { 'gen_ai.operation.name': 'execute_tool', 'gen_ai.tool.name': name }),
    ...(kind === 'model' && { 'gen_ai.operation.name': 'chat', 'gen_ai.request.model': name }),
    'gen_ai.usage.input_tokens': toCarried(promptTokens),
    'gen_ai.usage.output_tokens': toCarried(answerTokens),
    ...Object.fromEntries(
      Object.entries(others)
        .slice(0, MAX_ITEMS)
        .map(([of, size]) => [`hookstack.size.${of.slice(0, MAX_ITEMS)}`, toCarried(size)]),
    ),
  };
}

/** A whole number has 64 bits there. */
function toCarried(number: number | undefined): number | undefined {
  return number !== undefined && Math.abs(number) < 2 ** 63 ? number : undefined;
}

/** What was blocked has not failed. */
function statusOf({ verdict, error, reason }: SpanRecord): Api.SpanStatus | undefined {
  const ERROR = 2;
  return verdict === 'fail'
    ? { code: ERROR, message: (error ?? reason ?? '').slice(0, MAX_TEXT) }
    : undefined;
}

/** An exporter that says what becomes of its spans, which the packages tell nobody. */
class Told implements Sdk.SpanExporter {
  expected = 0;
  #taken = 0;
  #isFailing = false;

  constructor(
    private readonly exporter: Sdk.SpanExporter,
    private readonly url: string,
    private readonly tell: (message: string) => void,
  ) {}

  export(...[spans, done]: Parameters<Sdk.SpanExporter['export']>): void {
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
