import type { SpanRecord } from '../../trace/record.js';
import { RECORD_STREAM, readFleetSpan, type FleetSpan } from '../../fleet/recordSubject.js';
import { natsAdvice } from '../../fleet/natsConnection.js';
import { errorMessage } from '../../util/errorMessage.js';
import { loadJetStream } from '../record/stream.js';
import { watchInterruption } from '../shared/interruption.js';
import { connectNatsServer, type NatsServerOptions } from '../shared/natsServer.js';
import { printJson, printLine, printNotice } from '../shared/terminal.js';
import { UsageError } from '../shared/usageError.js';
import { ShadowDiff } from './shadowDiff.js';
import { formatFleetSpan } from './storyText.js';

interface Shown {
  readonly json?: boolean;
  readonly diff?: boolean;
}

/**
 * Prints what the agents of a fleet do from now on, until it is interrupted: events and hooks, a line each; as JSON, all
 * spans.
 *
 * @param shown.diff only questions that a shadow policy would have answered otherwise, and how many in the end
 * @throws UsageError where there is no connection, or no record
 */
export async function followFleet(
  options: NatsServerOptions,
  { json = false, diff: isDiff = false }: Shown,
): Promise<void> {
  const diff = isDiff ? new ShadowDiff() : undefined;
  const { signal, dispose } = watchInterruption();
  const nats = await connectNatsServer(options, 'hookstack trace');
  try {
    const { DeliverPolicy, jetstream } = await loadJetStream();
    const only = { deliver_policy: DeliverPolicy.New };
    const consumer = await jetstream(nats).consumers.get(RECORD_STREAM, only);
    const messages = await consumer.consume();
    signal.addEventListener('abort', () => void messages.close(), { once: true });
    if (!json) printNotice('note', 'what agents of the fleet do from now on; ^C ends');
    for await (const { subject, data } of messages) {
      const span = readFleetSpan(subject, data);
      if (typeof span !== 'string' && (!diff || diff.add(span))) show(span, json);
    }
    if (diff && !json) printLine(diff.text());
  } catch (cause) {
    const advice = natsAdvice(cause) ?? '"hookstack collect" makes it';
    throw new UsageError(
      `The record of the fleet cannot be followed (${errorMessage(cause)}); ${advice}`,
      { cause },
    );
  } finally {
    dispose();
    await nats.close();
  }
}

function show(span: FleetSpan, json: boolean): void {
  if (json) printJson(span);
  else if (isShown(span)) printLine(formatFleetSpan(span));
}

function isShown({ kind, sizes, isShadow }: SpanRecord): boolean {
  if (isShadow && kind !== 'shadow') return false;
  return (
    kind === 'shadow' || kind === 'event' || kind === 'hook' || sizes?.['missing'] !== undefined
  );
}
