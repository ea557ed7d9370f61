import { ANY_TEXT, escapeGlob, globsMeet, readGlob, wildcardTest } from './globs.js';
import { subcommandAt } from './globalOptions.js';
import { takesCode } from './languages.js';
import { CODE_WORD } from './programs.js';
import { globOfUnknown, isHarmless } from './unknownWord.js';
import { programOf } from './commandUses.js';
import { baseName } from './programName.js';
import { patternWords } from './patternProblem.js';
import type { ShellWord, StartedCommand } from './types.js';

/** What a pattern says of a command. */
type CommandMatch = 'yes' | 'maybe' | undefined;

/** One word of a pattern; a `*` alone is any number of words. */
interface WordTest {
  readonly text: string;
  readonly isAny: boolean;
  readonly test: (text: string) => boolean;
  readonly hasWildcard: boolean;
}

/** A pattern of commands, compared word by word. */
export class CommandPattern {
  /** Base name of the program, in lower case, where it is one. */
  readonly program: string | undefined;
  /** What is in each command that matches, in lower case: words that are no options, without wildcards. */
  readonly literals: readonly string[];
  readonly #hasPath: boolean;
  readonly #words: readonly WordTest[];

  constructor(text: string) {
    const words = patternWords(text.replace(/:\*$/, ' *'));
    // As in permission rules, a wildcard at the end of all takes what follows as well.
    const last = words.at(-1) ?? '';
    const all = last !== '*' && last.endsWith('*') ? [...words, '*'] : words;
    const [first = ''] = words;
    this.#hasPath = first.includes('/');
    const name = baseName(first);
    this.#words = all.map((word) => readWord(word, name === 'git' && KEY_OF_GIT.test(word)));
    this.literals = [name, ...words.slice(1)]
      .filter((word) => /^[^-*][^*]*$/.test(word))
      .map((word) => word.toLowerCase());
    this.program = name.includes('*') ? undefined : name.toLowerCase();
  }

  find(command: StartedCommand): CommandMatch {
    const [first, ...others] = command.words;
    if (!first) return undefined;
    const [test, ...tests] = this.#words;
    if (!test) return undefined;
    const program = this.#findProgram(test, first, command);
    if (!program) return undefined;
    const wanted = test.isAny ? this.#words : tests;
    const given = test.isAny ? command.words : others;
    const found = weaker(program, findWords(wanted, given));
    if (found === 'yes') return found;
    const short = withoutGlobalOptions(programOf(command) ?? '', given);
    return short ? (weaker(program, findWords(wanted, short)) ?? found) : found;
  }

  #findProgram(test: WordTest, word: ShellWord, command: StartedCommand): CommandMatch {
    if (test.isAny) return 'yes';
    // What only the shell knows is said to be unknown of the text as a whole.
    if (!word.values) return 'maybe';
    const isOne = word.values.length === 1 && !word.isGlob;
    const name = isOne && !this.#hasPath ? (programOf(command) ?? '') : undefined;
    if (name !== undefined) {
      return (this.program === undefined ? test.test(name) : name === this.program)
        ? 'yes'
        : undefined;
    }
    const isMet = word.values.some((value) => {
      const own = this.#hasPath ? value : baseName(value);
      return word.isGlob ? canMean(own, test.text) : test.test(own);
    });
    return isMet ? (isOne ? 'yes' : 'maybe') : undefined;
  }

  /** Whether it is code for an interpreter that names the program. */
  isNamedInCode(command: StartedCommand): boolean {
    const { program } = this;
    if (program === undefined || !takesCode(programOf(command) ?? '')) return false;
    return command.words
      .flatMap(({ values = [] }) => values)
      .some((value) => CODE_WORD.test(value) && hasWord(value.toLowerCase(), program));
  }
}

function isPart(character: string | undefined): boolean {
  return character !== undefined && /[\w-]/.test(character);
}

/** Whether a text holds a word, and not as a part of a longer one. */
function hasWord(text: string, word: string): boolean {
  for (let at = text.indexOf(word); at >= 0; at = text.indexOf(word, at + 1)) {
    if (!isPart(text[at - 1]) && !isPart(text[at + word.length])) return true;
  }
  return false;
}

/** Git reads the names of its settings without regard to case. */
const KEY_OF_GIT = /^[a-z]+\.[\w.*-]+$/i;

