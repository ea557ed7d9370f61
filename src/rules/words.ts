import {
  parse,
  type ParameterExpansionPart,
  type ParsedScript,
  type Word,
  type WordPart,
} from 'unbash';
import { escapeGlob } from './globs.js';
import { literal, type WordValue, type WordValues, type ShellState } from './shellState.js';
import type { ShellWord } from './types.js';

/** What words are read with. */
export interface WordContext {
  readonly state: ShellState;
  /** What a substitution prints, if that is known. */
  outputOf(script: ParsedScript | undefined): readonly string[] | undefined;
}

/** A piece of a word, when its variables have a value each. */
interface Piece {
  readonly raw: string;
  /** The same as a pattern. */
  readonly pattern: string;
  readonly isGlob: boolean;
  /** Whether blanks in it separate words. */
  readonly splits: boolean;
}

/** A word, as far as it has been put together. */
interface Draft {
  readonly done: readonly WordValue[];
  readonly last: Omit<Piece, 'splits'> | undefined;
}

const MAX_DRAFTS = 64;
const MAX_FIELDS = 4096;
/** Characters of one word. */
const MAX_TEXT = 64 * 1024;
const MAX_BRACES = 128;
const MAX_READINGS = 1024;
const EMPTY = { raw: '', pattern: '', isGlob: false };

/**
 * What becomes of a word: usually one word. Several lists of words where their number depends on the value of a variable;
 * a word with values where only those differ.
 */
export function readWord(word: Word, context: WordContext): readonly (readonly ShellWord[])[] {
  const { text, value, parts } = word;
  if (!parts && !text.includes('~') && !/[$`]/.test(text)) return [[{ text, values: [value] }]];
  const brace = parts?.find((part) => part.type === 'BraceExpansion');
  if (brace) return readBraces(word, brace.pos - word.pos, brace.text, context);
  if (/^"?\$(?:@|\{@\})"?$/.test(text)) return readArguments(text, context.state);
  const drafts = draftsOf(word, context, 'split');
  if (!drafts) return [[unknownWord(word)]];
  return groupByLength(drafts.map(finish)).map((fieldLists) =>
    fieldLists[0]!.map((_field, index) =>
      toWord(
        text,
        fieldLists.map((fields) => fields[index]!),
      ),
    ),
  );
}

/** The values of a word that is not split: of an assignment, a here-string, a pattern. */
export function readWhole(word: Word, context: WordContext): WordValues {
  if (/:~/.test(word.text)) return undefined;
  return draftsOf(word, context, 'whole')?.map(({ last = EMPTY }) =>
    last.isGlob ? { value: last.pattern, isGlob: true } : literal(last.raw),
  );
}

/** The values of the text of a here-document. */
export function readDocument(
  parts: readonly WordPart[],
  context: WordContext,
): readonly string[] | undefined {
  const drafts = append([{ done: [], last: EMPTY }], parts, context, 'quoted');
  return drafts?.map(({ last = EMPTY }) => last.raw);
}

/** A word with these values. */
export function toWord(text: string, fields: readonly WordValue[]): ShellWord {
  const isGlob = fields.some((field) => field.isGlob);
  if (!isGlob) return { text, values: [...new Set(fields.map(({ value }) => value))] };
  const patterns = fields.map((each) => (each.isGlob ? each.value : escapeGlob(each.value)));
  return { text, values: [...new Set(patterns)], isGlob: true };
}

function unknownWord({ text, parts = [] }: Word): ShellWord {
  const isSplit = parts.some(({ type }) => /Expansion$|^ExtendedGlob$/.test(type));
  return isSplit || /[@*]\}|\$[@*]/.test(text) ? { text, isSplit: true } : { text };
}

function readArguments(text: string, { positional }: ShellState): readonly ShellWord[][] {
  if (!positional?.every((each) => each && (text.startsWith('"') || each.every(isSimple)))) {
    return [[{ text, isSplit: true }]];
  }
  return [positional.map((fields) => toWord(text, fields!))];
}

const isSimple = ({ value }: WordValue): boolean => value !== '' && !/[\s*?[\\]/.test(value);

/** How a word is taken: split and matched with files, as a whole, or as within double quotes. */
type Way = 'split' | 'whole' | 'quoted';

function draftsOf(word: Word, context: WordContext, way: Way): readonly Draft[] | undefined {
  const { text, value } = word;
  const home = homeAt(text);
  if (home === 'unknown') return undefined;
  const parts = word.parts ?? [literalPart(text, value)];
  if (!word.parts && /[$`]/.test(text.replaceAll(/\\[^]/g, ''))) return undefined;
  const start: Draft = { done: [], last: way === 'split' ? undefined : EMPTY };
  if (home === undefined) return append([start], parts, context, way);
  const [first, ...rest] = parts;
  const fields = context.state.get('HOME');
  if (first?.type !== 'Literal' || !fields) return undefined;
  const before = quotedPiece(first.value.slice(0, home));
  const after = quotedPiece(first.value.slice(home + 1));
  const pieces = fields.map((field) => pieceOf(field, false));
  const prefixed = before.raw === '' ? [start] : extend([start], [before]);
  return append(extend(extend(prefixed, pieces), [after]), rest, context, way);
}

