import { basename, delimiter, dirname, isAbsolute, join, resolve } from 'node:path';
import { findProgram } from '../process/command/findProgram.js';
import { expandCommand, expandWord, referenceValues, scopeOf } from '../shell/expandCommand.js';
import { readShebang } from '../shell/shebang.js';
import { readSimpleCommand } from '../shell/shellWords.js';
import { isInside, realPathOf, statsOf } from '../util/paths.js';
import type { ProjectHook } from './consentItem.js';
import { whyUnclear } from './unclearCommand.js';
import type { CommandHookConfig } from '../protocol/types.js';

/** Why consent to a hook covers its definition only; the message is the end of "because it …". */
export class NotPinned extends Error {}

/** Where hooks are looked at. */
export interface ScriptPlace {
  /** Absolute real path. */
  readonly project: string;
  /** The search path of their environment. */
  readonly searchPath: string;
}

/** The script that a hook starts, in a folder that is there for hooks. All paths are absolute. */
export interface HookScript {
  readonly path: string;
  readonly folder: string;
  /** Whether what Python has compiled beside it is neither read nor written. */
  readonly ignoresCompiled: boolean;
}

/** The folders of a project that consent covers as a whole, beside those of its extensions. */
const HOOK_FOLDERS = ['.llxprt/hooks', '.claude/hooks', '.gemini/hooks'];

/**
 * Interpreters, with the options that take no code and load none. Whatever else stands before a script may do so. A value
 * stands behind a blank.
 */
const INTERPRETERS: readonly (readonly [name: RegExp, options: RegExp])[] = [
  [
    /^(?:ba|da|k|z)?sh$/,
    /^(?:[-+][efuvx]+|[-+][efuvx]*o (?:errexit|nounset|pipefail)|--norc|--noprofile|--posix)$/,
  ],
  [
    /^node$/,
    /^--(?:no-warnings|no-deprecation|throw-deprecation|trace-warnings|trace-deprecation|trace-uncaught|enable-source-maps|experimental-strip-types|experimental-transform-types|disable-warning=\w+|max-old-space-size=\d+)$/,
  ],
  [/^python(?:3(?:\.\d+)?)?$/, /^-[uBsSOIPdvq]+$/],
  [/^(?:perl|ruby)$/, /^-[wW]$/],
];

/** These hand a script over to the program that its first line names. */
const OBEYING_SHEBANG = /^(?:perl|ruby)$/;

/**
 * Finds the script that a hook's command starts: a program in one of the folders for hooks, or one that an interpreter of
 * the machine is given there. That must be all of the command, and each word must be known before it runs.
 *
 * @throws NotPinned, or the system's error
 */
export function findScript(
  { config: written, extension }: ProjectHook,
  place: ScriptPlace,
): HookScript {
  const config = startedFor(written);
  for (const [name, value] of Object.entries(config.env ?? {})) checkVariable(name, value);
  const directory = extension?.directory;
  if (directory !== undefined && !isInside(directory, place.project)) {
    throw new NotPinned(`belongs to an extension that is outside of the project, in ${directory}`);
  }
  const folders = HOOK_FOLDERS.map((folder) => join(place.project, folder));
  const search = new ScriptSearch(
    place,
    directory === undefined ? folders : [directory, ...folders],
  );
  return search.inCommand(wordsOf(config, { project: place.project, extension: directory }));
}

/** @throws NotPinned for a hook that starts nothing here */
function startedFor(config: CommandHookConfig): StartedWords {
  const { type, mcpServer } = config;
  if (type === 'prompt') {
    throw new NotPinned('has a model judge each event, which may answer anything');
  }
  if (type !== 'remote' && type !== 'mcp_tool') return config;
  if (mcpServer?.command === undefined) {
    throw new NotPinned('sends each event to a server, which may answer anything');
  }
  if (mcpServer.cwd !== undefined) throw new NotPinned('starts its server in another folder');
  return { command: mcpServer.command, args: mcpServer.args ?? [], env: mcpServer.env };
}

type StartedWords = Pick<CommandHookConfig, 'command' | 'args' | 'env'>;

function wordsOf(
  { command, args }: Pick<ProjectHook['config'], 'command' | 'args'>,
  folders: { readonly project: string; readonly extension: string | undefined },
): readonly string[] {
  if (process.platform === 'win32') {
    throw new NotPinned('is run on Windows, whose paths are not read');
  }
  const scope = scopeOf(folders.extension);
  const values = referenceValues(folders);
  if (args) return [command, ...args].map((word) => expandWord(word, scope, values));
  if (/[^\t\n -~]/.test(command)) {
    throw new NotPinned(
      'holds characters that a shell in your locale may read differently: put the line into a script in .llxprt/hooks, and start that',
    );
  }
  const expanded = expandCommand(command, scope);
  const words = readSimpleCommand(expanded, scope, values);
  if (!words) throw new NotPinned(whyUnclear(expanded, scope));
  return words;
}

