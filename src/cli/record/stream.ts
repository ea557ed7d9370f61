import type { Consumer } from '@nats-io/jetstream';
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
  const { jetstream, jetstreamManager, JetStreamApiCodes, ...js } = await loadJetStream();
  const { streams, consumers } = await jetstreamManager(nats);
  const stream = {
    name: RECORD_STREAM,
    subjects: [RECORD_SUBJECTS],
    storage: js.StorageType.File,
    retention: js.RetentionPolicy.Limits,
    discard: js.DiscardPolicy.Old,
    max_bytes: MAX_BYTES,
    max_age: MAX_AGE_S * SECOND,
    duplicate_window: DUPLICATES_S * SECOND,
  };
  const consumer = {
    durable_name: COLLECT_CONSUMER,
    ack_policy: js.AckPolicy.Explicit,
    ack_wait: ACK_WAIT_S * SECOND,
    deliver_policy: js.DeliverPolicy.All,
    max_ack_pending: 2000,
  };
  await streams.info(RECORD_STREAM).catch((error: unknown) => {
    if (errorCode(error) !== JetStreamApiCodes.StreamNotFound) throw error;
    return streams.add(stream);
  });
  await consumers.info(RECORD_STREAM, COLLECT_CONSUMER).catch((error: unknown) => {
    if (errorCode(error) !== JetStreamApiCodes.ConsumerNotFound) throw error;
    return consumers.add(RECORD_STREAM, consumer);
  });
  return jetstream(nats).consumers.get(RECORD_STREAM, COLLECT_CONSUMER);
}

/** The place in it that all collectors share. */
export const COLLECT_CONSUMER = 'collect';
