import type { JsonEdit } from '../shared/editJson.js';
import { editSettings, type SettingsDecision } from '../shared/editSettings.js';
import { findSettingsFiles, settingsFileIn } from '../../config/settings/settingsPlaces.js';
import { adviseTrust } from '../../config/settings/settingsLayer.js';
import type { HookRegistryEntry } from '../../hooks/entry.js';
import { hookIdentity } from '../../protocol/identity.js';
import { warnIfOff } from '../shared/obstacles.js';
import type { WorkspaceOptions } from '../shared/options.js';
import { editAsAllowed, type OwnEdit } from '../shared/ownEdit.js';
import { projectSettingsToWrite } from '../shared/projectFile.js';
import { printJson, printLine, printNotice, toOneLine } from '../shared/terminal.js';
import { requireHome } from '../../util/homeDirectory.js';
import { plainName, scopedName } from '../../hooks/disabledHooks.js';
import type { HookScope } from '../../protocol/types.js';
import { UsageError } from '../shared/usageError.js';
import { openRegistry, openWorkspace, type Workspace } from '../shared/workspace.js';
import { allOf, choose, disables, ofWhom, requireHook, type MeantHook } from './meantHook.js';

interface SwitchOptions extends Omit<WorkspaceOptions, 'settings'> {
  /** In place of a name. */
  readonly all?: boolean;
  readonly project?: boolean;
  readonly user?: boolean;
  /** Whose hook is meant. */
  readonly scope?: HookScope;
}

/** What has become of one hook. */
interface Switched {
  readonly hook: string;
  /** Whose it is, where one hook alone is meant. */
  readonly scope?: HookScope;
  readonly enabled: boolean;
  /** Files in which that is new. */
  readonly changed: readonly string[];
  /** Files that disable it now. */
  readonly disabledIn: readonly string[];
}

/** @throws UsageError for an unknown hook or a foreign settings file; Error when settings cannot be changed */
export async function disable(name: string | undefined, options: SwitchOptions): Promise<number> {
  checkName(name, options);
  const { workspace, entries } = await openHooks(options);
  const [chosen] = chosenScopes(options);
  const meant =
    name === undefined
      ? allOf(entries).filter((hook) => maySwitch(chosen, hook))
      : [await choose(name, entries, options)];
  const switched: Switched[] = [];
  const objections = new Map<string, string>();
  for (const hook of meant) {
    const scope = chosen ?? (hook.scope === 'project' ? 'project' : 'user');
    const file = await fileOf(scope, workspace);
    if (!maySwitch(scope, hook)) throw new UsageError(notOfProject(hook));
    const { changed, objection } = await edit(scope, file, workspace, (current) =>
      addName(file, scope, current, hook, entries),
    );
    if (objection !== undefined) objections.set(hook.name, objection);
    const enabled = objection !== undefined;
    switched.push({
      hook: hook.name,
      scope: hook.scope,
      enabled,
      changed: changed ? [file] : [],
      disabledIn: [file],
    });
  }
  if (options.json) printSwitched(switched, options);
  else if (switched.length === 0) printLine('No hook is configured: there is nothing to disable');
  else switched.forEach(tellDisabled);
  for (const [hook, objection] of objections) {
    printNotice('error', toOneLine(`"${hook}" is not disabled yet, ${adviseTrust(objection)}`));
  }
  return objections.size === 0 ? 0 : 1;
}

/** @returns the exit code: 0 no settings disable it any more, 1 some still do */
export async function enable(name: string | undefined, options: SwitchOptions): Promise<number> {
  checkName(name, options);
  const { workspace, entries } = await openHooks(options);
  const { disabledHooks } = workspace.origins;
  const known = [...namesOf(entries), ...[...disabledHooks.keys()].map(plainName)];
  if (name !== undefined) requireHook(name, known);
  const isMeant = (scope: Scope, each: unknown) =>
    name === undefined || disables(scope, each, { name, scope: options.scope }, entries);
  /** The files that do not disable a hook any more. */
  const changed = new Map<string, string[]>();
  const scopes = chosenScopes(options);
  for (const scope of scopes.length > 0 ? scopes : await ownScopes(workspace)) {
    const file = await fileOf(scope, workspace);
    await edit(scope, file, workspace, (current) => {
      for (const each of new Set(listOf(current).filter((entry) => isMeant(scope, entry)))) {
        const hook = plainName(String(each));
        changed.set(hook, [...(changed.get(hook) ?? []), file]);
      }
      return removeNames(current, (each) => isMeant(scope, each));
    });
  }
  const listed = [...disabledHooks].flatMap(([entry, files]) =>
    files.map(({ file, scope }) => ({ entry, file, scope })),
  );
  const names = new Set([...listed.map(({ entry }) => plainName(entry)), ...changed.keys()]);
  const switched = (name === undefined ? [...names] : [name]).map((hook) => {
    const files = changed.get(hook) ?? [];
    const left = listed
      .filter(({ file }) => !files.includes(file))
      .filter(({ entry, scope }) =>
        disables(scope, entry, { name: hook, scope: options.scope }, entries),
      );
    const disabledIn = [...new Set(left.map(({ file }) => file))];
    return { hook, enabled: disabledIn.length === 0, changed: files, disabledIn };
  });
  if (options.json) printSwitched(switched, options);
  else if (switched.length === 0) printLine('No hook is disabled');
  else switched.forEach(tellEnabled);
  if (switched.length > 0) await warnIfOff(workspace.config.getWorkingDir());
  return switched.every(({ enabled }) => enabled) ? 0 : 1;
}

