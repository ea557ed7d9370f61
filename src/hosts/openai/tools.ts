import type { PartListUnion } from '@google/genai';
import type { Config } from '../../config/config.js';
import type { CallOptions } from '../../context.js';
import { toParts, withNotes } from '../../protocol/llmContent.js';
import type { ToolResult } from '../../tools/tools.js';
import { isRecord } from '../../util/records.js';
import { readAllowed, refusalOfCall } from '../allowed.js';
import { Batches } from '../batch.js';
import { asText, RecentMap, runTool, textResult, type Ran } from '../shared.js';
import { inSubagent, runSubagent } from '../subagents.js';
import { readArguments, textIn } from '../translate.js';
import type { NameOf } from './requests.js';
import type { AnyTool, FunctionTool, InvocationDetails } from './types.js';

/** The tools of agents that hand over to each other. */
export class HookedTools {
  readonly #hooked = new WeakMap<AnyTool, AnyTool>();
  /** What hooks know them by, by the names that the model reads. */
  readonly #names = new Map<string, string>();
  readonly #notes = new RecentMap<readonly string[]>();
  /** Why hooks ended a run, by the context that the host keeps for it. */
  readonly #stops = new WeakMap<object, { readonly reason: string; readonly callId?: string }>();
  /** The same by the ids of calls: where the agent hands over, nobody asks for the other. */
  readonly #stopped = new RecentMap<string>();

  readonly batches: Batches;

  constructor(readonly config: Config) {
    this.batches = new Batches(config);
  }

  /** Whether the model is offered a tool that passes through hooks. */
  isHooked({ type, name }: AnyTool): boolean {
    return type === 'function' && this.#names.has(name);
  }

  /** What hooks said of an answer, for the model to read with the result of this call. */
  noteFor(callId: string, notes: readonly string[]): void {
    if (notes.length > 0) this.#notes.set(callId, notes);
  }

  /** What hooks know a tool by that the model has under this name. */
  readonly nameOf: NameOf = (name) => this.#names.get(name) ?? name;

  /** Why hooks ended the run, once. */
  takeStop(context: object): string | undefined {
    const stop = this.#stops.get(context);
    this.#stops.delete(context);
    if (stop?.callId !== undefined) this.#stopped.delete(stop.callId);
    return stop?.reason;
  }

  /** The same for a run whose model is called with the results of these calls. */
  takeStopOf(callIds: readonly string[]): string | undefined {
    return this.#stopped.take(callIds.find((id) => this.#stopped.has(id)));
  }

  /**
   * The same tool with hooks around it. A tool that has no function to be called stays as it is, and so does one that has
   * them already.
   *
   * @param name what hooks know it by
   */
  hook<T extends AnyTool>(tool: T, options: CallOptions, name: string = tool.name): T {
    const known = this.#hooked.get(tool);
    if (known) return known as T;
    if (!isFunctionTool(tool)) return tool;
    const hooked = Object.create(
      Object.getPrototypeOf(tool) as object,
      Object.getOwnPropertyDescriptors(tool),
    ) as T & FunctionTool;
    hooked.invoke = (context, input, details) =>
      this.#invoke(tool, name, { context, input, details: details ?? {} }, options);
    this.#hooked.set(tool, hooked).set(hooked, hooked);
    this.#names.set(tool.name, name);
    return hooked;
  }

