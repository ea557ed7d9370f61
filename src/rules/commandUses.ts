import { basename, resolve } from 'node:path';
import { subcommandAt } from './globalOptions.js';
import { ANY_TEXT, escapeGlob } from './globs.js';
import { filesOfPatch } from '../tools/patch.js';
import { FROM_INPUT } from './inner.js';
import { globOfUnknown, isHarmless } from './unknownWord.js';
import type { NamedFile } from './paths.js';
import { programName } from './programName.js';
import { takesCode } from './languages.js';
import {
  CODE_WORD,
  LEFT_OUT,
  NAMES_IN_TEXT,
  NOT_READING,
  READ_OPTIONS,
  READS_BELOW,
  READS_HERE,
  SHOWS_CHANGES,
  TEXT_FIRST,
  VALUE_OPTIONS,
  WITH_SUBCOMMANDS,
  WRITES,
  type WriteRow,
} from './programs.js';
import type { ShellReading, ShellWord, StartedCommand } from './types.js';

/** A word that stands where a file may be named, beside the option that it is a value of. */
interface Operand {
  readonly word: ShellWord;
  readonly option?: string;
}

/** A command in parts, as programs read their words. */
interface Parts {
  /** Base name, in lower case; of git, its subcommand behind it. */
  readonly program: string;
  readonly options: readonly string[];
  readonly operands: readonly Operand[];
}

/** The name of a program without its directory; `undefined` where only the shell knows it. */
export function programOf({ words: [first] }: StartedCommand): string | undefined {
  const name = first?.values?.length === 1 && !first.isGlob ? first.values[0] : undefined;
  return name === undefined ? undefined : programName(name);
}

const parts = new WeakMap<StartedCommand, Parts>();

function partsOf(command: StartedCommand): Parts {
  const known = parts.get(command);
  if (known) return known;
  const [, ...words] = command.words;
  const name = programOf(command) ?? '';
  const at = WITH_SUBCOMMANDS.has(name) ? subcommandAt(name, words) : -1;
  const found =
    at < 0
      ? splitWords(name, words)
      : splitWords(`${name}-${words[at]?.values?.[0] ?? ''}`, words.slice(at + 1));
  parts.set(command, found);
  return found;
}

/** The program, of some with its subcommand behind a dash. */
export function subprogramOf(command: StartedCommand): string {
  return partsOf(command).program;
}

function splitWords(program: string, words: readonly ShellWord[]): Parts {
  const options: string[] = [];
  const operands: Operand[] = [];
  const takesValue = VALUE_OPTIONS[program];
  let isOver = false;
  let option: string | undefined;
  for (const word of words) {
    const text = word.values?.[0] ?? '';
    if (option !== undefined) {
      operands.push({ word, option });
      option = undefined;
    } else if (!isOver && text === '--') isOver = true;
    else if (!isOver && /^-./.test(text)) {
      options.push(text);
      operands.push({ word, option: text });
      const isNext = takesValue?.test(text) || isFileOption(program, text);
      if (isNext && !text.includes('=')) option = text;
    } else operands.push({ word });
  }
  return { program, options, operands };
}

function isFileOption(program: string, option: string): boolean {
  const { options, unseen } = WRITES[program] ?? {};
  const isWritten = options?.test(option) === true || unseen?.test(option) === true;
  const isRead = READ_OPTIONS[program]?.test(option) === true;
  return isWritten || LEFT_OUT.test(option) || isRead;
}

/** The text in which a command was found, and all of the others in it. */
export interface CommandSource {
  readonly text: string;
  readonly reading: ShellReading;
}

/** Git with `-C` is in another directory, from which it reads all names. */
function inItsDirectory(command: StartedCommand): StartedCommand {
  if (programOf(command) !== 'git') return command;
  const { words } = command;
  const end = subcommandAt('git', words.slice(1)) + 1;
  return words.slice(0, end).reduce((at, { values }, index) => {
    if (values?.[0] !== '-C') return at;
    const [to, more] = words[index + 1]?.values ?? [];
    const isKnown = to !== undefined && more === undefined && at.directory !== undefined;
    return { ...at, directory: isKnown ? resolve(at.directory, to) : undefined };
  }, command);
}

