import { homedir } from 'node:os';

/** Nesting of quotes in quotes up to which words are looked for, as in `sh -c 'sh -c "…"'`. */
const MAX_DEPTH = 4;

/**
 * Every word of a shell command that may be the name of a file, in whatever quotes. Rather one too many than one too
 * few; only where output is redirected to is left out, since that is written and not run.
 */
export function findWords(command: string): readonly string[] {
  const words = new Set<string>();
  collect(command, 0, words);
  return [...words];
}

function collect(text: string, depth: number, words: Set<string>): void {
  for (const { word, isOutput } of splitWords(text)) {
    if (isOutput) continue;
    addWord(word, words);
    if (/\s/.test(word) && depth < MAX_DEPTH) collect(word, depth + 1, words);
    // In `--file=a:b` there are two more.
    else for (const part of word.split(/[\s=:,{}'"`()<>;|&]+/)) addWord(part, words);
  }
}

function addWord(word: string, words: Set<string>): void {
  const plain = word.replace(HOME, homedir()).replace(LEADING_REFERENCE, '');
  if (plain.startsWith('-')) {
    // A flag, or one with a file right behind it: `-r./hook.js`, `-Ihooks`.
    addWord(plain.slice(2), words);
    return;
  }
  if (plain && !plain.includes('\0')) words.add(plain);
  // A module of Python: `-m hooks.check`.
  if (/^\w+(?:\.\w+)+$/.test(plain)) words.add(plain.replaceAll('.', '/'));
}

const HOME = /^(?:~|\$HOME|\$\{HOME\})(?=\/)/;

/** A variable where a path begins stands for the project or the extension, where every word is looked for. */
const LEADING_REFERENCE = /^(?:\$\w+|\$\{[^}]*\})(?=\/)/;

interface Word {
  readonly word: string;
  /** Whether it says where output goes. */
  readonly isOutput: boolean;
}

const TOKEN = new RegExp(
  [
    // A line that goes on, and a quote with escapes.
    String.raw`(?<nothing>\\\n|\$(?=['"]))`,
    String.raw`(?<space>\s+)`,
    String.raw`<>`,
    String.raw`(?<output>(?<!=)(?:(?<![^\s;|&(])\d+)?&?>>?[|&]?)(?![(>&])`,
    String.raw`[;|&()<>\x60]`,
    String.raw`'(?<single>[^']*)(?:'|$)`,
    String.raw`"(?<double>(?:\\[^]|[^"\\])*)(?:"|$)`,
    String.raw`\\(?<escaped>[^])`,
    // A bracket of an expansion is part of its word.
    String.raw`(?<plain>\$\{[^}]*\}|[^])`,
  ].join('|'),
  'gu',
);

/** Splits as a shell does, as far as words are concerned. Quotes are gone from the words. */
function* splitWords(text: string): Generator<Word> {
  let word: string | undefined;
  let isOutput = false;
  for (const { groups = {} } of text.matchAll(TOKEN)) {
    const { nothing, single, double, escaped, plain, output, space } = groups;
    if (nothing !== undefined) continue;
    const piece = single ?? double?.replaceAll(/\\(["\\$`])/gu, '$1') ?? escaped ?? plain;
    if (piece !== undefined) {
      word = (word ?? '') + piece;
      continue;
    }
    if (word !== undefined) yield { word, isOutput };
    if (word !== undefined || !space) isOutput = output !== undefined;
    word = undefined;
  }
  if (word !== undefined) yield { word, isOutput };
}
