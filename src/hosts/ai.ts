import type { GenerateContentParameters, GenerateContentResponse } from '@google/genai';
import type { Config } from '../config/config.js';
import type { CallOptions } from '../context.js';
import { callModelWithHooks, finishTurn, type ModelTurn } from '../core/modelCall.js';
import type { CallSession } from '../protocol/types.js';
import { isRecord } from '../util/records.js';
import { requireKnown, type OptionNames } from '../util/requireKnown.js';
import { isToolCall, toGenerated, toResponse } from './ai/answer.js';
import { marked, type CallMark } from './ai/answers.js';
import { CallMemory } from './ai/memory.js';
import { toParams, toRequest, withMessages } from './ai/request.js';
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
  WrapOptions,
} from './ai/types.js';
import { installedVersion, requireVersion, tellUncovered, stoppedTurn } from './shared.js';

export type { ModelMiddleware, Steps } from './ai/types.js';
export { ToolRefusedError } from './ai/refusal.js';

/** What `aiHooks` takes. */
export interface AiHooksOptions extends Pick<CallOptions, 'onHooks' | 'onApproval'> {
  /** For whom calls are made; a function is asked for each call. Default: the session of the `Config`. */
  readonly session?: CallSession | (() => CallSession | undefined);
  /** Throw where something cannot be covered, instead of a warning. Default `false`. */
  readonly strict?: boolean;
}

const OPTIONS: OptionNames<AiHooksOptions> = {
  onHooks: true,
  onApproval: true,
  session: true,
  strict: true,
};

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
  requireKnown('aiHooks()', options, OPTIONS);
  const { onHooks, onApproval, session, strict = false } = options;
  const memory = new CallMemory(config);
  const callOptions = (signal?: AbortSignal, callId?: string): CallOptions => ({
    signal,
    callId,
    onHooks,
    onApproval,
    session: typeof session === 'function' ? session() : session,
  });
  const stopReason = ({ steps }: Steps) => reasonOf(steps.at(-1), memory);
  return {
    middleware: modelMiddleware({ config, strict, memory, callOptions }),
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
  readonly callOptions: (signal?: AbortSignal, callId?: string) => CallOptions;
}

function modelMiddleware(around: Around): ModelMiddleware {
  return {
    specificationVersion: 'v3',

    async wrapGenerate<Given>({ params, model }: WrapOptions) {
      let given: Generated | undefined;
      const turn = await finishTurn(
        callModel(around, model, params, async (changed) => {
          given = (await model.doGenerate(changed as never)) as Generated;
          return only(toResponse(given.content, given));
        }),
      );
      const generated = toGenerated(turn, given);
      const mark = takeCalls(around, turn, generated.content);
      return {
        ...generated,
        content: generated.content.map((part) => marked(part, mark)),
      } as Given;
    },

    async wrapStream<Given>({ params, model }: WrapOptions) {
      const came: AnyPart[] = [];
      let opened: Streamed | undefined;
      const turn = callModel(around, model, params, async (changed) => {
        opened = (await model.doStream(changed as never)) as Streamed;
        return toChunks(opened.stream, came);
      });
      // What fails before the answer begins has to fail here, where the SDK tries again.
      const first = await turn.next();
      const parts = toStream(turn, first, came, (ended, isStale) => {
        const mark = takeCalls(around, ended, came);
        if (isStale && ended.verdict.kind === 'allow') {
          tellUncovered(around.config, STALE, around.strict);
        }
        return mark;
      });
      return { ...opened, stream: ReadableStream.from(parts) } as Given;
    },
  };
}

const STALE =
  'hookstack/ai: a hook changed an answer that was streamed already, so the change was lost: set "afterModelDisplay" to "hold" in the settings or the Config';

/** The model call with its hooks, unless the agent was stopped by the tools whose results are sent here. */
function callModel(
  { config, memory, callOptions }: Around,
  model: AnyModel,
  given: CallParams,
  open: (params: CallParams) => Promise<AsyncIterable<GenerateContentResponse>>,
): AsyncGenerator<GenerateContentResponse, ModelTurn, undefined> {
  requireSpecification(model);
  memory.noteRequest(given);
  const ids = idsOfResults(given);
  const params = withMessages(given, memory.notesFor(ids));
  const request = toRequest(model.modelId, params);
  const reason = memory.stopReason(ids);
  if (reason !== undefined) return refused(request, reason);
  return callModelWithHooks(
    config,
    request,
    (changed, abortSignal) => open({ ...toParams(changed, request, params), abortSignal }),
    callOptions(params.abortSignal),
  );
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

// oxlint-disable-next-line require-yield -- what is refused shows nothing
async function* refused(
  request: GenerateContentParameters,
  reason: string,
): AsyncGenerator<GenerateContentResponse, ModelTurn, undefined> {
  return stoppedTurn(request, reason);
}

async function* only<T>(value: T): AsyncGenerator<T> {
  yield value;
}

/** Notes what is to be known when the tools of an answer run, and of those that run elsewhere. */
function takeCalls(
  { config, memory, strict }: Around,
  turn: ModelTurn,
  parts: readonly AnyPart[],
): CallMark | undefined {
  const mark = memory.noteAnswer(
    turn,
    parts.filter(isToolCall).map(({ toolCallId }) => toolCallId),
  );
  const elsewhere = parts.find((part) => part.type === 'tool-call' && !isToolCall(part));
  if (elsewhere) tellUncovered(config, ranElsewhere(String(elsewhere.toolName)), strict);
  return mark;
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