/** Files that a command may read: those that it names, and its redirections. */
export function filesRead(started: StartedCommand, source: CommandSource): readonly NamedFile[] {
  const command = inItsDirectory(started);
  const isNames = LISTS.test(command.words[0]?.values?.[0] ?? '');
  const named = wordsRead(command)
    .flatMap((word) => namesIn(word, command))
    .map((file) => (isNames ? { ...file, isNames } : file));
  const here = readsHere(command, source) ? [{ path: '.', directory: command.directory }] : [];
  const own = withFound([...named, ...here], command, source).map((file) =>
    withBelow(file, command),
  );
  const ofText = [...namesInText(command), ...codeFromInput(command, source)];
  return [...own, ...ofText, ...command.reads.flatMap((word) => fileOf(word, command))];
}

/** No program of that name elsewhere, which could be any. */
const LISTS = /^(?:(?:\/usr)?\/bin\/)?ls$/;

/** What an interpreter reads as code from a here-document, or a pipe: any name in the text may be within it. */
function codeFromInput(command: StartedCommand, { text }: CommandSource): readonly NamedFile[] {
  const { program, options, operands } = partsOf(command);
  if (!takesCode(program) || options.some((each) => /^-[a-zA-Z]*[cempr]$/.test(each))) return [];
  const first = operands.find(({ option }) => option === undefined);
  const isInput = first === undefined || first.word.text === '-';
  return isInput && /<<|\|/.test(text) ? piecesOf(text, command) : [];
}

/** Files that a script of sed or awk reads or writes. */
function namesInText(command: StartedCommand): readonly NamedFile[] {
  const { program, operands } = partsOf(command);
  const names = NAMES_IN_TEXT[program];
  if (!names) return [];
  const texts = operands.flatMap(({ word: { values = [] } }) => values);
  const found = texts.flatMap((text) => [...text.matchAll(names)].map(([, name = '']) => name));
  return found.map((path) => ({ path, directory: command.directory, doubt: IN_CODE }));
}

const IN_CODE = 'the name of the file is within code';

function readsHere(command: StartedCommand, { text }: CommandSource): boolean {
  const { program } = partsOf(command);
  if (!READS_HERE.test(program) || plainWords(command).length > 0) return false;
  const isPiped = /(?<!\|)\|&?\s*$/.test(text.slice(0, text.indexOf(command.text)));
  return program.endsWith('grep') || !isPiped;
}

function wordsRead(command: StartedCommand): readonly ShellWord[] {
  const { program, operands } = partsOf(command);
  const isQuiet = isNotReading(command);
  const plain = isQuiet ? [] : plainWords(command);
  const valued = operands.filter(({ option, word }) => {
    if (option === undefined || LEFT_OUT.test(option)) return false;
    if (READ_OPTIONS[program]?.test(option)) return true;
    const isText = VALUE_OPTIONS[program]?.test(option) && !word.values?.[0]?.startsWith('@');
    return !isQuiet && !isText && WRITES[program]?.options?.test(option) !== true;
  });
  return [...plain, ...valued.map(({ word }) => word)];
}

function isNotReading(command: StartedCommand): boolean {
  const { program, options } = partsOf(command);
  const shows = program === 'git-log' && options.some((each) => SHOWS_CHANGES.test(each));
  return NOT_READING.has(program) && !shows;
}

/** Where copies go to, unless an option says it. */
const WITH_TARGET = /^(?:cp|mv|install|ln|link|rsync|scp|ffmpeg|git-mv)$/;

/** Words that are no options and no values of them, without what is no file to be read: texts to look for, and targets. */
function plainWords(command: StartedCommand): readonly ShellWord[] {
  const { program, options, operands } = partsOf(command);
  const plain = operands.filter(({ option }) => option === undefined).map(({ word }) => word);
  const textFirst = TEXT_FIRST[program];
  if (textFirst && !options.some((each) => textFirst.test(each))) return plain.slice(1);
  const hasTarget = WITH_TARGET.test(program) && plain.length > 1;
  const isNamed = options.some((each) => /^(?:-[a-zA-Z]*t|--t)/.test(each));
  const files = hasTarget && !isNamed ? plain.slice(0, -1) : plain;
  return program.startsWith('git-') ? files.filter(({ text }) => !RANGE.test(text)) : files;
}

