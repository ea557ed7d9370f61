import { connect } from 'node:net';
import { endpointOf } from './address.js';

/** What a server says first is one line that begins so, and no longer than this, in bytes. */
const GREETING = 'INFO ';
const MAX_GREETING = 64 * 1024;

/**
 * Waits until a NATS server has greeted, as it does first. The client of NATS never lets go of the socket to one that hangs,
 * or says something else, which would keep this process alive.
 *
 * @param server `host:port`
 * @throws Error where it does not in time, or is something else; or the system's error
 */
export function awaitGreeting(server: string, timeoutMs: number): Promise<void> {
  return new Promise((resolve, reject) => {
    const socket = connect(endpointOf(server));
    const timer = setTimeout(
      () => socket.destroy(absent('ETIMEDOUT', 'it does not answer; see whether it hangs')),
      timeoutMs,
    );
    socket.once('error', reject);
    let said = '';
    socket.setEncoding('latin1').on('data', (text: string) => {
      said += text;
      if (!said.startsWith(GREETING.slice(0, said.length)) || said.length > MAX_GREETING) {
        socket.destroy(new Error('it is no NATS server'));
      } else if (said.includes('\r\n')) {
        resolve();
        socket.destroy();
      }
    });
    socket.once('close', () => {
      clearTimeout(timer);
      reject(absent('ECONNRESET', 'it has closed the connection'));
    });
  });
}

function absent(code: string, message: string): Error {
  return Object.assign(new Error(message), { code });
}
