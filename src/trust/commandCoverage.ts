import { basename, isAbsolute } from 'node:path';
import { errorMessage } from '../util/errorMessage.js';
import { isShortage } from '../util/descriptors.js';
import type { CommandHookConfig } from '../protocol/types.js';
import { NOT_PROGRAMS } from '../shell/shellWords.js';
import { readHook, type SimpleCommand } from '../shell/readCommand.js';
import { statsOf } from '../util/paths.js';
import { NamedPaths, Open, type CommandPlace } from './namedPaths.js';
import { OverBudget } from './reviewBudget.js';
import {
  countOwnWords,
  isHarmlessVariable,
  isPlainBuiltin,
  isPlainText,
  kindOfProgram,
  type Interpreter,
  type Reader,
} from './programs.js';
import { readShebang } from '../shell/shebang.js';
import { hostEnvironment } from '../util/surroundings.js';

/** What a command starts, as far as that is known before it runs; all paths are absolute and in the project. */
export interface CommandCoverage {
  /** Why only the definition can be covered, as the end of "because it …". */
  readonly open?: string;
  /** `ignoresCompiled`: what Python has compiled beside it is neither read nor written. */
  readonly scripts: readonly { readonly path: string; readonly ignoresCompiled: boolean }[];
  /** Other files that it names. */
  readonly files: readonly string[];
  /** Folders that it names, which are data and are not covered. */
  readonly folders: readonly string[];
  /** Paths that it may read or write, and that may become links to somewhere else. */
  readonly watched: readonly string[];
}

/**
 * Finds out which files of the project a hook's command starts. Whatever cannot be known for certain makes it open.
 *
 * @throws OverBudget, or the system's error where it has no descriptor left
 */
export function coverCommand(
  hook: Pick<CommandHookConfig, 'command' | 'args'>,
  place: CommandPlace,
): CommandCoverage {
  if (process.platform === 'win32') return openBecause('is run by PowerShell, which is not read');
  if (!hook.args && !isPlainText(hook.command, hostEnvironment())) {
    return openBecause('holds characters that a shell in your locale may read differently');
  }
  const { commands, unknown } = readHook(hook, place);
  if (unknown !== undefined) return openBecause(unknown);
  const coverage = new Coverage(place);
  try {
    for (const each of commands) coverage.add(each);
    return coverage.finish();
  } catch (error) {
    if (error instanceof OverBudget || isShortage(error)) throw error;
    return openBecause(
      error instanceof Open ? error.message : `cannot be looked at (${errorMessage(error)})`,
    );
  }
}

export function openBecause(open: string): CommandCoverage {
  return { open, scripts: [], files: [], folders: [], watched: [] };
}

class Coverage {
  readonly #scripts: CommandCoverage['scripts'][number][] = [];
  readonly #paths: NamedPaths;

  constructor(private readonly place: CommandPlace) {
    this.#paths = new NamedPaths(place);
  }

  add({ words, variables, inputs, outputs }: SimpleCommand): void {
    for (const [name, value] of variables) checkVariable(name, value);
    for (const input of inputs) this.#paths.addData(input);
    for (const output of outputs) this.#paths.addOutput(output);
    if (words.length > 0) this.#addProgram(words);
  }

  finish(): CommandCoverage {
    this.#paths.checkOutputs(this.#scripts.map(({ path }) => path));
    const [files, folders, watched] = [this.#paths.files, this.#paths.folders, this.#paths.watched];
    return {
      scripts: this.#scripts,
      files: [...files],
      folders: [...folders],
      watched: [...watched],
    };
  }

  #addProgram(words: readonly string[]): void {
    const [word = '', ...rest] = words;
    if (isPlainBuiltin(word, rest) || this.#staysHere(words)) return;
    const isBuiltin = NOT_PROGRAMS.has(word) && word !== 'exec' && word !== 'command';
    if (isBuiltin) throw new Open(`uses ${word}, of which only the shell knows what it runs`);
    const file = this.#paths.locate(word);
    if (file !== undefined) {
      this.#addScript(file, rest);
      return;
    }
    const name = basename(word);
    const { wrapper, interpreter, reader } = this.#paths.isOfMachine(word)
      ? kindOfProgram(name)
      : {};
    if (wrapper) this.#addWrapped(name, rest, countOwnWords(rest, wrapper));
    else if (interpreter) this.#addInterpreted(name, rest, interpreter);
    else if (reader) this.#addReader(name, rest, reader);
    else throw new Open(`starts ${name}, which may load or start files of the project by itself`);
  }

  /** Hooks run in the project's folder, so that going there changes nothing. */
  #staysHere([word, folder, ...more]: readonly string[]): boolean {
    return word === 'cd' && folder === this.place.project && more.length === 0;
  }

