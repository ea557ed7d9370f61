// The types are the host's own.
// @ts-ignore
import type { BaseTool, Context, InvocationContext } from '@google/adk';
import type { Content, GenerateContentParameters, GenerateContentResponse } from '@google/genai';
import type { Config } from '../../config/config.js';
import type { ModelCall } from '../../context.js';
import type { OpenToolCall } from '../../core/coreToolHookTriggers.js';
import { openHalf, unheeded, type OpenHalf } from '../../core/halves.js';
import {
  callModelWithHooks,
  finishTurn,
  runModelCall,
  type ModelCallOptions,
  type ModelTurn,
  type OpenModel,
} from '../../core/modelCall.js';
import type { SubagentEnd } from '../subagents.js';
import { only } from '../translate.js';

export interface ToolEvent {
  readonly tool: BaseTool;
  readonly toolArgs: Record<string, unknown>;
  readonly toolContext: Context;
}

/** What the host takes in place of what a tool gives. */
export type Answer = Record<string, unknown> | undefined;

/** An agent that the host runs as a tool. */
export type OpenSubagent = OpenHalf<readonly Content[], unknown, SubagentEnd<unknown>>;

/** What is known of one invocation, until it ends. */
export interface Run {
  /** Why the agent is to end. */
  stopReason: string | undefined;
  /** An event has said so. */
  isStopTold: boolean;
  /** What the model is to read with the next request. */
  readonly notes: string[];
  /** Those of agents that are tools. */
  readonly subagents: Map<Context, OpenSubagent>;
  /** Calls of tools that have begun. */
  readonly tools: Map<Context, OpenToolCall>;
  /** The last model call of each agent, and the tools that it allows. */
  readonly asked: WeakMap<
    InvocationContext,
    {
      readonly call: OpenModelCall;
      readonly allowed: readonly string[] | undefined;
      /** Hooks changed a piece of its answer. */
      isChanged: boolean;
    }
  >;
  /** Model calls without an answer yet. */
  readonly open: Set<OpenModelCall>;
}

/** The invocations that are going on. One that its caller leaves is forgotten with it. */
export class Runs {
  readonly #runs = new WeakMap<object, Run>();

  /** The invocation of all its agents: the host copies its context for each, but not the settings of the run. */
  of(context: InvocationContext): Run {
    const key: object = context.runConfig ?? context.session;
    const known = this.#runs.get(key);
    if (known) return known;
    const run: Run = {
      stopReason: undefined,
      isStopTold: false,
      notes: [],
      subagents: new Map(),
      tools: new Map(),
      asked: new WeakMap(),
      open: new Set(),
    };
    this.#runs.set(key, run);
    return run;
  }

  /** Whatever has not ended by now never will. */
  async end(context: InvocationContext): Promise<void> {
    const { subagents, tools, open } = this.of(context);
    if (subagents.size + tools.size + open.size === 0) return;
    const over = new Error('The run of the agent has ended');
    const calls = [...tools.values()].map((call) => call.abandon());
    const agents = [...subagents.values()].map((agent) => unheeded(agent.fail(over)));
    await Promise.all([...agents, ...calls, ...[...open].map((call) => call.fail(over))]);
    subagents.clear();
    tools.clear();
    open.clear();
  }
}

/** Ends this agent, and loops around it. Others of the invocation end when they would ask their model. */
export function endAgent(run: Run, { invocationContext, actions }: Context): void {
  run.isStopTold = true;
  invocationContext.endInvocation = true;
  actions.escalate = true;
}

/** A plugin that throws makes an error event of an abort, which the host itself takes for an end. */
export async function orAborted<T>(
  { abortSignal }: InvocationContext,
  work: Promise<T>,
): Promise<T | undefined> {
  try {
    return await work;
  } catch (error) {
    if (abortSignal?.aborted) return undefined;
    throw error;
  }
}

/** A model call that its hooks and middleware let pass, for a host that calls the model itself. */
export interface OpenModelCall {
  /** What to send. */
  readonly request: GenerateContentParameters;
  /** Once the whole answer is there. AfterModel hooks see it. */
  finish(response: GenerateContentResponse): Promise<ModelTurn>;
  /** To be called where the model failed, or its answer will never be known. Never rejects. */
  fail(error: unknown): Promise<void>;
}

/** A model call that ends without the model. */
export interface RefusedModelCall {
  readonly turn: ModelTurn;
}

/**
 * A model call in two halves, for hosts that have one callback before the model and another after it. The first of
 * `finish`, `fail` and the abort of `signal` ends it.
 */
export async function openModelCall(
  config: Config,
  request: GenerateContentParameters,
  options: ModelCallOptions,
): Promise<OpenModelCall | RefusedModelCall> {
  const half = await openHalf<GenerateContentParameters, GenerateContentResponse, ModelTurn>(
    (middle) => {
      const open: OpenModel = async (sent, signal) => only(middle(sent, signal));
      return finishTurn(callModelWithHooks(config, request, open, options));
    },
  );
  if ('ended' in half) return { turn: half.ended };
  const { given, finish, fail } = half;
  return { request: given, finish, fail: (error) => unheeded(fail(error)) };
}

/**
 * AfterModel hooks on a further answer to a request whose call has ended, for hosts that give one answer in several
 * pieces. Middleware sees the first piece only: there is one call.
 *
 * @throws the reason of `options.signal`
 */
export function fireForFurtherAnswer(
  config: Config,
  request: GenerateContentParameters,
  answer: GenerateContentResponse,
  options: ModelCallOptions,
): Promise<ModelTurn> {
  const { afterModel, openStream } = config.getModelStages();
  const layers = (call: ModelCall) => afterModel(call, () => openStream(call, done));
  const open = async () => only(answer);
  return finishTurn(runModelCall(layers, request, open, options));
}

async function done(): Promise<void> {
  // The answer is there.
}
