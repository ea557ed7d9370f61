import { requireAskable } from '../fleet/requireAskable.js';
import { errorMessage } from '../util/errorMessage.js';
import { forbiddenVariables } from '../run/hookEnvironment.js';
import { SCALAR_FIELDS } from '../config/settings/settingsKeys.js';
import { nearestName } from '../util/suggestName.js';
import { unicodeName } from '../shell/parseCommand.js';
import { dialects } from '../dialects/dialects.js';
import { requireNoReferences } from '../fleet/httpHook.js';
import { events } from '../protocol/events.js';
import { readDisabled, type PlacedHook } from '../hooks/disabledHooks.js';
import { commandLine } from '../protocol/identity.js';
import { isRecord } from '../util/records.js';
import { PROMPT_KEYS, REMOTE_KEYS } from '../run/sameCommand.js';
import { findControl } from '../protocol/sanitizeText.js';
import { mayMatchTogether } from './matcherRules.js';
import { findScripts, readScript } from './programs.js';
import { ConfigSource } from '../protocol/types.js';
import type { Checked, CheckedFile, HookSite, Slip } from './types.js';

const DAY_MS = 24 * 60 * 60 * 1000;

/** Fields of answers in which one hook's value replaces another's. */
const REWRITTEN = ['tool_input', 'llm_request', 'llm_response'];

/** Another file may say true, and is overruled. */
function saysOff({ value: { enableHooks } }: CheckedFile): boolean {
  return enableHooks !== undefined && enableHooks !== true;
}

export function hooksOff({ files, hooks, settings }: Checked): Slip[] {
  const [first] = hooks;
  if (settings.enableHooks || !first) return [];
  const file = files.find(saysOff) ?? first.file;
  const at = file.value['enableHooks'] === undefined ? ['hooks'] : ['enableHooks'];
  const message = 'no hook runs while hooks are off; set "enableHooks": true';
  return [{ file, at, message }];
}

/** Only those that look like a known key: all others belong to the agent. */
export function unknownTopLevelKey({ files }: Checked): Slip[] {
  const known = [...Object.keys(SCALAR_FIELDS), 'hooks', 'mcpServers'];
  const settings = files.filter(({ extensionPath }) => extensionPath === undefined);
  return settings.flatMap((file) =>
    Object.keys(file.value).flatMap((key) => {
      const near = known.includes(key) ? undefined : nearestName(key, known);
      // A slip seldom hits the first letter: `tools` is a key of the agent.
      if (near === undefined || near[0] !== key[0]?.toLowerCase()) return [];
      return { file, at: [key], message: `unknown key, ignored; did you mean '${near}'?` };
    }),
  );
}

/** Only lists that were written empty: bad hooks are reported by themselves. */
export function emptyHooks({ files, groups }: Checked): Slip[] {
  const message = 'holds no hook; add one, or remove it';
  const ofGroups = groups
    .filter(({ raw }) => isEmptyList(raw['hooks']))
    .map(({ file, at }) => ({ file, at: [...at, 'hooks'], message }));
  const ofEvents = files.flatMap((file) => {
    const { hooks } = file.value;
    return Object.entries(isRecord(hooks) ? hooks : {})
      .filter(([, list]) => isEmptyList(list))
      .map(([event]) => ({ file, at: ['hooks', event], message }));
  });
  return [...ofGroups, ...ofEvents];
}

function isEmptyList(value: unknown): boolean {
  return Array.isArray(value) && value.length === 0;
}

/** Characters that make a reader see something else than what runs. */
export function hiddenCharacters({ hooks }: Checked): Slip[] {
  return hooks.flatMap(({ file, at, hook }) =>
    (
      ['name', 'command', 'args', ...REMOTE_KEYS, 'server', 'tool', ...PROMPT_KEYS] as const
    ).flatMap((key) => {
      const character = findControl(textOf(hook[key]));
      if (character === undefined) return [];
      const message = `contains the control character ${unicodeName(character)}, which hides text from its reader; remove it`;
      return { file, at: [...at, key], message };
    }),
  );
}

function textOf(value: string | readonly string[] | Readonly<Record<string, string>> = ''): string {
  return typeof value === 'string' ? value : Object.entries(value).flat().join(' ');
}

export function pluginType({ hook }: HookSite): string | undefined {
  if (hook.type !== 'plugin') return undefined;
  return 'a plugin cannot be run; use "type": "command" with a command';
}

export function remoteAddress({ hook, group, raw }: HookSite): string | undefined {
  if (hook.type !== 'remote') return undefined;
  try {
    requireAskable(hook, group.dialect);
    if (group.dialect && !isOfLoader(raw)) requireNoReferences(hook.headers);
    return undefined;
  } catch (error) {
    return `the server cannot be asked: ${errorMessage(error)}`;
  }
}

/** In the words of another agent; then the loader has reported its headers. */
function isOfLoader({ hooks }: HookSite['raw']): boolean {
  const [hook]: readonly unknown[] = Array.isArray(hooks) ? hooks : [];
  return isRecord(hook) && hook['type'] === 'http';
}