/** Commits from one to another. */
const RANGE = /\.{2,3}[\w@{$"]|[\w"}]\.{2,3}$/;

/** What is read of the text before `=`, `:`, `@` and `,` as well as behind, as in `--file=.env` and `-d@.env`. */
const SEPARATORS = /[=:@,]/;
const PIECE = /[\w.~/*?@%+-]*[\w~/*?]/g;

function namesIn(word: ShellWord, command: StartedCommand): readonly NamedFile[] {
  const { program } = partsOf(command);
  const isCode = takesCode(program);
  if (!word.values) return isHarmless(word.text) ? [] : fileOf(word, command);
  return word.values.flatMap((value) => {
    if (isCode && CODE_WORD.test(value)) return piecesOf(value, command);
    // What a URL names is no file.
    if (/^(?!file:)\w+:\/\//.test(value)) return [];
    const names = new Set([value]);
    const [, attached] = /^-[a-zA-Z]+([^a-zA-Z-].*)$/.exec(value) ?? [];
    if (attached !== undefined) names.add(attached);
    if (/^-[a-zA-Z]./.test(value)) names.add(value.slice(2));
    if (SEPARATORS.test(value)) {
      for (const piece of value.split(SEPARATORS)) names.add(piece);
      for (const { index } of value.matchAll(/[=:@,]/g)) names.add(value.slice(index + 1));
    }
    names.delete('');
    return [...names].map((path) => fileAt(path, word, command));
  });
}

function piecesOf(code: string, command: StartedCommand): readonly NamedFile[] {
  const pieces = new Set([code, ...(code.match(PIECE) ?? [])]);
  return [...pieces].map((path) => ({
    path,
    directory: command.directory,
    doubt: IN_CODE,
  }));
}

function fileAt(path: string, word: ShellWord, { directory }: StartedCommand): NamedFile {
  return { path, directory, ...(word.isGlob && { isGlob: true }) };
}

function fileOf(word: ShellWord, command: StartedCommand): readonly NamedFile[] {
  if (word.values) return word.values.map((value) => fileAt(value, word, command));
  const isInput = word.text === FROM_INPUT.text;
  return [
    {
      path: pathOfUnknown(word.text),
      shown: isInput ? command.text : word.text,
      directory: command.directory,
      isGlob: true,
      doubt: isInput
        ? 'it takes names from its input'
        : `only the shell knows what becomes of ${word.text}`,
    },
  ];
}

/** At its beginning, any directory may be meant. */
function pathOfUnknown(text: string): string {
  const glob = globOfUnknown(text);
  return glob.startsWith(ANY_TEXT) ? `/${glob}` : glob;
}

function isOpen({ path }: NamedFile): boolean {
  return path === '{}' || path === `/${ANY_TEXT}`;
}

/** In place of `{}`, and of what xargs reads from `find`, the files that this finds. */
function withFound(
  files: readonly NamedFile[],
  command: StartedCommand,
  source: CommandSource,
): readonly NamedFile[] {
  if (!files.some(isOpen)) return files;
  const find = source.reading.commands.find((each) => isStartedBy(each, command, source.text));
  return find ? files.flatMap((file) => (isOpen(file) ? foundBy(find, file) : [file])) : files;
}

/** Between `find` and `xargs`, what lets names through as they are. */
const FILTERS =
  /^\s*(?:2>\s*[\w/&]+\s*)?(?:\|\s*(?:(?:sort|head|tail|uniq)(?:\s+-[\w]+)*|grep(?:\s+-[a-zA-Z]+)*\s+[^\s|;&<>()$`]+)\s*)*\|\s*xargs\b/;

function isStartedBy(find: StartedCommand, command: StartedCommand, text: string): boolean {
  if (programOf(find) !== 'find') return false;
  if (find.text === command.text) return true;
  if (!command.text.startsWith('xargs') || command.reads.length > 0) return false;
  const at = text.indexOf(find.text);
  const rest = text.slice(at + find.text.length);
  return at >= 0 && FILTERS.test(rest) && rest.trimStart().includes(command.text);
}

/** Options of tar may stand without a dash, as the first word. */
function hasOption(wanted: RegExp, command: StartedCommand): boolean {
  const { program, options, operands } = partsOf(command);
  const [first] = operands;
  const without = program.endsWith('tar') ? (first?.word.values ?? []) : [];
  return [...options, ...without].some((each) => wanted.test(each));
}

/** The files below where it starts, of these names; others of such names may come to be there until then. */
function foundBy(find: StartedCommand, file: NamedFile): readonly NamedFile[] {
  const only = namesFound(find);
  const words = partsOf(find).operands.filter(({ option }) => option === undefined);
  const end = words.findIndex(({ word }) => /^[(!{\\]/.test(word.text));
  const named = words.slice(0, end < 0 ? words.length : end).map(({ word }) => word);
  const starts = (named.length > 0 ? named : [HERE]).flatMap((word) => fileOf(word, find));
  return [
    ...starts.map((start) => ({ ...start, isBelow: true, only })),
    ...starts.flatMap((start) => only.map((name) => foundIn(start, name, file))),
  ];
}

/** Names of which each file that is found has one; none where that cannot be told. */
function namesFound({ words }: StartedCommand): readonly string[] {
  if (words.some(({ text }) => OR_GROUP.test(text))) return [];
  return words.flatMap(({ text }, at) => {
    const isName = /^-i?name$/.test(text) && !NOT.test(words[at - 1]?.text ?? '');
    return isName ? (words[at + 1]?.values ?? []) : [];
  });
}

const OR_GROUP = /^(?:-o|-or|,|["'\\]?\(["']?)$/;
const NOT = /^(?:["'\\]?!["']?|-not)$/;

const HERE: ShellWord = { text: '.', values: ['.'] };

function foundIn(start: NamedFile, name: string, file: NamedFile): NamedFile {
  const path = `${start.isGlob ? start.path : escapeGlob(start.path)}/**/${name}`;
  const doubt = `find gives it names such as ${name}`;
  return { ...file, path, shown: name, directory: start.directory, isGlob: true, doubt };
}

function optionValues(command: StartedCommand, option: RegExp): readonly string[] {
  return partsOf(command).operands.flatMap(({ option: own, word }) =>
    own !== undefined && option.test(own) && word.values?.[0] !== own ? (word.values ?? []) : [],
  );
}

function withBelow(file: NamedFile, command: StartedCommand): NamedFile {
  const { program, options } = partsOf(command);
  const row = READS_BELOW[program];
  const isRead = row && (row.when === undefined || hasOption(row.when, command));
  if (!isRead) return file;
  const only = optionValues(command, /^--include|^-g$|^--glob$/);
  const hasHidden = row.hidden === undefined || options.some((each) => row.hidden?.test(each));
  return {
    ...file,
    isBelow: true,
    ...(!hasHidden && { skipsHidden: true }),
    ...limits(command, only),
  };
}

function limits(command: StartedCommand, separate: readonly string[]) {
  const { options } = partsOf(command);
  const attached = (name: RegExp) =>
    options.flatMap((each) => (name.test(each) ? [each.slice(each.indexOf('=') + 1)] : []));
  const only = [...separate, ...attached(/^--include=/)].filter((each) => !each.startsWith('!'));
  const except = [
    ...attached(/^--exclude(?:-dir)?=/),
    ...optionValues(command, /^--exclude(?:-dir)?$/),
  ];
  return { ...(only.length > 0 && { only }), ...(except.length > 0 && { except }) };
}

/** Files that a command may write, or remove. */
export function filesWritten(started: StartedCommand, source: CommandSource): readonly NamedFile[] {
  const command = inItsDirectory(started);
  const given = command.writes.flatMap((word) => fileOf(word, command));
  given.push(...namesInText(command), ...codeFromInput(command, source));
  const { program, operands } = partsOf(command);
  if (APPLIES_PATCH.test(program)) {
    const { directory } = command;
    given.push(...filesOfPatch(source.text).map((path) => ({ path, directory })));
  }
  if (takesCode(program)) {
    const code = operands
      .flatMap(({ word: { values = [] } }) => values)
      .filter((each) => CODE_WORD.test(each));
    given.push(...code.flatMap((each) => piecesOf(each, command)));
  }
  const row = WRITES[program];
  return row ? [...given, ...withFound(wordsWritten(row, command), command, source)] : given;
}

/** Agents have their own, in the shell as well. */
const APPLIES_PATCH = /^apply_?patch$/;

function isBelowBy({ below }: WriteRow, option: string): boolean {
  return below !== 'always' && below?.test(option) === true;
}

function wordsWritten(row: WriteRow, command: StartedCommand): readonly NamedFile[] {
  const { operands, options, program } = partsOf(command);
  const isOn = row.when === undefined || hasOption(row.when, command);
  const isBelow = options.some((each) => isBelowBy(row, each)) || row.below === 'always';
  const valued = operands.filter(
    ({ option, word }) =>
      option !== undefined && isWrittenBy(row, option) && word.values?.[0] !== option,
  );
  const attached = options.flatMap((each) => attachedTo(row, each));
  const files = [
    ...valued.flatMap(({ word }) => fileOf(word, command)),
    ...attached.map((path) => ({ path, directory: command.directory })),
  ];
  if (!isOn) return files;
  const plain = operands.filter(({ option }) => option === undefined).map(({ word }) => word);
  const isAll = row.words === 'rest' && options.some((each) => TEXT_FIRST[program]?.test(each));
  const chosen = isAll ? plain : chosenWords(row, plain);
  const targets = chosen.flatMap((word) => fileOf(word, command));
  const sources = row.words === 'last' || program === 'mv' ? plain.slice(0, -1) : [];
  const within = sources.flatMap(({ values = [] }) =>
    [...targets.slice(-1), ...files].flatMap((target) =>
      values.map((value) => ({ ...target, path: `${target.path}/${basename(value)}` })),
    ),
  );
  targets.push(...fetchedInto(command));
  const all = plain.length === 0 && isBelow ? [{ path: '.', directory: command.directory }] : [];
  const unseen = row.unseen ? [unseenIn(row.unseen, command)] : [];
  return [...files, ...targets, ...within, ...all, ...unseen].map((file) =>
    isBelow ? { ...file, isBelow } : file,
  );
}

/** What is fetched under the name that it has there. */
function fetchedInto(command: StartedCommand): readonly NamedFile[] {
  const { program, options, operands } = partsOf(command);
  const isNamed =
    program === 'curl' && options.some((each) => /^(?:-[a-zA-Z]*O|--remote-n)/.test(each));
  if (!isNamed && program !== 'wget') return [];
  const urls = operands.filter(({ option }) => option === undefined);
  return urls.flatMap(({ word: { values = [] } }) =>
    values.map((url) => ({
      path: basename(url.replace(/[?#].*$/, '')),
      directory: command.directory,
    })),
  );
}

function isWrittenBy({ options, unseen }: WriteRow, option: string): boolean {
  return options?.test(option) === true && unseen?.test(option) !== true;
}

/** The value in `--output=file`, and in `-ofile`. */
function attachedTo({ options }: WriteRow, option: string): readonly string[] {
  const [, name = '', value] =
    /^(--[\w-]+)=([^]+)$/.exec(option) ?? /^(-\w)([^]+)$/.exec(option) ?? [];
  return value !== undefined && options?.test(name) ? [value] : [];
}

function chosenWords(
  { words, prefix }: WriteRow,
  plain: readonly ShellWord[],
): readonly ShellWord[] {
  if (prefix !== undefined) {
    return plain
      .filter(({ text }) => text.startsWith(prefix))
      .map((word) => ({
        ...word,
        text: word.text.slice(prefix.length),
        values: word.values?.map((each) => each.slice(prefix.length)),
      }));
  }
  if (words === 'all') return plain;
  if (words === 'rest') return plain.slice(1);
  if (words === 'first') return plain.slice(0, 1);
  return words === 'last' ? plain.slice(-1) : [];
}

/** Any file in the directory that is named, or where it runs. */
function unseenIn(option: RegExp, command: StartedCommand): NamedFile {
  const [into = '.'] = optionValues(command, option);
  const path = `${escapeGlob(into)}/${ANY_TEXT}`;
  const program = partsOf(command).program.replace('-', ' ');
  const doubt = `the names of the files that ${program} writes are not in the command`;
  return { path, shown: into, directory: command.directory, isGlob: true, doubt };
}
