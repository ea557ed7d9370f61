import type { GenerateContentParameters, GenerateContentResponse } from '@google/genai';
import type { Config } from '../config/config.js';
import type { CallOptions } from '../context.js';
import { isModelLookedAt } from '../core/isLookedAt.js';
import { callModelWithHooks, finishTurn, type ModelTurn } from '../core/modelCall.js';
import { HookEventName, type CallSession } from '../protocol/types.js';
import { isRecord } from '../util/records.js';
import { requireKnown } from '../util/requireKnown.js';
import { isToolCall, toGenerated, toGivenResponse } from './ai/answer.js';
import { CallMemory, marked, type CallMark } from './ai/memory.js';
import { toLookedAt } from './allowed.js';
import { endedCallsIn, toParams, toRequest, withMessages } from './ai/request.js';
import { toChunks, toStream } from './ai/stream.js';
import { wrapTool } from './ai/tools.js';
import type {
  AnyModel,
  AnyPart,
  AnyTool,
  CallParams,
  Generated,
  ModelMiddleware,
  Steps,
  Streamed,
  WrapGenerateOptions,
  WrapStreamOptions,
} from './ai/types.js';
import { afterBatch, Batches } from './batch.js';
import {
  ADAPTER_OPTIONS,
  installedVersion,
  modelSignal,
  requireVersion,
  tellUncovered,
  type AdapterOptions,
} from './shared.js';
import { only, stoppedCall } from './translate.js';

export type { ModelMiddleware, Steps } from './ai/types.js';
export { ToolRefusedError } from './ai/tools.js';

/** What `aiHooks` takes. */
export type AiHooksOptions = AdapterOptions<CallSession | (() => CallSession | undefined)>;

/** What puts hooks around an agent of the AI SDK. */
export interface AiHooks {
  /** For `wrapLanguageModel`. */
  readonly middleware: ModelMiddleware;
  /**
   * The same tools with hooks around them. Tools without `execute` run elsewhere, where hooks do not reach.
   *
   * @throws Error for one of these, with `strict`
   */
  readonly wrapTools: <T extends Readonly<Record<string, object>>>(tools: T) => T;
  /** For `stopWhen`: whether hooks have stopped the agent. */
  readonly isStopped: (turn: Steps) => boolean;
  /** Why hooks have stopped the agent, if they have. `steps` are those of a result. */
  readonly stopReason: (turn: Steps) => string | undefined;
}

/**
 * Hooks around models and tools of the AI SDK, versions 6 and 7. One object serves any number of calls at once.
 *
 * @throws TypeError for an option that does not exist
 */
export function aiHooks(config: Config, options: AiHooksOptions = {}): AiHooks {
  requireKnown('aiHooks()', options, ADAPTER_OPTIONS);
  const { onHooks, onApproval, session, strict = false } = options;
  const memory = new CallMemory(config);
  const batches = new Batches(config);
  const callOptions = (signal?: AbortSignal, callId?: string): CallOptions => ({
    signal,
    callId,
    onHooks,
    onApproval,
    session: typeof session === 'function' ? session() : session,
  });
  const stopReason = ({ steps }: Steps) => reasonOf(steps.at(-1), memory);
  return {
    middleware: modelMiddleware({ config, strict, memory, batches, callOptions }),
    stopReason,
    isStopped: (turn) => stopReason(turn) !== undefined,
    wrapTools<T extends Readonly<Record<string, object>>>(tools: T): T {
      const wrapped = Object.entries(tools).map(([name, tool]: [string, AnyTool]) => {
        if (tool.execute) return [name, wrapTool(config, name, tool, memory, callOptions)];
        tellUncovered(config, notExecuted(name), strict);
        return [name, tool];
      });
      return Object.fromEntries(wrapped) as T;
    },
  };
}

interface Around {
  readonly config: Config;
  readonly strict: boolean;
  readonly memory: CallMemory;
  readonly batches: Batches;
  readonly callOptions: (signal?: AbortSignal, callId?: string) => CallOptions;
}

function modelMiddleware(around: Around): ModelMiddleware {
  return {
    specificationVersion: 'v3',

    async wrapGenerate<Given>({ params, model, doGenerate }: WrapGenerateOptions<Given>) {
      const asked = toAsked(around, model, params);
      if (!asked) {
        const given = await doGenerate();
        tellElsewhere(around, (given as Generated).content);
        return given;
      }
      let given: Generated | undefined;
      const turn = await finishTurn(
        callModel(around, asked, async (changed) => {
          given = (await model.doGenerate(changed as never)) as Generated;
          return only(toGivenResponse(given.content, given));
        }),
      );
      const generated = toGenerated(turn, given);
      const mark = takeCalls(around, asked, turn, generated.content);
      return {
        ...generated,
        content: generated.content.map((part) => marked(part, mark)),
      } as Given;
    },

    async wrapStream<Given>({ params, model, doStream }: WrapStreamOptions<Given>) {
      const asked = toAsked(around, model, params);
      if (!asked) return watched(around, (await doStream()) as Streamed) as Given;
      const came: AnyPart[] = [];
      let opened: Streamed | undefined;
      const turn = callModel(around, asked, async (changed) => {
        opened = (await model.doStream(changed as never)) as Streamed;
        return toChunks(opened.stream, came);
      });
      // What fails before the answer begins has to fail here, where the SDK tries again.
      const first = turn.next();
      await first.catch((error: unknown) => {
        if (!opened) throw error;
      });
      const parts = toStream(turn, first, params.abortSignal, came, (ended, isStale) => {
        const mark = takeCalls(around, asked, ended, came);
        if (isStale && ended.verdict.kind === 'allow') {
          tellUncovered(around.config, STALE, around.strict);
        }
        return mark;
      });
      return { ...opened, stream: ReadableStream.from(parts) } as Given;
    },
  };
}

