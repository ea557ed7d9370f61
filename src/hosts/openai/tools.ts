import type { Config } from '../../config/config.js';
import type { CallOptions } from '../../context.js';
import { executeToolWithHooks } from '../../core/coreToolHookTriggers.js';
import type { ModelTurn } from '../../core/modelCall.js';
import { withNotes } from '../../protocol/llmContent.js';
import type { ToolResult } from '../../tools/tools.js';
import { readAllowed, refusalOfCall } from '../allowed.js';
import { RecentMap } from '../shared.js';
import { readArguments } from './items.js';
import { toToolOutput, toToolResult } from './toolOutput.js';
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

  constructor(readonly config: Config) {}

  /** Whether the model is offered a tool that passes through hooks. */
  isHooked({ type, name }: AnyTool): boolean {
    return type === 'function' && this.#names.has(name);
  }

  /** What hooks said of an answer that calls tools, for these calls. */
  expect(turn: ModelTurn, calls: readonly { readonly id: string; readonly name: string }[]): void {
    const [first] = calls;
    if (first && turn.notes.length > 0) this.#notes.set(first.id, turn.notes);
  }

  /** What hooks know a tool by that the model has under this name. */
  nameOf(name: string): string {
    return this.#names.get(name) ?? name;
  }

  /** Why hooks ended the run, once. */
  takeStop(context: object): string | undefined {
    const stop = this.#stops.get(context);
    this.#stops.delete(context);
    if (stop?.callId !== undefined) this.#stopped.delete(stop.callId);
    return stop?.reason;
  }

  /** The same for a run whose model is called with the results of these calls. */
  takeStopOf(callIds: readonly string[]): string | undefined {
    const stopped = callIds.find((id) => this.#stopped.get(id) !== undefined);
    if (stopped === undefined) return undefined;
    const reason = this.#stopped.get(stopped);
    this.#stopped.delete(stopped);
    return reason;
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
    let output: unknown;
    let given: ToolResult | undefined;
    const execute = async (changed: Record<string, unknown>) => {
      // What is as it was keeps the form in which the host has checked it.
      const text = JSON.stringify(changed);
      const isSame = text === JSON.stringify(args);
      output = await tool.invoke(context, isSame ? input : text, details);
      return (given = toToolResult(output));
    };
    const { onHooks, onApproval, session } = options;
    const calling = { signal, callId, onHooks, onApproval, session };
    const result = await executeToolWithHooks(this.config, name, args, execute, calling);
    if (!given) signal?.throwIfAborted();
    if (result.stopReason !== undefined) this.#noteStop(context, result.stopReason, callId);
    return toToolOutput(withNotes(result, this.#takeNotes(callId)), given, output);
  }

  #noteStop(context: object, reason: string, callId: string | undefined): void {
    this.#stops.set(context, { reason, ...(callId !== undefined && { callId }) });
    if (callId !== undefined) this.#stopped.set(callId, reason);
  }

  #takeNotes(callId: string | undefined): readonly string[] {
    if (callId === undefined) return [];
    const notes = this.#notes.get(callId) ?? [];
    this.#notes.delete(callId);
    return notes;
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

/** Of tools that run an agent which has hooks itself. A copy of the tool has it as well. */
const COVERED = Symbol('covered');

/** Says of a tool that runs an agent that this agent has hooks. */
export function coverAgent<T extends AnyTool>(tool: T): T {
  return Object.assign(tool, { [COVERED]: true });
}

/** Whether a tool runs an agent that has no hooks. Only such tools have events to listen to. */
export function runsUncovered(tool: AnyTool): boolean {
  return (
    isFunctionTool(tool) && 'on' in tool && typeof tool.on === 'function' && !(COVERED in tool)
  );
}
