import type { Content } from '@google/genai';
// The types are the host's own.
// @ts-ignore
import type { BaseTool, Context, InvocationContext } from '@google/adk';
import type { Config } from '../../config/config.js';
import type { CallOptions } from '../../context.js';
import { decideEvent } from '../../core/decideEvent.js';
import type { EventVerdict } from '../../core/eventVerdict.js';
import { openHalf, type OpenHalf } from '../../core/halves.js';
import { mayBeRead } from '../../hooks/fireHook.js';
import { HookEventName, PreCompressTrigger } from '../../protocol/types.js';
import { isRecord } from '../../util/records.js';
import { runSubagent, type SubagentEnd } from '../subagents.js';
import { textIn } from '../translate.js';

/** An agent that the host runs as a tool. */
export type OpenSubagent = OpenHalf<readonly Content[], unknown, SubagentEnd<unknown>>;

/**
 * Begins an agent that is a tool. The host runs it without plugins: hooks see it begin and end.
 *
 * @param args what the host runs it with; what hooks add is in there then
 * @returns why it must not run, if so
 */
export async function openSubagent(
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

/** Whether hooks may want to know of it. */
export function mayBeStarted(config: Config): boolean {
  const { SubagentStart, SubagentStop } = HookEventName;
  return mayBeRead(config, SubagentStart) || mayBeRead(config, SubagentStop);
}

/** @returns what the model reads in place of what the agent gave; `undefined` where that is the same */
export function takeEnd(
  run: { stopReason: string | undefined },
  end: SubagentEnd<unknown>,
  given: unknown,
): Record<string, unknown> | undefined {
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
