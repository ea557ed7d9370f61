import { setTimeout as wait } from 'node:timers/promises';
import type { GenerateContentResponse } from '@google/genai';
import type { ModelCall } from '../src/context.js';
import { toModelFault } from '../src/protocol/modelFault.js';
import type { ProcessedHookResult } from '../src/protocol/hookOutput.js';
import { HookEventName, type HookPayload } from '../src/protocol/types.js';

/** How often hooks may have one model call made again. */
export const MAX_MODEL_RETRIES = 3;

/** What they may have it wait for, in ms. */
export const MAX_RETRY_DELAY_MS = 60_000;

/** How the hooks are told. */
type Fire = (
  event: HookEventName.ModelError,
  failure: HookPayload<HookEventName.ModelError>,
  call: ModelCall,
) => Promise<ProcessedHookResult> | undefined;

type Chunks = AsyncIterable<GenerateContentResponse>;

/**
 * Opens the model's answer, and tells ModelError hooks of each failure, also while the answer arrives. They may have the
 * call made again while nothing of the answer has been read.
 *
 * @param open opens it with the request that hooks have seen
 * @throws what the model throws, where it is not called again; the reason of the call's signal
 */
export async function openWithRetries(
  fire: Fire,
  call: ModelCall,
  open: () => Promise<Chunks>,
): Promise<Chunks> {
  const tries = new Tries(fire, call, open);
  return tries.read(await tries.open());
}

class Tries {
  #failures = 0;
  #last: unknown;

  constructor(
    private readonly fire: Fire,
    private readonly call: ModelCall,
    private readonly tryOnce: () => Promise<Chunks>,
  ) {}

  async open(): Promise<Chunks> {
    for (;;) {
      try {
        return await this.tryOnce();
      } catch (error) {
        await this.#mayTryAgain(error);
      }
    }
  }

  async *read(opened: Chunks): AsyncGenerator<GenerateContentResponse> {
    let chunks = opened;
    for (;;) {
      let hasBegun = false;
      try {
        for await (const chunk of chunks) {
          hasBegun = true;
          yield chunk;
        }
        return;
      } catch (error) {
        await this.#mayTryAgain(error, hasBegun);
      }
      chunks = await this.open();
    }
  }

  /** @throws `error`, unless the call is to be made again */
  async #mayTryAgain(error: unknown, hasBegun = false): Promise<void> {
    const { signal, request: llmRequest } = this.call;
    // A host that makes the call itself, once, gives the same failure again.
    if (signal?.aborted || (this.#failures > 0 && error === this.#last)) throw error;
    this.#last = error;
    this.#failures += 1;
    const failure = { llmRequest, error: toModelFault(error), attempt: this.#failures };
    const fired = await this.fire(HookEventName.ModelError, failure, this.call);
    const { retry, retryAfterMs } = fired?.aggregated.finalOutput?.hookSpecificOutput ?? {};
    const isAskedFor = retry === true && !fired?.shouldStop;
    if (!isAskedFor || hasBegun || this.#failures > MAX_MODEL_RETRIES) throw error;
    const ms = typeof retryAfterMs === 'number' ? Math.min(retryAfterMs, MAX_RETRY_DELAY_MS) : 0;
    try {
      await wait(ms, undefined, { signal });
    } catch {
      // An abort has ended it, and is thrown as that of the call.
    }
    signal?.throwIfAborted();
  }
}
