import { randomUUID } from 'node:crypto';
import type { Answer, ApprovalObserver, ApprovalRequest } from '../protocol/approval.js';
import type { FunctionCall, Part } from '@google/genai';
import type { Config } from '../config/config.js';
import {
  copyArguments,
  createToolCall,
  errorResult,
  type CallOptions,
  type Decision,
  type ExecuteTool,
  type ToolCall,
} from '../context.js';
import { fireHook, mayBeRead } from '../hooks/fireHook.js';
import { HookEventName, type BatchedCall } from '../protocol/types.js';
import { ToolErrorType, type Tool, type ToolResult } from '../tools/tools.js';
import { errorMessage } from '../util/errorMessage.js';
import { notify } from '../util/notify.js';
import { toParts, withNotes } from '../protocol/llmContent.js';
import { traceRefusal } from '../trace/stackSpans.js';
import { readVerdict } from './eventVerdict.js';

const { ToolBatchEnd } = HookEventName;

/**
 * `executing` while hooks and the tool run, and `awaiting_approval` while a person is asked, before the tool. `idle` is
 * terminal: a hook or a person blocked the call, and its result tells the model why.
 */
export type ToolCallStatus =
  | 'scheduled'
  | 'executing'
  | 'awaiting_approval'
  | 'success'
  | 'error'
  | 'idle';

/** One tool call of the model, as far as it has come. */
export interface ToolCallRecord {
  readonly callId: string;
  readonly name: string;
  /** The arguments as the model gave them. */
  readonly originalInput: Readonly<Record<string, unknown>>;
  /** The arguments that the tool was executed with. */
  readonly input: Readonly<Record<string, unknown>>;
  readonly status: ToolCallStatus;
  /** Present once the status is `success`, `error` or `idle`. */
  readonly result?: ToolResult;
  /** Present when the call was blocked: why, and by which hooks. */
  readonly blocked?: Decision;
  /** Present when the agent loop ended at this call: why, and by which hooks. */
  readonly stopped?: Decision;
  /** On the last call of an answer: what ToolBatchEnd hooks said, which the model reads after all results. */
  readonly notes?: readonly string[];
}

/** A tool call that has come to its end. */
export type CompletedToolCall = ToolCallRecord & { readonly result: ToolResult };

export interface CoreToolSchedulerOptions {
  readonly config: Config;
  readonly tools: readonly Tool[];
  /** Called at every change of a call's status. */
  readonly onStatus?: (call: ToolCallRecord) => void;
  readonly onHooks?: CallOptions['onHooks'];
  /** Called when a person is asked about a call, and again with the answer. */
  readonly onApproval?: CallOptions['onApproval'];
  /** For whom the calls are made. Default: for the session of the `Config`. */
  readonly session?: CallOptions['session'];
}

export interface ScheduleOptions {
  readonly signal?: AbortSignal;
  /** Names of the tools that may be called; without it, all. */
  readonly allowedTools?: readonly string[];
  /** Names of the hooks that restricted the tools, for the trace of a call that was not allowed. */
  readonly restrictedBy?: readonly string[];
}

interface Turn {
  /** Ids of the questions that wait for an answer. */
  readonly asked: Set<string>;
  isStopped: boolean;
}

/** Runs the tool calls of a model's turn, each through the tool stack. */
export class CoreToolScheduler {
  readonly #options: CoreToolSchedulerOptions;
  readonly #tools: ReadonlyMap<string, Tool>;

  constructor(options: CoreToolSchedulerOptions) {
    this.#options = options;
    this.#tools = new Map(options.tools.map((tool) => [tool.name, tool]));
  }