function checkName(name: string | undefined, { all }: SwitchOptions): void {
  if ((name === undefined) === (all === true)) return;
  throw new UsageError('Name one hook, or take all of them with --all');
}

function printSwitched(switched: readonly Switched[], { all }: SwitchOptions): void {
  printJson(all ? { hooks: switched } : switched[0]);
}

function tellDisabled({ hook, scope, enabled, changed, disabledIn }: Switched): void {
  const state = `${enabled ? 'named in disabledHooks' : 'disabled'}${changed.length > 0 ? '' : ' already'}`;
  printLine(toOneLine(`"${hook}" ${ofWhom(scope)} is ${state} in ${disabledIn.join(', ')}`));
}

function tellEnabled({ hook, changed, disabledIn }: Switched): void {
  for (const file of changed) printLine(toOneLine(`"${hook}" is not disabled any more in ${file}`));
  for (const file of disabledIn) {
    printNotice('warning', toOneLine(`"${hook}" is still disabled in ${file}`));
  }
  if (changed.length + disabledIn.length === 0) printLine(toOneLine(`"${hook}" is not disabled`));
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

/** In the home directory, the user's settings are the only ones. */
async function ownScopes({ config }: Workspace): Promise<Scope[]> {
  const files = findSettingsFiles({ workingDir: config.getWorkingDir() });
  return SCOPES.filter((scope) => files.some((file) => file.scope === scope));
}

async function fileOf(scope: Scope, { config }: Workspace): Promise<string> {
  return scope === 'user'
    ? settingsFileIn(requireHome())
    : await projectSettingsToWrite(config.getWorkingDir());
}

function maySwitch(scope: Scope | undefined, hook: MeantHook): boolean {
  return scope !== 'project' || hook.scope === 'project';
}

function notOfProject(hook: MeantHook): string {
  return `"${toOneLine(hook.name)}" is a hook ${ofWhom(hook.scope)}, which the settings of a project cannot switch off; leave --project out`;
}

function namesOf(entries: readonly HookRegistryEntry[]): string[] {
  return [...new Set(entries.map(({ config }) => hookIdentity(config)))];
}

/** A name in the project's file is of the project in any case; elsewhere the scope stands before it. */
function addName(
  file: string,
  scope: Scope,
  { disabledHooks }: Readonly<Record<string, unknown>>,
  hook: MeantHook,
  entries: readonly HookRegistryEntry[],
): JsonEdit[] {
  const value = scope === 'project' ? hook.name : scopedName(hook.scope, hook.name);
  if (disabledHooks === undefined) return [{ path: ['disabledHooks'], value: [value] }];
  if (!Array.isArray(disabledHooks)) {
    throw new Error(`${file} is not changed: its disabledHooks is not an array; fix it first`);
  }
  if (disabledHooks.some((each) => disables(scope, each, hook, entries))) return [];
  return [{ path: ['disabledHooks', disabledHooks.length], value, isInsertion: true }];
}

/** The whole list with the last name; else from the end, as each removal moves what comes after it. */
function removeNames(
  current: Readonly<Record<string, unknown>>,
  isMeant: (name: unknown) => boolean,
): JsonEdit[] {
  const names = listOf(current);
  if (!names.some(isMeant)) return [];
  if (names.every(isMeant)) return [{ path: ['disabledHooks'], value: undefined }];
  return names
    .flatMap((each, index) => (isMeant(each) ? [index] : []))
    .toReversed()
    .map((index) => ({ path: ['disabledHooks', index], value: undefined }));
}

function listOf({ disabledHooks }: Readonly<Record<string, unknown>>): readonly unknown[] {
  return Array.isArray(disabledHooks) ? disabledHooks : [];
}
