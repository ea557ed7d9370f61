import type { KV, KvOptions } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { loadPackage } from '../../../fleet/natsConnection.js';
import { retry } from '../../../util/retry.js';

/** Of several servers that make a bucket in one instant, all but one are refused. */
export const PAUSES_MS = [100, 100, 100, 100];

/**
 * Opens a bucket, or makes it.
 *
 * @throws Error where there is no room for it, or it keeps entries for another time
 */
export async function openBucket(
  nc: NatsConnection,
  name: string,
  limits: Pick<KvOptions, 'ttl' | 'max_bytes' | 'maxValueSize'>,
): Promise<KV> {
  const { Kvm } = await loadPackage('@nats-io/kv');
  // Reads must see what was written.
  const options = { ...limits, history: 1, allow_direct: false };
  const kv = await retry(() => new Kvm(nc).create(name, options), { pauses: PAUSES_MS });
  const { ttl } = await kv.status();
  if (ttl === limits.ttl) return kv;
  throw new Error(
    `the bucket ${name} keeps entries for ${ttl} ms, and not for ${limits.ttl}: remove it (nats kv del ${name})`,
  );
}
