import type { Consumer, JetStreamManager } from '@nats-io/jetstream';
import type { NatsConnection } from '@nats-io/transport-node';
import { loadPackage } from '../../fleet/natsConnection.js';
import { errorCode } from '../../util/errorMessage.js';
import { RECORD_STREAM, RECORD_SUBJECTS } from '../../fleet/recordSubject.js';

export function loadJetStream() {
  return loadPackage('@nats-io/jetstream');
}

/** In ns, as JetStream counts. */
const SECOND = 1_000_000_000;
/** Of what nobody has collected. */
const MAX_AGE_S = 7 * 24 * 3600;
const MAX_BYTES = 512 * 1024 * 1024;
/** In which a span that is sent again is stored once. */
const DUPLICATES_S = 2 * 3600;
/** After which what a collector took, and did not acknowledge, goes to another. */
const ACK_WAIT_S = 30;

/**
 * Opens what all collectors share: the stream, which is made where it is missing and else left as it is, and the place in
 * it up to which its spans are written.
 *
 * @throws the server's error
 */
export async function openRecord(nats: NatsConnection): Promise<Consumer> {
  const { jetstream, jetstreamManager } = await loadJetStream();
  const manager = await jetstreamManager(nats);
  await ensureStream(manager);
  await ensureConsumer(manager);
  return jetstream(nats).consumers.get(RECORD_STREAM, COLLECT_CONSUMER);
}

/** The place in it that all collectors share. */
export const COLLECT_CONSUMER = 'collect';

/** @throws the server's error */
async function ensureStream({ streams }: JetStreamManager): Promise<void> {
  const { JetStreamApiCodes, RetentionPolicy, StorageType, DiscardPolicy } = await loadJetStream();
  try {
    await streams.info(RECORD_STREAM);
  } catch (error) {
    if (errorCode(error) !== JetStreamApiCodes.StreamNotFound) throw error;
    await streams.add({
      name: RECORD_STREAM,
      subjects: [RECORD_SUBJECTS],
      storage: StorageType.File,
      retention: RetentionPolicy.Limits,
      discard: DiscardPolicy.Old,
      max_bytes: MAX_BYTES,
      max_age: MAX_AGE_S * SECOND,
      duplicate_window: DUPLICATES_S * SECOND,
    });
  }
}

async function ensureConsumer({ consumers }: JetStreamManager): Promise<void> {
  const { AckPolicy, DeliverPolicy, JetStreamApiCodes } = await loadJetStream();
  try {
    await consumers.info(RECORD_STREAM, COLLECT_CONSUMER);
  } catch (error) {
    if (errorCode(error) !== JetStreamApiCodes.ConsumerNotFound) throw error;
    await consumers.add(RECORD_STREAM, {
      durable_name: COLLECT_CONSUMER,
      ack_policy: AckPolicy.Explicit,
      ack_wait: ACK_WAIT_S * SECOND,
      deliver_policy: DeliverPolicy.All,
      max_ack_pending: 2000,
    });
  }
}
