import type { Config } from '../../config/config.js';
import type { CallOptions } from '../../context.js';
import { decideReceived } from '../../core/decideReceived.js';
import { openReceivedCall, opensCall } from '../../core/receivedCall.js';
import { refusedVerdict, reply, type Received, type ReplyVerdict } from '../../dialects/reverse.js';
import { dialects } from '../../dialects/dialects.js';
import { closeIdleConnections } from '../../fleet/remoteHooks.js';
import { events, failsClosed } from '../../protocol/events.js';
import { hookIdentity } from '../../protocol/identity.js';
import { HookEventName } from '../../protocol/types.js';
import { errorMessage } from '../../util/errorMessage.js';
import { notLongAfter } from '../../util/notLongAfter.js';
import { whyOff } from '../shared/obstacles.js';
import { isOwnHook } from '../shared/ownHook.js';
import { SilentLogger } from '../shared/silentLogger.js';
import { printNotice, toOneLine, toVisibleLines } from '../shared/terminal.js';
import { withTrace } from '../shared/withTrace.js';
import { Watchdog } from '../shared/watchdog.js';
import { openRegistry, openWorkspace, type Workspace } from '../shared/workspace.js';
import { surviveCrashes, type Crash } from './crash.js';
import { HostLogger } from './hostLogger.js';
import type { HookOptions } from './hookArguments.js';
import { LIMITS } from '../shared/limits.js';
import type { HookInputReading } from './readInput.js';
import { lastWords, readEvent, type EventReading } from './refusal.js';
import { tellAtStart, tellWhatMatters } from './tellPerson.js';
import { block, BLOCKED, keepStdout, surviveOutputs, writeAnswer } from './writeAnswer.js';

/** For hooks to end after that, in ms: middleware may not heed it, and wait on. */
const GRACE_MS = 3000;
/** For the record of the fleet, in ms: the agent waits. What is not sent by then, the next one sends. */
const FLUSH_MS = 500;

/** Ms until the watchdog is started where only what is the user's own runs, and is looked at: mostly, it is over by then. */
const WATCH_DELAY_MS = 1000;

/**
 * Runs all hooks of the project for one event of an agent, and answers in its format. Never rejects: what goes wrong
 * blocks what can be blocked, unless it is known that no guard is there.
 *
 * @param isOwn whether nobody but the user has a say in what runs here, and in which files are looked at
 * @returns the exit code
 */
export async function runHooks(
  options: HookOptions,
  input: HookInputReading,
  isOwn: boolean,
): Promise<number> {
  surviveOutputs();
  keepStdout();
  const event = readEvent(options, input);
  // The agent has waited since the process began.
  const left = LIMITS.blocked - performance.now();
  const watchdog = new Watchdog(lastWords(event), left, isOwn ? WATCH_DELAY_MS : 0);
  const crash = surviveCrashes(watchdog);
  let exitCode = BLOCKED;
  try {
    exitCode = await answerInput(options, event, crash);
    return exitCode;
  } finally {
    crash.over(exitCode);
    await closeIdleConnections();
  }
}

async function answerInput(
  options: HookOptions,
  event: EventReading,
  crash: Crash,
): Promise<number> {
  if ('problem' in event) {
    if (event.event && events[event.event].withhold) crash.withholds();
    return refuseUnread(options, event.problem, event.event, event.unread);
  }
  const { received } = event;
  if (!received) return pass('hooks have no such event here, and none was run');
  // Until it is known which hooks there are, a guard may be among them.
  if (events[received.event].withhold) crash.withholds();
  else if (!mayPrevent(received)) crash.passes();
  try {
    return await answer(received, options, crash);
  } catch (error) {
    return refuseUnread(options, errorMessage(error));
  }
}

