import { refusedVerdict } from '../core/verdict.js';
import { isDeepStrictEqual } from 'node:util';
import type { Config } from '../config/config.js';
import type { CallOptions } from '../context.js';
import { countsForLate } from '../core/lateVerdict.js';
import { MODEL_EVENTS } from '../core/isLookedAt.js';
import { receivableEvents, receive, reply, UnreadableEvent } from '../dialects/reverse.js';
import type { Received, ReplyVerdict } from '../protocol/received.js';
import { asksOfHelpers, hasGuards, skipIdle } from '../hooks/fireHook.js';
import { events } from '../protocol/events.js';
import { HookEventName, type CallSession } from '../protocol/types.js';
import { errorMessage } from '../util/errorMessage.js';
import { notLongAfter } from '../util/notLongAfter.js';
import { requireKnown, type OptionNames } from '../util/requireKnown.js';
import type { ClaudeAnswer, ClaudeEvent, ClaudeHook, ClaudeHooks } from './claude/types.js';
import { DEADLINE_MS, ToolCalls } from './claude/toolCalls.js';
import {
  ADAPTER_OPTIONS,
  installedVersion,
  requireVersion,
  tellUncovered,
  type AdapterOptions,
} from './shared.js';

export type { ClaudeAnswer, ClaudeEvent, ClaudeHook, ClaudeHooks } from './claude/types.js';

/** What `claudeHooks` takes. The session says for whom hooks run, where that is not what the host says. */
export interface ClaudeHooksOptions extends AdapterOptions {
  /** Called when hooks end a run, with the reason. */
  readonly onStop?: ((reason: string) => void) | undefined;
}

const OPTIONS: OptionNames<ClaudeHooksOptions> = { ...ADAPTER_OPTIONS, onStop: true };

const SDK = '@anthropic-ai/claude-agent-sdk';

/** What the host is told, in seconds: it goes on as if there were no hooks once that is over. */
const TIMEOUT_S = 600;
/** For them to end after that, or after an abort, in ms: middleware may not heed it, and wait on. */
const GRACE_MS = 3000;

/**
 * Hooks for `options.hooks` of the Claude Agent SDK: all of its events that hooks know, with their verdicts in its words.
 *
 * @throws TypeError for an option that does not exist
 * @throws Error for a version of the SDK that is not supported; with `strict`, for hooks and middleware without effect
 */
export function claudeHooks(config: Config, options: ClaudeHooksOptions = {}): ClaudeHooks {
  requireKnown('claudeHooks()', options, OPTIONS);
  requireVersion('hookstack/claude', SDK, installedVersion(SDK), ['0.3']);
  tellWithoutEffect(config, options.strict);
  const answer = makeHook(config, options);
  const names = receivableEvents('claude') as readonly ClaudeEvent[];
  return Object.fromEntries(
    names.map((name) => [name, [{ hooks: [answer], timeout: TIMEOUT_S }]]),
  ) as ClaudeHooks;
}

function tellWithoutEffect(config: Config, strict: boolean | undefined): void {
  const active = config.getExtensions().filter(({ isActive }) => isActive);
  const definitions = [config.getHooks(), ...active.map(({ hooks = {} }) => hooks)];
  for (const event of MODEL_EVENTS) {
    if (!definitions.some((hooks) => (hooks[event] ?? []).length > 0)) continue;
    const message = `hookstack/claude: no ${event} hook runs: the Claude Agent SDK tells nobody of its calls of the model`;
    tellUncovered(config, message, strict);
  }
  if (config.registrations('model').length === 0) return;
  const message =
    'hookstack/claude: middleware of the model stack does not run: Claude Code calls the model in a process of its own. Use a hook, or middleware of the hook stack';
  tellUncovered(config, message, strict);
}

function makeHook(config: Config, options: ClaudeHooksOptions): ClaudeHook {
  const { onHooks, onApproval, onStop } = options;
  const sessionOf = keepSession(options.session);
  const calls = new ToolCalls(config);
  const isAround = config.registrations('tool').length > 0;
  return async (input, _toolUseId, { signal }) => {
    if (!isAround && !config.getHookSystem()) return {};
    const received = readEvent(config, calls, input);
    if ('refused' in received) return received.refused;
    if (!('event' in received)) return received;
    const session = sessionOf(received);
    const { event, payload } = received;
    const isSettled = calls.refusalOf(received) !== undefined;
    const late = config.getHookSystem()?.lookForLate(session);
    const isSeen = isAround || isSettled || countsForLate(event, late);
    if (!isSeen && skipIdle(config, event, payload, session)) {
      calls.note(received, { kind: 'none' });
      return {};
    }
    const verdict = await withDeadline(signal, (ended) =>
      decide(config, calls, received, { onHooks, onApproval, session, signal: ended }),
    );
    calls.note(received, verdict);
    if (verdict.kind === 'stop') onStop?.(verdict.reason ?? '');
    const { json, lost } = reply(received, verdict);
    const { theirEvent } = received;
    for (const each of lost)
      config.getDebugLogger().warn(`hookstack/claude, ${theirEvent}: ${each}`);
    return json;
  };
}

