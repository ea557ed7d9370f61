import { dirname, join } from 'node:path';
import type { Extension } from '../hooks/entry.js';
import { isFault } from '../hooks/givenHooks.js';
import { failsClosed } from '../protocol/events.js';
import { shortIdentity } from '../protocol/identity.js';
import type { HookDefinitions, HookEventName } from '../protocol/types.js';
import { fileError, type FileProblem, type SettingsFile } from '../util/fileProblem.js';
import { isInside, realPathOf } from '../util/paths.js';
import type { ConfigOptions } from './configOptions.js';
import { SCALAR_FIELDS } from './settings/settingsKeys.js';
import { isTightening, type Layer } from './settings/settingsLayer.js';
import { MANIFEST } from './watchedFiles.js';

/**
 * What files said that a host has read itself, as far as its options tell: whose hooks they are, but not whose the
 * other keys. Those go on to count until the file is whole again; those of a project, where nobody else says anything.
 */
export function layersInForce(
  sources: readonly SettingsFile[],
  options: ConfigOptions,
): Map<string, Layer> {
  const given = Object.entries(options).filter(
    ([key, value]) => value !== undefined && Object.hasOwn(SCALAR_FIELDS, key),
  );
  const keys = Object.fromEntries(given);
  const layers = sources.map((source): Layer => {
    const groups = Object.entries(options.hooks ?? {}).map(([event, each]) => [
      event,
      each?.filter((group) => group?.origin?.file === source.file) ?? [],
    ]);
    const hooks = Object.fromEntries(groups.filter(([, each]) => each?.length)) as HookDefinitions;
    const isOfProject = source.scope === 'project';
    const status = Object.keys(hooks).length > 0 ? 'read' : 'missing';
    const said = isOfProject ? { scalars: {}, fallback: keys } : { scalars: keys, fallback: {} };
    return { source, status, hooks, ...said, problems: [] };
  });
  const known = layers.filter(
    ({ source, status }) => status === 'read' || source.scope !== 'project',
  );
  return new Map(known.map((layer) => [layer.source.file, layer]));
}

/**
 * A layer with one more problem where it would lose what is in force of it: a guard, as something is wrong in the file or
 * as it is gone; or another key in which something is wrong. Guards that a project had are for its consent gate.
 *
 * @param isSure whether it is known which keys the file said
 */
export function withLoss(before: Layer | undefined, now: Layer, isSure: boolean): Layer {
  const { source, status, problems, hooks } = now;
  if (!before || problems.some(({ severity }) => severity === 'error')) return now;
  const isOfProject = source.scope === 'project';
  const isGone = status === 'missing' && !isOfProject;
  const known = before.otherKeys ?? [];
  const newKey = isOfProject ? undefined : now.otherKeys?.find((key) => !known.includes(key));
  if (!isGone && newKey === undefined && !problems.some(isWrong)) return now;
  const lost =
    isSure && !isGone && !isOfProject
      ? findLost(before, now)
      : findLost({ hooks: before.hooks }, { hooks });
  if (lost.length === 0) return now;
  const found = newKey === undefined ? '' : `"${newKey}" is not known, and `;
  const message = isGone ? adviseOnGone('the file', lost) : `${found}${adviseOn(lost)}`;
  return { ...now, problems: [...problems, fileError(source, message)] };
}

/**
 * A layer of a project that goes on to say what tightens, where nobody else says anything: the file may be written by
 * the model that its switches concern.
 */
export function withTightening(
  before: Layer | undefined,
  now: Layer,
  all: readonly Layer[],
): Layer {
  const { source, scalars, fallback, problems } = now;
  if (!before || source.scope !== 'project') return now;
  const gone = Object.entries({ ...before.fallback, ...before.scalars }).filter(
    (entry) => isTightening(entry) && !Object.hasOwn({ ...fallback, ...scalars }, entry[0]),
  );
  if (gone.length === 0) return now;
  const told = gone.find(([key]) => !all.some((each) => Object.hasOwn(each.scalars, key)));
  const message = `the project does not say "${told?.[0]}" any more; it stays as it was until this program is started anew`;
  const warning = {
    ...fileError(source, message),
    severity: 'warning',
    kind: 'untrusted',
  } as const;
  return {
    ...now,
    fallback: { ...fallback, ...Object.fromEntries(gone) },
    problems: told ? [...problems, warning] : problems,
  };
}

