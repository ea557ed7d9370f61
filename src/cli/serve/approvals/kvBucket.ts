import type { KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { loadPackage } from '../../../fleet/natsConnection.js';
import { retry } from '../../../fleet/retry.js';

export interface BucketOptions {
  /** Ms that its entries have to be kept. */
  readonly neededMs: number;
  /** Ms that a new one keeps them. Default as long as they have to. */
  readonly ttl?: number;
  readonly maxBytes: number;
  /** Bytes of one entry. */
  readonly maxValueSize: number;
}

/** Of several servers that make a bucket in one instant, all but one are refused. */
export const PAUSES_MS = [100, 100, 100, 100];

/**
 * Opens a bucket, or makes it.
 *
 * @throws Error where there is no room for it, or it keeps entries for less than is needed
 */
export async function openBucket(
  nc: NatsConnection,
  name: string,
  { neededMs, ttl: newTtl = neededMs, maxBytes, maxValueSize }: BucketOptions,
): Promise<KV> {
  const { Kvm } = await loadPackage('@nats-io/kv');
  // Reads must see what was written.
  const limits = {
    ttl: newTtl,
    history: 1,
    max_bytes: maxBytes,
    maxValueSize,
    allow_direct: false,
  };
  const kv = await retry(() => new Kvm(nc).create(name, limits), { pauses: PAUSES_MS });
  const { ttl } = await kv.status();
  if (ttl === 0 || ttl >= neededMs) return kv;
  throw new Error(
    `the bucket ${name} keeps entries for ${ttl} ms only, and they are needed for up to ${neededMs} ms: remove it (nats kv del ${name})`,
  );
}
