import { natsAdvice } from '../../fleet/natsConnection.js';
import { spoolsOf } from '../../fleet/spool.js';
import { errorMessage } from '../../util/errorMessage.js';
import { findHome } from '../../util/homeDirectory.js';
import { forgetSession, messagesOf } from '../record/forget.js';
import { spoolsIn } from '../record/spools.js';
import { connectNatsServer, type NatsServerOptions } from '../shared/natsServer.js';
import { plural, printLine, printNotice, toVisible } from '../shared/terminal.js';
import { UsageError } from '../shared/usageError.js';
import type { Stores } from './stores.js';

/**
 * Removes a session from files, the database, what waits on this machine and, where its server is named, the stream; and
 * says how much.
 *
 * @returns the exit code: 1 where it could not be removed everywhere
 * @throws UsageError where several agents have named one so
 */
export async function forget(
  session: string,
  stores: Stores,
  { of, ...server }: NatsServerOptions & { readonly of?: string },
): Promise<number> {
  const nats =
    server.nats === undefined ? undefined : await connectNatsServer(server, 'hookstack collect');
  try {
    // What waits goes to the stream, and from there to the rest: what one has lost is not written again.
    const home = findHome();
    const places = [
      ...(home === undefined ? [] : await spoolsIn(spoolsOf(home))),
      ...(nats ? [await messagesOf(nats)] : []),
      ...stores.places,
    ];
    const counts = await forgetSession(session, of, places);
    const removed = places.map(
      ({ name }, index) => `${plural(counts[index] ?? 0, 'span')} ${toVisible(name)}`,
    );
    printLine(`Removed ${removed.join(', ') || 'nothing'}`);
    return 0;
  } catch (error) {
    if (error instanceof UsageError) throw error;
    printNotice(
      'error',
      `The session could not be removed everywhere (${errorMessage(error)}); ${natsAdvice(error) ?? 'run it again'}`,
    );
    return 1;
  } finally {
    await nats?.close();
  }
}
