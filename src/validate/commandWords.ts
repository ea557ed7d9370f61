import { PROJECT_NAMES } from '../shell/expandCommand.js';

/** A word of a command; without text where only the shell knows what becomes of it. */
export type Word = string | undefined;

/** What is known of the variables that a command refers to, by their names. */
export type References = ReadonlyMap<string, string>;

const PROJECT_REFERENCE = new RegExp(
  String.raw`\$(?:(?:${PROJECT_NAMES})\b|\{(?:${PROJECT_NAMES}|extensionPath)\})`,
  'gu',
);
const REFERENCE = /\$(?:\w+|\{\w+\})/gu;
const TOKEN = new RegExp(
  [
    String.raw`(?<blank>[ \t]+|\\\n)`,
    String.raw`(?<redirection>\d*(?:>>|>\||>&|<&|&>>?|<>|>|<(?!<))[ \t]*)`,
    String.raw`(?<pipe>\|&?(?!\|))`,
    String.raw`'(?<single>[^']*)'`,
    String.raw`"(?<double>(?:[^"\\]|\\[^])*)"`,
    String.raw`\\(?<escaped>[^])`,
    String.raw`(?<reference>\$(?:\w+|\{\w+\}))`,
    String.raw`(?<plain>[\w@%+:,./=^!{}-]+)`,
    // What a shell would have to expand; the word goes on behind it.
    String.raw`(?<opaque>[~*?[\]$])`,
  ].join('|'),
  'uy',
);

/**
 * The programs that a command begins with, as words: the first one and those that read from it through a pipe. What
 * comes after another operator may never run, and what is in a substitution, a loop or a here-document is not read.
 *
 * @param known what stands for references
 */
export function readPrograms(command: string, known: References): readonly (readonly Word[])[] {
  const programs: Word[][] = [[]];
  let word: { text: Word; isTarget: boolean } | undefined;
  let nextIsTarget = false;
  const endWord = () => {
    if (word && !word.isTarget) programs.at(-1)?.push(word.text);
    word = undefined;
  };
  const extend = (text: Word) => {
    word ??= { text: '', isTarget: nextIsTarget };
    nextIsTarget = false;
    word.text = word.text === undefined || text === undefined ? undefined : word.text + text;
  };

  const source = command.trim();
  for (let position = 0; position < source.length;) {
    TOKEN.lastIndex = position;
    const token = TOKEN.exec(source);
    const groups = token?.groups;
    if (!token || !groups || (!word && source[position] === '#')) {
      // The name of a function, not of a program.
      if (source[position] === '(') programs.pop();
      break;
    }
    position = TOKEN.lastIndex;
    if (groups['blank'] !== undefined) endWord();
    else if (groups['redirection'] !== undefined && (!word || !/^\d/u.test(token[0]))) {
      endWord();
      nextIsTarget = true;
    } else if (groups['pipe'] !== undefined) {
      endWord();
      programs.push([]);
    } else extend(textOf(groups, token[0], known));
  }
  endWord();
  return programs.map(withoutPrefixes).filter((words) => words.length > 0);
}

/** What a piece of a word becomes, unless only the shell knows. */
function textOf(
  { single, double, escaped, reference, plain }: Record<string, string | undefined>,
  token: string,
  known: References,
): Word {
  if (reference !== undefined) return unquote(reference, known);
  if (double !== undefined) return unquote(double, known);
  // Hardly meant as it is written, which is told by itself.
  if (single !== undefined && findUnexpanded(token).length > 0) return undefined;
  return single ?? escaped ?? (plain === undefined ? undefined : token);
}

function unquote(quoted: string, known: References): Word {
  if (
    /[$`]/u.test(
      quoted.replaceAll(REFERENCE, (text) => (valueOf(text, known) === undefined ? text : '')),
    )
  ) {
    return undefined;
  }
  return quoted
    .replaceAll(REFERENCE, (text) => valueOf(text, known) ?? text)
    .replaceAll(/\\(?<character>[$`"\\])/gu, '$<character>');
}

function valueOf(reference: string, known: References): string | undefined {
  return known.get(reference.replaceAll(/[${}]/gu, ''));
}

/** Leaves out what stands before the program: assignments, and words that only hand over to it. */
function withoutPrefixes(words: readonly Word[]): readonly Word[] {
  const start = words.findIndex(
    (word) => word === undefined || !/^(?:\w+=|exec$|env$)/u.test(word),
  );
  return start < 0 ? [] : words.slice(start);
}

/**
 * The references to the project that stand in single quotes, where the shell of the hook does not expand them: not
 * those that are in double quotes within, as in `bash -c 'cat "$LLXPRT_PROJECT_DIR/x"'`, which another shell expands.
 */
export function findUnexpanded(command: string): readonly string[] {
  return Array.from(command.matchAll(/"(?:[^"\\]|\\[^])*"|\\[^]|'(?<quoted>[^']*)'/gu)).flatMap(
    ({ groups }) => {
      const outside = groups?.['quoted']?.replaceAll(/"(?:[^"\\]|\\[^])*"/gu, '') ?? '';
      return outside.match(PROJECT_REFERENCE) ?? [];
    },
  );
}
