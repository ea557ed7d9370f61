import { connect } from 'node:net';

/**
 * Waits until a NATS server speaks, as it does first. The client of NATS never lets go of the socket to one that hangs, which
 * would keep this process alive.
 *
 * @param server `host:port`
 * @throws Error where it does not speak in time, or the system's error
 */
export function awaitGreeting(server: string, timeoutMs: number): Promise<void> {
  const { hostname, port } = new URL(`tcp://${server}`);
  const host = hostname.replace(/^\[(.*)\]$/u, '$1');
  return new Promise((resolve, reject) => {
    const socket = connect({ host, port: Number(port) });
    const timer = setTimeout(
      () => socket.destroy(absent('ETIMEDOUT', 'it does not answer; see whether it hangs')),
      timeoutMs,
    );
    socket.once('error', reject);
    socket.once('data', () => {
      resolve();
      socket.destroy();
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
