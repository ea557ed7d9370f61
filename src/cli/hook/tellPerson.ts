import { AsyncLocalStorage } from 'node:async_hooks';
import { createHash } from 'node:crypto';
import { closeSync, lstatSync, openSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { matcherLetsRun, isOfMoment, planContext } from '../../../middleware/planner.js';
import type { Received } from '../../protocol/received.js';
import { dialects } from '../../dialects/dialects.js';
import type { HookRegistry } from '../../hooks/hookRegistry.js';
import type { HookRegistryEntry } from '../../hooks/entry.js';
import { failsClosed } from '../../protocol/events.js';
import { shortIdentity } from '../../protocol/identity.js';
import { HookEventName, type HookPayload } from '../../protocol/types.js';
import { formatProblem, type FileProblem } from '../../util/fileProblem.js';
import { CliLogger, SilentLogger } from '../shared/cliLogger.js';
import { makePrivate, ownFolder } from '../shared/privateFolder.js';
import type { Workspace } from '../shared/workspace.js';

// What a person has to know of hooks that do not run, as the agent shows nobody what is on stderr. All of it goes through
// here: at the start of a session everything, and later what matters to the event, once in a session.

/** What of an event the user of the agent is to read. */
interface Told {
  readonly messages: string[];
  /** Whether that is also which hooks are not allowed; else that would come again at every event. */
  readonly isAll: boolean;
}

const told = new AsyncLocalStorage<Told>();

/** Does some work for an event, and keeps in `messages` what the user of the agent is to read: agents show stderr to nobody. */
export function telling<T>(messages: string[], isAll: boolean, work: () => T): T {
  return told.run({ messages, isAll }, work);
}

/** Keeps what it warns of for the event that is being answered. */
export class HostLogger extends CliLogger {
  override warn(message: string, details?: object): void {
    super.warn(message, details);
    const event = told.getStore();
    if (event && (event.isAll || !this.#isRegistry)) event.messages.push(message);
  }

  override extend(part: string): HostLogger {
    return new HostLogger(`${this.namespace}:${part}`);
  }

  get #isRegistry(): boolean {
    return this.namespace.endsWith(':registry');
  }
}

/** In all lists: of problems, of hooks. */
const MAX_LISTED = 10;

/** At the start of a session: what is wrong in the settings. Which hooks are not allowed, the registry says. */
export function tellAtStart({ problems }: Workspace): string[] {
  const shown = problems.slice(0, MAX_LISTED).map(formatProblem);
  const more = problems.length - shown.length;
  return more > 0 ? [...shown, `${more} more problems of settings: hookstack validate`] : shown;
}

/** No tool has this name: a matcher that matches it names none. */
const NO_TOOL = { toolName: ' ' };

/** At another event: what would have looked at it and did not, as far as that has not been told in this session. */
export function tellWhatMatters(received: Received, workspace: Workspace): string[] {
  const registry = registryOf(workspace);
  const notes = [
    ...leftOutOf(received, workspace.problems),
    ...(registry ? [...notAllowed(received, registry), ...unguarded(received, registry)] : []),
  ];
  const { sessionId } = received.identity;
  const project = workspace.config.getWorkingDir();
  return notes.filter((note) => isNewInSession(sessionId, `${project}\n${note}`));
}

/** None while hooks are off. */
function registryOf({ config }: Pick<Workspace, 'config'>): HookRegistry | undefined {
  const system = config.getHookSystem();
  return system?.isInitialized() ? system.getRegistry() : undefined;
}

/** What is wrong with a whole file may have left out hooks of any event. */
function leftOutOf({ theirEvent }: Received, problems: readonly FileProblem[]): string[] {
  const names = allNamesOf(theirEvent);
  return problems
    .filter(({ path }) => /^(?:hooks)?$/u.test(path) || names.includes(eventIn(path)))
    .slice(0, MAX_LISTED)
    .map(formatProblem);
}

/** All names of the event that an agent calls by this one, its own and ours; none for an event that is not known. */
function allNamesOf(theirs: string): readonly string[] {
  const words = Object.values(dialects).flatMap((dialect) => dialect.events);
  const groups = Object.values(HookEventName).map((ours): readonly string[] => [
    ours,
    ...words.filter(({ event }) => event === ours).map(({ name }) => name),
  ]);
  return groups.find((names) => names.includes(theirs)) ?? [];
}

function eventIn(path: string): string {
  return /^hooks\.(\w+)/u.exec(path)?.[1] ?? '';
}

function notAllowed(received: Received, registry: HookRegistry): string[] {
  const context = planContext(received);
  const left = registry
    .getAllHooks()
    .filter(({ eventName }) => eventName === received.event)
    .filter(({ skipped }) => skipped === 'untrusted' || skipped === 'refused')
    .filter((entry) => concerns(registry, entry, context));
  if (left.length === 0) return [];
  const names = left.slice(0, MAX_LISTED).map(({ config, review }) => {
    const why = review?.reason === undefined ? '' : ` (it ${review.reason})`;
    return `"${shortIdentity(config)}"${why}`;
  });
  const more = left.length > names.length ? ` and ${left.length - names.length} more` : '';
  return [
    `Hooks of this project do not run at ${received.event}: ${names.join(', ')}${more}; to see and allow them, run in the project: hookstack trust`,
  ];
}

/** Why a tool is refused that no table knows, where settings want that; `undefined` for all others. */
export function refusalOfUnknown(received: Received, workspace: Workspace): string | undefined {
  if (workspace.settings.unknownTools !== 'deny') return undefined;
  const registry = registryOf(workspace);
  const [why] = registry ? unguarded(received, registry) : [];
  return why && `"unknownTools" is "deny". ${why}`;
}

/** A guard of some tools does not see one that does the same by another name. */
function unguarded(received: Received, registry: HookRegistry): string[] {
  if (received.event !== HookEventName.BeforeTool) return [];
  const { toolName } = received.payload as HookPayload<HookEventName.BeforeTool>;
  if (isKnownTool(toolName)) return [];
  const context = planContext(received);
  const hooks = registry
    .getHooksForEvent(received.event)
    .filter(({ config }) => isOfMoment(config, context?.moment));
  const naming = hooks.filter((entry) => !concerns(registry, entry, NO_TOOL));
  const guards = naming.filter(isGuard);
  const looking = [...hooks.filter(isGuard), ...naming];
  if (guards.length === 0 || looking.some((each) => concerns(registry, each, context))) return [];
  const names = [...new Set(guards.map(({ config }) => `"${shortIdentity(config)}"`))];
  return [
    `No guard looks at ${toolName}: it is no tool that is known here, and no matcher names it. If it can do what ${names.slice(0, MAX_LISTED).join(', ')} is there for, add its name to the matcher`,
  ];
}

function isGuard({ config, eventName }: HookRegistryEntry): boolean {
  return failsClosed(config, eventName);
}

function concerns(
  registry: HookRegistry,
  entry: HookRegistryEntry,
  context: ReturnType<typeof planContext>,
): boolean {
  // What is wrong with a matcher is told elsewhere.
  return matcherLetsRun(registry, entry, context, new SilentLogger('llxprt:core:hooks:planner'));
}

/** Whether a tool has a name of ours, so that matchers meet it whatever its agent calls it. */
function isKnownTool(ours: string): boolean {
  return Object.values(dialects).some(({ tools }) => tools.some((words) => words.ours === ours));
}

/** At most this many notes are remembered, of all sessions; then the older half is forgotten. */
const MAX_NOTES = 1000;

/**
 * Whether a note has not been asked about before in a session, of which each event has a process of its own. What cannot
 * be remembered counts as new: it is told again rather than never.
 *
 * @param sessionId as the agent says; without one, all is new
 */
export function isNewInSession(sessionId: string | undefined, note: string): boolean {
  if (sessionId === undefined) return true;
  const name = createHash('sha256').update(`${sessionId}\n${note}`).digest('hex');
  try {
    const folder = ownFolder('told');
    makePrivate(folder);
    forgetOld(folder);
    const file = join(folder, name);
    if (lstatSync(file, { throwIfNoEntry: false })) return false;
    // An empty file is enough, and no link is followed.
    closeSync(openSync(file, 'wx', 0o600));
    return true;
  } catch {
    return true;
  }
}

function forgetOld(folder: string): void {
  const names = readdirSync(folder);
  if (names.length < MAX_NOTES) return;
  const files = names.map((name) => join(folder, name));
  const byAge = files.map((file) => ({ file, at: lstatSync(file).mtimeMs }));
  const older = byAge.toSorted((a, b) => a.at - b.at).slice(0, names.length - MAX_NOTES / 2);
  for (const { file } of older) rmSync(file, { force: true });
}
