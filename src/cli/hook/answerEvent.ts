import { refusedVerdict } from '../../core/verdict.js';
import type { Config } from '../../config/config.js';
import type { CallOptions } from '../../context.js';
import { decideCalls, decideReceived } from '../../core/decideReceived.js';
import { openReceivedCall, opensCall } from '../../core/receivedCall.js';
import type { Received, ReplyVerdict } from '../../protocol/received.js';
import { dialects } from '../../dialects/dialects.js';
import { asksOfHelpers, hasGuards } from '../../hooks/fireHook.js';
import { events, failsClosed } from '../../protocol/events.js';
import { hookIdentity } from '../../protocol/identity.js';
import { HookEventName } from '../../protocol/types.js';
import { errorMessage } from '../../util/errorMessage.js';
import { notLongAfter } from '../../util/notLongAfter.js';
import { hostEnvironment, onBehalfOf } from '../../util/requester.js';
import { whyOff } from '../shared/obstacles.js';
import { isOwnHook } from '../shared/ownHook.js';
import { toVisibleLines } from '../shared/terminal.js';
import { withTrace } from '../shared/withTrace.js';
import type { openWorkspace, Workspace } from '../shared/workspace.js';
import type { Crash } from './crash.js';
import {
  detachTo,
  endWithHelper,
  endWithSession,
  hasAsyncHooks,
  withLateOf,
} from './detachAsync.js';
import { pass, write, type HookAnswer } from './hookAnswer.js';
import type { HookOptions } from './hookArguments.js';
import { refuseUnread } from './refuseUnread.js';
import { LIMITS } from '../shared/limits.js';
import { refusalBy, type EventReading } from './event.js';
import { keepStop, withMemory } from './sessionMemory.js';
import {
  HostLogger,
  refusalOfUnknown,
  tellAtStart,
  telling,
  tellWhatMatters,
} from './tellPerson.js';

/** For hooks to end after that, in ms: middleware may not heed it, and wait on. */
const GRACE_MS = 3000;
/** For the record of the fleet, in ms: the agent waits. What is not sent by then, the next one sends. */
const FLUSH_MS = 500;

/** What answers one event, or many of them. */
export interface AnsweringProcess extends Omit<Crash, 'over'> {
  readonly openWorkspace: typeof openWorkspace;
  /** Whether another process answers in its place, so that what it says is told to nobody. Default: it does not. */
  readonly isLeft?: () => boolean;
}

/**
 * Runs all hooks of the project for one event of an agent. Never rejects: what goes wrong blocks what can be blocked,
 * unless it is known that no guard is there.
 */
export async function answerEvent(
  options: HookOptions,
  event: EventReading,
  process: AnsweringProcess,
): Promise<HookAnswer> {
  const answered = await answerTo(options, event, process);
  const received = 'received' in event ? event.received : event.unread;
  const { stops } = answered;
  if (received && stops !== undefined && !process.isLeft?.()) await keepStop(received, stops);
  return answered;
}

async function answerTo(
  options: HookOptions,
  event: EventReading,
  process: AnsweringProcess,
): Promise<HookAnswer> {
  if ('problem' in event) {
    if (event.event && events[event.event].withhold) process.withholds();
    return refuseUnread(
      refusalBy(event, options.from),
      options,
      event.problem,
      event.event,
      event.unread,
    );
  }
  const { received } = event;
  if (!received)
    return pass(
      `${dialects[options.from].agent}: hooks have no such event here, and none was run`,
      options.from,
    );
  // Until it is known which hooks there are, a guard may be among them.
  if (events[received.event].withhold) process.withholds();
  else if (!mayPrevent(received)) process.passes();
  const env = environmentOf(received);
  const refusal = refusalBy(event, options.from);
  if (!env) return refuseUnread(refusal, options, RUNS_WITHIN, received.event, received);
  try {
    const told: string[] = [];
    return await onBehalfOf({ env }, () =>
      telling(told, isStart(received), () => answer(received, options, process, told)),
    );
  } catch (error) {
    return refuseUnread(refusal, options, errorMessage(error), undefined, received);
  }
}

/** What hooks are to have; `undefined` where one of them runs this. */
function environmentOf({ identity }: Received): NodeJS.ProcessEnv | undefined {
  const { sessionId } = identity;
  const env = hostEnvironment();
  if (sessionId === undefined) return env;
  return env[RUNNING] === sessionId ? undefined : { ...env, [RUNNING]: sessionId };
}

async function answer(
  received: Received,
  options: HookOptions,
  process: AnsweringProcess,
  told: string[],
): Promise<HookAnswer> {
  // Until it is known which hooks there are, a guard may be among them.
  const mayFail = mayPrevent(received) || events[received.event].withhold !== undefined;
  let fails: 'open' | 'closed' = mayFail ? 'closed' : 'open';
  endWithSession(received);
  try {
    const workspace = await openHooks(received, options, process);
    const { config, settings } = workspace;
    const isWithheld = events[received.event].withhold && hasGuards(config, received.event);
    fails = mayPrevent(received) || isWithheld ? 'closed' : 'open';
    if (fails === 'open') process.passes();
    const unknown = refusalOfUnknown(received, workspace);
    if (unknown !== undefined) return write(received, { kind: 'block', reason: unknown });
    const hasAsync = hasAsyncHooks(config);
    const recording = { trace: options.trace, fleet: settings.fleet, flushMs: FLUSH_MS };
    const addLate = (decided: ReplyVerdict) =>
      hasAsync ? withLateOf(received, decided, told) : decided;
    const verdict = await withTrace(recording, config, () =>
      withMemory(
        received,
        () => asksOfHelpers(config),
        () => decide(received, config, process.signal),
        addLate,
      ),
    );
    endWithHelper(received, verdict);
    const tell = isStart(received) ? tellAtStart : tellWhatMatters.bind(undefined, received);
    const forUser = [...told, ...tell(workspace)].map(toVisibleLines);
    return write(received, { ...verdict, forUser });
  } catch (error) {
    // The guards that may be in the settings are not known.
    const reason = `The hooks could not be asked: ${errorMessage(error)}`;
    if (fails === 'open') return pass(reason, received.dialect);
    const forUser = told.map(toVisibleLines);
    return write(received, { ...refusedVerdict(received, reason), forUser });
  }
}