const literalPart = (text: string, value: string): WordPart => ({
  type: 'Literal',
  text,
  value,
  pos: 0,
  end: text.length,
});

/** Where a `~` stands for the home directory; `undefined` for nowhere. */
function homeAt(text: string): number | 'unknown' | undefined {
  const at = /^(?:[A-Za-z_]\w*\+?=)?~/.exec(text)?.[0].length;
  if (/^[A-Za-z_]\w*\+?=.*:~/s.test(text)) return 'unknown';
  if (at === undefined) return undefined;
  const rest = text.slice(at);
  if (rest === '' || rest.startsWith('/')) return at - 1;
  return /^[\w+.-]|^\\\n/.test(rest) ? 'unknown' : undefined;
}

function append(
  start: readonly Draft[],
  parts: readonly WordPart[],
  context: WordContext,
  way: Way,
): readonly Draft[] | undefined {
  let drafts: readonly Draft[] | undefined = start;
  for (const part of parts) {
    if (part.type === 'DoubleQuoted' || part.type === 'LocaleString') {
      drafts = append(extend(drafts, [quotedPiece('')]), part.parts, context, 'quoted');
    } else {
      const pieces = piecesOf(part, context, way);
      drafts = pieces && extend(drafts, pieces);
    }
    if (!drafts || drafts.length > MAX_DRAFTS || drafts.some(isTooLong)) return undefined;
  }
  return drafts;
}

function piecesOf(part: WordPart, context: WordContext, way: Way): readonly Piece[] | undefined {
  switch (part.type) {
    case 'Literal':
    case 'SingleQuoted':
    case 'AnsiCQuoted':
      return [quotedPiece(part.value)];
    case 'Glob': {
      if (part.kind === 'bracket' && part.parts.some(({ type }) => type !== 'Literal'))
        return undefined;
      const { text } = part;
      return [{ raw: text, pattern: text, isGlob: way === 'split', splits: false }];
    }
    case 'SimpleExpansion':
      return variablePieces(parameter(part.text.slice(1), context.state), context.state, way);
    case 'ParameterExpansion':
      return variablePieces(expansion(part, context), context.state, way);
    case 'CommandExpansion': {
      const values = context.outputOf(part.script)?.map((each) => each.replace(/\n+$/, ''));
      return variablePieces(values?.map(literal), context.state, way);
    }
    case 'ProcessSubstitution':
      return [quotedPiece('/dev/fd/63')];
    default:
      return undefined;
  }
}

function parameter(name: string, state: ShellState): WordValues {
  if (/^[A-Za-z_]\w*$/.test(name)) return state.get(name);
  if (!/^[1-9]\d*$/.test(name) || !state.positional) return undefined;
  const index = Number(name) - 1;
  return index < state.positional.length ? state.positional[index] : [literal('')];
}

function expansion(part: ParameterExpansionPart, context: WordContext): WordValues {
  const { prefix, index, operation } = part;
  if (prefix || index) return undefined;
  const fields = parameter(part.parameter, context.state);
  if (!operation || !fields) return fields;
  if (operation.type !== 'Default') return undefined;
  const isEmpty = (field: WordValue) => operation.operator.startsWith(':') && field.value === '';
  const set = fields.filter((field) => !isEmpty(field));
  const instead = () => readWhole(operation.operand, context);
  if (operation.operator.endsWith('+')) {
    const unset = set.length < fields.length ? [literal('')] : [];
    const others = set.length > 0 ? instead() : [];
    return others && [...unset, ...others];
  }
  const others = set.length < fields.length && !operation.operator.endsWith('?') ? instead() : [];
  return others && [...set, ...others];
}

/** The pieces that a variable's values are, if they are known. */
function variablePieces(
  fields: WordValues,
  state: ShellState,
  way: Way,
): readonly Piece[] | undefined {
  if (!fields || way !== 'split') return fields?.map((field) => pieceOf(field, false));
  const separators = state.get('IFS');
  const isUsual = separators?.length === 1 && separators[0]?.value === ' \t\n';
  const isPlain = fields.every(({ value, isGlob }) => isGlob || !/\\/.test(value));
  return isUsual && isPlain ? fields.map((field) => pieceOf(field, true)) : undefined;
}

function pieceOf({ value, isGlob }: WordValue, splits: boolean): Piece {
  if (isGlob) return { raw: value, pattern: value, isGlob, splits: false };
  const matches = splits && /[*?]|\[.*\]/s.test(value);
  return { raw: value, pattern: matches ? value : escapeGlob(value), isGlob: matches, splits };
}

const quotedPiece = (raw: string): Piece => ({
  raw,
  pattern: escapeGlob(raw),
  isGlob: false,
  splits: false,
});

/** A variable may be doubled again and again. */
function isTooLong({ done, last = EMPTY }: Draft): boolean {
  return done.length > MAX_FIELDS || last.raw.length > MAX_TEXT;
}