/**
 * What the model gives, where hooks read nothing of it. With hooks of tools, one wants to know of tools that run elsewhere.
 * Nothing is read ahead, as an error would take its place.
 */
function watched(around: Around, given: Streamed): Streamed {
  const { config } = around;
  if (!config.getHookSystem() && config.registrations('tool').length === 0) return given;
  const reader = given.stream.getReader();
  const stream = new ReadableStream<AnyPart>(
    {
      async pull(controller) {
        const { done, value } = await reader.read();
        if (done) return controller.close();
        tellElsewhere(around, [value]);
        controller.enqueue(value);
      },
      cancel: (reason) => reader.cancel(reason),
    },
    { highWaterMark: 0 },
  );
  return { ...given, stream };
}

const STALE =
  'hookstack/ai: a hook changed an answer that was streamed already, so the change was lost: set "afterModelDisplay" to "hold" in the settings or the Config';

/** A call of the model that is about to be made. */
interface Asked {
  readonly params: CallParams;
  /** The same as hooks and middleware read it. */
  readonly request: GenerateContentParameters;
  /** The messages of the host. */
  readonly given: CallParams['prompt'];
  /** Why it is not made: the tools whose results are sent here have stopped the agent. */
  readonly reason: string | undefined;
  readonly options: CallOptions;
}

/** What to ask the model; `undefined` where nobody reads it, and it is asked what the host asks. */
function toAsked({ config, memory, callOptions }: Around, model: AnyModel, given: CallParams) {
  requireSpecification(model);
  memory.noteRequest(given);
  const ids = idsOfResults(given);
  const params = withMessages(given, memory.notesFor(ids));
  const reason = memory.stopReason(ids);
  const options = callOptions(given.abortSignal);
  const isLeft = reason === undefined && params === given;
  if (isLeft && !isModelLookedAt(config, options.session)) return undefined;
  const request = toRequest(model.modelId, params);
  return { params, request, given: given.prompt, reason, options };
}

function callModel(
  { config, batches }: Around,
  { params, request, reason, given, options }: Asked,
  open: (params: CallParams) => Promise<AsyncIterable<GenerateContentResponse>>,
): AsyncGenerator<GenerateContentResponse, ModelTurn, undefined> {
  if (reason !== undefined) {
    return stoppedCall(request, { event: HookEventName.AfterTool, reason });
  }
  const { abortSignal: own } = params;
  const send = (changed: GenerateContentParameters, aborted: AbortSignal) =>
    open({
      ...toParams(changed, request, params),
      abortSignal: modelSignal(config, own, aborted),
    });
  const call = (asked: GenerateContentParameters) =>
    callModelWithHooks(config, toLookedAt(asked), send, options);
  const ending = batches.end(given.at(-1), () => endedCallsIn(given), options);
  return ending ? afterBatch(ending, request, call) : call(request);
}

/** The model says for sure which version calls it: several may be installed. */
function requireSpecification({ specificationVersion: given }: AnyModel): void {
  if (given === 'v3' || given === 'v4') return;
  const older: Readonly<Record<string, string>> = { v1: '4', v2: '5' };
  const version = older[given] ?? `${installedVersion('ai')} (models ${given})`;
  requireVersion('hookstack/ai', 'the AI SDK', version, ['6', '7']);
}

/** The ids of the tool calls whose results the model is to go on with. */
function idsOfResults({ prompt }: CallParams): string[] {
  const last = prompt.at(-1);
  if (last?.role !== 'tool' || typeof last.content === 'string') return [];
  return last.content.map(({ toolCallId }) => String(toolCallId));
}

/** Notes what is to be known when the tools of an answer run, and of those that run elsewhere. */
function takeCalls(
  around: Around,
  { request }: Asked,
  turn: ModelTurn,
  parts: readonly AnyPart[],
): CallMark | undefined {
  const ids = parts.filter(isToolCall).map(({ toolCallId }) => toolCallId);
  const mark = around.memory.noteAnswer(request, turn, ids);
  tellElsewhere(around, parts);
  return mark;
}

function tellElsewhere({ config, strict }: Around, parts: readonly AnyPart[]): void {
  const elsewhere = parts.find((part) => part.type === 'tool-call' && !isToolCall(part));
  if (elsewhere) tellUncovered(config, ranElsewhere(String(elsewhere.toolName)), strict);
}

function notExecuted(name: string): string {
  return `hookstack/ai: hooks do not cover the tool "${name}": it has no "execute", so the provider or a client runs it`;
}

function ranElsewhere(name: string): string {
  return `hookstack/ai: hooks do not cover the tool "${name}": the provider of the model has run it`;
}

function reasonOf(step: Steps['steps'][number] | undefined, memory: CallMemory) {
  if (!step) return undefined;
  const own = isRecord(step.providerMetadata) ? step.providerMetadata['hookstack'] : undefined;
  if (isRecord(own) && typeof own['stopped'] === 'string') return own['stopped'];
  return memory.stopReason(step.toolCalls.map(({ toolCallId }) => toolCallId));
}
