import path from 'node:path';
import { dialects } from '../../dialects/dialects.js';
import type { DialectName } from '../../protocol/types.js';
import { readJsonFile } from '../../util/guardedFile.js';
import { isInside, realPathOf } from '../../util/paths.js';
import { isRecord } from '../../util/records.js';
import { filesOf } from '../shared/foreignSettings.js';
import { mayBlock } from './carryOver.js';
import { NOTHING, remarkOn, type Source, sourceOf } from './sources.js';

/** Hooks that plugins or extensions in a project have, or that it has as one itself. */
export async function readPlugins(project: string, from: DialectName): Promise<Source[]> {
  const { pluginFiles } = dialects[from].settings;
  const files = pluginFiles.flatMap((pattern) => filesOf(path.join(project, pattern)));
  const found = await Promise.all(files.map((file) => readPlugin(file, from, project)));
  return found.filter((plugin) => plugin !== undefined);
}

async function readPlugin(
  file: string,
  from: DialectName,
  project: string,
): Promise<Source | undefined> {
  const reading = await readJsonFile(file, { groupMayWrite: true });
  if (reading.status === 'missing') return undefined;
  // What cannot be read may be a guard.
  if (reading.status !== 'read') return leftOut(file, 'it cannot be read', true);
  const { value, document } = reading;
  const folder = path.dirname(file);
  const root = path.basename(folder) === 'hooks' ? path.dirname(folder) : folder;
  const hooks = dialects[from].settings.isNamed ? value : { hooks: value['hooks'] };
  const plugin = new Plugin(project, root, from);
  const rooted = plugin.withRoot(hooks) as typeof hooks;
  const source = sourceOf(file, { value: rooted, document }, from);
  const { carried, remarks } = source;
  if (carried.groups.length + remarks.length === 0) return undefined;
  const mayStop = remarks.some(({ kind }) => kind === 'lost') || mayBlock(carried, from);
  const outside = plugin.isInside(file) ? plugin.outside : 'a link leads out of the project';
  return outside === undefined ? source : leftOut(file, outside, mayStop);
}

function leftOut(file: string, why: string, mayStop: boolean): Source {
  const message = `hooks of a plugin or an extension are not taken over, as ${why}`;
  const kind = mayStop ? 'lost' : 'changed';
  return { file, carried: NOTHING, remarks: [remarkOn(file, message, kind)] };
}

/** How Gemini CLI, and those after it, name the folder of an extension. */
const EXTENSION = /\$\{extensionPath\}/gu;

class Plugin {
  /** From the project, as its settings are for all machines. */
  readonly #root: string;
  /** The variables that name the folder. */
  readonly #names: readonly string[];
  /** Why it is left where it is. */
  outside: string | undefined;

  constructor(
    private readonly project: string,
    root: string,
    from: DialectName,
  ) {
    this.#root = ['.', ...path.relative(project, root).split(path.sep)].filter(Boolean).join('/');
    this.#names = dialects[from].missingVariables.filter((name) => name.endsWith('ROOT'));
  }

  isInside(file: string): boolean {
    return isInside(realPathOf(file) ?? file, this.project);
  }

  /** The same with the folder in the environment of each hook that names it, and in place of words that no shell reads. */
  withRoot(value: unknown): unknown {
    if (Array.isArray(value)) return value.map((each) => this.withRoot(each));
    if (!isRecord(value)) return value;
    const isHook = typeof value['command'] === 'string';
    return isHook ? this.#hook(value) : mapValues(value, (each) => this.withRoot(each));
  }

  #hook({ command, args, ...others }: Record<string, unknown>): Record<string, unknown> {
    const line = [command, args]
      .flat()
      .filter((each) => typeof each === 'string')
      .join(' ');
    this.#check(line);
    const fill = (word: unknown) => (typeof word === 'string' ? this.#filled(word) : word);
    if (Array.isArray(args)) return { ...others, command: fill(command), args: args.map(fill) };
    const used = this.#names.filter((name) => referenceTo(name).test(line));
    const given = isRecord(others['env']) ? others['env'] : {};
    const env = { ...Object.fromEntries(used.map((name) => [name, this.#root])), ...given };
    return {
      ...others,
      command: String(command).replaceAll(EXTENSION, this.#root),
      ...(args !== undefined && { args }),
      ...(Object.keys(env).length > 0 && { env }),
    };
  }

  #filled(text: string): string {
    const words = text.replaceAll(EXTENSION, this.#root);
    return this.#names.reduce(
      (line, name) => line.replaceAll(referenceTo(name), this.#root),
      words,
    );
  }

  /** Paths of its folder must not lead out of the project, neither by dots nor by a link. */
  #check(line: string): void {
    const words = this.#filled(line)
      .replaceAll(/["']/gu, '')
      .split(/[\s;|&<>()=]+/u);
    for (const word of words.filter((each) => each.startsWith(this.#root))) {
      if (this.isInside(path.join(this.project, word))) continue;
      this.outside = `one of them leads out of the project: ${line}`;
    }
  }
}

function referenceTo(name: string): RegExp {
  return new RegExp(String.raw`\$(?:\{${name}\}|${name}\b)`, 'gu');
}

function mapValues(value: Record<string, unknown>, map: (each: unknown) => unknown) {
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, map(each)]));
}
