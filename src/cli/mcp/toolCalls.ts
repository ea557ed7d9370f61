import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../../config/config.js';
import type { CallSession } from '../../protocol/types.js';
import { isLookedAt, isResultLookedAt } from '../../core/isLookedAt.js';
import { executeToolWithHooks } from '../../core/coreToolHookTriggers.js';
import type { Approver } from '../../protocol/approval.js';
import { notesOf, withNotes } from '../../protocol/llmContent.js';
import type { ToolResult } from '../../tools/tools.js';
import { errorMessage } from '../../util/errorMessage.js';
import { isTooDeep } from '../../util/records.js';
import { Untouched, type Call, type CallFacts, type CallHost } from './call.js';
import type { McpSession, Receiver, Route } from './call.js';
import { problemOfCall } from './exact.js';
import {
  answerInstead,
  answerToSend,
  callToSend,
  canChange,
  isUnfinished,
  readableAnswer,
  unfinishedToSend,
  whyNotReadable,
  type Received,
} from './forwarding.js';
import { canElicit, isOwnState, Questions } from './questions.js';
import { errorAnswer, recordIn, RpcError } from './rpc.js';
import type { Id, Message } from './rpc.js';
import { readAnswer } from './toolResult.js';

const META = 'io.modelcontextprotocol/';
const UNHEARD =
  'its session began before hookstack, or nobody knows it any more: connect it anew, so that it says whether it can ask its user';

/** The calls of tools, which are all that passes through hooks. */
export class ToolCalls {
  readonly #calls = new Map<Id, Call>();
  readonly #running = new Set<Promise<void>>();
  /** Calls that nobody looks at: their lines pass like those of any other request. */
  readonly #plain = new Set<Id>();
  #tellSettled: (() => void) | undefined;
  /** Those that are made already, by whether a person can be asked. */
  readonly #configs = new Map<boolean, Config>();
  /** By the id of the question. */
  readonly #asking = new Map<string, Call>();
  #hasToldTask = false;
  /** Whether nobody is left who could answer a question. */
  #isUnanswered = false;
  readonly questions = new Questions();

  constructor(private readonly host: CallHost) {}

  readonly approver: Approver = (request, { signal }) => {
    const call = this.#asking.get(request.id);
    if (!call) throw new Error('nobody knows which call it is about');
    if (this.#isUnanswered || signal.aborted)
      throw new Error('the client does not answer any more');
    if (!call.isModern && !call.route.session.capabilities) throw new Error(UNHEARD);
    if (!call.isModern) return this.questions.ask(call, request, signal);
    const { result, approval } = this.questions.suspend(call, request, signal);
    this.#finish(call, { jsonrpc: '2.0', id: call.id, result });
    return approval;
  };

  get size(): number {
    return this.#calls.size;
  }

  /** Whether a result is on its way that hooks are to see before any client does. */
  get isResultAwaited(): boolean {
    return [...this.#calls.values()].some(({ isResultSeen = false }) => isResultSeen);
  }

  has(key: Id): boolean {
    return this.#calls.has(key);
  }

  /** Takes a request of the client. Whatever becomes of it, it is answered. */
  take(id: Id, message: Message, line: Buffer, route: Route): void {
    const { client } = route;
    const params = recordIn(message, 'params');
    const problem = problemOfCall(params);
    if (problem !== undefined) return client.send(errorAnswer(id, RpcError.InvalidParams, problem));
    const state = params['requestState'];
    if (isOwnState(state)) return this.#resume(id, message, line, state, route);
    const facts = this.#read(message, route.session);
    if (this.#isPlain(facts, route.session)) return this.#passOn(id, line, route);
    const call: Call = { ...facts, id, message, line, route, over: new AbortController() };
    this.#calls.set(route.keyOf(id), call);
    const run = this.#run(call);
    this.#running.add(run);
    void run.finally(() => this.#running.delete(run));
  }

  #read(message: Message, session: McpSession): CallFacts {
    const params = recordIn(message, 'params');
    const { canAsk, isModern } = this.clientOf(message, session);
    return { tool: String(params['name']), given: recordIn(params, 'arguments'), canAsk, isModern };
  }

  /** Whether nobody looks at it, as far as is known now: no promise is made for it. */
  #isPlain(facts: CallFacts, { offer, forHooks }: McpSession): boolean {
    const config = this.#configs.get(facts.canAsk);
    return config !== undefined && offer.isAll && this.#isUnseen(config, facts, forHooks);
  }

  #isUnseen(config: Config, { tool, given }: CallFacts, session?: CallSession): boolean {
    if (isTooDeep(given)) return false;
    if (config.getHookSystem()?.lookForLate(session).isThere) return false;
    return !isLookedAt(config, { toolName: this.host.fullName(tool), toolInput: given });
  }

  #passOn(id: Id, line: Buffer, route: Route): void {
    const key = route.keyOf(id);
    this.#plain.add(key);
    this.host.sendToServer(route, id, line, (_answer, answered) => {
      this.#endPlain(key);
      route.client.send(answered);
    });
  }

