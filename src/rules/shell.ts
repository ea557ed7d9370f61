import { parseCommand, UnclearCommand } from '../shell/parseCommand.js';
import { applyBuiltin, moveTo, type BuiltinHost } from './builtins.js';
import { assignmentHazard, COMMAND_VARIABLES } from './effects.js';
import type { Inner } from './inner.js';
import { describeLanguage, languageOf, startsProcesses } from './languages.js';
import { baseName } from './programName.js';
import { printedBy } from './printed.js';
import { literal, ShellState, type WordValues } from './shellState.js';
import { ALONE, MAX_VARIANTS, ShellWalker, type Surroundings } from './shellWalker.js';
import type { ShellReading, ShellWord, StartedCommand } from './types.js';
import { fieldsOfWord, toWord } from './words.js';
import { unwrap } from './wrappers.js';

/** Where a text for a shell runs. */
export interface ShellPlace {
  /** Absolute path. */
  readonly cwd: string;
  /** The home directory. */
  readonly home: string | undefined;
}

/** Characters: Linux takes no longer text for `bash -c`. */
const MAX_LENGTH = 128 * 1024;
/** A virtual environment of Python has this script, which stays in the directory. */
const ACTIVATION = /(?:^|\/)bin\/activate$/;
const MAX_DEPTH = 8;
const MAX_COMMANDS = 4000;

/** Lists what a text for a shell may start. Never throws. */
export function readShell(command: string, { cwd, home }: ShellPlace): ShellReading {
  const reader = new ShellReader();
  try {
    reader.readText(command, new ShellState(cwd, home));
    reader.readUncalled(home);
  } catch (error) {
    const isKnown = error instanceof UnclearCommand;
    reader.doubt(isKnown ? error.message : 'is nested too deeply to be read');
  }
  return { commands: reader.commands, unknown: [...reader.unknown] };
}

/** Follows what each command starts. */
class ShellReader extends ShellWalker implements BuiltinHost {
  readonly commands: StartedCommand[] = [];
  /** Whether other programs may call functions. */
  areExported = false;
  private readonly called = new Set<string>();
  private readonly active: string[] = [];
  private depth = 0;

  /** Reads a text in the shell that has this state. */
  readText(text: string, state: ShellState, stdin?: readonly string[]): void {
    if (text === '') return;
    if (this.depth >= MAX_DEPTH) throw new UnclearCommand('is nested too deeply to be read');
    const before = this.source;
    this.depth++;
    try {
      const script = parseCommand(text, MAX_LENGTH, 'quoted');
      this.source = text;
      this.list(script.commands, state, stdin);
    } finally {
      this.depth--;
      this.source = before;
    }
  }

  protected readIfWhole(text: string, state: ShellState): void {
    this.withoutDoubts(() => {
      try {
        this.readText(text, state);
      } catch (error) {
        if (!(error instanceof UnclearCommand)) throw error;
      }
    });
  }

  private withoutDoubts(read: () => void): void {
    const doubts = [...this.unknown];
    read();
    this.unknown.clear();
    for (const each of doubts) this.unknown.add(each);
  }

  /** Lists what functions would start that nothing calls here. */
  readUncalled(home: string | undefined): void {
    for (const [name, bodies] of this.functions) {
      if (this.called.has(name)) continue;
      const state = new ShellState(undefined, home);
      state.forget();
      const readBodies = () => {
        for (const { body, source } of bodies) this.within(source, () => this.node(body, state));
      };
      if (this.areExported || name === 'command_not_found_handle') readBodies();
      else this.withoutDoubts(readBodies);
    }
  }

  /** Notes a command, and all that it starts itself. */
  protected start(
    words: readonly ShellWord[],
    surroundings: Surroundings,
    state: ShellState,
  ): void {
    this.emit(words, surroundings, state);
    const [program] = words;
    if (!program) return;
    if (!program.values || program.isGlob) {
      this.doubt(`names its program by ${program.text}`);
      if (program.isSplit) state.forgetVariables();
      return;
    }
    for (const name of program.values) this.startNamed(name, words, surroundings, state);
  }

