import { natsAdvice } from '../../fleet/natsConnection.js';
import { errorMessage } from '../../util/errorMessage.js';
import { forgetSession, messagesOf } from '../record/forget.js';
import { connectNatsServer, type NatsServerOptions } from '../shared/natsServer.js';
import { plural, printLine, printNotice, toVisible } from '../shared/terminal.js';
import type { StoreOptions, Stores } from './stores.js';

/**
 * Removes a session from files, the database and, where its server is named, the stream; and says how much.
 *
 * @returns the exit code: 1 where it could not be removed everywhere
 */
export async function forget(
  session: string,
  stores: Stores,
  { out, sqlite, ...server }: StoreOptions & NatsServerOptions,
): Promise<number> {
  const nats =
    server.nats === undefined ? undefined : await connectNatsServer(server, 'hookstack collect');
  try {
    // The stream first: what it has lost is not written again.
    const places = [...(nats ? [await messagesOf(nats)] : []), ...stores.places];
    const counts = await forgetSession(session, places);
    const names = [
      ...(nats ? ['of the stream'] : []),
      ...(out === undefined ? [] : [`of the files in ${toVisible(out)}`]),
      ...(sqlite === undefined ? [] : [`of ${toVisible(sqlite)}`]),
    ];
    const removed = names.map((name, index) => `${plural(counts[index] ?? 0, 'span')} ${name}`);
    printLine(`Removed ${removed.join(', ')}`);
    return 0;
  } catch (error) {
    const advice = natsAdvice(error) ?? 'run it again';
    const why = `${errorMessage(error)}); ${advice}`;
    printNotice('error', `The session could not be removed everywhere (${why}`);
    return 1;
  } finally {
    await nats?.close();
  }
}
