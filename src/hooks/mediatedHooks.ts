import { randomUUID } from 'node:crypto';
import type { AggregatedHookResult } from '../protocol/hookOutput.js';
import { describe } from '../util/checks.js';
import { MessageBusType, type MessageBus, type Unsubscribe } from '../confirmation-bus/types.js';
import type { DebugLogger } from '../util/debugLogger.js';
import { errorMessage } from '../util/errorMessage.js';
import { buildFailureEnvelope } from './envelopes.js';
import { HookPipelineError, type PipelineStage } from './errors.js';
import { events, findTooDeepField, isHookEventName, readEventFields } from '../protocol/events.js';
import type { HookExecutionRequest, HookExecutionResponse } from '../confirmation-bus/types.js';
import { isRecord } from '../util/records.js';
import { HookEventName, type HookPayload } from '../protocol/types.js';

/** Fires an event; rejects with a `HookPipelineError` when the hook system itself fails. */
export type ProcessEvent = <E extends HookEventName>(
  event: E,
  payload: HookPayload<E>,
) => Promise<AggregatedHookResult>;

/** Answers requests on a message bus by firing events. */
export class MediatedHooks {
  readonly #inFlight = new Set<string>();
  readonly #subscribed: Promise<Unsubscribe | undefined>;
  #isDisposed = false;

  constructor(
    private readonly bus: MessageBus,
    private readonly process: ProcessEvent,
    private readonly logger: DebugLogger,
  ) {
    this.#subscribed = this.#subscribe();
  }

  /** Stops taking requests; those in flight are still answered. Idempotent. */
  async dispose(): Promise<void> {
    this.#isDisposed = true;
    try {
      const unsubscribe = await this.#subscribed;
      await unsubscribe?.();
    } catch (error) {
      this.logger.warn('The subscription to hook requests could not be ended', { error });
    }
  }

  async #subscribe(): Promise<Unsubscribe | undefined> {
    try {
      return await this.bus.subscribe(MessageBusType.HOOK_EXECUTION_REQUEST, (request) =>
        this.#answer(request),
      );
    } catch (error) {
      this.logger.warn('Hook requests on the message bus will not be answered', { error });
      return undefined;
    }
  }

  async #answer(request: HookExecutionRequest): Promise<void> {
    if (this.#isDisposed) return;
    const response = await this.#respond(request);
    try {
      await this.bus.publish(response);
    } catch (error) {
      const { correlationId } = response;
      this.logger.warn(`The response ${correlationId} could not be published`, { error });
    }
  }

  async #respond(request: HookExecutionRequest): Promise<HookExecutionResponse> {
    const given: unknown = request.correlationId;
    const correlationId = typeof given === 'string' && given !== '' ? given : randomUUID();
    const answer = { type: MessageBusType.HOOK_EXECUTION_RESPONSE, correlationId } as const;
    try {
      checkCorrelationId(given);
      const output = await this.#once(correlationId, () => this.#execute(request));
      return { ...answer, success: output.success, output };
    } catch (error) {
      this.logger.warn('A hook request could not be processed', { correlationId, error });
      return { ...answer, success: false, ...describeFailure(error) };
    }
  }

  /** Two requests under one id could not tell their responses apart. */
  async #once<T>(correlationId: string, work: () => Promise<T>): Promise<T> {
    if (this.#inFlight.has(correlationId)) {
      const message = `a request with the correlationId ${JSON.stringify(correlationId)} is still in flight: give each its own`;
      throw fault('correlation', message, 'correlationId', 'Still in flight');
    }
    this.#inFlight.add(correlationId);
    try {
      return await work();
    } finally {
      this.#inFlight.delete(correlationId);
    }
  }

  async #execute({ eventName, input }: HookExecutionRequest): Promise<AggregatedHookResult> {
    const event = narrowEventName(eventName);
    return toPlain(await this.process(event, readPayload(event, input)), event);
  }
}

function checkCorrelationId(given: unknown): void {
  if (given === undefined || given === null || typeof given === 'string') return;
  const message = `correlationId must be a string, but is ${describe(given)}`;
  throw fault('validation', message, 'correlationId', 'Expected a string');
}

/** @param short what is wrong with the value at `path` of the request */
function fault(
  stage: PipelineStage,
  message: string,
  path: string,
  short = message,
  event?: HookEventName,
): HookPipelineError {
  return new HookPipelineError(message, stage, { event, details: [{ path, message: short }] });
}

function narrowEventName(name: unknown): HookEventName {
  if (isHookEventName(name)) return name;
  const known = Object.values(HookEventName).join(', ');
  const message = `eventName is ${describe(name)}, which is not a hook event; the events are: ${known}`;
  throw fault('routing', message, 'eventName', 'Unknown hook event');
}

function readPayload<E extends HookEventName>(event: E, input: unknown): HookPayload<E> {
  const read = readEventFields(event, isRecord(input) ? input : undefined);
  if ('fields' in read) {
    checkReadable(event, read.fields);
    return events[event].decode(read.fields);
  }
  const details = read.faults.map(({ path, message }) => ({
    path: path === '' ? 'input' : `input.${path}`,
    message,
  }));
  const [first] = details;
  throw new HookPipelineError(`${first?.path}: ${first?.message}`, 'validation', {
    event,
    details,
  });
}

/** An input that hooks cannot read is refused even where there are no hooks. */
function checkReadable(event: HookEventName, input: object): void {
  try {
    const deep = findTooDeepField(input);
    if (deep !== undefined) throw new RangeError(deep);
    JSON.stringify(input);
  } catch (error) {
    const message = `input is no JSON that hooks can read: ${errorMessage(error)}`;
    throw fault('validation', message, 'input', message, event);
  }
}

/** A broker can only carry JSON, in which an `Error` would be an empty object. */
function toPlain(output: AggregatedHookResult, event: HookEventName): AggregatedHookResult {
  const plain = {
    ...output,
    errors: output.errors.map(asData),
    results: output.results.map((result) =>
      result.error ? { ...result, error: asData(result.error) } : result,
    ),
  };
  try {
    JSON.stringify(plain);
  } catch (error) {
    throw new HookPipelineError(error, 'formatting', { event });
  }
  return plain;
}

function asData({ name, message }: Error): Error {
  return { name, message };
}

/** An event fails with a `HookPipelineError`; anything else was thrown by a field of the request. */
function describeFailure(error: unknown): Pick<HookExecutionResponse, 'output' | 'error'> {
  const known =
    error instanceof HookPipelineError ? error : new HookPipelineError(error, 'validation');
  const { code, message, stage, meta } = known;
  const output = buildFailureEnvelope(known, stage);
  return {
    output: { ...output, errors: output.errors.map(asData) },
    error: { code, message, details: meta.details ?? { stage, event: meta.event } },
  };
}
