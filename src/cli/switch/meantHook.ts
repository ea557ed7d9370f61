import { createInterface } from 'node:readline/promises';
import type { HookRegistryEntry } from '../../hooks/entry.js';
import { hookScope, ofProject, readDisabled, scopedName } from '../../hooks/disabledHooks.js';
import { hookIdentity } from '../../protocol/identity.js';
import { HOOK_SCOPES, type HookScope } from '../../protocol/types.js';
import type { SettingsFile } from '../../util/fileProblem.js';
import { suggestName } from '../../util/suggestName.js';
import { toOneLine, toVisible } from '../shared/terminal.js';
import { isInteractive } from '../shared/streams.js';
import { UsageError } from '../shared/usageError.js';

/** A hook that a command is about. */
export interface MeantHook {
  readonly name: string;
  readonly scope: HookScope;
}

export function allOf(entries: readonly HookRegistryEntry[]): MeantHook[] {
  const hooks = entries.map((entry) => {
    const [name, scope] = [hookIdentity(entry.config), hookScope(entry)];
    return [scopedName(scope, name), { name, scope }] as const;
  });
  return [...new Map(hooks).values()];
}

/**
 * Whose hook of a name is meant. Where several scopes have one, it asks.
 *
 * @throws UsageError where there is none, or nobody says which
 */
export async function choose(
  name: string,
  entries: readonly HookRegistryEntry[],
  { scope, project, json }: { scope?: HookScope; project?: boolean; json?: boolean },
): Promise<MeantHook> {
  requireHook(
    name,
    entries.map(({ config }) => hookIdentity(config)),
  );
  const found = allOf(entries).filter((hook) => hook.name === name);
  const isSaid = (each: MeantHook) => each.scope === (scope ?? (project ? 'project' : each.scope));
  const meant = found.filter(isSaid);
  const [only, ...others] = meant.length > 0 || scope !== undefined ? meant : found;
  if (only && others.length === 0) return only;
  const choices = only ? meant : found;
  const list = HOOK_SCOPES.filter((each) => choices.some((hook) => hook.scope === each));
  if (only && !json && isInteractive()) {
    return { name, scope: await ask(name, list, entries) };
  }
  const what = only
    ? `is the name of hooks of several`
    : `is no hook ${ofWhom(scope ?? 'project')}; it is the name of hooks`;
  const words = list.map((each) => placeOf(name, each, entries)).join(', and ');
  const flags = list.map((each) => `--scope ${each}`).join(' or ');
  throw new UsageError(`"${toOneLine(name)}" ${what}: ${words}; say whose is meant with ${flags}`);
}

export function requireHook(name: string, known: readonly string[]): void {
  if (known.includes(name)) return;
  const hint = known.length === 0 ? 'none is configured' : suggestName(name, known);
  throw new UsageError(`There is no hook "${toOneLine(name)}"; ${toOneLine(hint)}`);
}

/** Anything but one of the choices is asked again; the end of the input ends the command. */
async function ask(
  name: string,
  list: readonly HookScope[],
  entries: readonly HookRegistryEntry[],
): Promise<HookScope> {
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const closed = new Promise<string>((resolve) => void terminal.once('close', () => resolve('q')));
  const places = list.map((each) => `  ${placeOf(name, each, entries)}`).join('\n');
  const question = `${places}\nWhose "${toVisible(name)}"? ${list.join(', ')}, or (q)uit: `;
  try {
    for (;;) {
      const answer = await Promise.race([terminal.question(question).catch(() => 'q'), closed]);
      const word = answer.trim().toLowerCase();
      const scope = list.find((each) => each === word);
      if (scope) return scope;
      if (/^q(?:uit)?$/u.test(word)) throw new UsageError('Nothing is changed');
    }
  } finally {
    terminal.close();
  }
}

function placeOf(name: string, scope: HookScope, entries: readonly HookRegistryEntry[]): string {
  const files = entries
    .filter((entry) => hookIdentity(entry.config) === name && hookScope(entry) === scope)
    .map(({ origin, extension }) => origin?.file ?? extension?.name ?? '');
  return `${ofWhom(scope)} (${[...new Set(files)].map(toVisible).join(', ')})`;
}

export function ofWhom(scope: HookScope | undefined): string {
  if (scope === undefined) return '';
  return scope === 'extension' ? 'of an extension' : `of the ${scope}`;
}

/** Whether an entry of a file's `disabledHooks` switches off a hook; without a scope, any of that name. */
export function disables(
  scope: SettingsFile['scope'],
  written: unknown,
  { name, scope: whose }: { readonly name: string; readonly scope?: HookScope | undefined },
  entries: readonly HookRegistryEntry[],
): boolean {
  if (typeof written !== 'string') return false;
  const entry = scope === 'project' ? ofProject(written) : written;
  const scopes = whose === undefined ? HOOK_SCOPES : [whose];
  if (scopes.some((each) => entry === scopedName(each, name))) return true;
  if (entry !== name) return false;
  const named = entries.filter(({ config }) => hookIdentity(config) === name);
  const disabled = readDisabled([entry], entries);
  return (
    whose === undefined || named.some((hook) => hookScope(hook) === whose && disabled.has(hook))
  );
}
