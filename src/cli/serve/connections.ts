import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { Quota } from '../shared/http/quota.js';

interface Connection {
  readonly socket: Socket;
  /** Who has asked with it last; and what, until that is answered. */
  holder?: string;
  asked?: IncomingMessage;
  /** It ends with its next answer. */
  isOver?: boolean;
}

/** The connections of a server: nobody gets more than half, and who is not known keeps nobody out. */
export class Connections {
  /** By their ends: those who ask have another socket, where there is TLS. */
  readonly #open = new Map<string, Connection>();
  readonly #known = new WeakMap<Socket, Connection>();
  /** The oldest is the first. */
  readonly #unknown = new Set<Connection>();
  readonly #held: Quota;

  constructor(private readonly most: number) {
    this.#held = new Quota(most);
  }

  readonly add = (socket: Socket): void => {
    const [ends, connection]: [string, Connection] = [endsOf(socket), { socket }];
    this.#open.set(ends, connection);
    this.#unknown.add(connection);
    socket.once('close', () => {
      if (this.#open.get(ends) === connection) this.#open.delete(ends);
      this.#unknown.delete(connection);
      if (connection.holder !== undefined) this.#held.give(connection.holder);
    });
    if (this.#open.size <= this.most) return;
    const [oldest = connection] = this.#unknown;
    this.#unknown.delete(oldest);
    oldest.socket.destroy();
  };

  begin(request: IncomingMessage, response: ServerResponse): void {
    const connection = this.#of(request.socket);
    connection.asked = request;
    response.once('close', () => {
      if (connection.asked !== request) return;
      delete connection.asked;
      if (connection.isOver) request.socket.destroySoon();
    });
  }

  /** @returns whether who asks may have this connection; `undefined`, where everybody may ask, always may */
  hold(socket: Socket, who: string | undefined): boolean {
    const connection = this.#of(socket);
    if (who !== undefined && who !== connection.holder && !connection.socket.destroyed) {
      if (!this.#held.take(who)) return false;
      if (connection.holder !== undefined) this.#held.give(connection.holder);
      connection.holder = who;
    }
    this.#unknown.delete(connection);
    return true;
  }

  /** Ends those of now: another authority may count. What was put to hooks or people is answered before. */
  end(): void {
    for (const connection of this.#open.values()) {
      connection.isOver = true;
      if (connection.asked?.method !== 'POST') connection.socket.destroy();
    }
  }

  isOver(socket: Socket): boolean {
    return this.#of(socket).isOver === true;
  }

  #of(socket: Socket): Connection {
    const known = this.#known.get(socket) ?? this.#open.get(endsOf(socket));
    if (known) this.#known.set(socket, known);
    return known ?? { socket, isOver: true };
  }
}

/** No two connections have the same. */
function endsOf({ localAddress, remoteAddress, remotePort }: Socket): string {
  return `${localAddress} ${remoteAddress} ${remotePort}`;
}
