import { AsyncLocalStorage } from 'node:async_hooks';
import { randomUUID } from 'node:crypto';
import type { Content } from '@google/genai';
import type { Config } from '../config/config.js';
import type { CallOptions } from '../context.js';
import { decideEvent, untilWoken } from '../core/decideEvent.js';
import type { EventVerdict } from '../core/eventVerdict.js';
import { asHookContext } from '../protocol/llmContent.js';
import { HookEventName, type CallSession } from '../protocol/types.js';
import { asText } from './shared.js';
import { toNotes } from './translate.js';

const NOTHING_SAID: EventVerdict = { stopped: null, objection: null, notes: [] };

/** How often hooks may send a sub-agent back to work. */
const MAX_SENT_BACK = 3;

interface Subagent {
  readonly session: CallSession & { readonly sessionId: string };
  /** What hooks have its model read, behind its prompt. */
  readonly added: readonly Content[];
}

/** In which sub-agent something happens: hosts tell tools and models nothing of it. */
const current = new AsyncLocalStorage<Subagent>();

/** The options of a call, in the session of the sub-agent that makes it, if it is one. */
export function inSubagent<O extends Pick<CallOptions, 'session'>>(options: O): O {
  const subagent = current.getStore();
  return subagent ? { ...options, session: { ...options.session, ...subagent.session } } : options;
}

/** Contents of a request, with what hooks have the sub-agent read behind its prompt. */
export function withAdded(contents: readonly Content[]): Content[] {
  const { added = [] } = current.getStore() ?? {};
  const prompt = contents.findIndex(({ role }) => role !== 'model') + 1;
  return [...contents.slice(0, prompt), ...added, ...contents.slice(prompt)];
}

/** Whether there is any of it. */
export function hasAdded(): boolean {
  return (current.getStore()?.added.length ?? 0) > 0;
}

/** What became of a sub-agent. */
export type SubagentEnd<Answer> =
  | { readonly answer: Answer }
  /** Why there is no answer, and whether the agent that started it is to end as well. */
  | { readonly refusal: string; readonly isStop: boolean };

interface Beginning {
  /** What hooks know it by. */
  readonly agentType: string;
  readonly prompt: string;
  /** Whether it can read why hooks want it to go on. Default `true`. */
  readonly canSendBack?: boolean;
  /** It has begun before, and goes on where it was interrupted. */
  readonly isResumed?: boolean;
}

/**
 * Runs a sub-agent between its two events. Whatever happens while it works is in its session.
 *
 * @param work has it work, anew each time that hooks send it back. What hooks have added behind its prompt, last of all
 *   their reason, is what it gets, and in `withAdded`
 * @throws what `work` throws; the reason of `options.signal`
 */
export async function runSubagent<Answer>(
  config: Config,
  beginning: Beginning,
  work: (added: readonly Content[]) => Promise<Answer>,
  options: CallOptions,
): Promise<SubagentEnd<Answer>> {
  const agent = { agentId: randomUUID(), agentType: beginning.agentType };
  const parentSessionId =
    current.getStore()?.session.sessionId ?? options.session?.sessionId ?? config.getSessionId();
  const session = { ...options.session, ...agent, sessionId: randomUUID(), parentSessionId };
  try {
    return await runInSession(config, { ...beginning, ...agent }, work, { ...options, session });
  } finally {
    // Nobody reads any more what its async hooks would say.
    void config.getHookSystem()?.endSession(session);
  }
}

async function runInSession<Answer>(
  config: Config,
  { canSendBack = true, isResumed = false, ...started }: Beginning & { readonly agentId: string },
  work: (added: readonly Content[]) => Promise<Answer>,
  calling: CallOptions & Pick<Subagent, 'session'>,
): Promise<SubagentEnd<Answer>> {
  const { session } = calling;
  const start = isResumed
    ? NOTHING_SAID
    : await decideEvent(config, HookEventName.SubagentStart, started, calling);
  const refused = start.stopped ?? start.objection;
  if (refused) return { refusal: refused.reason, isStop: start.stopped !== null };
  const added = toNotes(start.notes);
  for (let sentBack = 0; ; sentBack++) {
    const answer = await current.run({ session, added }, work, added);
    const promptResponse = asText(answer);
    // It was interrupted, or has nothing to say.
    if (promptResponse === '') return { answer };
    const done = { ...started, promptResponse, stopHookActive: sentBack > 0 };
    const end = await decideEvent(config, HookEventName.SubagentStop, done, calling);
    if (end.stopped) return { refusal: end.stopped.reason, isStop: false };
    const { reason } = end.objection ?? {};
    const isLast = !canSendBack || sentBack >= MAX_SENT_BACK;
    const woken = reason === undefined && !isLast ? await untilWoken(config, calling) : [];
    if (reason === undefined && woken.length === 0) return { answer };
    if (reason !== undefined && !canSendBack) return { refusal: reason, isStop: false };
    if (isLast) {
      const refusal = `Blocked, also after ${MAX_SENT_BACK} more tries: ${reason}`;
      return { refusal, isStop: false };
    }
    const said = { role: 'model', parts: [{ text: promptResponse }] };
    const reasons = reason === undefined ? woken : [asHookContext(reason)];
    added.push(said, ...toNotes([...reasons, ...end.notes]));
  }
}