  async #invoke(
    tool: FunctionTool,
    name: string,
    { context, input, details }: Invocation,
    options: CallOptions,
  ): Promise<unknown> {
    const { toolCall, signal } = details;
    const callId = toolCall?.callId;
    const carried = readAllowed(toolCall?.providerData);
    const refusal = await refusalOfCall(this.config, name, carried);
    if (refusal !== undefined) return refusal;
    const args = readArguments(input);
    if (!args) return `The tool "${tool.name}" was not run: its arguments are no JSON object.`;
    const execute = (changed: Record<string, unknown>) => {
      // What is as it was keeps the form in which the host has checked it.
      const text = JSON.stringify(changed);
      const isSame = text === JSON.stringify(args);
      return tool.invoke(context, isSame ? input : text, details);
    };
    const calling = inSubagent({ ...options, signal, callId });
    const { config } = this;
    const { result, ran } = await runTool(config, name, args, execute, toToolResult, calling);
    const stopReason = result.stopReason ?? stopsOfSubagents.get(details);
    if (stopReason !== undefined) this.#noteStop(context, stopReason, callId);
    return toToolOutput(withNotes(result, this.#notes.take(callId) ?? []), ran);
  }

  #noteStop(context: object, reason: string, callId: string | undefined): void {
    this.#stops.set(context, { reason, ...(callId !== undefined && { callId }) });
    if (callId !== undefined) this.#stopped.set(callId, reason);
  }
}

interface Invocation {
  readonly context: object;
  readonly input: string;
  readonly details: InvocationDetails;
}

function isFunctionTool(tool: AnyTool): tool is FunctionTool {
  return tool.type === 'function' && typeof (tool as Partial<FunctionTool>).invoke === 'function';
}

/** What the host's tool gave, as hooks read it. */
function toToolResult(output: unknown): ToolResult {
  if (isStructured(output)) {
    return {
      llmContent: (Array.isArray(output) ? output : [output]) as PartListUnion,
      returnDisplay: '',
    };
  }
  return textResult(output);
}

/** What the host takes for the output of its tool: the same where nothing was changed. */
function toToolOutput({ llmContent }: ToolResult, ran: Ran<unknown> | undefined): unknown {
  if (ran && llmContent === ran.result.llmContent) return ran.output;
  if (typeof llmContent === 'string') return llmContent;
  const parts = toParts(llmContent);
  if (parts.every((part) => !('type' in part))) return textIn(parts);
  return parts.map((part) => ('type' in part ? part : { type: 'text', text: part.text ?? '' }));
}

/** Whether the host sends it to the model in pieces, such as images. Hooks read the same pieces. */
function isStructured(output: unknown): boolean {
  return Array.isArray(output) ? output.length > 0 && output.every(isPiece) : isPiece(output);
}

function isPiece(value: unknown): boolean {
  return isRecord(value) && /^(?:text|image|file)$/.test(String(value['type']));
}

/** Of tools that run an agent which has hooks itself. A copy of the tool has it as well. */
const COVERED = Symbol('covered');

/** Why hooks of a sub-agent end the agent that has called it, by what the host tells of that call. */
const stopsOfSubagents = new WeakMap<object, string>();

/**
 * A tool that runs an agent which has hooks. The agent is a sub-agent then.
 *
 * @param agentType what hooks know it by
 */
export function coverAgent<T extends AnyTool>(
  tool: T,
  agentType: string,
  config: Config,
  options: CallOptions,
): T {
  Object.assign(tool, { [COVERED]: true });
  if (!isFunctionTool(tool)) return tool;
  const invoke = tool.invoke.bind(tool);
  tool.invoke = async (context, input, details = {}) => {
    const { signal, resumeState } = details;
    const isResumed = resumeState !== undefined;
    const { input: prompt = input } = readArguments(input) ?? {};
    const canSendBack = !isResumed;
    const subagent = { agentType, prompt: asText(prompt), isResumed, canSendBack };
    const work = () => invoke(context, input, details);
    const ended = await runSubagent(config, subagent, work, {
      ...options,
      ...(signal && { signal }),
    });
    if ('answer' in ended) return ended.answer;
    if (ended.isStop) stopsOfSubagents.set(details, ended.refusal);
    return ended.refusal;
  };
  return tool;
}

/** Whether a tool runs an agent that has no hooks. Only such tools have events to listen to. */
export function runsUncovered(tool: AnyTool): boolean {
  return (
    isFunctionTool(tool) && 'on' in tool && typeof tool.on === 'function' && !(COVERED in tool)
  );
}
