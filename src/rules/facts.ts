import { existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { findHome } from '../util/homeDirectory.js';
import { quoteWord } from '../util/quoteWord.js';
import { addressesIn, addressesOf, type Address } from './addresses.js';
import { filesRead, filesWritten, programOf, type CommandSource } from './commandUses.js';
import { Place, rootsOf, type NamedFile, type Roots } from './paths.js';
import { languageOf, takesCode } from './languages.js';
import { readsCommands } from './builtins.js';
import { programName } from './programName.js';
import { startsUnnamed } from './wrappers.js';
import { readShell } from './shell.js';
import { usesOf, type ToolUses } from './toolUses.js';
import type { Call, ShellReading, StartedCommand } from './types.js';

/** A file, or a host, that a call has to do with, and the command within it that names it. */
export interface Named<T> {
  readonly what: T;
  readonly command?: StartedCommand | undefined;
}

/** What is known of one call, each found out when it is first asked for. */
export class CallReading {
  readonly uses: ToolUses;
  /** Texts for a shell. */
  readonly texts: readonly string[];
  readonly #plain: string | undefined;
  #roots: Roots | undefined;
  #readings: readonly ShellReading[] | undefined;
  #unknown: { readonly reason: string | undefined } | undefined;
  #commands: readonly StartedCommand[] | undefined;
  #interpreters: readonly StartedCommand[] | undefined;
  #byProgram: Map<string | undefined, StartedCommand[]> | undefined;
  #reads: readonly Named<Place>[] | undefined;
  #writes: readonly Named<Place>[] | undefined;
  #addresses: readonly Named<Address>[] | undefined;

  constructor(readonly call: Call) {
    this.uses = usesOf(call);
    this.texts = this.uses.commands;
    if (this.texts.every(isPlain)) this.#plain = this.texts.join('\n').toLowerCase();
  }

  /** Whether words may be in its commands, so that these have to be read. */
  mayHold(words: readonly string[]): boolean {
    if (this.#plain === undefined) return true;
    for (const word of words) if (!this.#plain.includes(word)) return false;
    return true;
  }

  get readings(): readonly ShellReading[] {
    return (this.#readings ??= this.texts.map((text) =>
      readingOf(fromTop(text, this.uses.directory), this.uses.directory, findHome()),
    ));
  }

  get commands(): readonly StartedCommand[] {
    return (this.#commands ??= this.readings.flatMap(({ commands }) => commands));
  }

  /** Why its commands may start others, the end of "It cannot be told, as …"; `undefined` where all are known. */
  get unknown(): string | undefined {
    if (this.#unknown === undefined) {
      const reason = this.readings.find(({ unknown }) => unknown.length > 0)?.unknown[0];
      this.#unknown = { reason: reason === undefined ? undefined : `it ${reason}` };
    }
    return this.#unknown.reason;
  }

  /** Commands with a program of this name, or one that only the shell knows. */
  commandsOf(program: string): readonly StartedCommand[] {
    this.#byProgram ??= this.#index();
    const known = this.#byProgram.get(program) ?? NONE;
    const unknown = this.#byProgram.get(undefined);
    return unknown ? [...known, ...unknown] : known;
  }

  get interpreters(): readonly StartedCommand[] {
    return (this.#interpreters ??= this.commands.filter((command) =>
      takesCode(programOf(command) ?? ''),
    ));
  }

  get reads(): readonly Named<Place>[] {
    return (this.#reads ??= this.#places(this.uses.reads, filesRead));
  }

  get writes(): readonly Named<Place>[] {
    return (this.#writes ??= this.#places(this.uses.writes, filesWritten));
  }

  get addresses(): readonly Named<Address>[] {
    return (this.#addresses ??= [
      ...this.uses.addresses.flatMap(addressesIn).map((what) => ({ what })),
      ...this.commands.flatMap((command) =>
        addressesOf(command).map((what) => ({ what, command })),
      ),
    ]);
  }

  get roots(): Roots {
    return (this.#roots ??= rootsOf(this.call.project));
  }

  #index(): Map<string | undefined, StartedCommand[]> {
    const found = new Map<string | undefined, StartedCommand[]>();
    for (const command of this.commands) {
      if (command.words.length === 0) continue;
      const program = programOf(command);
      const others = found.get(program);
      if (others) others.push(command);
      else found.set(program, [command]);
    }
    return found;
  }

  #places(
    own: readonly NamedFile[],
    filesOf: (command: StartedCommand, source: CommandSource) => readonly NamedFile[],
  ): readonly Named<Place>[] {
    const ofCommands = this.readings.flatMap((reading, at) =>
      reading.commands.flatMap((command) =>
        distinct(filesOf(command, { reading, text: this.texts[at] ?? '' })).map((file) => ({
          what: new Place(file, this.roots),
          command,
        })),
      ),
    );
    return [...own.map((file) => ({ what: new Place(file, this.roots) })), ...ofCommands];
  }
}

/** A word may be repeated a thousand times, and each file is looked for in the file system. */
function distinct(files: readonly NamedFile[]): readonly NamedFile[] {
  if (files.length < 2) return files;
  const known = new Map(
    files.map((file) => [`${file.directory}\0${file.path}\0${file.isGlob}\0${file.isBelow}`, file]),
  );
  return [...known.values()];
}

const NONE: readonly StartedCommand[] = [];

let last: CallReading | undefined;

/** The facts of a call, kept for all conditions of its event: these are tried one after the other, with the same object. */
export function factsOf(call: Call): CallReading {
  return last?.call === call ? last : (last = new CallReading(call));
}

const TOP = /^\s*cd\s+("?)\$\(git rev-parse --show-toplevel\)\1(?=\s|[;&]|$)/;

/** A text with the top of the repository in place of how agents ask for it, as what is after it would be unknown else. */
function fromTop(text: string, from: string): string {
  if (!TOP.test(text)) return text;
  for (let at = from; ; at = dirname(at)) {
    if (existsSync(join(at, '.git'))) return text.replace(TOP, () => `cd ${quoteWord(at)}`);
    if (at === dirname(at)) return text;
  }
}

/**
 * Commands without quotes, expansions, wildcards and escapes. Without assignments, pipes and files as well, but for what is
 * thrown away, as programs make commands of what they read there.
 */
const PLAIN = /^[\w\s./:@%+,;&()#=-]*$/;
/** Of these, those that can hold no assignment. */
const BARE = /^[\w\s./:@+,;&#-]*$/;
const THROWN_AWAY = /\d?>(?:&\d|\s*\/dev\/null)(?=$|[\s;&|)])|\|\|/g;
const ASSIGNMENT = /(?:^|[\s;&(])[A-Za-z_]\w*\+?=|\(\(|[%=](?=\w*[\s;&]|\w*$)/;

/** Whether no command in it starts another one that its words do not name. */
function isPlain(text: string): boolean {
  if (text.length > MAX_PLAIN) return false;
  if (!BARE.test(text)) {
    if (!PLAIN.test(text.replaceAll(THROWN_AWAY, ' ')) || ASSIGNMENT.test(text)) return false;
  }
  const words = text.split(/[\s;&|()=]+/);
  if (words.some(mayHide)) return false;
  // A file that is written by one command may be run by another.
  return !text.includes('/') || new Set(words.map(programName)).size === words.length;
}

/** What is known of words as programs: most are the same again and again. */
const hiding = new Map<string, boolean>();
const MAX_WORDS = 1000;

/** Whether a program may start others that no word of it names as they are. */
function mayHide(word: string): boolean {
  const known = hiding.get(word);
  if (known !== undefined) return known;
  const name = programName(word);
  const hides = readsCommands(name) || startsUnnamed(name) || languageOf(name) !== undefined;
  if (hiding.size >= MAX_WORDS) hiding.clear();
  hiding.set(word, hides);
  return hides;
}

/** Characters: longer texts are left to the reader of commands, which says what it cannot tell. */
const MAX_PLAIN = 4096;

interface Kept {
  readonly text: string;
  readonly cwd: string;
  readonly home: string | undefined;
  readonly reading: ShellReading;
}

const MAX_KEPT = 8;
const kept: Kept[] = [];

/** Commands are the same again and again, and what is read of one depends on nothing but its text and place. */
function readingOf(text: string, cwd: string, home: string | undefined): ShellReading {
  const known = kept.find((each) => each.text === text && each.cwd === cwd && each.home === home);
  if (known) return known.reading;
  const reading = readShell(text, { cwd, home });
  kept.unshift({ text, cwd, home, reading });
  if (kept.length > MAX_KEPT) kept.pop();
  return reading;
}
