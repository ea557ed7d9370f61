import { createHash } from 'node:crypto';
import type { Config } from '../../config/config.js';
import type { CallOptions, Decision } from '../../context.js';
import { decideEvent } from '../../core/decideEvent.js';
import { mayBeRead } from '../../hooks/fireHook.js';
import { HookEventName, PreCompressTrigger } from '../../protocol/types.js';
import type { Maybe } from '../mark.js';
import { Batches, endedCalls } from '../batch.js';
import { originOf } from '../translate.js';
import { readMark, toContent, type Message } from './messages.js';

/** What hooks said of what has happened since the last call of the model. */
interface Told {
  readonly stopped: Decision | null;
  readonly notes: readonly string[];
  /** The summary that they were told of, as an answer carries it. */
  readonly summary?: string;
}

const NOTHING: Told = { stopped: null, notes: [] };

/** What the host has no moment for, and what is seen in the messages of the next request. */
export class Moments {
  readonly #batches: Batches;

  constructor(private readonly config: Config) {
    this.#batches = new Batches(config);
  }

  /** @throws the reason of the signal */
  async tell(messages: readonly Message[], options: CallOptions): Promise<Told> {
    const batch = await this.#batches.end(messages.at(-1), () => callsIn(messages), options);
    if (batch?.stopped) return batch;
    const summed = await this.#tellSummary(messages, options);
    return { ...summed, notes: [...(batch?.notes ?? []), ...summed.notes] };
  }

  /** Once: the answers that came since a summary say that hooks know it. */
  async #tellSummary(messages: readonly Message[], options: CallOptions): Promise<Told> {
    if (!mayBeRead(this.config, HookEventName.PostCompress)) return NOTHING;
    const message = messages.find(isSummary);
    if (!message) return NOTHING;
    const summary = createHash('sha256').update(message.text).digest('base64url');
    if (messages.some((each) => readMark(each).summary === summary)) return NOTHING;
    const done = { trigger: PreCompressTrigger.Auto, summary: message.text };
    const told = await decideEvent(this.config, HookEventName.PostCompress, done, options);
    return { ...told, summary };
  }
}

/** What `summarizationMiddleware` of the host puts in place of older messages. */
function isSummary({ additional_kwargs: { lc_source: source } }: Message): boolean {
  return source === 'summarization';
}

function callsIn(messages: readonly Message[]) {
  return endedCalls(messages.map(toContent), (content) => {
    const message = originOf(content) as Maybe<{ readonly status?: string }>;
    return message?.status === 'error';
  });
}
