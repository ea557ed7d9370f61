import type { Content } from '@google/genai';
// The types are the host's own.
// @ts-ignore
import type { BaseTool, Context, InvocationContext } from '@google/adk';
import type { Config } from '../../config/config.js';
import type { CallOptions } from '../../context.js';
import { decideEvent } from '../../core/decideEvent.js';
import type { EventVerdict } from '../../core/eventVerdict.js';
import { openHalf, unheeded } from '../../core/halves.js';
import { mayBeRead } from '../../hooks/fireHook.js';
import { HookEventName, PreCompressTrigger } from '../../protocol/types.js';
import { isRecord } from '../../util/records.js';
import { orAborted, type Answer, type OpenSubagent, type Run, type ToolEvent } from './runs.js';
import { runSubagent, type SubagentEnd } from '../subagents.js';
import { textIn } from '../translate.js';

/**
 * Begins an agent that is a tool. The host runs it without plugins: hooks see it begin and end.
 *
 * @param args what the host runs it with; what hooks add is in there then
 * @returns why it must not run, if so
 */
async function openSubagent(
  config: Config,
  tool: BaseTool,
  args: Record<string, unknown>,
  toolContext: Context,
  options: CallOptions,
): Promise<OpenSubagent | { readonly ended: SubagentEnd<unknown> }> {
  const { request } = args;
  const isText = typeof request === 'string';
  const prompt = isText ? request : JSON.stringify(args);
  let isFirst = true;
  const half = await openHalf<readonly Content[], unknown, SubagentEnd<unknown>>((middle) =>
    runSubagent(
      config,
      { agentType: tool.name, prompt, canSendBack: isText },
      (added) => {
        if (!isFirst) return tool.runAsync({ args: { request: lastOf(added) }, toolContext });
        isFirst = false;
        return middle(added, options.signal);
      },
      options,
    ),
  );
  if ('given' in half && isText && half.given.length > 0) {
    args['request'] = [request, ...half.given.map(({ parts }) => textIn(parts))].join('\n\n');
  }
  return half;
}

/** The host keeps the conversation of the agent. */
function lastOf(added: readonly Content[]): string {
  const answer = added.findLastIndex(({ role }) => role === 'model');
  return added
    .slice(answer + 1)
    .map(({ parts }) => textIn(parts))
    .join('\n\n');
}

/** @returns why it must not begin, as the model reads it */
export async function beginSubagent(
  config: Config,
  run: Run,
  { tool, toolArgs, toolContext }: ToolEvent,
  options: CallOptions,
): Promise<Answer> {
  const { SubagentStart, SubagentStop } = HookEventName;
  if (!mayBeRead(config, SubagentStart) && !mayBeRead(config, SubagentStop)) return undefined;
  const opening = openSubagent(config, tool, toolArgs, toolContext, options);
  const half = await orAborted(toolContext.invocationContext, opening);
  if (!half) return undefined;
  if ('ended' in half) return takeEnd(run, half.ended);
  run.subagents.set(toolContext, half);
  return undefined;
}

/** @returns what the model reads in place of what it gave; `undefined` where that is the same */
export async function endSubagent(
  run: Run,
  toolContext: Context,
  result: unknown,
): Promise<Answer> {
  const subagent = run.subagents.get(toolContext);
  run.subagents.delete(toolContext);
  const finishing = subagent?.finish(result);
  const ended = finishing && (await orAborted(toolContext.invocationContext, finishing));
  return ended && takeEnd(run, ended, result);
}

/** It throws. */
export async function failSubagent(run: Run, toolContext: Context, error: unknown): Promise<void> {
  const subagent = run.subagents.get(toolContext);
  run.subagents.delete(toolContext);
  if (subagent) await unheeded(subagent.fail(error));
}

function takeEnd(run: Run, end: SubagentEnd<unknown>, given?: unknown): Answer {
  if ('answer' in end) {
    const { answer } = end;
    if (answer === given) return undefined;
    return isRecord(answer) ? answer : { result: answer };
  }
  if (end.isStop) run.stopReason ??= end.refusal;
  return { error: end.refusal };
}

/** Tells hooks of a summary that the host has put in place of older events. */
export function tellSummary(
  config: Config,
  { session }: InvocationContext,
  trigger: string,
  options: CallOptions,
): Promise<EventVerdict> {
  const events: readonly unknown[] = session.events;
  const last = events.findLast((event) => isRecord(event) && event['isCompacted'] === true);
  const summary = isRecord(last) ? String(last['compactedContent']) : '';
  const { Manual, Auto } = PreCompressTrigger;
  const done = { trigger: trigger === 'Manual' ? Manual : Auto, summary };
  return decideEvent(config, HookEventName.PostCompress, done, options);
}