export function mcpPackage(
  { hook: { type } }: HookSite,
  { mcpFault }: Checked,
): string | undefined {
  return type === 'mcp_tool' ? mcpFault?.message : undefined;
}

export function expressionInvalid(
  { hook: { expr } }: HookSite,
  { expressions }: Checked,
): string | undefined {
  if (expr === undefined || !expressions) return undefined;
  if (expressions instanceof Error) return expressions.message;
  try {
    expressions.compile(expr);
    return undefined;
  } catch (error) {
    return errorMessage(error);
  }
}

export function timeoutTooLong({ hook, group }: HookSite): string | undefined {
  const { timeout = 0 } = hook;
  const unit = group.dialect ? dialects[group.dialect].timeoutUnit : { name: 'ms', ms: 1 };
  if (timeout * unit.ms <= DAY_MS) return undefined;
  return `${timeout} ${unit.name} is more than a day, and the operation waits that long; write less`;
}

/** A hook of the user may set them. */
export function refusedVariable({ hook, file }: HookSite): string | undefined {
  const isForProject = ['project', 'file'].includes(file.source.scope);
  const refusal = isForProject ? forbiddenVariables(hook.env) : undefined;
  return refusal && `a hook of a project is refused where ${refusal}`;
}

/** The same command again, where both may match. */
export function duplicateCommand(site: HookSite, { hooks, settings }: Checked): string | undefined {
  const disabled = readDisabled(settings.disabledHooks, hooks.map(placed));
  const isOff = (other: HookSite) => disabled.has(placed(other));
  if (site.key === undefined || isOff(site)) return undefined;
  const same = earlierThan(site, hooks).filter(
    (other) => other.key === site.key && !isOff(other) && mayMatchTogether(other, site),
  );
  const first = same.find((other) => !isOfProject(other)) ?? same[0];
  if (!first) return undefined;
  const counting =
    isOfProject(first) && !isOfProject(site) ? 'and this one counts' : 'which counts';
  return `the same command as at ${place(first, site)}, ${counting}: it runs once; remove one`;
}

function placed({ hook: config, file }: HookSite): PlacedHook {
  const { source: origin, extensionPath } = file;
  return extensionPath === undefined
    ? { config, source: ConfigSource.Project, origin }
    : { config, source: ConfigSource.Extensions, extension: { scope: origin.scope } };
}

function isOfProject({ file }: HookSite): boolean {
  return file.source.scope === 'project';
}

export function duplicateName(site: HookSite, { hooks }: Checked): string | undefined {
  const { name } = site.hook;
  if (name === undefined || name === '') return undefined;
  const first = earlierThan(site, hooks).find(
    ({ hook }) =>
      hook.name === name &&
      (hook.url !== site.hook.url || commandLine(hook) !== commandLine(site.hook)),
  );
  return (
    first &&
    `the name of another hook, at ${place(first, site)}, too: disabledHooks and messages cannot tell them apart; rename one`
  );
}

export function conflictingRewrites(site: HookSite, checked: Checked): string | undefined {
  const mine = isChained(site, checked) ? [] : rewritesOf(site, checked);
  if (mine.length === 0) return undefined;
  const others = earlierThan(site, checked.hooks).filter(
    (other) => commandLine(other.hook) !== commandLine(site.hook) && mayMatchTogether(other, site),
  );
  for (const other of others) {
    const field = rewritesOf(other, checked).find((each) => mine.includes(each));
    if (field === undefined) continue;
    const advice = events[site.event].chain ? 'set "sequential": true' : 'put both into one script';
    return `writes ${field}, as does the hook at ${place(other, site)}, and neither reads what the other wrote: the later one wins; ${advice}`;
  }
  return undefined;
}

/** Whether the hooks of the event run one after the other, each reading what the one before changed. */
function isChained({ event }: HookSite, { groups }: Checked): boolean {
  const isSequential = groups.some(
    (each) => each.event === event && each.group.sequential === true,
  );
  return isSequential && events[event].chain !== undefined;
}

/** The fields that a command, or a script that it names, seems to write, judged by its text. */
function rewritesOf(site: HookSite, checked: Checked): string[] {
  const texts = findScripts(site, checked).map(readScript);
  const said = [site.hook.command, ...(site.hook.args ?? []), ...texts];
  return REWRITTEN.filter((field) => {
    const writing = String.raw`hookSpecificOutput\W{0,12}[:=][^]{0,200}?\b${field}\b\W{0,3}[:=]`;
    return said.some((text) => new RegExp(writing, 'u').test(text));
  });
}

function earlierThan(site: HookSite, hooks: readonly HookSite[]): readonly HookSite[] {
  return hooks.slice(0, hooks.indexOf(site));
}

/** `line 12`, or `file:12` for another file. */
function place(site: HookSite, from: HookSite): string {
  const { line } = site.file.document.locate(site.at);
  return site.file === from.file ? `line ${line}` : `${site.file.source.file}:${line}`;
}
