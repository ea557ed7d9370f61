/** What is known of a program of the machine, by its name. */
export type ProgramKind =
  /** Runs the words after it, or the script that they name. */
  | { readonly is: 'wrapper'; readonly skip: WordsBefore }
  | ({ readonly is: 'interpreter' } & Interpreter)
  | ({ readonly is: 'reader' } & Reader);

/** A program that starts no program of the project and loads no code, whatever it is told. */
export interface Reader {
  /** The only flags of which that is true. Default: all. */
  readonly flags?: RegExp;
  /** Words of which it is not. */
  readonly unless?: RegExp;
  /** The flag whose value is a script. */
  readonly scriptFlag?: RegExp;
  /** Whether it reads files of the project that its words do not name. */
  readonly readsProject?: boolean;
  /** Whether its words name what it writes. */
  readonly writes?: boolean;
}

/** A program that runs the script that its first word names. */
export interface Interpreter {
  /** Flags that load nothing. */
  readonly flags: RegExp;
  /** Such flags with a value in the next word. */
  readonly flagsWithValue?: RegExp;
  /** Whether it hands a script whose first line names another program over to that. */
  readonly obeysShebang?: boolean;
}

/** How many words belong to a wrapper itself; `undefined` where that is not known. */
type WordsBefore = (words: readonly string[]) => number | undefined;

const WRAPPERS: Readonly<Record<string, WordsBefore>> = {
  command: (words) => leading(words, []),
  env: (words) => {
    const count = words.findIndex((word) => !/^\w+=/.test(word));
    return count < 0 ? words.length : leading(words.slice(count), [], count);
  },
  exec: (words) => leading(words, []),
  nice: (words) =>
    leading(words, [
      [/^-n$/, 2],
      [/^-(?:n?-?\d+)$/, 1],
    ]),
  nohup: (words) => leading(words, []),
  setsid: (words) => leading(words, [[/^(?:-[cfw]|--wait|--fork|--ctty)$/, 1]]),
  timeout: (words) => {
    const count = leading(words, [
      [/^(?:--foreground|--preserve-status|-v|--verbose)$/, 1],
      [/^(?:-k|-s)$/, 2],
      [/^--(?:kill-after|signal)=\w+$/, 1],
    ]);
    return count === undefined || !/^[\d.]+[smhd]?$/.test(words[count] ?? '')
      ? undefined
      : leading(words.slice(count + 1), [], count + 1);
  },
};

/** Counts the flags that a wrapper may have before its command: how each looks, and how many words it takes. */
function leading(
  words: readonly string[],
  flags: readonly (readonly [RegExp, number])[],
  before = 0,
): number | undefined {
  let count = 0;
  for (;;) {
    const word = words[count];
    if (!word?.startsWith('-')) return before + count;
    const flag = flags.find(([form]) => form.test(word));
    if (!flag) return undefined;
    count += flag[1];
  }
}

const SHELL = {
  flags: /^(?:[-+][efhuvx]+|--norc|--noprofile|--posix)$/,
  flagsWithValue: /^[-+][efuvx]*o$/,
};
const PYTHON = { flags: /^-[uBsSOIPdvq]+$/ };

/** Flags that load nothing. All else that stands before a script may be code, or name some. */
const INTERPRETERS: Readonly<Record<string, Interpreter>> = {
  bash: SHELL,
  sh: SHELL,
  dash: SHELL,
  ksh: SHELL,
  zsh: { flags: /^-[efux]+$/ },
  node: {
    flags:
      /^--(?:no-warnings|no-deprecation|throw-deprecation|trace-warnings|trace-deprecation|trace-uncaught|enable-source-maps|experimental-strip-types|experimental-transform-types|disable-warning=\w+|max-old-space-size=\d+)$/,
  },
  python: PYTHON,
  python3: PYTHON,
  perl: { flags: /^-[wWtT]+$/, obeysShebang: true },
  ruby: { flags: /^-[wW]$/, obeysShebang: true },
  php: { flags: /^-n$/ },
};

const READERS: Readonly<Record<string, Reader>> = {
  ...Object.fromEntries(
    (
      'basename base64 b2sum cat cksum cmp comm cut date diff dirname egrep expr fgrep fold grep head hexdump id ' +
      'join logger ls md5sum nl notify-send od paste readlink realpath rev seq sha1sum sha256sum sha512sum ' +
      'shellcheck stat tac tr uname wc whoami'
    )
      .split(' ')
      .map((name) => [name, {}]),
  ),
  // Other flags start a program, load one, or may be cut short so that nobody knows them.
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
  mkdir: { writes: true },
  // It asks git, too, which files there are.
  semgrep: {
    flags: /^(?:-q|--(?:config|error|json|lang|metrics|quiet)(?:=.*)?)$/,
    readsProject: true,
  },
  sort: { flags: /^-(?:[bdfghiMnRrsuVz]+|[kt]|k[\d.,bdfgiMnr]+|t.)$/ },
  tee: { writes: true },
  touch: { writes: true },
  // With two words, it writes the second.
  uniq: { unless: /^[^-]/ },
  // One that goes on holds up what comes after it.
  tail: { flags: /^-(?:[cnqvz]|\d+|[cn][+-]?\d+)$/ },
};

/** Builtins that run nothing but themselves. */
const PLAIN_BUILTINS: ReadonlySet<string> = new Set(
  ': [ break continue echo exit false printf pwd test times true ulimit umask wait'.split(' '),
);

/** Words that make a plain builtin set a variable, of which `PATH` and subscripts are some, or tell of it. */
const SETTING: Readonly<Record<string, RegExp>> = {
  '[': /^-[vR]$/,
  printf: /^-/,
  test: /^-[vR]$/,
  wait: /^-/,
};

/** Whether a builtin with its words neither runs something else nor changes what later names mean. */
export function isPlainBuiltin(name: string, words: readonly string[]): boolean {
  if (name === 'set')
    return words.every((word) => /^[-+][efux]+$|^[-+][eux]*o$|^pipefail$/.test(word));
  if (name === 'command') return words[0] === '-v' || words[0] === '-V';
  const isSetting = own(SETTING, name);
  // A subscript is evaluated, and what is substituted in it runs.
  return (
    PLAIN_BUILTINS.has(name) &&
    !words.some((word) => isSetting?.test(word) || (word.includes('[') && /[$`]/.test(word)))
  );
}

/** What is known of a program of the machine. `undefined`: it may load or start anything. */
export function kindOfProgram(name: string): ProgramKind | undefined {
  const skip = own(WRAPPERS, name);
  if (skip) return { is: 'wrapper', skip };
  const interpreter = own(INTERPRETERS, /^python3\.\d+$/.test(name) ? 'python3' : name);
  if (interpreter) return { is: 'interpreter', ...interpreter };
  const words = own(READERS, name);
  return words && { is: 'reader', ...words };
}

function own<T>(table: Readonly<Record<string, T>>, name: string): T | undefined {
  return Object.hasOwn(table, name) ? table[name] : undefined;
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
