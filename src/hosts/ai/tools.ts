import type { Config } from '../../config/config.js';
import type { CallOptions } from '../../context.js';
import { isLookedAt } from '../../core/isLookedAt.js';
import { isRecord } from '../../util/records.js';
import { runTool, textOf, textResult } from '../shared.js';
import type { CallMemory } from './memory.js';
import type { AnyTool, ToolRunOptions } from './types.js';

/** Thrown in place of a tool that does not run, as the model reads an error of the call then. */
export class ToolRefusedError extends Error {
  override readonly name = 'ToolRefusedError';
  readonly code = 'TOOL_REFUSED';

  constructor(
    message: string,
    readonly toolName: string,
  ) {
    super(message);
  }
}

/** A copy of a tool, with hooks around its `execute`. */
export function wrapTool(
  config: Config,
  name: string,
  tool: AnyTool,
  memory: CallMemory,
  callOptions: (signal?: AbortSignal, callId?: string) => CallOptions,
): AnyTool {
  const { toModelOutput } = tool;
  const execute = (input: unknown, options: ToolRunOptions) => tool.execute?.(input, options);

  async function withHooks(input: unknown, options: ToolRunOptions): Promise<unknown> {
    const { toolCallId: callId, abortSignal: signal } = options;
    const refusal = await memory.refusalOf(name, options);
    if (refusal !== undefined) throw new ToolRefusedError(refusal, name);
    const isObject = isRecord(input);
    const toolInput = isObject ? input : { input };
    const { result, ran } = await runTool(
      config,
      name,
      toolInput,
      (changed) => lastOf(execute(isObject ? changed : changed['input'], options)),
      textResult,
      callOptions(signal, callId),
    );
    const { stopReason } = result;
    if (callId !== undefined && stopReason !== undefined) memory.noteStop(callId, stopReason);
    if (ran && result.llmContent === ran.result.llmContent) return ran.output;
    const text = textOf(result);
    if (!ran) throw new ToolRefusedError(text, name);
    if (callId !== undefined) memory.noteChanged(callId, text);
    return text;
  }

  // What the SDK keeps in properties that are not enumerable belongs to the tool, too.
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(tool));
  return Object.assign(copy, {
    execute(input: unknown, options: ToolRunOptions = {}) {
      const { toolCallId: callId } = options;
      if (callId !== undefined) memory.begin(callId);
      const toolInput = isRecord(input) ? input : { input };
      const isSeen = isLookedAt(config, { toolName: name, toolInput });
      // What a tool gives on its way can be given only at once.
      if (!isSeen && memory.mayRun(name, options)) return execute(input, options);
      return withHooks(input, options);
    },
    ...(toModelOutput && {
      toModelOutput: (given: { toolCallId: string; output: unknown }) =>
        memory.isChanged(given.toolCallId, given.output)
          ? { type: 'text', value: given.output }
          : toModelOutput.call(tool, given),
    }),
  });
}

/** What a tool gives in the end. What it gives on the way is kept back, as hooks have not seen it. */
async function lastOf(output: unknown): Promise<unknown> {
  if (typeof output !== 'object' || output === null || !(Symbol.asyncIterator in output))
    return output;
  let last: unknown;
  for await (const each of output as AsyncIterable<unknown>) last = each;
  return last;
}