  #addWrapped(name: string, words: readonly string[], count: number | undefined): void {
    if (count === undefined) throw new Open(`uses ${name} in a way that is not looked through`);
    for (const word of words.slice(0, count)) {
      const [variable = '', value = ''] = word.split(/=([^]*)/u);
      if (name === 'env') checkVariable(variable, value);
    }
    if (count < words.length) this.#addProgram(words.slice(count));
  }

  /** The first word that is no flag is the script; without one, code comes from the words or from stdin. */
  #addInterpreted(
    name: string,
    words: readonly string[],
    { flags, flagsWithValue, obeysShebang }: Interpreter,
  ): void {
    let position = 0;
    for (; words[position]?.match(/^[-+]/u); position++) {
      const flag = words[position] ?? '';
      if (flagsWithValue?.test(flag)) position++;
      else if (!flags.test(flag)) throw new Open(`gives ${name} code or an option (${flag})`);
    }
    const script = words[position];
    if (script === undefined) throw new Open(`lets ${name} run what it reads from stdin`);
    // `node inspect` is no script, whatever file is called so.
    if (!/[./]/u.test(script))
      throw new Open(`gives ${name} a word that may be no file (${script})`);
    const file = this.#paths.inProject(script);
    if (file === undefined) throw new Open(`starts ${script}, which is outside of the project`);
    // With -I, Python ignores the variable that names another folder for its compiled files.
    const isIsolated = words.slice(0, position).some((flag) => /^-\w*I/u.test(flag));
    this.#checkFile(file);
    const shebang = obeysShebang ? readShebang(file) : undefined;
    if (shebang && !shebang.join(' ').includes(name)) {
      throw new Open(
        `starts ${this.#paths.show(file)}, whose first line names ${shebang.join(' ')}`,
      );
    }
    this.#scripts.push({ path: file, ignoresCompiled: name.startsWith('python') && !isIsolated });
  }

  #addReader(name: string, words: readonly string[], reader: Reader): void {
    const { flags, unless, scriptFlag, readsProject, writes } = reader;
    if (readsProject) this.#paths.folders.add(this.place.project);
    for (let position = 0; position < words.length; position++) {
      const word = words[position] ?? '';
      const script = words[position + 1];
      if (scriptFlag?.test(word) && script !== undefined) {
        this.#addInterpreted(name, [script], { flags: /^$/u });
        position++;
      } else if (unless?.test(word) || (flags && /^-./u.test(word) && !flags.test(word))) {
        throw new Open(`gives ${name} a word (${word}) that may start or load files`);
      } else if (writes) {
        if (!word.startsWith('-')) this.#paths.addOutput(word);
      } else this.#addDataWord(word);
    }
  }

  /** Words such as `--file=x`, `-fx` and `@x` contain another one. */
  #addDataWord(word: string): void {
    // More often an expression of a filter than the project's folder.
    if (word === '.') return;
    this.#paths.addData(word);
    for (const [, value = ''] of word.matchAll(/(?<=[=@:,]|^-\w)([^=@:,]+)/gu))
      this.#paths.addData(value);
  }

  /** A program of the project, which its own first line may hand to an interpreter. */
  #addScript(file: string, words: readonly string[]): void {
    this.#checkFile(file);
    const shebang = readShebang(file);
    if (shebang === undefined) this.#scripts.push({ path: file, ignoresCompiled: false });
    else this.#addShebang(shebang, file, words);
  }

  #checkFile(file: string): void {
    if (statsOf(file)?.isFile()) return;
    throw new Open(`starts ${this.#paths.show(file)}, which is not a file`);
  }

  #addShebang(shebang: readonly string[], file: string, words: readonly string[]): void {
    const [program = '', ...rest] = shebang;
    const isKnown = isAbsolute(program) && this.#paths.inProject(program) === undefined;
    const [interpreter = '', ...flags] = basename(program) === 'env' ? rest : shebang;
    const { interpreter: kind } = kindOfProgram(basename(interpreter));
    const isOfMachine =
      this.#paths.isOfMachine(program) && this.#paths.locate(interpreter) === undefined;
    if (!isKnown || !isOfMachine || !kind) {
      throw new Open(
        `starts ${this.#paths.show(file)}, whose first line names ${program || 'too much'}`,
      );
    }
    this.#addInterpreted(basename(interpreter), [...flags, file, ...words], kind);
  }
}

function checkVariable(name: string, value: string): void {
  if (isHarmlessVariable(name, value)) return;
  throw new Open(`sets the variable ${name}: call it HOOK_${name}`);
}
