import { refusedVerdict } from '../../core/verdict.js';
import type { Config } from '../../config/config.js';
import type { CallOptions } from '../../context.js';
import { decideCalls, decideReceived } from '../../core/decideReceived.js';
import { openReceivedCall, opensCall } from '../../core/receivedCall.js';
import { reply } from '../../dialects/reverse.js';
import type { Received, ReplyVerdict } from '../../protocol/received.js';
import type { Dialect } from '../../dialects/dialect.js';
import { dialects, sentEvent } from '../../dialects/dialects.js';
import { events, failsClosed } from '../../protocol/events.js';
import { hookIdentity } from '../../protocol/identity.js';
import { HookEventName, type DialectName } from '../../protocol/types.js';
import { errorMessage } from '../../util/errorMessage.js';
import { notLongAfter } from '../../util/notLongAfter.js';
import { hostEnvironment, onBehalfOf } from '../../util/requester.js';
import { whyOff } from '../shared/obstacles.js';
import { isOwnHook } from '../shared/ownHook.js';
import { SilentLogger } from '../shared/cliLogger.js';
import { printNotice, toOneLine, toVisibleLines } from '../shared/terminal.js';
import { withTrace } from '../shared/withTrace.js';
import { openRegistry, openWorkspace, type Workspace } from '../shared/workspace.js';
import type { Crash } from './crash.js';
import {
  detachTo,
  endWithHelper,
  endWithSession,
  hasAsyncHooks,
  withLateOf,
} from './detachAsync.js';
import type { HookOptions } from './hookArguments.js';
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

/** What is answered to an agent: a text on stdout, or the reason on stderr why the event is blocked. */
export type HookAnswer =
  | {
      readonly out: string;
      /** Whether that says anything, so that it must not be lost. */
      readonly isSaid: boolean;
      readonly reason?: string | undefined;
    }
  | { readonly blocked: string };

/** What answers one event, or many of them. */
export interface AnsweringProcess extends Omit<Crash, 'over'> {
  readonly openWorkspace: typeof openWorkspace;
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
    return refuseUnread(refusal, options, errorMessage(error));
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
    fails = mayPrevent(received) || isWithheld(received, config) ? 'closed' : 'open';
    if (fails === 'open') process.passes();
    const unknown = refusalOfUnknown(received, workspace);
    if (unknown !== undefined) return await write(received, { kind: 'block', reason: unknown });
    const hasAsync = hasAsyncHooks(config);
    const recording = { trace: options.trace, fleet: settings.fleet, flushMs: FLUSH_MS };
    const addLate = (decided: ReplyVerdict) =>
      hasAsync ? withLateOf(received, decided, told) : decided;
    const verdict = await withTrace(recording, config, () =>
      withMemory(received, () => decide(received, config, process.signal), addLate),
    );
    endWithHelper(received, verdict);
    const tell = isStart(received) ? tellAtStart : tellWhatMatters.bind(undefined, received);
    const forUser = [...told, ...tell(workspace)].map(toVisibleLines);
    return await write(received, { ...verdict, forUser });
  } catch (error) {
    // The guards that may be in the settings are not known.
    const reason = `The hooks could not be asked: ${errorMessage(error)}`;
    if (fails === 'open') return pass(reason, received.dialect);
    const forUser = told.map(toVisibleLines);
    return await write(received, { ...refusedVerdict(received, reason), forUser });
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
  let maxAsyncHooks = 16;
  const asyncHooks = detachTo({ cwd, settings, trust, trace }, () => maxAsyncHooks, logger);
  const workspace = await process.openWorkspace(
    { cwd, cwdSource, settings, trust },
    {
      firesOnce: true,
      withMiddleware: true,
      // Its agent reads the file once this process has ended.
      longHookTexts: 'stay',
      logger,
      tellsForeign: isStart(received),
      asyncHooks,
    },
  );
  const { config } = workspace;
  maxAsyncHooks = config.getMaxAsyncHooks();
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
  if (received.event === HookEventName.SessionEnd) await forgetLongTexts(received);
  return verdict;
}