/** What cannot be read is refused where that prevents something: a hook that throws would let it pass. */
function readEvent(
  config: Config,
  calls: ToolCalls,
  input: object,
): Received | ClaudeAnswer | { readonly refused: Promise<ClaudeAnswer> } {
  try {
    return receive('claude', input) ?? {};
  } catch (error) {
    const reason = `The hooks could not be asked: ${errorMessage(error)}`;
    const { hook_event_name: event } = input as { hook_event_name?: unknown };
    const { unread } = error instanceof UnreadableEvent ? error : {};
    config.getDebugLogger().warn(`hookstack/claude: ${reason}`);
    if (unread && mayCount(config, unread)) calls.note(unread, { kind: 'block', reason });
    if (unread && events[unread.event].withhold) {
      const refused = refuse(config, unread, reason);
      return { refused: refused.then((verdict) => reply(unread, verdict).json) };
    }
    if (event === 'UserPromptSubmit') return { decision: 'block', reason };
    if (event === 'PermissionRequest') {
      const decision = { behavior: 'deny', message: reason } as const;
      return { hookSpecificOutput: { hookEventName: event, decision } };
    }
    if (event !== 'PreToolUse') return {};
    const [permissionDecision, permissionDecisionReason] = ['deny' as const, reason];
    return {
      hookSpecificOutput: { hookEventName: event, permissionDecision, permissionDecisionReason },
    };
  }
}

/** Where no guard decides which sub-agents may start, one that nobody could ask about may work. */
function mayCount(config: Config, { event }: Received): boolean {
  return event !== HookEventName.SubagentStart || asksOfHelpers(config);
}

async function decide(
  config: Config,
  calls: ToolCalls,
  received: Received,
  options: CallOptions & { readonly signal: AbortSignal },
): Promise<ReplyVerdict> {
  try {
    const deciding = calls.decide(received, options);
    const verdict = await notLongAfter(options.signal, GRACE_MS, deciding);
    options.signal.throwIfAborted();
    return verdict;
  } catch (error) {
    return refuse(config, received, `The hooks could not be asked: ${errorMessage(error)}`);
  }
}

/** What nothing prevents any more is withheld where a guard had to see it. */
async function refuse(config: Config, received: Received, reason: string): Promise<ReplyVerdict> {
  const { event, payload } = received;
  // An agent that was sent back once is not sent back for a fault again.
  const isSentBack = 'stopHookActive' in payload && payload.stopHookActive;
  const { canBlock, withhold } = events[event];
  const counts = withhold ? await mustBeSeen(config, event) : canBlock && !isSentBack;
  return counts ? refusedVerdict(received, reason) : { kind: 'none' };
}

/** Whether a guard, or a middleware that is a policy, has to see what was given before the model does. */
async function mustBeSeen(config: Config, event: HookEventName): Promise<boolean> {
  const around = [...config.registrations('tool'), ...config.registrations('hook')];
  if (around.some(({ policy }) => policy)) return true;
  // Where it fails, there may be a guard.
  await config
    .getHookSystem()
    ?.initialize()
    .catch(() => undefined);
  return hasGuards(config, event);
}

/** Who is meant, as the same object as long as it is the same: hooks of one session share what was made for it. */
function keepSession(given: CallSession | undefined): (received: Received) => CallSession {
  let last: CallSession = {};
  return ({ identity: { callId: _callId, ...identity } }) => {
    const session = { ...identity, ...given };
    if (!isDeepStrictEqual(session, last)) last = session;
    return last;
  };
}

/** Signals that are put together by `AbortSignal.any` would take longer than all else, where no hook matches. */
async function withDeadline<T>(
  signal: AbortSignal,
  run: (ended: AbortSignal) => Promise<T>,
): Promise<T> {
  const ended = new AbortController();
  const abort = () => ended.abort(signal.aborted ? signal.reason : new Error('they took too long'));
  if (signal.aborted) abort();
  signal.addEventListener('abort', abort);
  const timer = setTimeout(abort, DEADLINE_MS).unref();
  try {
    return await run(ended.signal);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', abort);
  }
}
