import { realpath } from 'node:fs/promises';
import path from 'node:path';
import { editSettings, planSettings, type SettingsEdit } from '../config/settings/editSettings.js';
import { readGuardedFile } from '../util/guardedFile.js';
import { formatPath } from '../hooks/hookSettings.js';
import { parseJsonDocument } from '../util/jsonDocument.js';
import { settingsFileIn } from '../config/settings/settings.js';
import type { DialectName } from '../dialects/dialect.js';
import { carryOver, type CarriedOver } from '../dialects/migration.js';
import { dialects, settingsKey } from '../dialects/words.js';
import { errorMessage } from '../util/errorMessage.js';
import { isRecord } from '../util/records.js';
import { removeControls } from '../protocol/sanitizeText.js';
import type { CommandHookConfig, HookDefinition } from '../protocol/types.js';
import { diffLines } from './lineDiff.js';
import { projectSettingsToWrite } from './projectFile.js';
import { paint, printJson, printLine, toOneLine } from './terminal.js';
import { requireHome } from '../util/home.js';
import { UsageError } from './usageError.js';
import { resolveWorkingDir } from './workspace.js';

/** The options of `hookstack migrate`. */
export interface MigrateOptions {
  readonly from: DialectName;
  readonly dryRun?: boolean;
  readonly cwd?: string;
  readonly json?: boolean;
}

/** The settings files of another agent, relative to the project or the home directory. */
const SOURCES: Readonly<Record<DialectName, readonly string[]>> = {
  claude: ['.claude/settings.json', '.claude/settings.local.json'],
  gemini: ['.gemini/settings.json'],
};

/** Where that agent has hooks, too, which are not looked at. */
const NOT_READ: Readonly<Record<DialectName, string>> = {
  claude: 'managed settings, and hooks of plugins, skills and agents',
  gemini: 'system settings, and hooks of extensions',
};

/** The files of a directory; the user's own may stand in another one. */
function sourcesIn(directory: string, from: DialectName, home: string): string[] {
  const configured = process.env['CLAUDE_CONFIG_DIR'];
  if (from === 'claude' && directory === home && configured) {
    return [path.resolve(configured, 'settings.json')];
  }
  return SOURCES[from].map((file) => path.join(directory, file));
}

/**
 * `hookstack migrate`: adds the hooks of another agent's settings to ours.
 *
 * @throws UsageError when settings cannot be read, or those of the project would not be its own
 */
export async function migrate({ from, dryRun = false, cwd, json }: MigrateOptions): Promise<void> {
  const project = await resolveWorkingDir(cwd ?? process.cwd());
  const home = await realpath(requireHome()).catch(requireHome);
  const directories = project === home ? [home] : [project, home];
  const moves: Move[] = [];
  for (const directory of directories) moves.push(await planMove(directory, from, home));
  if (!dryRun) for (const move of moves) await writeMove(move);
  if (json) printJson({ from, dryRun, notRead: NOT_READ[from], files: moves.map(describeMove) });
  else printLine(formatMoves(moves, from, dryRun));
}

/** Everything that is to happen to one of our settings files. */
interface Move {
  /** Absolute path of our file. */
  readonly target: string;
  /** Absolute paths of the files that were looked for. */
  readonly places: readonly string[];
  readonly sources: readonly Source[];
  readonly before: string;
  readonly after: string;
  readonly added: number;
  readonly present: number;
}

interface Source {
  /** Absolute path. */
  readonly file: string;
  readonly carried: CarriedOver;
  readonly remarks: readonly Remark[];
}

interface Remark {
  readonly file: string;
  readonly line: number;
  readonly column: number;
  readonly path: string;
  readonly message: string;
}

async function planMove(directory: string, from: DialectName, home: string): Promise<Move> {
  const files = sourcesIn(directory, from, home);
  const read = await Promise.all(files.map((file) => readSource(file, from)));
  const sources = read.filter((source) => source !== undefined);
  const isWritten = directory !== home && sources.length > 0;
  const target = isWritten ? await projectSettingsToWrite(directory) : settingsFileIn(directory);
  let counts = { added: 0, present: 0 };
  try {
    const { before, after } = await planSettings(target, (current) => {
      const { edits, ...found } = planEdits(current, sources);
      counts = found;
      return edits;
    });
    return { target, places: files, sources, before, after, ...counts };
  } catch (error) {
    throw new UsageError(errorMessage(error), { cause: error });
  }
}

async function writeMove({ target, sources, before, after }: Move): Promise<void> {
  if (before !== after) await editSettings(target, (current) => planEdits(current, sources).edits);
}

async function readSource(file: string, from: DialectName): Promise<Source | undefined> {
  const reading = await readGuardedFile(file, { groupMayWrite: true });
  if (reading.status === 'missing') return undefined;
  if (reading.status === 'refused') throw new UsageError(`${file} is not read: ${reading.reason}`);
  const document = parseJsonDocument(reading.text);
  const { value, syntaxError } = document;
  if (syntaxError) {
    const { line, column, message } = syntaxError;
    throw new UsageError(`${file}:${line}:${column}: not valid JSON: ${message}; mend it first`);
  }
  if (!isRecord(value)) throw new UsageError(`${file}: expected an object of settings`);
  const carried = carryOver(value, from);
  const remarks = carried.remarks.map(({ path: at, message }) => ({
    file,
    ...document.locate(at),
    path: formatPath(at),
    message,
  }));
  return { file, carried, remarks: remarks.toSorted((a, b) => a.line - b.line) };
}

