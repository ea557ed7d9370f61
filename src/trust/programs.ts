/** What is known of a program of the machine, by its name. */
export type ProgramKind =
  /** Runs the words after it, or the script that they name. */
  | { readonly is: 'wrapper'; readonly skip: WordsBefore }
  | { readonly is: 'interpreter'; readonly flags: RegExp; readonly flagsWithValue?: RegExp }
  /** Starts no program and loads no code, whatever it is told; but for words that `unless` finds. */
  | { readonly is: 'reader'; readonly unless?: RegExp; readonly scriptFlag?: RegExp };

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
const INTERPRETERS: Readonly<Record<string, { flags: RegExp; flagsWithValue?: RegExp }>> = {
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
  perl: { flags: /^-[wWtT]+$/ },
  ruby: { flags: /^-[wW]$/ },
  php: { flags: /^-n$/ },
};

type ReaderWords = { readonly unless?: RegExp; readonly scriptFlag?: RegExp };

const READERS: Readonly<Record<string, ReaderWords>> = {
  ...Object.fromEntries(
    (
      'basename base64 b2sum cat cksum cmp comm cut date diff dirname egrep expr fgrep fold grep head hexdump id ' +
      'join logger ls md5sum mkdir nl notify-send od paste readlink realpath rev semgrep seq sha1sum sha256sum ' +
      'sha512sum shellcheck sleep stat tac tail tee touch tr uname uniq wc whoami xxd'
    )
      .split(' ')
      .map((name) => [name, {}]),
  ),
  // Each of these has a flag that starts a program, or reads a configuration that may say so.
  curl: { unless: /^(?:-[^-]*K|--(?:conf|eng))/ },
  jq: {
    unless: /^(?:-[^-]*[fL]|--from-f|--lib)|\b(?:import|include)\b/,
    scriptFlag: /^(?:-f|--from-file)$/,
  },
  rg: { unless: /^--(?:pre|hostname-bin)/ },
  sort: { unless: /^--c/ },
};

/** Readers that can also write, to a file that their words name. */
const WRITERS: ReadonlySet<string> = new Set(
  'curl logger mkdir semgrep sort tee touch uniq xxd'.split(' '),
);

/** Whether a program of the machine may write to files. */
export function isWriter(name: string): boolean {
  return WRITERS.has(name);
}

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
  /^(?:HOOK_\w+|NO_COLOR|FORCE_COLOR|CI|TZ|LANG|LC_(?:ALL|CTYPE|COLLATE|MESSAGES|NUMERIC|TIME)|LOG_LEVEL|NODE_ENV|PYTHONUNBUFFERED|PYTHONDONTWRITEBYTECODE|PYTHONIOENCODING|PYTHONUTF8)$/;

/** Whether setting a variable changes no code that programs run. */
export function isHarmlessVariable(name: string): boolean {
  return HARMLESS_VARIABLES.test(name);
}
