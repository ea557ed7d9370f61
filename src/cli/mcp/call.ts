import type { Config } from '../../config/config.js';
import type { CallSession } from '../../protocol/types.js';
import type { Outlet } from './lines.js';
import type { Id, Message } from './rpc.js';
import type { ToolOffer } from './toolSelection.js';

/** Takes an answer of the server: what it says, and its line. */
export type Receiver = (answer: Message, line: Buffer) => void;

/** What is known of a client from one message to the next. */
export interface McpSession {
  /** Of clients of before 2026-07-28, which say it once; `undefined` where nobody has heard it here. */
  capabilities: Message | undefined;
  /** For whom hooks run; `undefined` for the session of this process. */
  readonly forHooks: CallSession | undefined;
  readonly offer: ToolOffer;
}

/** Between whom a message goes. Over stdio it is always the same; over HTTP each request has its own. */
export interface Route {
  readonly client: Pick<Outlet, 'send'>;
  readonly server: Pick<Outlet, 'send'> | undefined;
  readonly session: McpSession;
  /** By what a request is known, as several clients may use the same ids. */
  readonly keyOf: (id: Id) => Id;
  /** Hears that the server has answered, before anybody looks at the answer. */
  readonly answered?: (key: Id, id: Id) => void;
}

/** What calls need of the proxy. */
export interface CallHost {
  /** The hooks, and whether they can have a person asked. */
  readonly configFor: (canAsk: boolean) => Promise<Config>;
  /** The name by which hooks know a tool of the server. */
  readonly fullName: (tool: string) => string;
  readonly sendToServer: (
    route: Route,
    id: Id,
    message: Buffer | Message,
    receive: Receiver,
  ) => void;
  /** No answer to this request is wanted any more; its id stays taken until the server has given one. */
  readonly forget: (key: Id) => void;
  /** Says something of the server, once. */
  readonly warn: (what: string) => void;
}

/** What a client asks for. */
export interface CallFacts {
  readonly tool: string;
  readonly given: Readonly<Record<string, unknown>>;
  readonly canAsk: boolean;
  readonly isModern: boolean;
}

/** One call on its way through the hooks. */
export interface Call extends CallFacts {
  /** Of the request that is to be answered; `undefined` while there is none. */
  id: Id | undefined;
  message: Message;
  /** Of the request that is to be answered. */
  route: Route;
  /** The line of the client. */
  line: Buffer;
  /** Whether it is with the server, and hooks are to see what it gives before the client does. */
  isResultSeen?: boolean;
  readonly over: AbortController;
  /** Gives up the answer of the server. */
  stopWaiting?: () => void;
}

/** An answer that is none of the tool yet, and so not for hooks. */
export class Untouched extends Error {
  constructor(readonly answer: Message | Buffer) {
    super('The call goes on between client and server');
  }
}
