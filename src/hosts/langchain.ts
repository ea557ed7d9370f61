// Functions and types are those of the host.
// @ts-ignore
import { AIMessage, createMiddleware } from 'langchain';
// @ts-ignore
import type { AgentMiddleware, ModelRequest, Runtime, ToolCallRequest } from 'langchain';
import type { GenerateContentParameters } from '@google/genai';
import type { Config } from '../config/config.js';
import type { CallOptions } from '../context.js';
import { isLookedAt } from '../core/isLookedAt.js';
import { callModelWithHooks, finishTurn } from '../core/modelCall.js';
import type { CallSession } from '../protocol/types.js';
import { requireKnown } from '../util/requireKnown.js';
import { mayRestrict, namesLeft, readAllowed, refusalOfCall, toLookedAt } from './allowed.js';
import {
  addMark,
  lastAnswer,
  readMark,
  stopOf,
  toModelResponse,
  type HostCall,
  type Message,
} from './langchain/messages.js';
import { applyRequest, toAnswer, toModelRequest } from './langchain/modelCall.js';
import {
  failure,
  runAsHost,
  toRan,
  toToolAnswer,
  type Given,
  type Ran,
} from './langchain/toolCall.js';
import { Moments } from './langchain/moments.js';
import type { Either, Maybe } from './mark.js';
import {
  ADAPTER_OPTIONS,
  installedVersion,
  isHeld,
  RecentMap,
  requireVersion,
  runTool,
  tellUncovered,
  type AdapterOptions,
} from './shared.js';
import { only } from './translate.js';

export type { MessageMark } from './langchain/messages.js';
export type { HooksMark } from './mark.js';

/** What the middleware takes besides the `Config`. What a session leaves out is the id of the host's thread, as `sessionId`. */
export type HooksMiddlewareOptions = AdapterOptions<
  CallSession | ((runtime: Runtime) => CallSession)
>;

/**
 * Puts the hooks of a `Config` around all tools and model calls of an agent. It is best the first of its middleware.
 *
 * @throws Error for another version of LangChain; TypeError for an option that does not exist
 */
export function hooksMiddleware(
  config: Config,
  options: HooksMiddlewareOptions = {},
): AgentMiddleware {
  requireVersion('hookstack/langchain', 'langchain', installedVersion('langchain'), ['1.5+']);
  requireKnown('hooksMiddleware()', options, ADAPTER_OPTIONS);
  const optionsOf = callOptions(options);
  const moments = new Moments(config);

  /** A tool call with its hooks. */
  async function wrapToolCall(
    request: ToolCallRequest,
    handler: (request: ToolCallRequest) => Either<Promise<Given>, Given>,
  ): Promise<Given> {
    const { runtime, state } = request;
    const call: HostCall = request.toolCall;
    const answer = lastAnswer(state.messages);
    const { stopped } = readMark(answer);
    if (stopped !== undefined) return addMark(failure(call, stopped), { stopped });
    const refusal = await refusalOfCall(config, call.name, readAllowed(answer?.response_metadata));
    if (refusal !== undefined) return failure(call, refusal);
    const toolInput = call.args ?? {};
    const calling = optionsOf(runtime, call.id);
    const cwd = calling.session?.cwd;
    if (!isLookedAt(config, { toolName: call.name, toolInput, cwd })) return handler(request);
    const execute = async (args: Record<string, unknown>) => {
      const run = () => handler({ ...request, toolCall: { ...request.toolCall, args } });
      return toRan(await runAsHost(call, run, calling.signal), call, state.messages);
    };
    const { result, ran } = await runTool(config, call.name, toolInput, execute, resultOf, calling);
    return toToolAnswer(result, call, ran?.output);
  }

  /** A model call with its hooks. */
  async function wrapModelCall(
    request: ModelRequest,
    handler: (request: ModelRequest) => unknown,
  ): Promise<AIMessage> {
    const stopped = stopOf(request.state.messages);
    if (stopped !== undefined) return addMark(new AIMessage(stopped), { stopped });
    tellOfTools(config, request.tools, options.strict);
    const calling = optionsOf(request.runtime);
    const told = await moments.tell(request.messages as Message[], calling);
    if (told.stopped) {
      const { reason, hooks } = told.stopped;
      return addMark(new AIMessage(reason), { stopped: reason, ...(hooks && { hooks }) });
    }
    const { notes = [] } = readMark(lastAnswer(request.state.messages));
    const asked = toModelRequest(request, [...notes, ...told.notes]);
    let given: { whole: unknown; message: Message } | undefined;
    const open = async (sent: GenerateContentParameters) => {
      const wanted = applyRequest(request, asked, sent);
      const whole = await handler({
        ...wanted,
        model: isHeld(config) ? hidden(wanted.model) : wanted.model,
      });
      given = { whole, message: messageOf(whole) };
      return only(toModelResponse(given.message));
    };
    const turn = await finishTurn(callModelWithHooks(config, toLookedAt(asked), open, calling));
    if (asked.model !== turn.request.model) tellOfModel(config, turn.request.model);
    const allowed = namesLeft(asked, turn.request)?.filter((name) => isTool(request, name));
    const isFree = !allowed && callsTools(given) && mayRestrict(config);
    return withSummary(toAnswer(turn, given, isFree ? 'all' : allowed) as AIMessage, told.summary);
  }

  return createMiddleware({ name: 'hookstack', wrapToolCall, wrapModelCall });
}

