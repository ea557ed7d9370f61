import type { Extension } from '../hooks/entry.js';
import type { LoadedExtensions } from '../extensions/extensions.js';
import { formatPath } from '../util/checks.js';
import { mergeLayers } from '../config/settings/settings.js';
import type { FileProblem, SettingsFile } from '../util/fileProblem.js';
import { readSettingsFile } from '../config/settings/settingsFile.js';
import { readLayer } from '../config/settings/settingsLayer.js';
import { loaderSeverities, rules } from './rules.js';
import { parseHookDefinitions } from '../hooks/hookSettings.js';
import { isHookEventName } from '../protocol/events.js';
import { loadSdk } from '../mcp/sdk.js';
import { loadExpressions } from '../rules/expression.js';
import { commandKey } from '../run/sameCommand.js';
import { isRecord } from '../util/records.js';
import type { Checked, CheckedFile, Finding, GroupSite, HookSite } from './types.js';

export interface ValidateOptions {
  /** Absolute path of the project, in which hooks run. */
  readonly workingDir: string;
  /** Whether all keys of the project's own file count. Default: as the user has allowed them. */
  readonly trustProject?: boolean;
  /** Extensions whose hooks run besides. */
  readonly extensions?: LoadedExtensions;
}

/**
 * Checks settings files together, the one with the highest priority first. Nothing is run.
 *
 * @returns the findings, by file and place
 */
export async function validateFiles(
  sources: readonly SettingsFile[],
  { workingDir, trustProject, extensions = NO_EXTENSIONS }: ValidateOptions,
): Promise<Finding[]> {
  const layers = await Promise.all(sources.map((source) => readLayer(source, { trustProject })));
  const { problems, settings } = mergeLayers(layers);
  const ofExtensions = extensions.extensions.flatMap((extension) => {
    const { scope = 'user', directory } = extension;
    return hookFilesOf(extension).map((file) => openFile({ scope, file }, directory));
  });
  const opened = [...sources.map((source) => openFile(source)), ...ofExtensions];
  const files = (await Promise.all(opened)).flatMap((file) => file ?? []);
  const groups = files.flatMap(findGroups);
  const hooks = groups.flatMap(findHooks);
  const expressions = hooks.some(({ hook }) => hook.expr !== undefined)
    ? await loadExpressions().catch((error: Error) => error)
    : undefined;
  const mcpFault = hooks.some(({ hook }) => hook.type === 'mcp_tool')
    ? await loadSdk().then(
        () => undefined,
        (error: Error) => error,
      )
    : undefined;
  const checked = { files, groups, hooks, settings, workingDir, expressions, mcpFault };
  const findings = [...problems, ...extensions.problems].map(toFinding);
  findings.push(...applyRules(checked));
  const order = [...sources, ...files.map(({ source }) => source)].map(({ file }) => file);
  return findings.toSorted(
    (a, b) =>
      order.indexOf(a.file) - order.indexOf(b.file) || a.line - b.line || a.column - b.column,
  );
}

const NO_EXTENSIONS: LoadedExtensions = { extensions: [], problems: [] };

/** The files in which an extension has hooks. */
export function hookFilesOf({ hooks = {} }: Extension): string[] {
  const groups = Object.values(hooks).flat();
  return [...new Set(groups.flatMap(({ origin }) => origin?.file ?? []))];
}

async function openFile(
  source: SettingsFile,
  extensionPath?: string,
): Promise<CheckedFile | undefined> {
  const reading = await readSettingsFile(source, 'an object');
  if (reading.status !== 'read') return undefined;
  return { source, ...reading, ...(extensionPath !== undefined && { extensionPath }) };
}

/** The groups of a file that the loader takes, each with its place. */
function findGroups(file: CheckedFile): GroupSite[] {
  const { hooks } = file.value;
  return Object.entries(isRecord(hooks) ? hooks : {}).flatMap(([key, groups]) =>
    Array.isArray(groups)
      ? groups.flatMap((raw: unknown, index) => readGroup(file, ['hooks', key, index], raw))
      : [],
  );
}

/** The hooks of a group that the loader takes, each with its place. */
function findHooks({ file, raw, at: groupAt }: GroupSite): HookSite[] {
  const hooks: readonly unknown[] = Array.isArray(raw['hooks']) ? raw['hooks'] : [];
  return hooks.flatMap((one, index) =>
    readGroup(file, [...groupAt, 'hooks', index], { ...raw, hooks: [one] }).flatMap((site) =>
      site.group.hooks.map((hook) => {
        const { dialect, moment } = site.group;
        const key = commandKey({ ...hook, dialect, moment, extensionPath: file.extensionPath });
        return { ...site, hook, key };
      }),
    ),
  );
}

/** Asks the loader about one entry at a time, as it does not say where the entries that it accepts were written. */
function readGroup(file: CheckedFile, at: GroupSite['at'], raw: unknown): GroupSite[] {
  if (!isRecord(raw)) return [];
  const { hooks } = parseHookDefinitions(
    { [String(at[1])]: [raw] },
    file.source,
    file.value['mcpServers'],
  );
  return Object.entries(hooks).flatMap(([event, groups]) =>
    isHookEventName(event) ? groups.map((group) => ({ file, event, group, raw, at })) : [],
  );
}

function applyRules(checked: Checked): Finding[] {
  return Object.entries(rules).flatMap(([rule, { severity, check }]) =>
    check(checked).map(({ file, at, message }) => ({
      file: file.source.file,
      ...file.document.locate(at),
      severity,
      rule,
      path: formatPath(at),
      message,
    })),
  );
}

function toFinding({ file, line, column, path, message, kind }: FileProblem): Finding {
  const severity = kind === undefined ? 'error' : loaderSeverities[kind];
  return { file, line, column, severity, rule: kind ?? 'file', path, message };
}
