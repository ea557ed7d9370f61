import type { GenerateContentParameters, GenerateContentResponse } from '@google/genai';
import type { Config } from '../config/config.js';
import { createModelCall, type CallOptions, type ModelCall, type Verdict } from '../context.js';
import { collectResponse } from '../protocol/response.js';
import { requireKnown, type OptionNames } from '../util/requireKnown.js';

/** How one model call ended. */
export interface ModelTurn {
  /**
   * What is stored and acted upon. Empty when the call was blocked and no hook answered in its place. Of the SDK's class
   * where what the model gave is; else it has the same accessors.
   */
  readonly response: GenerateContentResponse;
  /** The parameters that were sent, or would have been. */
  readonly request: GenerateContentParameters;
  readonly verdict: Verdict;
  /** The model was not called. */
  readonly blocked: boolean;
  /** The response is a hook's. */
  readonly synthetic: boolean;
  /** The response is kept from the user. */
  readonly suppressDisplay: boolean;
  /** What hooks have to say to the model, with the next message. */
  readonly notes: readonly string[];
}

/** What a model call takes: what a tool call takes, without the id. */
export type ModelCallOptions = Omit<CallOptions, 'callId'>;

/** Begins the model's answer. */
export type OpenModel = (
  request: GenerateContentParameters,
  signal: AbortSignal,
) => Promise<AsyncIterable<GenerateContentResponse>>;

const OPTIONS: OptionNames<ModelCallOptions> = {
  signal: true,
  onHooks: true,
  onApproval: true,
  session: true,
};

/**
 * One model call through the model stack: BeforeToolSelection, BeforeModel, the model, AfterModel, and everything that
 * they decide. Without history, and without asking again.
 *
 * @param request in the form of `@google/genai`. Tools and system instruction are in its `config`, where hooks read them.
 *   What hooks do not see stays as it is, unknown and symbol keys of contents and parts included.
 * @param open begins the model's answer with the request that hooks and middleware left; not called where one of them
 *   blocks. `signal` aborts with `options.signal`, and when the reader leaves. A model that does not stream gives one chunk.
 * @returns the chunks that may be shown, and in the end how the call ended
 * @throws TypeError for an option that does not exist; what `open` and its stream throw; the reason of `options.signal`
 */
export async function* callModelWithHooks(
  config: Config,
  request: GenerateContentParameters,
  open: OpenModel,
  options: ModelCallOptions = {},
): AsyncGenerator<GenerateContentResponse, ModelTurn, undefined> {
  requireKnown('callModelWithHooks()', options, OPTIONS);
  return yield* runModelCall((call) => config.getModelStack().run(call), request, open, options);
}

/** The same with other layers around the model. */
export async function* runModelCall(
  layers: (call: ModelCall) => Promise<void>,
  request: GenerateContentParameters,
  open: OpenModel,
  options: ModelCallOptions,
): AsyncGenerator<GenerateContentResponse, ModelTurn, undefined> {
  const abort = new AbortController();
  const signal = options.signal ? AbortSignal.any([options.signal, abort.signal]) : abort.signal;
  const call = createModelCall(request, (changed) => open(changed, signal), { ...options, signal });
  const chunks: GenerateContentResponse[] = [];
  let isRead = false;
  try {
    signal.throwIfAborted();
    await layers(call);
    for await (const value of call.stream ?? []) {
      signal.throwIfAborted();
      // Whoever blocks an answer that is on its way ends it.
      if (!call.stream) break;
      chunks.push(value);
      yield value;
    }
    isRead = call.stream !== undefined;
  } finally {
    // The SDK keeps a stream open that is only left, and not aborted.
    if (!isRead) abort.abort();
  }
  return toTurn(call, chunks);
}

/** Runs a model call to its end without showing anything of it. */
export async function finishTurn<T extends ModelTurn>(
  turn: AsyncGenerator<unknown, T, undefined>,
): Promise<T> {
  for (;;) {
    const step = await turn.next();
    if (step.done) return step.value;
  }
}

function toTurn(call: ModelCall, chunks: readonly GenerateContentResponse[]): ModelTurn {
  const { request, verdict, synthetic, suppressDisplay, contextForModel: notes } = call;
  const isAnswered = !synthetic && call.stream !== undefined;
  if (!call.stream && !call.response && verdict.kind === 'allow') {
    throw new Error('A middleware ended the model call without a response: set call.response');
  }
  return {
    response: call.response ?? collectResponse(chunks),
    request,
    verdict,
    blocked: !isAnswered,
    synthetic,
    suppressDisplay,
    notes,
  };
}
