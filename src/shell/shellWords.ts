import { EXTENSION_NAMES, expandWord, PROJECT_NAMES, type CommandScope } from './expandCommand.js';

/** Names that bash does not look up on the PATH when they stand where a command does. */
export const NOT_PROGRAMS: ReadonlySet<string> = new Set(
  (
    '. : [ [[ alias bg bind break builtin caller case cd command compgen complete compopt continue coproc declare ' +
    'dirs disown do done echo elif else enable esac eval exec exit export false fc fg fi for function getopts hash ' +
    'help history if in jobs kill let local logout mapfile popd printf pushd pwd read readarray readonly return ' +
    'select set shift shopt source suspend test then time times trap true type typeset ulimit umask unalias unset ' +
    'until wait while'
  ).split(' '),
);

/** What stands for itself, and what quotes hold that does. A reference in double quotes is known. */
const PLAIN = String.raw`[\w@%+:,./-]`;
const patterns = { project: patternsOf(PROJECT_NAMES), extension: patternsOf(EXTENSION_NAMES) };

function patternsOf(names: string) {
  const quoted = String.raw`'[^']*'|"(?:[^"$\x60\\!]|\$\{(?:${names})\})*"`;
  const word = String.raw`(?:${PLAIN}|=|${quoted})+`;
  return {
    words: new RegExp(word, 'g'),
    simple: new RegExp(String.raw`^[ \t]*((?:${PLAIN}|${quoted})+)(?:[ \t]+${word})*[ \t]*$`),
  };
}

/** Characters: longer commands are not looked at. */
const MAX_SIMPLE = 4096;

/**
 * The words, with their quotes, of a shell command that is nothing but a program with arguments, so that a shell can
 * become the program: no builtin, operator, assignment or glob, and no expansion but of the project's directory in quotes.
 * When in doubt, `undefined`.
 */
export function splitSimpleCommand(
  command: string,
  scope: CommandScope = 'project',
): readonly string[] | undefined {
  // In doubt these are a home directory, also in quotes.
  if (command.length > MAX_SIMPLE || /\n|[:=]~/.test(command)) return undefined;
  const { simple, words } = patterns[scope];
  const first = simple.exec(command)?.[1];
  if (first === undefined) return undefined;
  // `%` would be a job.
  const isPath = first.includes('/') && !/^['"]*%/.test(first);
  const isProgram = isPath || (/^[\w.+-]+$/.test(first) && !NOT_PROGRAMS.has(first));
  return (isProgram && command.match(words)) || undefined;
}

/** The words of such a command as the program gets them, with the values of references in them. */
export function readSimpleCommand(
  command: string,
  scope: CommandScope,
  values: Parameters<typeof expandWord>[2],
): readonly string[] | undefined {
  return splitSimpleCommand(command, scope)?.map((word) =>
    word.replaceAll(
      /'([^']*)'|"([^"]*)"/g,
      (_quoted, single?: string, double = '') => single ?? expandWord(double, scope, values),
    ),
  );
}

const ANY_WORD = /(?:'[^']*'|"(?:[^"\\]|\\[^])*"|\\[^]|[^\s'"\\;|&<>()])+/g;
const QUOTING = /'([^']*)'|"((?:[^"\\]|\\[^])*)"|\\([^])|\$\{?(\w+)\}?/g;

/** A `~/` that a shell expands. */
const HOME = /^(\w+=)?~\//;

/**
 * The words of any command, with the values of variables in their place, as far as that can be told without running it:
 * for what its words may name, never for what is executed.
 */
export function readWords(
  command: string,
  variables: Readonly<Record<string, string | undefined>>,
): string[] {
  const words = command.match(ANY_WORD) ?? [];
  return words.map((word) => unquote(word.replace(HOME, '$1$$HOME/'), variables));
}

function unquote(word: string, variables: Readonly<Record<string, string | undefined>>): string {
  return word.replaceAll(
    QUOTING,
    (_all, single?: string, double?: string, escaped?: string, name?: string) =>
      name === undefined
        ? (single ?? (double === undefined ? escaped : unquote(double, variables)) ?? '')
        : (variables[name] ?? ''),
  );
}
