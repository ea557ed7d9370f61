import { realpath } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { referenceToolNames } from '../../agent/tools/toolNames.js';
import { dialects } from '../../dialects/dialects.js';
import { isOfTool } from '../../protocol/events.js';
import { removeControls } from '../../protocol/sanitizeText.js';
import {
  DIALECT_NAMES,
  type DialectName,
  type HookDefinition,
  HookEventName,
} from '../../protocol/types.js';
import { requireHome } from '../../util/homeDirectory.js';
import { asWord } from '../../util/quoteWord.js';
import { matchesGroup } from '../../validate/matching.js';
import { type ForeignScope, foreignMarkers } from '../shared/foreignSettings.js';
import { HOOK_TEST_SUFFIX } from '../shared/hookTestFile.js';
import { type Obstacles, cwdWords, findObstacles } from '../shared/obstacles.js';
import { DEFAULT_TOOL } from '../shared/options.js';
import { PROJECT_MARKERS } from '../shared/projectRoot.js';
import { diffSettings, paintDiff } from '../shared/editSettings.js';
import { paint, plural, printJson, printLine, toOneLine } from '../shared/terminal.js';
import { UsageError } from '../shared/usageError.js';
import { resolveWorkingDir } from '../shared/workspace.js';
import { findTests } from '../test/findTests.js';
import { PLUGINS, type RemarkKind } from './carryOver.js';
import { type Move, makeMove, planMove } from './plan.js';
import type { Remark } from './sources.js';

/** In characters. */
const MAX_REMARK = 500;

interface MigrateOptions extends Omit<Migration, 'from'> {
  readonly from?: DialectName;
}

interface Migration {
  readonly from: DialectName;
  readonly scope: ForeignScope | 'all';
  readonly dryRun?: boolean;
  readonly cwd?: string;
  readonly json?: boolean;
}

/**
 * @returns the exit code: 0 done, or nothing to do; 1 there are plugins alone, whose hooks are not taken over
 * @throws UsageError when settings cannot be read, or the project's would be written elsewhere
 */
export async function migrate({ from, ...others }: MigrateOptions): Promise<number> {
  if (from === undefined) {
    const names = DIALECT_NAMES.join(', ');
    throw new UsageError(`Say whose hooks to take over: hookstack migrate --from AGENT (${names})`);
  }
  const options = { from, ...others };
  const { dryRun = false } = options;
  const moves: Move[] = [];
  for (const [scope, directory] of await placesOf(options)) {
    moves.push(await planMove(directory, from, scope));
  }
  if (!dryRun) for (const move of moves) await makeMove(move);
  const { notRead } = dialects[from].settings;
  const obstacles = dryRun ? {} : await obstaclesTo(moves, options);
  const next = await nextCommands(moves, obstacles, options);
  const files = moves.map(describeMove);
  const told = [obstacles.off, obstacles.notAllowed].filter((each) => each !== undefined);
  if (options.json) printJson({ from, dryRun, notRead, files, obstacles: told, next });
  else printLine(formatMoves(moves, { obstacles: told, next }, options));
  return isInVain(moves) ? 1 : 0;
}

function isInVain(moves: readonly Move[]): boolean {
  const hasPlugins = moves.some(
    ({ plugins, remarks }) => plugins.length > 0 || remarks.some(({ path }) => path === PLUGINS),
  );
  return hasPlugins && moves.every(({ added, present }) => added + present === 0);
}

/** Where which settings are read and written. In the home directory, the settings are the user's. */
async function placesOf({ from, scope, cwd }: Migration): Promise<[ForeignScope, string][]> {
  const home = await realpath(requireHome()).catch(requireHome);
  if (scope === 'user') return [['user', home]];
  const project = await resolveWorkingDir(cwd, [...PROJECT_MARKERS, ...foreignMarkers(from)]);
  const user: [ForeignScope, string][] = scope === 'all' ? [['user', home]] : [];
  if (project !== home) return [[scope === 'all' ? 'project' : scope, project], ...user];
  if (user.length > 0) return user;
  throw new UsageError(
    'The home directory is no project; to take over your own hooks, add --scope user',
  );
}

/** In the place where the hooks are now. */
async function obstaclesTo(
  moves: readonly Move[],
  { cwd }: Pick<Migration, 'cwd'>,
): Promise<Obstacles> {
  const filled = moves.find(({ added, present }) => added + present > 0);
  return filled ? findObstacles(dirname(dirname(filled.target)), cwd) : {};
}

async function nextCommands(
  moves: readonly Move[],
  { notAllowed }: Obstacles,
  { from, scope, dryRun, cwd }: Migration,
): Promise<string[]> {
  const at = cwdWords(cwd);
  const filled = moves.filter(({ added, present }) => added + present > 0);
  if (filled.length === 0) return [];
  const own = scope === 'project' ? '' : ` --scope ${scope}`;
  if (dryRun) return [`hookstack migrate --from ${from}${own}${at}`];
  const ofProject = filled.find((move) => move.scope !== 'user');
  return [
    ...(notAllowed === undefined ? [] : [`hookstack trust${at}`]),
    `hookstack doctor${at}`,
    ...(ofProject ? await testCommands(ofProject, at) : []),
  ];
}

