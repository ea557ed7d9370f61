import type { Msg, NatsConnection } from '@nats-io/transport-node';
import { isFleetName } from '../../../fleet/address.js';
import { loadPackage, type TlsFiles } from '../../../fleet/natsConnection.js';
import { HEADERS } from '../../../fleet/question.js';
import type { ApprovalBoard, BoardListener } from './approvalBoard.js';
import { answerQuestion, type PutReply } from './approvalQuestions.js';
import { KvBoard } from './kvBoard.js';
import { mayReply } from '../replyAddress.js';
import { SteadyNats } from '../steadyNats.js';

export interface ApprovalDoorOptions extends TlsFiles {
  /** `nats://HOST:PORT`. */
  readonly url: string;
  readonly secret?: string | undefined;
  /** This server's name, which `nats-server` shows. */
  readonly name: string;
  /** Gets a line for each question that is over. */
  readonly log: (line: string) => void;
  /** Called with what an operator should know. */
  readonly onWarn: (message: string) => void;
}

/** Questions to people come in over NATS, and wait on a board. */
export interface ApprovalDoor {
  readonly board: ApprovalBoard;
  close(): Promise<void>;
}

const SUBJECT = 'hooks.approve.*.*';
const QUEUE = 'policy';
/** Questions that wait here at a time, of all who ask; of more, other servers take some. */
const MAX_PENDING = 1000;

/**
 * Takes the questions of `hooks.approve.<team>.<agent>`, beside all servers of the same queue group.
 *
 * @returns after the first attempt to connect; where nobody was there, it goes on trying
 * @throws Error as `SteadyNats.open`, and where JetStream has no room for the board
 */
export async function openApprovalDoor(options: ApprovalDoorOptions): Promise<ApprovalDoor> {
  const { name, log, onWarn } = options;
  const board = new LateBoard();
  const nats = await SteadyNats.open({
    ...options,
    name: `hookstack serve ${name} approvals`,
    onOpen: async (connection) => {
      board.begin(await KvBoard.open(connection, { log }));
      await subscribe(connection, board, onWarn);
    },
  });
  return {
    board,
    close: async () => {
      await board.close();
      await nats.close();
    },
  };
}

async function subscribe(
  connection: NatsConnection,
  board: ApprovalBoard,
  onWarn: (message: string) => void,
): Promise<void> {
  const { headers } = await loadPackage('@nats-io/transport-node');
  let pending = 0;
  const respond = (message: Msg, { status, body }: PutReply) => {
    if (connection.isClosed()) return;
    const said = headers();
    if (status !== 200) said.set(HEADERS.status, String(status));
    message.respond(body, { headers: said });
  };
  const take = async (message: Msg, from: string) => {
    pending += 1;
    try {
      respond(message, pending > MAX_PENDING ? FULL : await answer(board, message, from));
    } catch (error) {
      onWarn(`A question to a person could not be answered: ${String(error)}`);
    } finally {
      pending -= 1;
    }
  };
  connection.subscribe(SUBJECT, {
    queue: QUEUE,
    callback: (error, message) => {
      const [, , team = '', agent = ''] = message.subject.split('.');
      if (!error && isFleetName(team) && isFleetName(agent) && mayReply(message.reply, team, agent))
        void take(message, `${team}/${agent}`);
    },
  });
  await connection.flush();
}

async function answer(board: ApprovalBoard, message: Msg, from: string): Promise<PutReply> {
  const header = (name: string) => message.headers?.get(name) || undefined;
  return answerQuestion(board, { from, body: message.string(), header });
}

const FULL: PutReply = {
  status: 503,
  body: '{"error":"too many questions wait at this server: ask again"}',
};

/** A board that may not be there yet, as NATS is not. */
class LateBoard implements ApprovalBoard {
  readonly #listeners = new Map<BoardListener, () => void>();
  #board: ApprovalBoard | undefined;

  begin(board: ApprovalBoard): void {
    this.#board = board;
    for (const listener of this.#listeners.keys()) {
      this.#listeners.set(listener, board.listen(listener));
    }
  }

  ask(...posed: Parameters<ApprovalBoard['ask']>): ReturnType<ApprovalBoard['ask']> {
    return this.#there().then((board) => board.ask(...posed));
  }

  takeBack(from: string, id: string): Promise<void> {
    return this.#there().then((board) => board.takeBack(from, id));
  }

  answer(...said: Parameters<ApprovalBoard['answer']>): ReturnType<ApprovalBoard['answer']> {
    return this.#there().then((board) => board.answer(...said));
  }

  list(): ReturnType<ApprovalBoard['list']> {
    return this.#board?.list() ?? [];
  }

  listen(listener: BoardListener): () => void {
    this.#listeners.set(listener, this.#board?.listen(listener) ?? (() => undefined));
    return () => {
      this.#listeners.get(listener)?.();
      this.#listeners.delete(listener);
    };
  }

  async close(): Promise<void> {
    await this.#board?.close();
  }

  async #there(): Promise<ApprovalBoard> {
    if (!this.#board) throw new Error('NATS is not there yet');
    return this.#board;
  }
}