/** Each draft with each piece after it. */
function extend(drafts: readonly Draft[], pieces: readonly Piece[]): readonly Draft[] {
  return drafts.flatMap((draft) =>
    pieces.map((piece) => (piece.splits ? extendBySplit(draft, piece) : extendBy(draft, piece))),
  );
}

function extendBy({ done, last = EMPTY }: Draft, { raw, pattern, isGlob }: typeof EMPTY): Draft {
  return {
    done,
    last: {
      raw: last.raw + raw,
      pattern: last.pattern + pattern,
      isGlob: last.isGlob || isGlob,
    },
  };
}

function extendBySplit(draft: Draft, { raw, pattern, isGlob }: Piece): Draft {
  const texts = (isGlob ? pattern : raw).split(/[ \t\n]+/);
  let extended = draft;
  for (const [index, text] of texts.entries()) {
    if (index > 0) extended = { done: finish(extended), last: undefined };
    if (text === '') continue;
    const piece = isGlob ? { raw: text, pattern: text, isGlob } : quotedPiece(text);
    extended = extendBy(extended, piece);
  }
  return extended;
}

function finish({ done, last }: Draft): readonly WordValue[] {
  if (!last) return done;
  return [...done, last.isGlob ? { value: last.pattern, isGlob: true } : literal(last.raw)];
}

function groupByLength(fieldLists: readonly (readonly WordValue[])[]): (readonly WordValue[])[][] {
  const groups = new Map<number, (readonly WordValue[])[]>();
  for (const fields of fieldLists) {
    groups.set(fields.length, [...(groups.get(fields.length) ?? []), fields]);
  }
  return [...groups.values()];
}

/** The words that `a{b,c}` becomes: each is read as if it had been written. */
function readBraces(
  word: Word,
  start: number,
  text: string,
  context: WordContext,
): readonly (readonly ShellWord[])[] {
  const middles = bracedTexts(text);
  const braces = word.text.split('{').length - 1;
  // Each of them is read with all that the others may become.
  const isMany = !middles || middles.length ** braces > MAX_READINGS || middles.length > MAX_BRACES;
  if (isMany) return [[{ text: word.text, isSplit: true }]];
  const before = word.text.slice(0, start);
  const after = word.text.slice(start + text.length);
  const shapes = middles.map((middle) => readText(before + middle + after, context));
  if (shapes.some((each) => each.length !== 1) || shapes.length > MAX_BRACES) {
    return [[{ text: word.text, isSplit: true }]];
  }
  return [shapes.flatMap(([words = []]) => words)];
}

function readText(text: string, context: WordContext): readonly (readonly ShellWord[])[] {
  if (text === '') return [[]];
  const command = parse(`: ${text}`).commands[0]?.command;
  const [word, more] = command?.type === 'Command' ? command.suffix : [];
  if (word?.type !== 'Word' || more || word.text !== text) return [];
  return readWord(word, context);
}

const BRACE_TOKEN = /\\[^]|'[^']*'|"(?:\\[^]|[^"\\$`])*"|\$\{\w+\}|\$\w|[^]/g;

/** The alternatives between braces, or the steps of a sequence. */
function bracedTexts(text: string): readonly string[] | undefined {
  const inner = text.slice(1, -1);
  const steps = /^(-?\d+|[A-Za-z])\.\.(-?\d+|[A-Za-z])(?:\.\.(-?\d+))?$/.exec(inner);
  if (steps) return sequence(steps[1]!, steps[2]!, steps[3]);
  if (/\$\(|`|\$\{[^}]*[^\w}]/.test(inner)) return undefined;
  const texts = [''];
  let depth = 0;
  for (const token of inner.match(BRACE_TOKEN) ?? []) {
    if (token === '{') depth++;
    if (token === '}') depth--;
    if (token === ',' && depth === 0) texts.push('');
    else texts[texts.length - 1] += token;
  }
  return texts.length > 1 && depth === 0 ? texts : undefined;
}

function sequence(from: string, to: string, by = '1'): readonly string[] | undefined {
  const isNumber = /\d/.test(from);
  if (isNumber !== /\d/.test(to) || /^-?0\d/.test(from) || /^-?0\d/.test(to)) return undefined;
  const codeOf = (text: string) => (isNumber ? Number(text) : text.codePointAt(0)!);
  const [first, last, step] = [codeOf(from), codeOf(to), Math.abs(Number(by)) || 1];
  const count = Math.floor(Math.abs(last - first) / step) + 1;
  if (!(count <= MAX_BRACES) || (!isNumber && /[a-z]/.test(from) !== /[a-z]/.test(to))) {
    return undefined;
  }
  return Array.from({ length: count }, (_none, index) => {
    const code = first + Math.sign(last - first) * step * index;
    return isNumber ? String(code) : String.fromCodePoint(code);
  });
}

/** What a word's values are as those of a variable. */
export function fieldsOfWord({ values, isGlob = false }: ShellWord): WordValues {
  return values?.map((value) => ({ value, isGlob }));
}