/** What has to be added to our settings, and how many hooks are there already. */
function planEdits(current: Readonly<Record<string, unknown>>, sources: readonly Source[]) {
  const groups = sources.flatMap(({ carried }) => carried.groups);
  const known = new Set(knownHooks(current));
  const counts = { added: 0, present: 0 };
  const edits: SettingsEdit[] = [];
  for (const { key: event, group } of groups) {
    const hooks = group.hooks.filter((hook) => {
      const key = keyOf(event, group, hook);
      const isNew = !known.has(key);
      known.add(key);
      counts[isNew ? 'added' : 'present'] += 1;
      return isNew;
    });
    if (hooks.length === 0) continue;
    edits.push({ path: ['hooks', event, -1], value: { ...group, hooks }, isInsertion: true });
  }
  const disabled = sources.flatMap(({ carried }) => carried.disabledHooks);
  return { ...counts, edits: [...switchEdits(current, sources, disabled, edits), ...edits] };
}

/** Our file may say that hooks are off, which stands. */
function switchEdits(
  current: Readonly<Record<string, unknown>>,
  sources: readonly Source[],
  disabled: readonly string[],
  added: readonly SettingsEdit[],
): SettingsEdit[] {
  const { enableHooks, disabledHooks = [] } = current;
  const areOn = sources.every(({ carried }) => carried.areHooksOn);
  const listed: readonly unknown[] = Array.isArray(disabledHooks) ? disabledHooks : [];
  const missing = [...new Set(disabled)].filter((name) => !listed.includes(name));
  return [
    ...(added.length > 0 && areOn && enableHooks === undefined
      ? [{ path: ['enableHooks'], value: true }]
      : []),
    ...(missing.length > 0 ? [{ path: ['disabledHooks'], value: [...listed, ...missing] }] : []),
  ];
}

/** The hooks of our settings that may be those of another agent. */
function* knownHooks({ hooks }: Readonly<Record<string, unknown>>): Generator<string> {
  for (const [name, groups] of Object.entries(isRecord(hooks) ? hooks : {})) {
    for (const group of Array.isArray(groups) ? groups.filter(isRecord) : []) {
      const dialect = Object.entries(dialects).find(([each]) => each === group['dialect'])?.[1];
      const event = dialect && settingsKey(dialect, name);
      const inside = Array.isArray(group['hooks']) ? group['hooks'].filter(isRecord) : [];
      for (const hook of event ? inside : []) yield keyOf(event, group, hook);
    }
  }
}

function keyOf(
  event: string | undefined,
  { dialect, matcher = '' }: Partial<HookDefinition> | Record<string, unknown>,
  { command, args }: Partial<CommandHookConfig> | Record<string, unknown>,
): string {
  return JSON.stringify([event, dialect, matcher, command, args]);
}

function describeMove({ target, sources, before, after, added, present }: Move) {
  return {
    target,
    sources: sources.map(({ file }) => file),
    changed: before !== after,
    added,
    present,
    diff: diffLines(before, after),
    remarks: sources.flatMap(({ remarks }) => remarks),
  };
}

function formatMoves(moves: readonly Move[], from: DialectName, dryRun: boolean): string {
  const found = moves.filter(({ sources }) => sources.length > 0);
  const notRead = `Not looked at: ${NOT_READ[from]}.`;
  if (found.length === 0) {
    const places = moves.flatMap(({ places: files }) => files);
    return `There are no settings of ${dialects[from].agent}: neither ${places.map((place) => toOneLine(place)).join(' nor ')}. ${notRead}`;
  }
  const remarks = found.flatMap(({ sources }) => sources.flatMap((source) => source.remarks));
  const isChanged = found.some(({ before, after }) => before !== after);
  return [
    ...found.flatMap((move) => formatMove(move, dryRun)),
    ...(remarks.length > 0 ? ['', 'Not carried over, or worth a look:'] : []),
    ...remarks.map(formatRemark),
    '',
    notRead,
    ...(isChanged && !dryRun ? ['', 'See what runs with: hookstack list'] : []),
  ].join('\n');
}

function formatMove({ target, sources, before, after, added, present }: Move, dryRun: boolean) {
  const names = sources.map(({ file }) => toOneLine(file)).join(', ');
  const verb = dryRun ? 'to be added' : 'added';
  const summary = `${toOneLine(target)}: ${added} ${added === 1 ? 'hook' : 'hooks'} ${verb}, ${present} there already (from ${names})`;
  return [summary, ...(dryRun ? diffLines(before, after).map(paintDiff) : [])];
}

function paintDiff(line: string): string {
  const style = { '+': 'green', '-': 'red' } as const;
  const sign = line[0];
  const text = line.slice(0, 1) + removeControls(line.slice(1));
  return sign === '+' || sign === '-' ? paint(process.stdout, style[sign], text) : text;
}

function formatRemark({ file, line, column, path: at, message }: Remark): string {
  return toOneLine(`${file}:${line}:${column}: ${at}: ${message}`);
}