  /**
   * Runs the calls of one turn, all at once, and fires ToolBatchEnd, unless one of them has stopped the agent.
   *
   * @returns one completed call for each, in the order of the calls. Never rejects: a call that fails, is blocked or
   *   is cancelled has a result that says so, and is not tried again.
   */
  async schedule(
    calls: readonly FunctionCall[],
    options: ScheduleOptions = {},
  ): Promise<CompletedToolCall[]> {
    const records = calls.map(toRecord);
    for (const record of records) if (record.status === 'scheduled') this.#reportStatus(record);
    const inTurn = { ...options, turn: { asked: new Set<string>(), isStopped: false } };
    const completed = await Promise.all(records.map((record) => this.#run(record, inTurn)));
    const isOver = inTurn.turn.isStopped || !mayBeRead(this.#options.config, ToolBatchEnd);
    return isOver ? completed : this.#endBatch(completed, options.signal);
  }

  /** What hooks say of all calls goes with the last one. */
  async #endBatch(
    calls: CompletedToolCall[],
    signal: AbortSignal | undefined,
  ): Promise<CompletedToolCall[]> {
    const { config, onHooks, session } = this.#options;
    const last = calls.at(-1);
    if (!last || signal?.aborted) return calls;
    const payload = { toolCalls: calls.map(toBatchedCall) };
    const fired = await fireHook(config, ToolBatchEnd, payload, { signal, onHooks, session });
    const { stopped, notes } = readVerdict(ToolBatchEnd, fired);
    const told = { ...last, ...(notes.length > 0 && { notes }), ...(stopped && { stopped }) };
    return [...calls.slice(0, -1), told];
  }

  async #run(
    record: ToolCallRecord,
    { signal, allowedTools, restrictedBy, turn }: ScheduleOptions & { readonly turn: Turn },
  ): Promise<CompletedToolCall> {
    const { config, onHooks, session } = this.#options;
    const onApproval: ApprovalObserver = (...update) => this.#noteApproval(record, turn, ...update);
    const tool = this.#tools.get(record.name);
    const refusal = allowedTools && this.#restrict(record.name, allowedTools);
    if (record.result || !tool || refusal) {
      return this.#refuse(record, refusal, refusal && restrictedBy);
    }
    this.#reportStatus({ ...record, status: 'executing' });
    const { readableFolders: readable } = config;
    const context = { workingDir: config.getWorkingDir(), readable, signal };
    const execute: ExecuteTool = async (input) => {
      try {
        return await tool.execute(input, context);
      } catch (error) {
        // A result like any other, which AfterTool hooks see.
        return failed(tool.name, error);
      }
    };
    const options = { signal, onHooks, onApproval, callId: record.callId, session };
    const call = createToolCall(tool.name, record.originalInput, execute, options);
    const result = await runToolCall(config, call).catch((error: unknown) =>
      withNotes(failed(call.toolName, error), call.contextForModel),
    );
    if (call.verdict.kind === 'stop') this.#endTurn(turn);
    return this.#reportStatus({ ...record, input: call.input, result, ...outcomeOf(call, result) });
  }

  #noteApproval(
    record: ToolCallRecord,
    turn: Turn,
    request: ApprovalRequest,
    answer?: Answer,
  ): void {
    const asked = { ...record, input: { ...request.input } };
    if (!answer) {
      turn.asked.add(request.id);
      this.#reportStatus({ ...asked, status: 'awaiting_approval' });
    } else {
      turn.asked.delete(request.id);
      if (answer.decision === 'allow') this.#reportStatus({ ...asked, status: 'executing' });
    }
    if (turn.isStopped) this.#endTurn(turn);
    const { config, onApproval } = this.#options;
    if (onApproval) notify(config.getDebugLogger(), onApproval, request, answer);
  }

  /** Once a call stops the agent, the open questions of its turn are cancelled. */
  #endTurn(turn: Turn): void {
    turn.isStopped = true;
    this.#options.config.takeBackQuestions(turn.asked);
  }

  #reportStatus<R extends ToolCallRecord>(record: R): R {
    const { config, onStatus } = this.#options;
    if (onStatus) notify(config.getDebugLogger(), onStatus, record);
    return record;
  }

  /** No hook is asked, and no middleware runs. */
  #refuse(
    record: ToolCallRecord,
    restriction: ToolResult | undefined,
    by: readonly string[] | undefined,
  ): CompletedToolCall {
    const result =
      record.result ?? restriction ?? unknownTool(record.name, [...this.#tools.keys()]);
    traceRefusal(record.name, record.originalInput, result, by);
    return this.#reportStatus({ ...record, status: 'error', result });
  }

  /** Anything but names of tools is removed, since the model reads this list. */
  #restrict(name: string, allowedTools: readonly string[]): ToolResult | undefined {
    const isKnown = (each: string) => each === name || this.#tools.has(each);
    return notAllowed(name, allowedTools.filter(isKnown));
  }
}