  private startNamed(
    name: string,
    words: readonly ShellWord[],
    surroundings: Surroundings,
    state: ShellState,
  ): void {
    if (/^[=%]/.test(name)) this.doubt(`names its program by ${name}`);
    this.callAlias(name, words, state);
    if (this.functions.has(name)) this.call(name, words.slice(1), surroundings, state);
    const program = baseName(name);
    this.noteWrites(program, words, surroundings);
    if (program !== name) this.runFile({ text: name, values: [name] }, 'any', state);
    if (program === name) applyBuiltin(name, words, surroundings.assigned, state, this);
    for (const inner of unwrap(program, words)) this.startInner(inner, surroundings, state);
  }

  private noteWrites(
    program: string,
    words: readonly ShellWord[],
    { writes, stdin }: Surroundings,
  ): void {
    const isKnown = words.every(({ values, isGlob }) => values && !isGlob);
    const copied = /^(?:cat|tee)$/.test(program) ? stdin : undefined;
    const content =
      words.length === 1 ? copied : isKnown ? printedBy(program, words.slice(1)) : undefined;
    for (const each of writes)
      this.written.write(each, content?.length === 1 ? content[0] : undefined);
    if (program === 'tee' && words.length === 2)
      this.written.write(words[1]!, copied?.length === 1 ? copied[0] : undefined);
    else this.written.note(program, words);
  }

  private startInner(inner: Inner, surroundings: Surroundings, state: ShellState): void {
    switch (inner.kind) {
      case 'words': {
        const own = inner.directory || inner.isElsewhere ? state.copy() : state;
        if (inner.isElsewhere) own.set('HOME', undefined);
        if (inner.directory) own.directories = [undefined];
        if (inner.directory?.word) moveTo(inner.directory.word, state, own);
        const given = (inner.assigned ?? []).map(
          (each) =>
            [
              each.slice(0, each.indexOf('=')),
              [literal(each.slice(each.indexOf('=') + 1))],
            ] as const,
        );
        for (const [name, fields] of given) this.examineValue(name, fields, state);
        const assigned = new Map([...surroundings.assigned, ...given]);
        this.start(inner.words, { ...surroundings, assigned }, own);
        break;
      }
      case 'text': {
        const child = this.child(surroundings, state, inner.isElsewhere);
        if (inner.positional)
          child.positional = inner.positional.some(({ isSplit }) => isSplit)
            ? undefined
            : inner.positional.map(fieldsOfWord);
        this.readWords(inner.words, child, surroundings);
        break;
      }
      case 'code':
        this.runCode(
          inner.language,
          inner.word.isGlob ? undefined : inner.word.values,
          inner.word.text,
        );
        break;
      case 'file':
        this.runFile(inner.word, inner.language, state, surroundings);
        break;
      case 'stdin':
        this.runInput(inner.language, surroundings, state);
        break;
      case 'doubt':
        this.doubt(inner.reason);
    }
  }

  /** Reads the text that words are together. */
  readWords(
    words: readonly ShellWord[],
    state: ShellState,
    { stdin }: Pick<Surroundings, 'stdin'> = ALONE,
  ): void {
    let texts: readonly string[] | undefined = [''];
    for (const { values, isGlob } of words) {
      if (!values || isGlob || texts.length * values.length > MAX_VARIANTS) {
        this.doubt(
          `reads a text as a command that only the shell knows: ${words.map(({ text }) => text).join(' ')}`,
        );
        state.forget();
        return;
      }
      texts = texts.flatMap((text) => values.map((value) => `${text} ${value}`));
    }
    const before = state.copy();
    for (const [index, text] of texts.entries()) {
      const own = index === 0 ? state : before.copy();
      this.readText(text.slice(1), own, stdin);
      if (own !== state) state.join(own);
    }
  }

  private runCode(language: string, codes: readonly string[] | undefined, text: string): void {
    if (!codes)
      this.doubt(`gives ${describeLanguage(language)} code that only the shell knows: ${text}`);
    else if (codes.some((code) => startsProcesses(language, code))) {
      this.doubt(`gives ${describeLanguage(language)} code that may start processes`);
    }
  }