async function forgetLongTexts({ identity: { sessionId } }: Received): Promise<void> {
  if (sessionId === undefined) return;
  const { removeLongTexts } = await import('../../run/longTexts.js');
  removeLongTexts(sessionId);
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

async function write(received: Received, verdict: ReplyVerdict): Promise<HookAnswer> {
  const { json, lost, refusal, text, stops } = reply(received, verdict);
  if (stops !== undefined) await keepStop(received, stops);
  const { agent } = dialects[received.dialect];
  for (const each of lost) {
    printNotice('note', toOneLine(`${agent}, ${received.theirEvent}: ${each}`, MAX_NOTE));
  }
  if (refusal !== undefined) return { blocked: refusal };
  const isSilent = isSilentAt(received);
  return { ...printed(received.dialect, json, text, isSilent), reason: verdict.reason };
}

function isSilentAt({ dialect, theirEvent }: Received): boolean {
  const spoken = dialects[dialect];
  return sentEvent(spoken, theirEvent)?.isSilent ?? spoken.isSilent ?? false;
}

/** What an agent reads on stdout, for what there is to say. */
export function printed(
  dialect: DialectName,
  json: object,
  text?: string,
  isSilent = dialects[dialect].isSilent,
): { readonly out: string; readonly isSaid: boolean } {
  const isSaid = text !== undefined || Object.keys(json).length > 0;
  const isNothing = !isSaid && isSilent === true;
  return { out: isNothing ? '' : `${text ?? JSON.stringify(json)}\n`, isSaid };
}

function pass(note: string, from: DialectName): HookAnswer {
  printNotice('note', toOneLine(note, MAX_NOTE));
  return printed(from, {});
}

/** In characters. */
const MAX_NOTE = 1000;

/** Whether a block of an event prevents anything. An agent that was sent back once is not sent back for a fault again. */
function mayPrevent({ event, payload }: Received): boolean {
  return events[event].canBlock && !('stopHookActive' in payload && payload.stopHookActive);
}

/** Whether a guard has to read what was given before anybody else does. */
function isWithheld({ event }: Received, config: Config): boolean {
  const registry = events[event].withhold && config.getHookSystem()?.getRegistry();
  const hooks = registry?.getHooksForEvent(event) ?? [];
  return hooks.some((entry) => failsClosed(entry.config, entry.eventName));
}

/**
 * What hooks have not read must be no way past a guard.
 *
 * @param refusal how the agent is told, where an exit code is not enough
 * @param unread what is answered to: where a guard had to see what was given, that is withheld
 */
async function refuseUnread(
  refusal: Dialect['refusal'],
  options: HookOptions,
  problem: string,
  event?: HookEventName,
  unread?: Received,
): Promise<HookAnswer> {
  const withholds = event !== undefined && events[event].withhold !== undefined;
  if (event && !events[event].canBlock && !withholds) return pass(problem, options.from);
  const guards = await findGuards(options, event).catch((error: unknown) => [errorMessage(error)]);
  if (guards.length === 0)
    return pass(`${problem}; no guard is there, so it goes on`, options.from);
  const names = guards.map((name) => `"${toOneLine(name)}"`).join(', ');
  const reason = `hooks could not be asked (${names}): ${toOneLine(problem, MAX_NOTE)}`;
  if (unread && withholds) return write(unread, refusedVerdict(unread, `As ${reason}`));
  const blocked = `Blocked, as ${reason}`;
  return refusal ? printed(options.from, refusal(blocked)) : { blocked };
}

async function findGuards(
  { cwd, cwdSource, settings, trust }: HookOptions,
  event: HookEventName | undefined,
): Promise<string[]> {
  // The model reads all of stderr.
  const { config } = await openWorkspace({ cwd, cwdSource, settings, trust }, { isQuiet: true });
  if (!config.getEnableHooks()) return [];
  const registry = await openRegistry(config, new SilentLogger('llxprt:core:hooks:registry'));
  const guards = (event ? [event] : Object.values(HookEventName))
    .flatMap((each) => registry.getHooksForEvent(each))
    .filter((entry) => failsClosed(entry.config, entry.eventName));
  const policies = config
    .getExtensions()
    .filter(
      ({ scope, middleware = [] }) =>
        scope !== 'project' && middleware.some(({ policy }) => policy),
    );
  const names = guards.map((entry) => hookIdentity(entry.config));
  return [...new Set([...names, ...policies.map(({ name }) => name)])];
}
