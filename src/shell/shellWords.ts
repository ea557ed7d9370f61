import { PROJECT_NAMES } from './expandCommand.js';

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

// Without the parser of `readCommand`, which takes longer to load than a hook takes to start. A property test compares
// the two.
const PLAIN = String.raw`[\w@%+:,./-]`;
const REFERENCE = String.raw`\$\{(?:${PROJECT_NAMES})\}`;
const QUOTED = String.raw`'[^']*'|"(?:[^"$\x60\\!]|${REFERENCE})*"`;
const WORD = String.raw`(?:${PLAIN}|=|${QUOTED})+`;
const SIMPLE_COMMAND = new RegExp(
  String.raw`^[ \t]*((?:${PLAIN}|${QUOTED})+)(?:[ \t]+${WORD})*[ \t]*$`,
);
const WORDS = new RegExp(WORD, 'g');

/** Characters: longer commands are not looked at. */
const MAX_SIMPLE = 4096;

/**
 * Whether a shell command is nothing but a program with arguments, so that a shell can become the program: no builtin,
 * operator, assignment or glob, and no expansion but of the project's directory in quotes. When in doubt, no.
 */
export function isSimpleCommand(command: string): boolean {
  return splitSimpleCommand(command) !== undefined;
}

/** The words of such a command, quotes as they are; `undefined` for any other. */
export function splitSimpleCommand(command: string): readonly string[] | undefined {
  // The parser takes these for a home directory, also in quotes.
  if (command.length > MAX_SIMPLE || /\n|[:=]~/.test(command)) return undefined;
  const first = SIMPLE_COMMAND.exec(command)?.[1];
  if (first === undefined) return undefined;
  // `%` would be a job.
  const isPath = first.includes('/') && !/^['"]*%/.test(first);
  const isProgram = isPath || (/^[\w.+-]+$/.test(first) && !NOT_PROGRAMS.has(first));
  return (isProgram && command.match(WORDS)) || undefined;
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
