import { existsSync } from 'node:fs';
import { mkdir, rm, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { dialects } from '../../dialects/dialects.js';
import { parseHookDefinitions } from '../../hooks/hookSettings.js';
import { hookIdentity } from '../../protocol/identity.js';
import {
  type CommandHookConfig,
  type DialectName,
  HookEventName,
  HookType,
} from '../../protocol/types.js';
import type { ProjectHook } from '../../trust/consentItem.js';
import { isRecord } from '../../util/records.js';
import type { JsonEdit } from '../shared/editJson.js';
import { editSettings } from '../shared/editSettings.js';
import { HOOK_TEST_SUFFIX, type HookTest, formatHookTest } from '../shared/hookTestFile.js';
import { UsageError } from '../shared/usageError.js';
import type { StarterHook, StarterLanguage } from './starterHooks.js';

/** A file that init writes. */
export interface NewFile {
  /** Relative to the project. */
  readonly path: string;
  readonly content: string;
  readonly mode: number;
}

export function filesOf(
  hook: StarterHook,
  language: StarterLanguage,
  event: HookEventName,
): NewFile[] {
  const { name } = hook;
  // Other hooks of the event may speak as well.
  const test: HookTest = {
    event,
    input: { ...hook.input },
    expect: hook.field
      ? { decision: 'block', exit: { [name]: 2 } }
      : { decision: 'allow', exit: { [name]: 0 } },
  };
  return [
    { path: scriptOf(hook, language), content: language.write(hook), mode: 0o755 },
    {
      // Consent covers all that is beside the script: a test may change without it.
      path: `.llxprt/tests/${name}${HOOK_TEST_SUFFIX}`,
      content: formatHookTest(test),
      mode: 0o644,
    },
  ];
}

/**
 * All files, or none.
 *
 * @param andThen what must succeed as well
 * @param advice what to do where one is there already
 * @throws UsageError where one is there already
 */
export async function createFiles(
  project: string,
  files: readonly NewFile[],
  andThen: () => Promise<unknown>,
  advice = 'remove it, or choose another --name',
): Promise<void> {
  const created: string[] = [];
  try {
    for (const { path, content, mode } of files) {
      await mkdir(dirname(join(project, path)), { recursive: true });
      await writeFile(join(project, path), content, { mode, flag: 'wx' });
      created.push(join(project, path));
    }
    await andThen();
  } catch (error) {
    await Promise.all(created.map((file) => rm(file, { force: true })));
    const isThere = error instanceof Error && 'code' in error && error.code === 'EEXIST';
    if (!isThere) throw error;
    const there = files[created.length]?.path;
    throw new UsageError(`${there} is there already; ${advice}`, { cause: error });
  }
}

/** Relative to the project. */
function scriptOf({ name }: StarterHook, { extension }: StarterLanguage): string {
  return `.llxprt/hooks/${name}.${extension}`;
}

/**
 * What editors complete the settings with: the installed schema, relative to the settings, as they may have no network
 * and others have the project elsewhere. None where the package is not installed in the project.
 */
export function schemaFor(project: string): string | undefined {
  const installed = 'node_modules/hookstack/schema/settings.json';
  return existsSync(join(project, installed)) ? `../${installed}` : undefined;
}

const TIMEOUT_MS = 10_000;

/** As it stands in the settings. */
export interface StarterGroup {
  readonly matcher?: string;
  readonly dialect?: DialectName;
  readonly hooks: readonly [CommandHookConfig];
}

export function groupOf(hook: StarterHook, language: StarterLanguage): StarterGroup {
  const words = [language.interpreter, `$LLXPRT_PROJECT_DIR/${scriptOf(hook, language)}`];
  return {
    ...(hook.matcher !== undefined && { matcher: hook.matcher }),
    ...(hook.dialect !== undefined && { dialect: hook.dialect }),
    hooks: [
      {
        type: HookType.Command,
        name: hook.name,
        command: words.filter(Boolean).join(' '),
        timeout: TIMEOUT_MS / (hook.dialect ? dialects[hook.dialect].timeoutUnit.ms : 1),
        ...(hook.failsClosed && { onFailure: 'deny' }),
      },
    ],
  };
}

/** The hook as it is read from the settings, with its timeout in ms. */
export function starterAsLoaded(event: HookEventName, group: StarterGroup): ProjectHook[] {
  return asLoaded({ [event]: [group] }).map(({ config, ...hook }) => ({
    ...hook,
    config: { ...config, timeout: TIMEOUT_MS },
  }));
}

/**
 * Hooks as they are read from settings.
 *
 * @param servers what stands under `mcpServers` of the same file
 */
export function asLoaded(hooks: unknown, servers?: unknown): ProjectHook[] {
  const loaded = parseHookDefinitions(hooks, undefined, servers).hooks;
  return Object.values(HookEventName).flatMap((event) =>
    (loaded[event] ?? []).flatMap(({ hooks: configs, ...own }) => {
      const { origin: _, ...group } = own;
      return configs.map((config) => ({ event, group, config }));
    }),
  );
}

interface Addition {
  readonly group: StarterGroup;
  readonly event: HookEventName;
  readonly schema: string | undefined;
}

export async function addToSettings(
  file: string,
  { group, event, schema }: Addition,
): Promise<void> {
  await editSettings(file, (current) => {
    refuseSecond(file, group, current['hooks']);
    return additionsTo(current, [{ event, group }], schema);
  });
}

/** The edits that add groups to settings, and switch hooks on. */
export function additionsTo(
  current: Readonly<Record<string, unknown>>,
  groups: readonly { readonly event: HookEventName; readonly group: object }[],
  schema: string | undefined,
): JsonEdit[] {
  const isOn = current['enableHooks'] === true;
  // In a file that is there, it would stand behind the rest.
  const isNew = Object.keys(current).length === 0;
  return [
    ...(isNew && schema !== undefined ? [{ path: ['$schema'], value: schema }] : []),
    ...(isOn ? [] : [{ path: ['enableHooks'], value: true }]),
    ...insertGroups(current['hooks'], groups),
  ];
}

function refuseSecond(
  file: string,
  { hooks: [{ name }] }: StarterGroup,
  configured: unknown,
): void {
  if (!namesIn(configured).has(name ?? '')) return;
  throw new UsageError(
    `${file} has a hook named "${name}" already; remove it, or choose another --name`,
  );
}

/** What the hooks of settings are called. */
export function namesIn(configured: unknown): ReadonlySet<string> {
  const { hooks } = parseHookDefinitions(configured ?? {});
  const present = Object.values(hooks).flatMap((groups) => groups.flatMap((group) => group.hooks));
  return new Set(present.map(hookIdentity));
}

/** One after the other, each behind what is there by then. */
function insertGroups(
  hooks: unknown,
  groups: readonly { readonly event: HookEventName; readonly group: object }[],
): JsonEdit[] {
  const ends = new Map<HookEventName, number>();
  return groups.map(({ event, group }) => {
    const present = isRecord(hooks) ? hooks[event] : undefined;
    const end = ends.get(event) ?? (Array.isArray(present) ? present.length : undefined);
    ends.set(event, (end ?? 0) + 1);
    if (end === undefined) return { path: ['hooks', event], value: [group] };
    return { path: ['hooks', event, end], value: group, isInsertion: true };
  });
}
