import { randomUUID } from 'node:crypto';
import type { GenerateContentParameters, GenerateContentResponse } from '@google/genai';
import {
  callModelWithHooks,
  finishTurn,
  type ModelCallOptions,
  type ModelTurn,
} from '../../core/modelCall.js';
import { answerText, emptyResponse, functionCallsOf } from '../../protocol/response.js';
import { isRecord } from '../../util/records.js';
import { toContents } from '../../protocol/messages.js';
import { HookEventName } from '../../protocol/types.js';
import { allowedBy, toLookedAt } from '../allowed.js';
import { afterBatch, endedCalls } from '../batch.js';
import { modelSignal } from '../shared.js';
import { hasAdded, inSubagent, withAdded } from '../subagents.js';
import { carrying, only, originOf, stoppedCall } from '../translate.js';
import { isCall, toModelResponse, toOutput, withinAllowed } from './answer.js';
import { message, textOf, toResponseOf, withAllowed } from './items.js';
import { toGivenParameters, toRequest } from './requests.js';
import type { HookedTools } from './tools.js';
import type {
  Item,
  Model,
  ModelRequest,
  ModelResponse,
  ModelSettings,
  ModelUsage,
  StreamEvent,
} from './types.js';

/** What hooks decided about a run that the host's own types cannot say: the agent's output has a schema. */
export class HookDecisionError extends Error {
  override readonly name = 'HookDecisionError';
  readonly code = 'HOOK_DECISION';

  constructor(
    /** `block` or `stop` */
    readonly kind: string,
    readonly reason: string,
  ) {
    super(`Hooks ended the run (${kind}): ${reason}`);
  }
}

/** What the calls of models have to say to those of tools. */
export interface ModelHost {
  readonly tools: HookedTools;
  readonly options: ModelCallOptions;
  /** What the host sets by itself for a model that it knows by name. */
  readonly defaults: ModelSettings;
  /** Called with the requests, before the model is. */
  onRequest(request: ModelRequest): void;
  onStop(reason: string): void;
}

/** Of a model that was not asked. The host reads all of these. */
function noUsage(): ModelUsage {
  const tokens = { inputTokens: 0, outputTokens: 0, totalTokens: 0 };
  return { requests: 0, ...tokens, inputTokensDetails: [], outputTokensDetails: [] };
}

/**
 * A model whose calls pass through hooks.
 *
 * @param name what hooks read as its name
 * @param find finds the model itself; `known` is that model, where it is known already
 */
export function hookModel(
  host: ModelHost,
  name: string,
  find: () => Model | Promise<Model>,
  known?: Model,
): Model {
  return {
    ...(known?.supportsPromptModelSelection && { supportsPromptModelSelection: true }),
    getRetryAdvice: async (failure) => (await find()).getRetryAdvice?.(failure),

    async getResponse(request) {
      const call = new HookedCall(host, name, request);
      let given: ModelResponse | undefined;
      const chunks = call.begin(async (changed) => {
        given = await (await find()).getResponse(changed);
        call.said = textOf(given.output);
        return only(toResponseOf(given.output, call.said, given.usage));
      });
      const turn = await finishTurn(chunks);
      return call.end(turn, given ?? { usage: noUsage(), output: [] });
    },

    async *getStreamedResponse(request) {
      const call = new HookedCall(host, name, request);
      let done: StreamEvent | undefined;
      const chunks = call.begin(async (changed) =>
        toChunks(call, (await find()).getStreamedResponse(changed), (event) => (done = event)),
      );
      const turn = yield* toEvents(chunks);
      const id = `hookstack-${randomUUID()}`;
      const given = done?.response ?? { id, usage: noUsage(), output: [] };
      const response = call.end(turn, given);
      yield response === given && done ? done : { type: 'response_done', response };
    },
  };
}

/** One call of the model. */
class HookedCall {
  /** All that the model said, as hooks read it. */
  said = '';
  readonly request: ModelRequest;
  readonly #parameters: GenerateContentParameters;

  constructor(
    readonly host: ModelHost,
    name: string,
    given: ModelRequest,
  ) {
    const modelSettings = withDefaults(given.modelSettings, host.defaults);
    this.request = { ...given, modelSettings };
    this.#parameters = toGivenParameters(this.request, name, host.tools.nameOf);
  }