function describeMove({ target, sources, remarks, before, after, added, present }: Move) {
  return {
    target,
    sources: sources.map(({ file }) => file),
    changed: before !== after,
    added,
    present,
    diff: diffSettings(before, after),
    remarks,
  };
}

function formatMoves(
  moves: readonly Move[],
  { obstacles, next }: { readonly obstacles: readonly string[]; readonly next: readonly string[] },
  { from, scope, dryRun = false }: Migration,
): string {
  const { agent } = dialects[from];
  const own = scope === 'project' ? '; your own settings, which --scope user takes over' : '';
  const notRead = `Not looked at: ${dialects[from].settings.notRead}${own}.`;
  const found = moves.filter(({ sources, remarks }) => sources.length + remarks.length > 0);
  if (found.length === 0) {
    const places = moves.flatMap(({ places: files }) => files);
    return `There are no settings of ${agent}: neither ${places.map((place) => toOneLine(place)).join(' nor ')}. ${notRead}`;
  }
  const remarks = found.flatMap((move) => move.remarks);
  const ofKind = (kind: RemarkKind) => remarks.filter((remark) => remark.kind === kind);
  const others = ofKind('other').map(({ path }) => toOneLine(path));
  return [
    ...formatRemarks(paint('red', LOST), ofKind('lost')),
    ...found.flatMap((move) => formatMove(move, dryRun)),
    ...(isInVain(found) ? ['No hook is taken over.'] : []),
    ...formatRemarks('\nNot carried over, or worth a look:', ofKind('changed')),
    '',
    ...(others.length > 0 ? [`Nothing to do with hooks: ${others.join(', ')}.`] : []),
    notRead,
    ...obstacles.map((obstacle) => paint('yellow', obstacle)),
    ...(next.length > 0 ? ['', 'Run next:', ...next.map(formatNext)] : []),
  ].join('\n');
}

const LOST = 'Lost guards: what they stop there is not stopped here';

function formatRemarks(title: string, remarks: readonly Remark[]): string[] {
  if (remarks.length === 0) return [];
  const lines = remarks.map(({ file, line, column, path, message }) =>
    toOneLine(`${file}:${line}:${column}: ${path}: ${message}`, MAX_REMARK),
  );
  return [title, ...lines, ...(title.startsWith('\n') ? [] : [''])];
}

const REASONS: ReadonlyMap<string, string> = new Map([
  ['trust', 'shows what the hooks run, and allows it: until then, they are skipped'],
  ['doctor', 'runs each hook once, and says what is wrong with it'],
  ['fire', 'asks the hook once, and keeps what it says as a test; change the event as you like'],
  ['test', 'fires all events that are kept, and compares what the hooks say'],
]);

/** On a line of its own: zsh takes a `#` that is pasted behind a command for an argument. */
function formatNext(command: string): string {
  const reason = REASONS.get(command.split(' ')[1] ?? '');
  return `  ${removeControls(command)}${reason === undefined ? '' : `\n      ${reason}`}`;
}

function formatMove({ target, sources, before, after, added, present }: Move, dryRun: boolean) {
  if (sources.length === 0) return [];
  const names = sources.map(({ file }) => toOneLine(file)).join(', ');
  const verb = dryRun ? 'to be added' : 'added';
  const summary = `${toOneLine(target)}: ${plural(added, 'hook')} ${verb}, ${present} there already (from ${names})`;
  return [summary, ...(dryRun ? diffSettings(before, after).map(paintDiff) : [])];
}

/** Runs the tests of the project; records a first one before where there is none. */
async function testCommands({ target, sources }: Move, at: string): Promise<string[]> {
  const project = dirname(dirname(target));
  const run = `hookstack test${at}`;
  const hasTests = await findTests([project]).then(
    () => true,
    () => false,
  );
  if (hasTests) return [run];
  const groups = sources.flatMap(({ carried }) => carried.groups);
  const event = eventFor(groups);
  if (event === undefined) return [];
  const file = join(project, '.llxprt', 'tests', `first${HOOK_TEST_SUFFIX}`);
  const record = `--record ${asWord(relative(process.cwd(), file))}`;
  return [`hookstack fire ${event} ${record}${at}`, run];
}

/** The words of an event that a hook waits for: of a tool, if there is one. */
function eventFor(
  groups: readonly { readonly key: string; readonly group: HookDefinition }[],
): string | undefined {
  const ours = groups.flatMap(({ key, group }) => {
    const event = Object.values(HookEventName).find((name) => name === key);
    return event ? [{ event, group }] : [];
  });
  for (const { event, group } of ours) {
    if (!isOfTool(event)) continue;
    const tool = [DEFAULT_TOOL, ...referenceToolNames].find((toolName) =>
      matchesGroup(group, event, { toolName }),
    );
    if (tool !== undefined) return `${event} --tool ${tool}`;
  }
  return ours.find(({ event }) => !isOfTool(event))?.event;
}