/** What is passed on with each call of an agent. */
function callOptions({ onHooks, onApproval, session }: HooksMiddlewareOptions) {
  const sessions = new RecentMap<CallSession>();
  const sessionOf = (runtime: Runtime): CallSession | undefined => {
    const given = typeof session === 'function' ? session(runtime) : session;
    const id: unknown = runtime.configurable?.thread_id;
    if (typeof id !== 'string' || given?.sessionId !== undefined) return given;
    if (given) return { sessionId: id, ...given };
    const known = sessions.get(id) ?? { sessionId: id };
    sessions.set(id, known);
    return known;
  };
  return (runtime: Runtime, callId?: string): CallOptions => {
    const signal: AbortSignal | undefined = runtime.signal;
    return { signal, onHooks, onApproval, callId, session: sessionOf(runtime) };
  };
}

/** An answer that is more than a message carries nothing: hooks are told once more. */
function withSummary(answer: AIMessage, summary: Maybe<string>): AIMessage {
  const isLeft = summary === undefined || !AIMessage.isInstance(answer);
  return isLeft ? answer : addMark(answer, { ...readMark(answer), summary });
}

function isTool({ tools = [] }: ModelRequest, wanted: string): boolean {
  return tools.some(({ name }: { readonly name?: unknown }) => name === wanted);
}

/** The model, with what it says kept from the host's streams of messages. They show what the agent stores. */
function hidden(model: ModelRequest['model']): ModelRequest['model'] {
  const bindable = model as unknown as { withConfig(config: object): typeof model };
  return bindable.withConfig({ tags: ['nostream'] });
}

/** Whether the host runs tools for an answer. It runs none where it has made structured output of that. */
function callsTools(given: { readonly whole: unknown; readonly message: Message } | undefined) {
  return given?.whole === given?.message && (given?.message.tool_calls ?? []).length > 0;
}

/** With structured output, the host gives more than the message. */
function messageOf(whole: unknown): Message {
  if (AIMessage.isInstance(whole)) return whole as Message;
  return (whole as { messages: [Message] }).messages[0];
}

function tellOfTools(config: Config, tools: readonly object[] = [], strict?: boolean): void {
  for (const tool of tools) {
    if ('invoke' in tool) continue;
    const { name, type } = tool as { name?: string; type?: string };
    const message = `hookstack/langchain: hooks do not see the tool "${name ?? type ?? 'without a name'}": the provider of the model runs it. What is covered is in docs/hosts/langchain.md`;
    tellUncovered(config, message, strict);
  }
}

function tellOfModel(config: Config, wanted: string): void {
  const message = `hookstack/langchain: a hook wants the model "${wanted}", but agents of LangChain have models that are objects: it stays as it is. Hooks can change messages and sampling`;
  tellUncovered(config, message);
}

function resultOf({ result }: Ran) {
  return result;
}