  begin(open: (request: ModelRequest) => Promise<AsyncIterable<GenerateContentResponse>>) {
    const { options, tools } = this.host;
    const { config, nameOf } = tools;
    this.host.onRequest(this.request);
    const { signal, input } = this.request;
    const reason = tools.takeStopOf(callIdsOf(this.request));
    const stop = reason !== undefined && { event: HookEventName.AfterTool, reason };
    if (stop) return stoppedCall(this.#parameters, stop);
    const calling = inSubagent({ ...options, ...(signal && { signal }) });
    const call = (parameters: GenerateContentParameters) =>
      callModelWithHooks(
        config,
        toLookedAt(parameters),
        (changed, aborted) => {
          const own = modelSignal(config, signal, aborted);
          return open(toRequest(this.request, this.#parameters, changed, own, nameOf));
        },
        calling,
      );
    const contents = toContents(this.#parameters.contents);
    const given = hasAdded()
      ? { ...this.#parameters, contents: withAdded(contents) }
      : this.#parameters;
    const last = typeof input === 'string' ? undefined : input.at(-1);
    const ending = tools.batches.end(last, () => endedCalls(contents), calling);
    return ending ? afterBatch(ending, given, call) : call(given);
  }

  /** What the host's agent acts upon. */
  end<R extends ModelResponse>(turn: ModelTurn, given: R): R {
    return toModelResponse(given, this.#output(turn, given.output));
  }

  #output(turn: ModelTurn, given: readonly Item[]): Item[] {
    const { verdict, response, blocked, synthetic } = turn;
    if (verdict.kind === 'stop') this.host.onStop(verdict.reason);
    const text = answerText(response);
    if (synthetic) return [message('model', text)];
    if (verdict.kind === 'block' || blocked) return this.#refusal(turn);
    const output = toOutput(response, given, this.said);
    if (verdict.kind === 'stop') {
      return text === '' ? this.#refusal(turn) : output.filter((item) => !isCall(item));
    }
    const { tools } = this.host;
    const allowed = allowedBy(tools.config, this.#parameters, turn);
    const { left, refusals } = withinAllowed(output, this.request, allowed, tools.nameOf);
    const [call] = functionCallsOf(toResponseOf(left, ''));
    if (call) tools.noteFor(call.id ?? '', [...turn.notes, ...refusals]);
    else if (refusals.length > 0) return [...left, this.#saying('block', refusals.join('\n'))];
    return withAllowed(left, allowed);
  }

  #refusal({ verdict, response }: ModelTurn): Item[] {
    if (verdict.kind === 'allow') return [message('model', answerText(response))];
    return [this.#saying(verdict.kind, verdict.reason)];
  }

  /** A reason is no output of the schema that the agent has to keep to. */
  #saying(kind: string, reason: string): Item {
    if (this.request.outputType !== 'text') throw new HookDecisionError(kind, reason);
    return message('model', reason);
  }
}

/** Fields of an object are set one by one. */
function withDefaults(settings: ModelSettings, defaults: ModelSettings): ModelSettings {
  const given = new Map<string, unknown>(Object.entries(settings));
  const merged = Object.entries(defaults).map(([name, value]) => {
    const own = given.get(name);
    return [name, isRecord(value) && isRecord(own) ? { ...value, ...own } : (own ?? value)];
  });
  return { ...settings, ...Object.fromEntries(merged) };
}

/** The calls of tools whose results the model is to go on with. */
function callIdsOf({ input }: ModelRequest): string[] {
  if (typeof input === 'string') return [];
  const results = input.filter(({ type }) => type === 'function_call_result');
  return results.flatMap(({ callId }) => (typeof callId === 'string' ? callId : []));
}

/** What a chunk was made of; nothing, where there is nothing to show of it. */
interface Origin {
  readonly event?: StreamEvent | undefined;
}

async function* toChunks(
  call: { said: string },
  events: AsyncIterable<StreamEvent>,
  onDone: (event: StreamEvent) => void,
): AsyncGenerator<GenerateContentResponse> {
  for await (const event of events) {
    const { type, delta = '', response } = event;
    if (type === 'output_text_delta') {
      call.said += delta;
      yield carrying(toResponseOf([], delta), { event });
    } else if (response) {
      onDone(event);
      // Some models give a text in the end only, and hooks have to read that as well.
      const text = textOf(response.output);
      const rest = text.startsWith(call.said) ? text.slice(call.said.length) : text;
      call.said += rest;
      yield carrying(toResponseOf(response.output, rest, response.usage), {});
    } else {
      yield carrying(emptyResponse(), { event });
    }
  }
}

/** The events of the chunks that may be shown. Of a chunk that hooks or middleware made, its text. */
async function* toEvents(
  chunks: AsyncGenerator<GenerateContentResponse, ModelTurn>,
): AsyncGenerator<StreamEvent, ModelTurn> {
  let isStarted = false;
  try {
    for (;;) {
      const next = await chunks.next();
      if (next.done) return next.value;
      const origin = originOf(next.value) as Origin | undefined;
      const event = origin ? origin.event : textEvent(next.value);
      if (!event) continue;
      if (!isStarted && event.type !== 'response_started') yield { type: 'response_started' };
      isStarted = true;
      yield event;
    }
  } finally {
    await chunks.return(undefined as never);
  }
}

function textEvent(chunk: GenerateContentResponse): StreamEvent | undefined {
  const delta = answerText(chunk);
  return delta === '' ? undefined : { type: 'output_text_delta', delta };
}