  private runInput(language: string, surroundings: Surroundings, state: ShellState): void {
    const { stdin, stdinFile } = surroundings;
    if (!stdin && stdinFile && !/^[<>]\(/.test(stdinFile.text)) {
      this.runFile(stdinFile, language, state, surroundings);
    } else if (!stdin) {
      this.doubt(`has ${describeLanguage(language)} run what it reads from its input`);
    } else if (language !== 'shell') {
      this.runCode(language, stdin, '');
    } else {
      for (const text of stdin) this.readText(text, this.child(surroundings, state));
    }
  }

  /** A script is a command like others, unless this text has written it. */
  private runFile(
    word: ShellWord,
    language: string,
    state: ShellState,
    surroundings: Surroundings = ALONE,
  ): void {
    if (/^[<>]\(/.test(word.text)) {
      this.doubt(`has ${describeLanguage(language)} run what ${word.text} prints`);
      return;
    }
    for (const file of word.values ?? [undefined]) {
      if (file !== undefined && /^(?:\/dev\/|\/proc\/)/.test(file)) {
        if (language !== 'any')
          this.runInput(language, { ...surroundings, stdinFile: undefined }, state);
        continue;
      }
      const content = word.isGlob ? this.written.any() : this.written.find(file);
      if (content === undefined) continue;
      const text = content ?? '';
      const shebang = /^#!\s*\S*?(?:env\s+(?:-S\s+)?)?([\w.]+?)[\d.]*(?:\s[^\n]*)?\n/.exec(
        text,
      )?.[1];
      const own =
        language === 'any'
          ? shebang === undefined
            ? 'shell'
            : (languageOf(shebang) ?? 'other')
          : language;
      if (content === null) this.doubt(`runs ${word.text}, which it writes first`);
      else if (own === 'shell') this.readText(text, this.child(surroundings, state));
      else if (startsProcesses(own, text))
        this.doubt(`runs ${word.text}, which may start processes, and which it writes first`);
    }
  }

  /** For `source`, in the same shell. */
  sourceFile(word: ShellWord, state: ShellState): void {
    this.runFile(word, 'shell', state);
    const isActivation = (value: string) =>
      ACTIVATION.test(value) && this.written.find(value) === undefined;
    if (!word.isGlob && word.values?.every(isActivation)) state.forgetVariables();
    else state.forget();
  }

  private child({ assigned }: Surroundings, state: ShellState, isElsewhere = false): ShellState {
    const child = state.child(isElsewhere ? 'other' : 'same');
    for (const [name, fields] of assigned) child.set(name, fields);
    if (isElsewhere) child.set('HOME', undefined);
    return child;
  }

  private callAlias(name: string, words: readonly ShellWord[], state: ShellState): void {
    const key = `alias ${name}`;
    if (!this.aliases.has(name) || this.active.includes(key)) return;
    this.active.push(key);
    const rest = words
      .slice(1)
      .map(({ text }) => text)
      .join(' ');
    for (const text of this.aliases.get(name)!) this.readText(`${text} ${rest}`, state.copy());
    state.forgetVariables();
    state.directories = [...state.directories, undefined];
    this.active.pop();
  }

  private call(
    name: string,
    words: readonly ShellWord[],
    { stdin, assigned }: Surroundings,
    state: ShellState,
  ): void {
    const turns = this.active.filter((each) => each === name).length;
    this.called.add(name);
    if (turns > 0) state.forget();
    if (turns > 1) return;
    this.active.push(name);
    for (const { body, source } of this.functions.get(name)!) {
      const inner = state.copy();
      if (turns === 0) {
        inner.positional = words.some(({ isSplit, isGlob }) => isSplit || isGlob)
          ? undefined
          : words.map(fieldsOfWord);
        for (const [variable, fields] of assigned) this.assign(variable, fields, inner);
      }
      this.exits.push([]);
      this.within(source, () => this.node(body, inner, stdin));
      for (const exit of this.exits.pop()!) inner.join(exit);
      inner.positional = state.positional;
      state.join(inner);
    }
    this.active.pop();
  }

  protected emit(
    words: readonly ShellWord[],
    { reads, writes, text }: Surroundings,
    state: ShellState,
  ): void {
    for (const directory of state.directories) {
      this.commands.push({ words, reads, writes, text, directory });
    }
    if (this.commands.length > MAX_COMMANDS) throw new UnclearCommand('starts very many commands');
  }

  /** A value that is a command for others, such as `GIT_EDITOR`. */
  examineValue(name: string, fields: WordValues, state: ShellState): void {
    const hazard = assignmentHazard(name, fields);
    if (hazard !== undefined) this.doubt(hazard);
    if (!COMMAND_VARIABLES.test(name)) return;
    this.readWords(
      [fields ? toWord(`$${name}`, fields) : { text: `$${name}` }],
      state.child('same'),
    );
  }
}
