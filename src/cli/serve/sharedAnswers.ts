import type { KV } from '@nats-io/kv';
import { loadPackage, withinMs, type TlsFiles } from '../../fleet/natsConnection.js';
import { errorMessage } from '../../util/errorMessage.js';
import { isRecord } from '../../util/records.js';
import type { Reply, SharedAnswers } from './keptAnswers.js';
import { SteadyNats } from './steadyNats.js';

export interface SharedAnswersOptions extends TlsFiles {
  /** `nats://HOST:PORT`. */
  readonly url: string;
  readonly secret?: string | undefined;
  /** This server's name, which `nats-server` shows. */
  readonly name: string;
  /** Ms for which an answer is kept. Default 10 minutes. */
  readonly ttlMs?: number;
  /** What a stored answer may have. Default 256 KiB. */
  readonly maxAnswerBytes?: number;
  readonly onWarn?: (message: string) => void;
}

const BUCKET = 'hookstack_answers';
/** Of all answers, which the memory of nats-server holds. */
const MAX_BUCKET_BYTES = 32 * 1024 * 1024;
const CLAIMED = '';
/** What a claim may take, in ms. A question is not kept waiting by a broker that is silent. */
const CLAIM_MS = 1000;
/** It is the same for every question while it lasts. */
const WARN_EVERY_MS = 60_000;

interface Claim {
  readonly bucket: KV;
  readonly isOurs: boolean;
}

/** The answers of several servers: which of them is asked the same question again, it gives the same answer. */
export class KvAnswers implements SharedAnswers {
  #bucket: Promise<KV> | undefined;
  #nats!: SteadyNats;
  #warnedAt = -Infinity;
  readonly #storing = new Set<Promise<unknown>>();

  private constructor(private readonly options: SharedAnswersOptions) {}

  /** @throws Error as {@link SteadyNats.open} */
  static async open(options: SharedAnswersOptions): Promise<KvAnswers> {
    const { name, onWarn = () => undefined } = options;
    const answers = new KvAnswers(options);
    answers.#nats = await SteadyNats.open({
      ...options,
      onWarn,
      name: `hookstack serve ${name} answers`,
      onOpen: async () => undefined,
    });
    return answers;
  }

  /**
   * Does the work unless another server does it, or has done it. Without JetStream every server does its own.
   *
   * @param key names the question, and who asks it, with letters, digits and "-"
   * @param timeoutMs how long to wait for the other server's answer; where it has none then, status 504
   */
  async once(key: string, timeoutMs: number, work: () => Promise<Reply>): Promise<Reply> {
    const start = performance.now();
    const claim = await this.#claim(key);
    if (!claim) return work();
    if (!claim.isOurs) {
      return this.#otherAnswer(claim.bucket, key, timeoutMs - (performance.now() - start));
    }
    const reply = await work().catch((error: unknown) => {
      this.#store(claim.bucket, key, failed(500, 'The hooks could not be asked'));
      throw error;
    });
    this.#store(claim.bucket, key, reply);
    return reply;
  }

  async close(): Promise<void> {
    await Promise.allSettled(this.#storing);
    await this.#nats.close();
  }

  /** @returns nothing where there is no JetStream */
  async #claim(key: string): Promise<Claim | undefined> {
    const wasOpen = this.#bucket !== undefined;
    try {
      const bucket = await withinMs(this.#open(), CLAIM_MS);
      return { bucket, isOurs: await withinMs(create(bucket, key), CLAIM_MS) };
    } catch (error) {
      this.#bucket = undefined;
      // A restart of nats-server empties its memory.
      if (wasOpen && this.#nats.isUp) return this.#claim(key);
      this.#warn(`a question that is asked twice may run hooks twice: ${errorMessage(error)}`);
      return undefined;
    }
  }

  #warn(why: string): void {
    if (performance.now() - this.#warnedAt < WARN_EVERY_MS) return;
    this.#warnedAt = performance.now();
    this.options.onWarn?.(`Answers are not shared between servers: ${why}`);
  }

  #open(): Promise<KV> {
    this.#bucket ??= this.#openBucket();
    return this.#bucket;
  }

  async #openBucket(): Promise<KV> {
    const { connection, isUp } = this.#nats;
    if (!connection || !isUp) throw new Error('there is no connection to NATS');
    const { Kvm } = await loadPackage('@nats-io/kv');
    const { DiscardPolicy, StorageType, jetstreamManager } =
      await loadPackage('@nats-io/jetstream');
    const bucket = await new Kvm(connection).create(BUCKET, {
      storage: StorageType.Memory,
      history: 1,
      ttl: this.options.ttlMs ?? 600_000,
      max_bytes: MAX_BUCKET_BYTES,
      description: 'Answers to questions that may be asked again',
    });
    // A full bucket would take no new answers, until the oldest are ten minutes old.
    const { streams } = await jetstreamManager(connection);
    await streams.update(`KV_${BUCKET}`, { discard: DiscardPolicy.Old });
    return bucket;
  }

  /** In the background: the asker need not wait until it is there for another. */
  #store(bucket: KV, name: string, reply: Reply): void {
    const { maxAnswerBytes = 256 * 1024 } = this.options;
    const text = JSON.stringify(reply);
    const size = Buffer.byteLength(text);
    const why = `The answer was given before, and is too large to be given again (${size} bytes)`;
    const value = size <= maxAnswerBytes ? text : JSON.stringify(failed(500, why));
    const storing = bucket.put(name, value, { timeout: CLAIM_MS }).catch((error: unknown) => {
      this.#warn(`an answer could not be kept for who asks again: ${errorMessage(error)}`);
    });
    this.#storing.add(storing);
    void storing.then(() => this.#storing.delete(storing));
  }

  async #otherAnswer(bucket: KV, name: string, waitMs: number): Promise<Reply> {
    const late = failed(504, 'Another server works on this question, and has no answer in time');
    try {
      return (await withinMs(watchFor(bucket, name, waitMs), waitMs)) ?? late;
    } catch {
      return late;
    }
  }
}

/** @returns whether the key was free */
async function create(bucket: KV, name: string): Promise<boolean> {
  try {
    await bucket.create(name, CLAIMED);
    return true;
  } catch (error) {
    // 10071 and 10164: another value is there.
    const { code } = error as { readonly code?: unknown };
    if (code === 10071 || code === 10164) return false;
    throw error;
  }
}

async function watchFor(bucket: KV, name: string, ms: number): Promise<Reply | undefined> {
  const entries = await bucket.watch({ key: name });
  const timer = setTimeout(() => entries.stop(), Math.max(0, ms));
  try {
    for await (const entry of entries) {
      const text = entry.operation === 'PUT' ? entry.string() : CLAIMED;
      if (text !== CLAIMED) return readReply(text);
    }
    return undefined;
  } finally {
    clearTimeout(timer);
    entries.stop();
  }
}

function readReply(text: string): Reply | undefined {
  const said: unknown = JSON.parse(text);
  if (!isRecord(said)) return undefined;
  const { status, body, retryAfterS } = said;
  if (typeof status !== 'number' || typeof body !== 'string') return undefined;
  return { status, body, ...(typeof retryAfterS === 'number' && { retryAfterS }) };
}

function failed(status: number, error: string): Reply {
  return { status, body: JSON.stringify({ error }) };
}
