import type { JsonEdit } from '../../config/settings/editJson.js';
import { editSettings, type SettingsDecision } from '../../config/settings/editSettings.js';
import { findSettingsFiles, settingsFileIn } from '../../config/settings/settings.js';
import { adviseTrust } from '../../config/settings/settingsLayer.js';
import { suggestName } from '../../util/suggestName.js';
import type { HookRegistryEntry } from '../../protocol/entry.js';
import { hookIdentity } from '../../protocol/identity.js';
import type { WorkspaceOptions } from '../shared/options.js';
import { editAsAllowed, type OwnEdit } from '../shared/ownEdit.js';
import { projectSettingsToWrite } from '../shared/projectFile.js';
import { printJson, printLine, printNotice, toOneLine } from '../shared/terminal.js';
import { requireHome } from '../../util/home.js';
import { UsageError } from '../shared/usageError.js';
import { openRegistry, openWorkspace, type Workspace } from '../shared/workspace.js';

interface SwitchOptions extends Omit<WorkspaceOptions, 'settings'> {
  readonly project?: boolean;
  readonly user?: boolean;
}

/** @throws UsageError for an unknown hook or a foreign settings file; Error when settings cannot be changed */
export async function disable(name: string, options: SwitchOptions): Promise<number> {
  const { workspace, entries } = await openHooks(options);
  requireHook(name, namesOf(entries));
  const scope = chosenScopes(options)[0] ?? scopeOf(name, entries);
  const file = await fileOf(scope, workspace);
  const { changed, objection } = await edit(scope, file, workspace, (current) =>
    addName(file, current, name),
  );
  const enabled = objection !== undefined;
  if (options.json) {
    printJson({ hook: name, enabled, changed: changed ? [file] : [], disabledIn: [file] });
  } else {
    const state = `${enabled ? 'named in disabledHooks' : 'disabled'}${changed ? '' : ' already'}`;
    printLine(toOneLine(`"${name}" is ${state} in ${file}`));
  }
  if (!enabled) return 0;
  printNotice('error', `"${name}" is not disabled yet, ${adviseTrust(objection)}`);
  return 1;
}

/** @returns the exit code: 0 no settings disable it any more, 1 some still do */
export async function enable(name: string, options: SwitchOptions): Promise<number> {
  const { workspace, entries } = await openHooks(options);
  const { disabledHooks } = workspace.origins;
  requireHook(name, [...namesOf(entries), ...disabledHooks.keys()]);
  const scopes = chosenScopes(options);
  const changed: string[] = [];
  for (const scope of scopes.length > 0 ? scopes : await ownScopes(workspace)) {
    const file = await fileOf(scope, workspace);
    const { changed: isChanged } = await edit(scope, file, workspace, (current) =>
      removeName(current, name),
    );
    if (isChanged) changed.push(file);
  }
  const disabledIn = (disabledHooks.get(name) ?? [])
    .map(({ file }) => file)
    .filter((file) => !changed.includes(file));
  const enabled = disabledIn.length === 0;
  if (options.json) printJson({ hook: name, enabled, changed, disabledIn });
  else tellEnabled(name, changed, disabledIn);
  return enabled ? 0 : 1;
}

function tellEnabled(name: string, changed: readonly string[], disabledIn: readonly string[]) {
  for (const file of changed) printLine(toOneLine(`"${name}" is not disabled any more in ${file}`));
  for (const file of disabledIn) {
    printNotice('warning', toOneLine(`"${name}" is still disabled in ${file}`));
  }
  if (changed.length + disabledIn.length === 0) printLine(toOneLine(`"${name}" is not disabled`));
}

function edit(
  scope: Scope,
  file: string,
  { config }: Workspace,
  decide: SettingsDecision,
): Promise<OwnEdit> {
  const change = () => editSettings(file, decide);
  if (scope === 'project') return editAsAllowed(config.getWorkingDir(), change);
  return change().then((changed) => ({ changed }));
}

const SCOPES = ['project', 'user'] as const;
type Scope = (typeof SCOPES)[number];

async function openHooks({ cwd, trust }: SwitchOptions) {
  const workspace = await openWorkspace({ cwd, trust }, { needsAllFiles: false });
  const registry = await openRegistry(workspace.config);
  return { workspace, entries: registry.getAllHooks() };
}

function chosenScopes(options: SwitchOptions): Scope[] {
  return SCOPES.filter((scope) => options[scope] === true);
}

function scopeOf(name: string, entries: readonly HookRegistryEntry[]): Scope {
  const named = entries.filter(({ config }) => hookIdentity(config) === name);
  return named.every(({ origin }) => origin?.scope === 'project') ? 'project' : 'user';
}

/** In the home directory, the user's settings are the only ones. */
async function ownScopes({ config }: Workspace): Promise<Scope[]> {
  const files = await findSettingsFiles({ workingDir: config.getWorkingDir() });
  return SCOPES.filter((scope) => files.some((file) => file.scope === scope));
}

async function fileOf(scope: Scope, { config }: Workspace): Promise<string> {
  return scope === 'user'
    ? settingsFileIn(requireHome())
    : await projectSettingsToWrite(config.getWorkingDir());
}

function namesOf(entries: readonly HookRegistryEntry[]): string[] {
  return [...new Set(entries.map(({ config }) => hookIdentity(config)))];
}

function requireHook(name: string, known: readonly string[]): void {
  if (known.includes(name)) return;
  const hint = known.length === 0 ? 'none is configured' : suggestName(name, known);
  throw new UsageError(`There is no hook "${toOneLine(name)}"; ${toOneLine(hint)}`);
}

function addName(
  file: string,
  { disabledHooks }: Readonly<Record<string, unknown>>,
  name: string,
): JsonEdit[] {
  if (disabledHooks === undefined) return [{ path: ['disabledHooks'], value: [name] }];
  if (!Array.isArray(disabledHooks)) {
    throw new Error(`${file} is not changed: its disabledHooks is not an array; fix it first`);
  }
  if (disabledHooks.includes(name)) return [];
  return [{ path: ['disabledHooks', disabledHooks.length], value: name, isInsertion: true }];
}

/** The whole list with the last name; else from the end, as each removal moves what comes after it. */
function removeName(
  { disabledHooks }: Readonly<Record<string, unknown>>,
  name: string,
): JsonEdit[] {
  if (!Array.isArray(disabledHooks) || !disabledHooks.includes(name)) return [];
  if (disabledHooks.every((each) => each === name)) {
    return [{ path: ['disabledHooks'], value: undefined }];
  }
  return disabledHooks
    .flatMap((each, index) => (each === name ? [index] : []))
    .toReversed()
    .map((index) => ({ path: ['disabledHooks', index], value: undefined }));
}
