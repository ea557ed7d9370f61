/** A program that runs the words after its own. */
export interface Wrapper {
  /** The flags that it may have before its command: the form of each, and how many words it takes. */
  readonly flags: readonly (readonly [RegExp, number])[];
  /** The one word between these and the command. */
  readonly argument?: RegExp;
}

/** A program that runs the script that its first word names. */
export interface Interpreter {
  /** Flags that load nothing. All else that stands before a script may be code, or name some. */
  readonly flags: RegExp;
  /** Such flags with a value in the next word. */
  readonly flagsWithValue?: RegExp;
  /** Whether it hands a script whose first line names another program over to that. */
  readonly obeysShebang?: boolean;
}

/** A program that starts no program of the project and loads no code. */
export interface Reader {
  /** The only flags with which that is true. Default: all. */
  readonly flags?: RegExp;
  /** Words with which it is not true. */
  readonly unless?: RegExp;
  /** The flag whose value is a script. */
  readonly scriptFlag?: RegExp;
  /** Whether it reads files of the project that its words do not name. */
  readonly readsProject?: boolean;
  /** Whether its words name what it writes. */
  readonly writes?: boolean;
}

const WRAPPERS: ReadonlyMap<string, Wrapper> = byName({
  'command exec nohup': { flags: [] },
  env: { flags: [[/^\w+=/, 1]] },
  nice: {
    flags: [
      [/^-n$/, 2],
      [/^-(?:n?-?\d+)$/, 1],
    ],
  },
  setsid: { flags: [[/^(?:-[cfw]|--wait|--fork|--ctty)$/, 1]] },
  timeout: {
    flags: [
      [/^(?:--foreground|--preserve-status|-v|--verbose)$/, 1],
      [/^(?:-k|-s)$/, 2],
      [/^--(?:kill-after|signal)=\w+$/, 1],
    ],
    argument: /^[\d.]+[smhd]?$/,
  },
});

const INTERPRETERS: ReadonlyMap<string, Interpreter> = byName({
  'bash sh dash ksh': {
    flags: /^(?:[-+][efhuvx]+|--norc|--noprofile|--posix)$/,
    flagsWithValue: /^[-+][efuvx]*o$/,
  },
  zsh: { flags: /^-[efux]+$/ },
  node: {
    flags:
      /^--(?:no-warnings|no-deprecation|throw-deprecation|trace-warnings|trace-deprecation|trace-uncaught|enable-source-maps|experimental-strip-types|experimental-transform-types|disable-warning=\w+|max-old-space-size=\d+)$/,
  },
  'python python3': { flags: /^-[uBsSOIPdvq]+$/ },
  perl: { flags: /^-[wWtT]+$/, obeysShebang: true },
  ruby: { flags: /^-[wW]$/, obeysShebang: true },
  php: { flags: /^-n$/ },
});

/** Safe with any words: they only read what these name. */
const PLAIN_READERS =
  'basename base64 b2sum cat cksum cmp comm cut date diff dirname egrep expr fgrep fold grep head hexdump id join ' +
  'logger ls md5sum nl notify-send od paste readlink realpath rev seq sha1sum sha256sum sha512sum shellcheck stat ' +
  'tac tr uname wc whoami';

const READERS: ReadonlyMap<string, Reader> = byName({
  [PLAIN_READERS]: {},
  'mkdir tee touch': { writes: true },
  // Other flags start a program or load one, also where they are abbreviated.
  curl: {
    flags:
      /^(?:-[fILsS]+|-[dHmX]|--(?:connect-timeout|data|data-binary|data-raw|fail|header|json|location|max-time|request|show-error|silent|url))$/,
  },
  jq: {
    flags:
      /^(?:-[acCejMnrRsS]+|--(?:arg|argjson|args|jsonargs|slurpfile|rawfile|compact-output|exit-status|join-output|null-input|raw-input|raw-output|slurp|sort-keys|tab))$/,
    unless: /\b(?:import|include)\b/,
    scriptFlag: /^(?:-f|--from-file)$/,
  },
  rg: {
    flags:
      /^(?:-[ceFHiIlNnoqsvwx]+|--(?:count|fixed-strings|ignore-case|no-heading|quiet|word-regexp))$/,
  },
  // It asks git, too, which files there are.
  semgrep: {
    flags: /^(?:-q|--(?:config|error|json|lang|metrics|quiet)(?:=.*)?)$/,
    readsProject: true,
  },
  sort: {
    flags: /^-(?:[bdfghiMnRrsuVz]+|[kt]|k[\d.,bdfgiMnr]+|t.)$/,
  },
  // With two words, it writes the second.
  uniq: { unless: /^[^-]/ },
  // Without -f: it would hold up what comes after it.
  tail: { flags: /^-(?:[cnqvz]|\d+|[cn][+-]?\d+)$/ },
});

