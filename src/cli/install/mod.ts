import { spawnSync } from 'node:child_process';
import { cp, rename, rm, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { findProgram } from '../../process/command/findProgram.js';
import { errorMessage } from '../../util/errorMessage.js';
import { readJsonFile } from '../../util/guardedFile.js';
import { readTextSync } from '../../util/guardedRead.js';
import { requireHome } from '../../util/homeDirectory.js';
import { isRecord } from '../../util/records.js';
import { hostEnvironment } from '../../util/requester.js';
import { clientFile, packagedFile } from '../resident/resident.js';
import type { JsonEdit } from '../shared/editJson.js';
import { diffSettings, editSettings, paintDiff, planSettings } from '../shared/editSettings.js';
import { foreignSettingsIn } from '../shared/foreignSettings.js';
import { CLIENT, missingProgram } from '../shared/ownHook.js';
import { makePrivate } from '../shared/privateFolder.js';
import { isThere } from '../shared/projectRoot.js';
import { printJson, printLine, printNotice, toOneLine, toVisible } from '../shared/terminal.js';
import { UsageError, orUsageError } from '../shared/usageError.js';

interface ModOptions {
  readonly undo?: boolean;
  readonly dryRun?: boolean;
  readonly json?: boolean;
}

type Settings = Readonly<Record<string, unknown>>;

/** Before it, sockets are refused, and a mod of somebody else that hangs has all others skipped. */
const OLDEST = '2.1.290';

const PLUGIN = 'hookstack@hookstack';

/** In its folder: keys of the user's settings that were made for it. */
const MADE = 'made.json';

/**
 * Installs a mod into Claude Code, for its user: a plugin in a folder of hookstack, and two keys of the user's settings
 * that name it.
 *
 * @throws UsageError where Claude Code is too old, or refuses the mod, or its settings cannot be read
 */
export async function installMod({
  undo = false,
  dryRun = false,
  json = false,
}: ModOptions): Promise<number> {
  const folder = path.join(requireHome(), '.llxprt/claude-mod');
  const [file = ''] = foreignSettingsIn(requireHome(), 'claude', 'user');
  const claude = undo ? undefined : findProgram('claude');
  if (claude !== undefined) requireVersion(claude);
  const made = await readMade(folder);
  let missing: readonly string[] = [];
  const decide = (current: Settings) => {
    missing = KEYS.filter((key) => current[key] === undefined);
    return undo ? removals(current, made) : additions(current, folder);
  };
  const { before, after } = await orUsageError(planSettings(file, decide), (detail) => detail);
  const changed = before !== after || !undo || isThere(folder);
  const notes = undo ? [] : notesOn(claude);
  if (!dryRun && !undo) await writeFolder(folder, made ?? missing, claude);
  if (!dryRun && before !== after) await editSettings(file, decide);
  if (!dryRun && undo) await rm(folder, { recursive: true, force: true });
  const diff = diffSettings(before, after);
  if (json) {
    printJson({ into: 'claude', mod: true, file, folder, undo, dryRun, changed, diff, notes });
    return 0;
  }
  const would = dryRun ? 'would ask' : 'asks';
  const said = undo
    ? 'no more'
    : `about tools, prompts and the model, from ${OLDEST} on; start it anew`;
  printLine(toOneLine(`${file}: Claude Code ${would} hookstack by a mod, ${said}`));
  if (dryRun) for (const line of diff) printLine(paintDiff(line));
  for (const note of notes) printNotice('note', note);
  return 0;
}

function additions(current: Settings, folder: string): JsonEdit[] {
  const source = { source: 'directory', path: folder };
  const wanted: [readonly string[], unknown][] = [
    [['extraKnownMarketplaces', 'hookstack'], { source }],
    [['enabledPlugins', PLUGIN], true],
  ];
  return wanted.flatMap(([at, value]) => {
    const [key = '', name = ''] = at;
    const outer = current[key];
    const inner = isRecord(outer) ? outer[name] : undefined;
    return JSON.stringify(inner) === JSON.stringify(value) ? [] : [{ path: at, value }];
  });
}

const KEYS = ['extraKnownMarketplaces', 'enabledPlugins'] as const;

/** @param made keys that stand there for the mod alone, where that is known */
function removals(current: Settings, made: readonly string[] = KEYS): JsonEdit[] {
  return KEYS.toReversed().flatMap((key) => {
    const outer = current[key];
    const name = key === 'enabledPlugins' ? PLUGIN : 'hookstack';
    if (!isRecord(outer) || !(name in outer)) return [];
    const isAll = made.includes(key) && Object.keys(outer).length === 1;
    return [{ path: isAll ? [key] : [key, name], value: undefined }];
  });
}

async function readMade(folder: string): Promise<readonly string[] | undefined> {
  const reading = await readJsonFile(path.join(folder, MADE), { groupMayWrite: false });
  return reading.status === 'read' ? KEYS.filter((key) => reading.value[key] === true) : undefined;
}

/**
 * The package's own copy may be one of a project, or be gone tomorrow.
 *
 * @throws UsageError where Claude Code refuses it
 */
async function writeFolder(
  folder: string,
  made: readonly string[],
  claude: string | undefined,
): Promise<void> {
  const draft = `${folder}.new`;
  await rm(draft, { recursive: true, force: true });
  makePrivate(draft);
  await cp(packagedFile('claude-mod'), draft, { recursive: true });
  const keys = Object.fromEntries(made.map((key) => [key, true]));
  await writeFile(path.join(draft, MADE), JSON.stringify(keys));
  if (missingProgram(CLIENT) !== undefined) {
    const program = clientFile();
    await replaceIn(path.join(draft, 'hooks/register.mjs'), `'${CLIENT}'`, JSON.stringify(program));
    const quoted = JSON.stringify(`"${program}"`).slice(1, -1);
    await replaceIn(path.join(draft, 'hooks/hooks.json'), CLIENT, quoted);
  }
  try {
    if (claude !== undefined) requireValid(claude, draft);
    await rm(folder, { recursive: true, force: true });
    await rename(draft, folder);
  } finally {
    await rm(draft, { recursive: true, force: true });
  }
}

async function replaceIn(file: string, before: string, after: string): Promise<void> {
  await writeFile(
    file,
    readTextSync(file).replaceAll(before, () => after),
  );
}

function notesOn(claude: string | undefined): string[] {
  return claude === undefined
    ? [
        `claude is not on the search path here, so that its version was not looked at: the mod needs ${OLDEST}`,
      ]
    : [];
}

function run(claude: string, args: readonly string[]) {
  const env = { ...hostEnvironment(), CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' };
  return spawnSync(claude, args, { env, encoding: 'utf8', timeout: 60_000 });
}

/** @throws UsageError */
function requireVersion(claude: string): void {
  const { stdout, error } = run(claude, ['--version']);
  const [version] = /\d+\.\d+\.\d+/.exec(stdout ?? '') ?? [];
  if (version === undefined) {
    const problem = error ? errorMessage(error) : 'it says none';
    throw new UsageError(
      `The version of ${claude} is not known (${problem}): try claude --version`,
    );
  }
  if (version.localeCompare(OLDEST, 'en', { numeric: true }) >= 0) return;
  throw new UsageError(
    `Claude Code ${version} lets a mod be passed by; update it to ${OLDEST} or newer, or install without --mod`,
  );
}

/** A module that does not load is silent, so that it is looked at before anything names it. */
function requireValid(claude: string, folder: string): void {
  const { status, stdout, stderr } = run(claude, ['plugin', 'validate', folder]);
  if (status === 0) return;
  const said = toVisible(`${stdout ?? ''}${stderr ?? ''}`.trim()).slice(-1000);
  throw new UsageError(`Claude Code does not take the mod, so that it was not installed: ${said}`);
}