function readWord(text: string, isCaseless: boolean): WordTest {
  const isAny = text === '*' || text === '**';
  const test = wildcardTest(isCaseless ? text.toLowerCase() : text);
  return {
    text,
    isAny,
    test: isCaseless ? (each) => test(each.toLowerCase()) : test,
    hasWildcard: text.includes('*'),
  };
}

function weaker(a: CommandMatch, b: CommandMatch): CommandMatch {
  if (!a || !b) return undefined;
  return a === 'yes' && b === 'yes' ? 'yes' : 'maybe';
}

/** Whether all words match: the best of the ways to share out `*`, and words that the shell splits, among each other. */
function findWords(tests: readonly WordTest[], words: readonly ShellWord[]): CommandMatch {
  let rests = restsAfter(() => undefined, words, 'yes');
  for (const test of tests.toReversed()) {
    const after = rests;
    const step = (word: ShellWord, at: number, next: CommandMatch) =>
      test.isAny
        ? better(after[at], next)
        : better(weaker(findWord(test, word), after[at + 1]), word.isSplit && after[at] && 'maybe');
    rests = restsAfter(step, words, test.isAny ? after[words.length] : undefined);
  }
  return rests[0];
}

/** For each word, whether it and all after it match, from the last to the first. */
function restsAfter(
  step: (word: ShellWord, at: number, next: CommandMatch) => CommandMatch,
  words: readonly ShellWord[],
  atEnd: CommandMatch,
): readonly CommandMatch[] {
  const rests: CommandMatch[] = [];
  rests[words.length] = atEnd;
  for (let at = words.length - 1; at >= 0; at--) {
    const word = words[at];
    const next = rests[at + 1];
    // Nothing may become of it.
    const without = word?.isSplit && next ? 'maybe' : undefined;
    rests[at] = word && better(step(word, at, next), without);
  }
  return rests;
}

function better(a: CommandMatch | false, b: CommandMatch | false): CommandMatch {
  return a === 'yes' || b === 'yes' ? 'yes' : a || b || undefined;
}

function findWord(test: WordTest, word: ShellWord): CommandMatch {
  const { values } = word;
  if (!values) {
    const isOut = /^[+-]/.test(test.text) && isHarmless(word.text);
    return !isOut && canMean(globOfUnknown(word.text), test.text) ? 'maybe' : undefined;
  }
  const isCertain = values.length === 1 && !word.isGlob;
  const isMet = values.some((value) =>
    word.isGlob ? canMean(value, test.text) : test.test(value) || isOption(test, value),
  );
  if (isMet) return isCertain ? 'yes' : 'maybe';
  return values.some((value) => isBeginning(test, value)) ? 'maybe' : undefined;
}

/** Whether a long option is cut so short that it may be another one. */
function isBeginning({ text, hasWildcard }: WordTest, value: string): boolean {
  return !hasWildcard && /^--\w/.test(value) && text.startsWith(value);
}

/** Whether the option that the pattern names is in a word: in a cluster, with a value, or shortened. */
function isOption({ text, hasWildcard }: WordTest, value: string): boolean {
  if (hasWildcard || !text.startsWith('-')) return false;
  if (/^-[a-zA-Z0-9]$/.test(text))
    return /^-[a-zA-Z0-9]+$/.test(value) && value.includes(text.charAt(1));
  if (!text.startsWith('--') || !value.startsWith('--')) return false;
  const name = value.split('=', 1)[0] ?? '';
  return name === text || (name.length >= MIN_ABBREVIATION && text.startsWith(name));
}

/** `--` and three letters: programs take long options that are cut short. */
const MIN_ABBREVIATION = 5;

/** Whether a glob of files may become a text that matches. */
function canMean(glob: string, pattern: string): boolean {
  const other = readGlob(escapeGlob(pattern).replaceAll(String.raw`\*`, ANY_TEXT), { dot: true });
  return globsMeet(readGlob(glob, { dot: false }), other);
}

/** `undefined` where there are none. */
function withoutGlobalOptions(
  program: string,
  words: readonly ShellWord[],
): readonly ShellWord[] | undefined {
  const at = subcommandAt(program, words);
  return at > 0 ? words.slice(at) : undefined;
}
