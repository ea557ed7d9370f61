import { once } from 'node:events';
import { createServer, type AddressInfo, type Socket } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { awaitGreeting } from '../../src/fleet/natsConnection.js';

async function greet(speak: (socket: Socket) => void): Promise<void> {
  const server = createServer((socket) => {
    socket.on('error', () => undefined);
    speak(socket);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  return awaitGreeting(`127.0.0.1:${(server.address() as AddressInfo).port}`, 500);
}

describe('awaitGreeting', () => {
  it('takes the greeting of a NATS server, in pieces, too', async () => {
    await greet((socket) => {
      socket.write('IN');
      setImmediate(() => socket.write('FO {}\r\n'));
    });
  });

  it.each<[string, (socket: Socket) => void, RegExp]>([
    ['something else', (socket) => socket.write('220 mail'), /no NATS server/],
    ['a line without end', (socket) => socket.write(`INFO ${'x'.repeat(1e6)}`), /no NATS server/],
    ['half a line', (socket) => socket.write('INFO {'), /does not answer/],
    ['nothing', (socket) => socket.end(), /closed the connection/],
  ])('does not take %s', async (_, speak, why) => {
    await expect(greet(speak)).rejects.toThrow(why);
  });
});