/**
 * Runs a tool call through the tool stack, unless it was refused from the beginning: then no middleware, no hook and no
 * tool runs.
 *
 * @throws what the tool throws; an Error when a middleware leaves the call without a result
 */
export async function runToolCall(
  config: Pick<Config, 'getToolStack'>,
  call: ToolCall,
): Promise<ToolResult> {
  if (call.result) return call.result;
  await config.getToolStack().run(call);
  const { result, contextForModel: notes } = call;
  if (result) return notes.length > 0 ? withNotes(result, notes) : result;
  throw new Error(explainNoResult(call));
}

function explainNoResult({ toolName, durationMs }: ToolCall): string {
  return durationMs === undefined
    ? `A middleware ended the call of "${toolName}" without a result: set call.result`
    : `The tool "${toolName}" returned nothing: return { llmContent, returnDisplay }`;
}

/** What became of a call, and who decided so. A stop after the tool says nothing about the tool. */
function outcomeOf(
  { verdict, executed }: ToolCall,
  result: ToolResult,
): Pick<ToolCallRecord, 'status' | 'blocked' | 'stopped'> {
  if (verdict.kind === 'allow') return { status: result.error ? 'error' : 'success' };
  const { kind, ...decision } = verdict;
  const outcome = kind === 'stop' ? executed : result;
  const status = !executed ? 'idle' : outcome?.error ? 'error' : 'success';
  return kind === 'block' ? { status, blocked: decision } : { status, stopped: decision };
}

/** The same as AfterTool hooks read it. */
function toBatchedCall({ callId, name, input, result }: CompletedToolCall): BatchedCall {
  const { llmContent, returnDisplay, metadata, error } = result;
  const tool_response = { llmContent, returnDisplay, metadata, error };
  return { tool_name: name, tool_input: input, tool_response, call_id: callId };
}

/** What the model reads of a completed call, and after the last one of what hooks said of all of them. */
export function toFunctionResponse({ callId, name, result, notes }: CompletedToolCall): Part[] {
  const parts = toParts(result.llmContent);
  const text = parts.flatMap((part) => part.text ?? []).join('\n');
  const others = parts.filter((part) => part.text === undefined);
  const response = result.error ? { error: text } : { output: text };
  const told = (notes ?? []).map((note) => ({ text: note }));
  return [{ functionResponse: { id: callId, name, response } }, ...others, ...told];
}

/** A copy of the model's call. One whose arguments cannot be copied has failed. */
function toRecord({ id, name = '', args = {} }: FunctionCall): ToolCallRecord {
  const { input, refusal: result } = copyArguments(name, args);
  const call = { callId: id ?? randomUUID(), name, originalInput: input, input };
  return result ? { ...call, status: 'error', result } : { ...call, status: 'scheduled' };
}

/**
 * Whether an answer may call a tool, for everybody who runs one: the result of a call that it may not make.
 *
 * @param name of what would run, whatever the model has called it
 * @param allowed by the answer's request; `undefined` without a restriction
 */
export function notAllowed(
  name: string,
  allowed: readonly string[] | undefined,
): ToolResult | undefined {
  if (!allowed || allowed.includes(name)) return undefined;
  const names =
    allowed.length > 0
      ? `only these may be called: ${allowed.join(', ')}`
      : 'no tool may be called';
  return errorResult(
    ToolErrorType.NotAllowed,
    `The tool "${name}" was not run: the tools of this request are restricted, and ${names}.`,
  );
}

function unknownTool(name: string, known: readonly string[]): ToolResult {
  return errorResult(
    ToolErrorType.UnknownTool,
    `There is no tool "${name}". The tools are: ${known.join(', ')}.`,
  );
}

function failed(name: string, error: unknown): ToolResult {
  return errorResult(ToolErrorType.Failed, `The tool "${name}" failed: ${errorMessage(error)}`);
}