/** What is ignored of a project is no mistake. */
function isWrong(problem: FileProblem): boolean {
  return problem.kind !== 'untrusted' && isFault(problem);
}

function adviseOn(lost: readonly string[]): string {
  return `${listOf(lost)} would be lost: correct what is wrong in this file, and take that out afterwards if you meant to`;
}

function adviseOnGone(what: string, lost: readonly string[]): string {
  return `${what} is gone, and with it ${listOf(lost)}: put it back, or start this program anew to do without`;
}

function listOf([first = '', ...others]: readonly string[]): string {
  return others.length === 0 ? first : `${first}, and ${others.length} more`;
}

/** What of a file counts for more than what it does. */
interface Said {
  readonly hooks?: HookDefinitions | undefined;
  readonly scalars?: object;
}

function findLost(before: Said, now: Said): string[] {
  const left = namesIn(now);
  return namesIn(before).filter((name) => {
    const at = left.indexOf(name);
    if (at >= 0) left.splice(at, 1);
    return at < 0;
  });
}

function namesIn({ hooks = {}, scalars = {} }: Said): string[] {
  const guards = Object.entries(hooks).flatMap(([event, groups]) =>
    groups
      .flatMap((group) => group.hooks)
      .filter((hook) => failsClosed(hook, event as HookEventName))
      .map((hook) => `the guard "${shortIdentity(hook)}" (${event})`),
  );
  return [...guards, ...Object.keys(scalars).map((key) => `"${key}"`)];
}

interface LoadedExtensions {
  readonly extensions: readonly Extension[];
  readonly problems: readonly FileProblem[];
}

/**
 * Extensions as they are now; of one that cannot be read, is gone with a guard of the user, or would lose one by a
 * mistake, what it was.
 */
export function keepExtensions(
  before: readonly Extension[],
  loaded: LoadedExtensions | undefined,
): LoadedExtensions & { readonly kept: readonly Extension[] } {
  if (!loaded) return { extensions: before, problems: [], kept: [] };
  const { extensions, problems: found } = loaded;
  const errors = found.filter(({ severity }) => severity === 'error');
  const losses = new Map(before.map((each) => [each, lossOf(each, extensions, found)]));
  const problems = [...found, ...[...losses.values()].flatMap((loss) => loss ?? [])];
  const kept = before.filter(
    (each) => losses.get(each) ?? errors.some((error) => isOf(error, each)),
  );
  const directories = new Set(kept.map(({ directory }) => directory));
  const names = new Set(kept.map(({ name }) => name));
  const others = extensions.filter(
    ({ directory, name }) => !directories.has(directory) && !names.has(name),
  );
  return { extensions: [...kept, ...others], problems, kept };
}

function lossOf(
  before: Extension,
  extensions: readonly Extension[],
  problems: readonly FileProblem[],
): FileProblem | undefined {
  const { directory = '', scope, name } = before;
  const now =
    extensions.find((each) => each.directory === directory) ??
    extensions.find((each) => each.name === name && each.scope === scope);
  const wrong = problems.filter((problem) => isWrong(problem) && isOf(problem, before));
  if (wrong.some(({ severity }) => severity === 'error')) return undefined;
  const isGone = !now && scope !== 'project';
  const lost = now || isGone ? findLost({ hooks: before.hooks }, { hooks: now?.hooks }) : [];
  if (lost.length === 0) return undefined;
  const source = { scope: 'user', file: join(directory, MANIFEST) } as const;
  if (isGone) return fileError(source, adviseOnGone('the extension', lost));
  return wrong[0] && fileError(wrong[0], adviseOn(lost));
}

/** Whether a problem is one of a file of an extension, or of a folder that it is in. */
export function isOf({ scope, file }: FileProblem, extension: Extension): boolean {
  const { directory } = extension;
  if (directory === undefined || scope !== extension.scope) return false;
  const folder = realPathOf(dirname(file)) ?? dirname(file);
  return isInside(folder, directory) || isInside(directory, realPathOf(file) ?? file);
}
