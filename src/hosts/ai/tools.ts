import type { Config } from '../../config/config.js';
import type { CallOptions } from '../../context.js';
import { isRecord } from '../../util/records.js';
import { callTool } from '../shared.js';
import type { CallMemory } from './memory.js';
import { ToolRefusedError } from './refusal.js';
import type { AnyTool, ToolRunOptions } from './types.js';

/** A copy of a tool, with hooks around its `execute`. */
export function wrapTool(
  config: Config,
  name: string,
  tool: AnyTool,
  memory: CallMemory,
  callOptions: (signal?: AbortSignal, callId?: string) => CallOptions,
): AnyTool {
  const { toModelOutput } = tool;
  // What the SDK keeps in properties that are not enumerable belongs to the tool, too.
  const copy = Object.defineProperties({}, Object.getOwnPropertyDescriptors(tool));
  return Object.assign(copy, {
    execute: async (input: unknown, options: ToolRunOptions = {}) => {
      const { toolCallId: callId, abortSignal: signal } = options;
      if (callId !== undefined) memory.begin(callId);
      const refusal = await memory.refusalOf(name, options);
      if (refusal !== undefined) throw new ToolRefusedError(refusal, name);
      const isObject = isRecord(input);
      const outcome = await callTool(
        config,
        name,
        isObject ? input : { input },
        (changed) => lastOf(tool.execute?.(isObject ? changed : changed['input'], options)),
        callOptions(signal, callId),
      );
      const { kind, stopReason } = outcome;
      if (callId !== undefined && stopReason !== undefined) memory.noteStop(callId, stopReason);
      if (kind === 'given') return outcome.output;
      if (kind === 'refused') throw new ToolRefusedError(outcome.text, name);
      if (callId !== undefined) memory.noteChanged(callId, outcome.text);
      return outcome.text;
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