  #endPlain(key: Id): void {
    if (this.#plain.delete(key) && this.#plain.size === 0) this.#tellSettled?.();
  }

  /** What a request says of its client. Since 2026-07-28 each says all of it. */
  clientOf(request: Message, session: McpSession): Pick<Call, 'canAsk' | 'isModern'> {
    const meta = recordIn(request, 'params', '_meta');
    const isModern = typeof meta[`${META}protocolVersion`] === 'string';
    const said = isModern ? recordIn(meta, `${META}clientCapabilities`) : session.capabilities;
    // Of whom nothing is known, a question is denied: it must not be lost because the beginning was.
    return { canAsk: said === undefined || canElicit(said), isModern };
  }

  async configFor(canAsk: boolean): Promise<Config> {
    const config = await this.host.configFor(canAsk);
    this.#configs.set(canAsk, config);
    return config;
  }

  endSession(session: CallSession | undefined): void {
    for (const config of this.#configs.values()) {
      void config.getHookSystem()?.endSession(session);
    }
  }

  async #run(call: Call): Promise<void> {
    try {
      const answer = await this.#throughHooks(call);
      if (answer) this.#finish(call, answer);
    } catch (error) {
      if (error instanceof Untouched) this.#finish(call, error.answer);
      else if (call.id !== undefined) {
        const message = `hookstack could not pass this call on: ${errorMessage(error)}`;
        this.#finish(call, errorAnswer(call.id, RpcError.Internal, message));
      }
    }
  }

  /** @returns `undefined` where nobody waits for an answer any more */
  async #throughHooks(call: Call): Promise<Message | Buffer | undefined> {
    const config = await this.configFor(call.canAsk);
    const toolName = this.host.fullName(call.tool);
    const refusal = await call.route.session.offer.refusalOf(config, toolName, call.given);
    if (call.id === undefined) return undefined;
    if (refusal) return answerInstead(refusal, call.id, call.isModern);
    if (this.#isUnseen(config, call, call.route.session.forHooks)) {
      this.#calls.delete(call.route.keyOf(call.id));
      this.#passOn(call.id, call.line, call.route);
      return undefined;
    }
    const problem = whyNotReadable(call.message, call.line);
    if (problem !== undefined) return errorAnswer(call.id, RpcError.InvalidParams, problem);
    let read: Received | undefined;
    const execute = async (input: Record<string, unknown>) => {
      call.isResultSeen = isResultLookedAt(config, { toolName, toolInput: input });
      read = await this.#askServer(call, input);
      return read.answer.given;
    };
    const final = await executeToolWithHooks(config, toolName, { ...call.given }, execute, {
      signal: call.over.signal,
      callId: String(call.id),
      session: call.route.session.forHooks,
      onApproval: ({ id }, answer) => {
        if (answer) this.#asking.delete(id);
        else this.#asking.set(id, call);
      },
    });
    const { id } = call;
    if (id === undefined) return undefined;
    const isSeen = call.isResultSeen === true;
    const canTell = !read || canChange(read, isSeen);
    const told = canTell ? withLate(config, final, call.route.session.forHooks) : final;
    if (!read) return answerInstead(told, id, call.isModern);
    return answerToSend(read, told, id, isSeen);
  }

  /** @throws Untouched where the server has no result yet */
  async #askServer(call: Call, input: Record<string, unknown>): Promise<Received> {
    const { id, message, route } = call;
    const { signal } = call.over;
    signal.throwIfAborted();
    if (id === undefined) throw new Error('nobody waits for it any more');
    const [said, line] = await new Promise<[Message, Buffer]>((resolve, reject) => {
      call.stopWaiting = () => {
        this.host.forget(route.keyOf(id));
        reject(new Error('nobody waits for it any more'));
      };
      const receive: Receiver = (...received) => resolve(received);
      this.host.sendToServer(route, id, callToSend(message, input), receive);
    });
    const answer = call.isResultSeen ? readableAnswer(said, line, id) : said;
    if (isUnfinished(answer)) {
      this.#tellTask(answer);
      throw new Untouched(call.isResultSeen ? unfinishedToSend(answer, id) : line);
    }
    return { answer: readAnswer(answer), said, line };
  }

  #tellTask(answer: Message): void {
    const { resultType, task } = recordIn(answer, 'result');
    if (this.#hasToldTask || (task === undefined && resultType !== 'task')) return;
    this.#hasToldTask = true;
    this.host.warn(
      'answers with a task: its result comes later, and AfterTool hooks do not see it',
    );
  }

  #resume(id: Id, message: Message, line: Buffer, state: string, route: Route): void {
    const { client } = route;
    const call = this.questions.suspended(state);
    const params = recordIn(message, 'params');
    if (!call) {
      const text = 'The question about this call is over. Call the tool again to be asked again.';
      const result = { llmContent: text, returnDisplay: text, error: { message: text } };
      return client.send(answerInstead(result, id, true));
    }
    const problem = whyNotReadable(message, line);
    if (problem !== undefined) return client.send(errorAnswer(id, RpcError.InvalidParams, problem));
    const isSame =
      params['name'] === call.tool && isDeepStrictEqual(recordIn(params, 'arguments'), call.given);
    if (!isSame) {
      const text =
        'This is another call than the one that was asked about; send it without the requestState';
      return client.send(errorAnswer(id, RpcError.InvalidParams, text));
    }
    const { inputResponses, requestState } = recordIn(call.message, 'params');
    call.message = { ...message, params: { ...params, inputResponses, requestState } };
    call.id = id;
    call.route = route;
    this.#calls.set(route.keyOf(id), call);
    this.questions.resume(state, recordIn(params, 'inputResponses'));
  }

  #finish(call: Call, answer: Message | Buffer): void {
    const { id, route } = call;
    if (id === undefined) return;
    this.#calls.delete(route.keyOf(id));
    call.id = undefined;
    route.client.send(answer);
  }

  /** The client does not wait for this answer any more. */
  cancel(key: Id): void {
    this.#endPlain(key);
    const call = this.#calls.get(key);
    if (!call) return;
    this.#calls.delete(key);
    call.id = undefined;
    end(call);
  }

  /** The server is gone. */
  failAll(message: string): void {
    for (const call of this.#calls.values()) {
      if (call.id !== undefined) {
        this.#finish(call, errorAnswer(call.id, RpcError.ConnectionClosed, message));
      }
      end(call);
    }
    this.noMoreAnswers();
  }

  /** The client is gone: all questions that are open are answered with no. */
  noMoreAnswers(): void {
    this.#isUnanswered = true;
    this.questions.giveUp();
  }

  /** To be asked once, when no more calls will come. */
  async settled(): Promise<void> {
    const plain = new Promise<void>((resolve) => {
      this.#tellSettled = resolve;
      if (this.#plain.size === 0) resolve();
    });
    await Promise.allSettled([...this.#running, plain]);
  }
}

/** What async hooks have said since: no other call of the model is known here. */
function withLate(config: Config, result: ToolResult, session?: CallSession): ToolResult {
  const late = config.getHookSystem()?.takeLate(session) ?? [];
  return late.length > 0 ? withNotes(result, late.flatMap(notesOf)) : result;
}

function end(call: Call): void {
  call.over.abort();
  call.stopWaiting?.();
}