async function answer(received: Received, options: HookOptions, crash: Crash): Promise<number> {
  const { sessionId } = received.identity;
  if (sessionId !== undefined) {
    const mark = `${sessionId} ${received.event}`;
    if (process.env[RUNNING] === mark)
      return refuseUnread(options, RUNS_WITHIN, received.event, received);
    process.env[RUNNING] = mark;
  }
  const isStart = received.event === HookEventName.SessionStart;
  const logger = new HostLogger('llxprt:core:hooks', isStart);
  // Until it is known which hooks there are, a guard may be among them.
  const mayFail = mayPrevent(received) || events[received.event].withhold !== undefined;
  let fails: 'open' | 'closed' = mayFail ? 'closed' : 'open';
  try {
    const workspace = await openHooks(received, options, logger);
    const { config, settings } = workspace;
    fails = mayPrevent(received) || isWithheld(received, config) ? 'closed' : 'open';
    if (fails === 'open') crash.passes();
    const recording = { trace: options.trace, fleet: settings.fleet, flushMs: FLUSH_MS };
    const verdict = await withTrace(recording, config, () =>
      decide(received, config, crash.signal),
    );
    const notes = isStart ? tellAtStart(workspace) : tellWhatMatters(received, workspace);
    for (const note of notes) logger.tell(note);
    return await write(received, { ...verdict, forUser: logger.told.map(toVisibleLines) });
  } catch (error) {
    // The guards that may be in the settings are not known.
    const reason = `The hooks could not be asked: ${errorMessage(error)}`;
    if (fails === 'open') return pass(reason);
    return write(received, {
      ...refusedVerdict(received, reason),
      forUser: logger.told.map(toVisibleLines),
    });
  }
}

const NOT_AROUND = {
  tool: 'Middleware of the tool stack runs before a tool only, as another process is told what the tool gives: what it does after next() has no effect',
  model:
    'Middleware of the model stack does not run here, as another process calls the model: what it forbids is not forbidden; put it into the hook stack, or write a hook',
} as const;

/**
 * Names the event that is running, for hooks that would run all hooks again. An environment that comes from elsewhere
 * could name it, too, so that it is no way past a guard.
 */
const RUNNING = 'HOOKSTACK_RUNNING';

const RUNS_ITSELF =
  'one of the hooks runs all hooks of the project again, which has no effect; take it out of the settings';

const RUNS_WITHIN = `${RUNNING} says that ${RUNS_ITSELF}; where none does, unset ${RUNNING}`;

async function openHooks(
  { event }: Received,
  { cwd, cwdSource, settings, trust }: HookOptions,
  logger: HostLogger,
): Promise<Workspace> {
  const workspace = await openWorkspace(
    { cwd, cwdSource, settings, trust },
    { firesOnce: true, withMiddleware: true, logger },
  );
  const { config } = workspace;
  const off = whyOff(workspace);
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

async function decide(
  received: Received,
  config: Config,
  crash: AbortSignal,
): Promise<ReplyVerdict> {
  const deadline = AbortSignal.timeout(LIMITS.hooks);
  const signal = AbortSignal.any([deadline, crash]);
  const options = { signal, session: received.identity };
  const deciding = opensCall(config, received)
    ? decideBefore(config, received, options)
    : decideReceived(config, received, options);
  const verdict = await notLongAfter(deadline, GRACE_MS, deciding);
  if (deadline.aborted) throw new Error('they took too long');
  crash.throwIfAborted();
  return verdict;
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

function write(received: Received, verdict: ReplyVerdict): Promise<number> {
  const { json, lost } = reply(received, verdict);
  const { agent } = dialects[received.dialect];
  for (const each of lost) {
    printNotice('note', toOneLine(`${agent}, ${received.theirEvent}: ${each}`, MAX_NOTE));
  }
  return writeAnswer(json, verdict.reason);
}

function pass(note: string): Promise<number> {
  printNotice('note', toOneLine(note, MAX_NOTE));
  return writeAnswer({});
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
 * @param unread what is answered to: where a guard had to see what was given, that is withheld
 */
async function refuseUnread(
  options: HookOptions,
  problem: string,
  event?: HookEventName,
  unread?: Received,
): Promise<number> {
  const withholds = event !== undefined && events[event].withhold !== undefined;
  if (event && !events[event].canBlock && !withholds) return pass(problem);
  const guards = await findGuards(options, event).catch((error: unknown) => [errorMessage(error)]);
  if (guards.length === 0) return pass(`${problem}; no guard is there, so it goes on`);
  const names = guards.map((name) => `"${toOneLine(name)}"`).join(', ');
  const reason = `hooks could not be asked (${names}): ${toOneLine(problem, MAX_NOTE)}`;
  if (unread && withholds) return write(unread, refusedVerdict(unread, `As ${reason}`));
  return block(`Blocked, as ${reason}`);
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