/** A table whose keys are names, separated by blanks. */
function byName<T>(table: Readonly<Record<string, T>>): ReadonlyMap<string, T> {
  return new Map(
    Object.entries(table).flatMap(([names, kind]) => names.split(' ').map((name) => [name, kind])),
  );
}

/** What is known of a program of the machine. Without a kind, it may load or start anything. */
export function kindOfProgram(name: string): {
  readonly wrapper?: Wrapper;
  readonly interpreter?: Interpreter;
  readonly reader?: Reader;
} {
  return {
    wrapper: WRAPPERS.get(name),
    interpreter: INTERPRETERS.get(/^python3\.\d+$/.test(name) ? 'python3' : name),
    reader: READERS.get(name),
  };
}

/** How many words belong to a wrapper itself; `undefined` where that is not known. */
export function countOwnWords(
  words: readonly string[],
  { flags, argument }: Wrapper,
): number | undefined {
  const count = skipFlags(words, flags, 0);
  if (count === undefined || !argument) return count;
  return argument.test(words[count] ?? '') ? skipFlags(words, [], count + 1) : undefined;
}

function skipFlags(
  words: readonly string[],
  flags: Wrapper['flags'],
  start: number,
): number | undefined {
  let position = start;
  for (;;) {
    const word = words[position] ?? '';
    const flag = flags.find(([form]) => form.test(word));
    if (!flag) return word.startsWith('-') ? undefined : position;
    position += flag[1];
  }
}

/** Builtins that run nothing but themselves. */
const PLAIN_BUILTINS: ReadonlySet<string> = new Set(
  ': [ break continue echo exit false printf pwd test times true ulimit umask wait'.split(' '),
);

/** Words that make a plain builtin set a variable (perhaps `PATH`, or a subscript that is evaluated) or test one. */
const SETTING: ReadonlyMap<string, RegExp> = new Map([
  ['[', /^-[vR]$/],
  ['printf', /^-/],
  ['test', /^-[vR]$/],
  ['wait', /^-/],
]);

/** Whether a builtin with its words neither runs something else nor changes what later names mean. */
export function isPlainBuiltin(name: string, words: readonly string[]): boolean {
  if (name === 'set')
    return words.every((word) => /^[-+][efux]+$|^[-+][eux]*o$|^pipefail$/.test(word));
  if (name === 'command') return words[0] === '-v' || words[0] === '-V';
  const isSetting = SETTING.get(name);
  // A subscript is evaluated, and what is substituted in it runs.
  return (
    PLAIN_BUILTINS.has(name) &&
    !words.some((word) => isSetting?.test(word) || (word.includes('[') && /[$`]/.test(word)))
  );
}

/**
 * Variables that a hook of a project may set: no loader, interpreter, shell or other common program takes code, or a
 * place to look for it, from them.
 */
const HARMLESS_VARIABLES =
  /^(?:HOOK_\w+|NO_COLOR|FORCE_COLOR|CI|TZ|LOG_LEVEL|NODE_ENV|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|PYTHONIOENCODING|PYTHONUTF8)$/;

const LOCALE_VARIABLES = /^(?:LANG|LC_[A-Z]+)$/;

/** In others, a byte of a character may be a quote or a backslash to a shell. */
const PLAIN_LOCALE = /^(?:C|POSIX|[\w@]*\.UTF-?8)?$/i;

/** Whether setting a variable changes no code that programs run. */
export function isHarmlessVariable(name: string, value: string): boolean {
  if (LOCALE_VARIABLES.test(name)) return PLAIN_LOCALE.test(value);
  return HARMLESS_VARIABLES.test(name);
}

/** Whether the characters of a command mean to the shell what they mean to its reader. */
export function isPlainText(command: string, env: NodeJS.ProcessEnv): boolean {
  const locale = env['LC_ALL'] || env['LC_CTYPE'] || env['LANG'] || '';
  return !/[^\t\n -~]/.test(command) || PLAIN_LOCALE.test(locale);
}
