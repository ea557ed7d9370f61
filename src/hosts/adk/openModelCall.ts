import type { GenerateContentParameters, GenerateContentResponse } from '@google/genai';
import type { Config } from '../../config/config.js';
import type { ModelCall } from '../../context.js';
import { openHalf, unheeded } from '../../core/halves.js';
import {
  callModelWithHooks,
  finishTurn,
  runModelCall,
  type ModelCallOptions,
  type ModelTurn,
  type OpenModel,
} from '../../core/modelCall.js';

/** A model call that its hooks and middleware let pass, for a host that calls the model itself. */
export interface OpenModelCall {
  /** What to send. */
  readonly request: GenerateContentParameters;
  /** Once the whole answer is there. AfterModel hooks see it. */
  finish(response: GenerateContentResponse): Promise<ModelTurn>;
  /** To be called where the model failed, or its answer will never be known. Never rejects. */
  fail(error: unknown): Promise<void>;
}

/** A model call that ends without the model. */
export interface RefusedModelCall {
  readonly turn: ModelTurn;
}

/**
 * A model call in two halves, for hosts that have one callback before the model and another after it. The first of
 * `finish`, `fail` and the abort of `signal` ends it.
 */
export async function openModelCall(
  config: Config,
  request: GenerateContentParameters,
  options: ModelCallOptions,
): Promise<OpenModelCall | RefusedModelCall> {
  const half = await openHalf<GenerateContentParameters, GenerateContentResponse, ModelTurn>(
    (middle) => {
      const open: OpenModel = async (sent, signal) => streamOf(middle(sent, signal));
      return finishTurn(callModelWithHooks(config, request, open, options));
    },
  );
  if ('ended' in half) return { turn: half.ended };
  const { given, finish, fail } = half;
  return { request: given, finish, fail: (error) => unheeded(fail(error)) };
}

/**
 * AfterModel hooks on a further answer to a request whose call has ended, for hosts that give one answer in several
 * pieces. Middleware sees the first piece only: there is one call.
 *
 * @throws the reason of `options.signal`
 */
export function fireForFurtherAnswer(
  config: Config,
  request: GenerateContentParameters,
  answer: GenerateContentResponse,
  options: ModelCallOptions,
): Promise<ModelTurn> {
  const { afterModel, openStream } = config.getModelStages();
  const layers = (call: ModelCall) => afterModel(call, () => openStream(call, done));
  const open = async () => streamOf(answer);
  return finishTurn(runModelCall(layers, request, open, options));
}

async function done(): Promise<void> {
  // The answer is there.
}

async function* streamOf(
  answer: GenerateContentResponse | Promise<GenerateContentResponse>,
): AsyncGenerator<GenerateContentResponse> {
  yield await answer;
}
