import { setTimeout as sleep } from 'node:timers/promises';
import type { KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { MAX_QUESTION_BYTES } from '../../../fleet/approvalEnvelope.js';
import { loadPackage } from '../../../fleet/natsConnection.js';

const BUCKET = 'hookstack_approvals';
/** Ms that an entry is kept beyond the longest wait. */
const MARGIN_MS = 60_000;
/** Questions that are over are small, and questions that are open few: see openQuestions.ts. */
const MAX_BUCKET_BYTES = 64 * 1024 * 1024;
/** Of several servers that make the bucket in one instant, all but one are refused. */
const ATTEMPTS = 5;
const PAUSE_MS = 100;

/**
 * Opens the bucket of questions, or makes it.
 *
 * @param longestMs what it has to keep an entry for, in ms
 * @throws Error where there is no room for it, or it keeps entries for less
 */
export async function openBucket(nc: NatsConnection, longestMs: number): Promise<KV> {
  const { Kvm } = await loadPackage('@nats-io/kv');
  const make = () =>
    new Kvm(nc).create(BUCKET, {
      ttl: longestMs + MARGIN_MS,
      history: 1,
      max_bytes: MAX_BUCKET_BYTES,
      maxValueSize: 2 * MAX_QUESTION_BYTES,
      // Reads must see what was written.
      allow_direct: false,
    });
  const kv = await makeAtLast(make, ATTEMPTS);
  const { ttl } = await kv.status();
  if (ttl === 0 || ttl >= longestMs) return kv;
  throw new Error(
    `the bucket ${BUCKET} keeps entries for ${ttl} ms only, and questions wait up to ${longestMs} ms: remove it (nats kv del ${BUCKET})`,
  );
}

async function makeAtLast(make: () => Promise<KV>, attempts: number): Promise<KV> {
  try {
    return await make();
  } catch (error) {
    if (attempts <= 1) throw error;
    await sleep(PAUSE_MS);
    return makeAtLast(make, attempts - 1);
  }
}