function isStart({ event }: Received): boolean {
  return event === HookEventName.SessionStart;
}

const NOT_AROUND = {
  tool: 'Middleware of the tool stack runs before a tool only, as another process is told what the tool gives: what it does after next() has no effect',
  model:
    'Middleware of the model stack does not run here, as another process calls the model: what it forbids is not forbidden; put it into the hook stack, or write a hook',
} as const;

/**
 * Names the session whose hooks are running, for those that would run all of them again. An environment that comes from elsewhere
 * could name it, too, so that it is no way past a guard.
 */
const RUNNING = 'HOOKSTACK_RUNNING';

const RUNS_ITSELF =
  'one of the hooks runs all hooks of the project again, which has no effect; take it out of the settings';

const RUNS_WITHIN = `${RUNNING} says that ${RUNS_ITSELF}; where none does, unset ${RUNNING}`;

async function openHooks(
  received: Received,
  { cwd, cwdSource, settings, trust, trace }: HookOptions,
  process: AnsweringProcess,
): Promise<Workspace> {
  const logger = new HostLogger('llxprt:core:hooks');
  const asyncHooks = detachTo({ settings, trust, trace }, () => workspace.config, logger);
  const workspace: Workspace = await process.openWorkspace(
    { cwd, cwdSource, settings, trust },
    {
      firesOnce: true,
      withMiddleware: true,
      // Its agent reads the file once this process has ended.
      longHookTexts: 'stay',
      promptMemory: 'files',
      logger,
      tellsForeign: isStart(received),
      asyncHooks,
    },
  );
  const { config } = workspace;
  const { event } = received;
  const off = hasHooksFor(event, workspace) ? whyOff(workspace) : undefined;
  const notice = logger.extend('registry');
  if (off !== undefined) notice.warn(off);
  for (const name of ['tool', 'model'] as const) {
    if (config.registrations(name).length > 0) notice.warn(NOT_AROUND[name]);
  }
  const system = config.getHookSystem();
  await system?.initialize();
  const entries = system?.getAllHooks() ?? [];
  const own = entries.filter((entry) => entry.eventName === event && isOwnHook(entry.config));
  for (const { config: hook } of own) {
    logger.warn(RUNS_ITSELF);
    const id = hookIdentity(hook);
    // What is left on does nothing within itself.
    const isGuarded = entries.some(
      (each) =>
        hookIdentity(each.config) === id &&
        (!isOwnHook(each.config) || failsClosed(each.config, each.eventName)),
    );
    if (!isGuarded) system?.setHookEnabled(id, false);
  }
  return workspace;
}

/** At the start of a session, the person is told of all hooks that do not run, whatever their event. */
function hasHooksFor(event: HookEventName, { settings, config }: Workspace): boolean {
  if (config.getExtensions().length > 0) return true;
  const { hooks } = settings;
  return event === HookEventName.SessionStart
    ? Object.keys(hooks).length > 0
    : hooks[event] !== undefined;
}

async function decide(
  received: Received,
  config: Config,
  givenUp: AbortSignal,
): Promise<ReplyVerdict> {
  const deadline = AbortSignal.timeout(LIMITS.hooks);
  const signal = AbortSignal.any([deadline, givenUp]);
  const options = { signal, session: received.identity };
  const deciding = opensCall(config, received)
    ? decideCalls(received, (call) => decideBefore(config, call, options))
    : decideReceived(config, received, options);
  const verdict = await notLongAfter(deadline, GRACE_MS, deciding);
  if (deadline.aborted) throw new Error('they took too long');
  givenUp.throwIfAborted();
  if (received.event === HookEventName.SessionEnd) await forgetSession(received);
  return verdict;
}

async function forgetSession({ identity: { sessionId } }: Received): Promise<void> {
  if (sessionId === undefined) return;
  const { removeLongTexts } = await import('../../run/longTexts.js');
  removeLongTexts(sessionId);
  const { UseInFiles } = await import('../../prompts/useInFiles.js');
  new UseInFiles().forget(sessionId);
}

/** What becomes of the call, another process is told. */
async function decideBefore(
  config: Config,
  received: Received,
  options: CallOptions,
): Promise<ReplyVerdict> {
  const { verdict, abandon } = await openReceivedCall(config, received, options);
  void abandon?.();
  return verdict;
}

/** Whether a block of an event prevents anything. An agent that was sent back once is not sent back for a fault again. */
function mayPrevent({ event, payload }: Received): boolean {
  return events[event].canBlock && !('stopHookActive' in payload && payload.stopHookActive);
}