class ScriptSearch {
  constructor(
    private readonly place: ScriptPlace,
    private readonly folders: readonly string[],
  ) {}

  inCommand(words: readonly string[]): HookScript {
    const [program = ''] = words;
    const script = program.includes('/') ? this.#inFolder(program) : undefined;
    if (!script) return this.#interpreted(words);
    if (!statsOf(script.path)?.isFile())
      throw new NotPinned(`starts ${program}, which is not a file`);
    const shebang = readShebang(script.path);
    if (!shebang) return script;
    const [interpreter = ''] = shebang;
    if (!isAbsolute(interpreter)) throw this.#foreignShebang(script, shebang);
    return this.#interpreted([...shebang, script.path], () =>
      this.#foreignShebang(script, shebang),
    );
  }

  /** The first word that is no option is the script. */
  #interpreted(
    [program = '', ...words]: readonly string[],
    refuse = () => new NotPinned(`starts ${program || 'nothing'}, ${NO_HOOK}`),
  ): HookScript {
    if (!this.#isOfMachine(program)) throw refuse();
    const name = basename(program);
    if (name === 'env') return this.#interpreted(words, refuse);
    const options = INTERPRETERS.find(([names]) => names.test(name))?.[1];
    if (!options) throw refuse();
    const count = countOptions(name, words, options);
    const word = words[count];
    if (word === undefined) throw new NotPinned(`lets ${name} run what it reads from stdin`);
    const script = this.#inFolder(word);
    if (!script) throw new NotPinned(`has ${name} run ${word}, ${NO_HOOK}`);
    const shebang = OBEYING_SHEBANG.test(name) ? readShebang(script.path) : undefined;
    if (shebang?.join(' ').includes(name) === false) throw this.#foreignShebang(script, shebang);
    // With -I, Python ignores the variable that names another folder for its compiled files.
    const isIsolated = words.slice(0, count).some((option) => option.includes('I'));
    return { ...script, ignoresCompiled: name.startsWith('python') && !isIsolated };
  }

  /** A program that is named by its path counts as the machine's where its folder is on the search path. */
  #isOfMachine(program: string): boolean {
    const { project, searchPath } = this.place;
    const isPath = program.includes('/');
    if (isPath && !searchPath.split(delimiter).includes(dirname(program))) return false;
    const file = isPath ? program : findProgram(program, searchPath);
    return file === undefined || !isInside(realPathOf(file) ?? file, project);
  }

  #inFolder(word: string): HookScript | undefined {
    // Where that leads would depend on a link before it.
    if (word.split('/').includes('..')) {
      throw new NotPinned(`names ${word}, which leads upwards`);
    }
    const path = resolve(this.place.project, word);
    const folder = this.folders.find((each) => isInside(path, each));
    return folder === undefined ? undefined : { path, folder, ignoresCompiled: false };
  }

  #foreignShebang({ path }: HookScript, [program = 'too much']: readonly string[]): NotPinned {
    return new NotPinned(`starts ${basename(path)}, whose first line names ${program}`);
  }
}

const NO_HOOK = `which is no script in a folder for hooks (${HOOK_FOLDERS.join(', ')})`;

function countOptions(name: string, words: readonly string[], allowed: RegExp): number {
  let count = 0;
  while (/^[-+]/.test(words[count] ?? '')) {
    const [option = '', value = ''] = words.slice(count);
    const isAlone = allowed.test(option) && !option.includes(' ');
    if (!isAlone && !allowed.test(`${option} ${value}`)) {
      throw new NotPinned(`gives ${name} code or an option (${option})`);
    }
    count += isAlone ? 1 : 2;
  }
  return count;
}

/**
 * Variables that a hook of a project may set: no loader, interpreter, shell or other common program takes code, or a
 * place to look for it, from them.
 */
const HARMLESS_VARIABLES =
  /^(?:HOOK_\w+|NO_COLOR|FORCE_COLOR|CI|TZ|LOG_LEVEL|NODE_ENV|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|PYTHONIOENCODING|PYTHONUTF8)$/;

const LOCALE_VARIABLES = /^(?:LANG|LC_[A-Z]+)$/;

/** In others, a byte of a character may be a quote or a backslash to a shell. */
const PLAIN_LOCALE = /^(?:C|POSIX|[\w@]*\.UTF-?8)?$/i;

function checkVariable(name: string, value: string): void {
  const isLocale = LOCALE_VARIABLES.test(name);
  if (isLocale ? PLAIN_LOCALE.test(value) : HARMLESS_VARIABLES.test(name)) return;
  throw new NotPinned(`sets the variable ${name}: call it HOOK_${name}`);
}
