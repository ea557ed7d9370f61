import { programName } from './programName.js';

/** How the options of an interpreter name its code. */
export interface CodeOptions {
  /** Options whose value is code: letters, and long ones. */
  readonly code: RegExp;
  /** Options with their code in the same word: a group of the expression. */
  readonly attached?: RegExp;
  /** Options that take the next word. */
  readonly takes?: RegExp;
  /** Words after which there is no script. */
  readonly instead?: RegExp;
  /** Options whose value is a file with code. */
  readonly file?: RegExp;
  /** Words before the script. */
  readonly before?: RegExp;
  /** From which word that is no option on there is code, and no script: `Infinity` for none. */
  readonly codeFrom?: number;
}

/** A language, or what programs of other kinds read as such. */
export interface Language {
  readonly programs: string;
  /** What people call them, where the name of the entry does not tell. */
  readonly called?: string;
  /** What in code may start a process. */
  readonly calls: RegExp;
  /** For interpreters. Else all words may be code. */
  readonly options?: CodeOptions;
  /** Whether its code is no place in which names of files and programs stand: most of its words are something else. */
  readonly isOther?: true;
}

const ASKS = /^(?:--version|--help|-V|-v|-h)$/;

const GENERAL =
  /system|popen|spawn|subprocess|\bexec|fork|\beval|\bcompile\b|getattr|__|importlib|import_module|ctypes|\bpty\b|runpy|\\x|\\u|\\[0-7]|chr\b|base64/;

const NODE =
  /child_process|process\.binding|\beval\b|Function\b|constructor|\brequire\s*\(\s*[^'"\s]|require\s*[^(\s]|\bimport\s*\(\s*[^'"\s]|execa|\bzx\b|\bspawn|\bDeno\.|\bBun\.|\\x|\\u|createRequire|getBuiltinModule|\bvm\b|_load/;

const NODE_OPTIONS: CodeOptions = {
  code: /^(?:-[a-z]*[ep]|--eval|--print|eval)$/,
  attached: /^(?:--eval=|--print=)([^]+)$/,
  takes: /^(?:-r|-C|--require|--import|--loader|--conditions|--env-file)$/,
  instead:
    /^(?:-v|-h|--version|--help|--test|--run.*|run|test|install|add|x|build|task|fmt|lint|check|cache)$/,
};

const VIM = /!|system|execute|:lua|python|perl|ruby|\bterm|job_start|\bmake\b|^-S|^-s$/;

/** All programs that take code, by what they take it for. */
export const LANGUAGES: Readonly<Record<string, Language>> = {
  shell: {
    programs: 'sh bash dash zsh ksh mksh ash fish rbash yash',
    called: 'a shell',
    calls: /^/,
    options: {
      code: /^-[A-Za-z]*c[A-Za-z]*$/,
      takes: /^(?:[-+][A-Za-z]*[oO]|--rcfile|--init-file)$/,
      instead: /^--(?:version|help)$/,
    },
    isOther: true,
  },
  python: {
    programs: 'python pypy ipython',
    calls: GENERAL,
    options: {
      code: /^-[A-Za-z]*c$/,
      attached: /^-[bBdEiIOsSuvx]*c([^]+)$/,
      takes: /^-[A-Za-z]*[WX]$|^--check-hash-based-pycs$/,
      instead: /^-[A-Za-z]*m|^-[A-Z]*[Vh]|^--(?:version|help)/,
    },
  },
  perl: {
    programs: 'perl',
    calls:
      /system|\bexec|`|\bqx|popen|fork|\beval|\brequire\b|\bdo\b|IPC::|open[^;]*\||syscall|\\x|chr\b|pack\b|\/\w*e\w*\s*[;'"]?$/,
    options: {
      code: /^-[A-Za-z0-9]*[eE]$/,
      attached: /^-[alnpsSwW0-9]*[eE]([^]+)$/,
      takes: /^-I$/,
      instead: /^-[vVh]/,
    },
  },
  node: { programs: 'node nodejs tsx ts-node', calls: NODE, options: NODE_OPTIONS },
  deno: {
    programs: 'deno bun',
    called: 'an interpreter (JavaScript)',
    calls: NODE,
    options: {
      ...NODE_OPTIONS,
      before: /^run$/,
      instead:
        /^(?:-v|-h|--version|--help|test|install|i|add|x|pm|build|task|fmt|lint|check|cache)$/,
    },
  },
  ruby: {
    programs: 'ruby irb',
    calls:
      /system|\bexec|`|%x|popen|spawn|fork|\beval|open3|\bopen\b|\bsend\b|IO\.|Process|Kernel|\bload\b|instance_|\\x|\\u|\bpack\b/,
    options: {
      code: /^-[A-Za-z0-9]*e$/,
      attached: /^-[alnpswW0-9]*e([^]+)$/,
      takes: /^-[ICr]$/,
      instead: /^(?:-v|-h|--version|--help)$/,
    },
  },
  php: {
    programs: 'php',
    calls:
      /exec|system|passthru|popen|proc_|pcntl|`|\beval|assert|call_user|\$\w+\s*\(|include|require|\\x|chr\b|base64/,
    options: {
      code: /^-(?:r|B|R|E)$/,
      attached: /^-r([^]+)$/,
      takes: /^-[cdtz]$/,
      instead: /^-(?:v|i|m|h|S|l)$|^--/,
    },
  },
  lua: {
    programs: 'lua luajit',
    calls: /execute|popen|load|dofile|require|\\x|\\\d|char/,
    options: { code: /^-e$/, attached: /^-e([^]+)$/, takes: /^-l$/, instead: /^-v$/ },
  },
  r: {
    programs: 'rscript r',
    called: 'an interpreter (R)',
    calls: /system|shell|eval|parse|do\.call/,
    options: {
      code: /^-e$/,
      file: /^(?:-f|--file)$/,
      instead: /^(?:--version|--help|CMD)$/,
    },
  },
  tcl: {
    programs: 'tclsh expect wish',
    calls: /exec|open|eval|spawn|system|subst/,
    options: { code: /^-c$/, instead: ASKS },
  },
  osascript: {
    programs: 'osascript',
    calls: /shell|run|eval/,
    options: { code: /^-e$/, takes: /^-l$/, instead: ASKS },
  },
  julia: {
    programs: 'julia',
    calls:
      /\brun\b|`|pipeline|\bopen\b|ccall|\beval\b|include|@|\bCmd\b|spawn|Libc|getfield|getproperty|\\[xu0-7]/,
    options: {
      code: /^(?:-[eE]|--eval|--print)$/,
      attached: /^(?:-[eE]|--eval=|--print=)([^]+)$/,
      takes: /^-[JLptCH]$/,
      instead: ASKS,
    },
  },
  elixir: {
    programs: 'elixir iex',
    calls: /\bSystem\b|:os\b|\bPort\b|\bCode\b|\bapply\b|:erlang|Module|import|alias|\\[xu]/,
    options: {
      code: /^(?:-e|--eval|--rpc-eval)$/,
      takes: /^(?:-r|-pr|-pa|-pz|--name|--sname|--cookie)$/,
      instead: /^(?:-S|-v|-h|--version|--help)$/,
    },
  },
  java: {
    programs: 'groovy scala kotlin jshell',
    called: 'an interpreter (Java)',
    calls: /execute|ProcessBuilder|Runtime|\bsys\b|\beval|Eval|Shell|Class|invoke|\\u/,
    options: {
      code: /^-(?:[a-z]*e|expression)$/,
      attached: /^-e([^]+)$/,
      instead: /^--?(?:v.*|h.*)$/,
    },
  },
  code: {
    programs: 'raku guile clj clojure bb racket sbcl runghc ocaml octave erl swift',
    called: 'an interpreter',
    calls: /^/,
    options: {
      code: /^(?:-[ceEx]|-eval|--eval|--execute|--expr)$/,
      instead: /^(?:-[MXTAvVhlm].*|-version|--version|--help|build|test|run|package)$/,
    },
  },
  powershell: {
    programs: 'pwsh powershell',
    calls:
      /[&`+]|\b(?:iex|sal|nal|saps|sajb|ii|icm|alias)\b|invoke|start-|-(?:join|f|replace|split)\b|::|\w["']\w|\[char|^[\w+/]{8,}=*$/i,
    options: {
      code: /^[-/](?:c|co\w*|cwa|commandw\w*|e|ec|en\w*)$/i,
      takes: /^[-/](?:ex\w*|ep|w\w*|wd|o\w*|in\w*|if|config\w*|cus\w*|se\w*|v)$/i,
      file: /^[-/]f\w*$/i,
      instead: /^[-/](?:version|h|help|\?)$/i,
    },
  },
  sqlite: {
    programs: 'sqlite sqlite3 duckdb',
    called: 'a database',
    calls:
      /(?:^|\n)\s*\.(?:sh|sy|ex|load|w|[a-z]+\s+(?:-\S+\s+)*["']?\|)|load_extension|\bedit\s*\(|tokenizer|writefile|\bfrom\s+program\b/i,
    options: {
      code: /^-?-(?:cmd|c|s)$/,
      file: /^-?-(?:init|f)$/,
      instead: /^-?-(?:version|help)$/,
      codeFrom: 1,
    },
  },
  sql: {
    programs: 'psql mysql mariadb',
    called: 'a database',
    calls: /\\!|`|(?<!\|)\|(?!\|)|\bprogram\b|\\(?:e|i|P|\.)|\b(?:system|source|pager|edit)\b/i,
    options: {
      code: /^(?:-[a-zA-Z0-9]*[ce]|--command|--execute)$/,
      attached: /^(?:-[ce]|--command=|--execute=)([^]+)$/,
      takes: /^(?:-[dhUvoLRTPu]|--(?:dbname|host|port|username|user|set|output))$/,
      file: /^(?:-f|--file)$/,
      instead: /^(?:-l|--list|-V|--version|--help)$/,
      codeFrom: Number.POSITIVE_INFINITY,
    },
  },
  editor: {
    programs: 'ed red ex',
    called: 'an editor',
    calls: VIM,
    options: {
      code: /^-c$/,
      attached: /^\+([^]+)$/,
      takes: /^-p$/,
      instead: /^--(?:version|help)$/,
      codeFrom: Number.POSITIVE_INFINITY,
    },
  },
  vim: { programs: 'vi vim nvim view vimdiff gvim rvim', calls: VIM },
  emacs: { programs: 'emacs emacsclient', calls: /shell|process|eval|call|load|-l$|-f$/ },
  gdb: {
    programs: 'gdb lldb',
    calls: /^(?:-ex|-x|-iex|-o|-s|-eval-command.*|--eval-command.*|--command.*)$/,
  },
  awk: {
    programs: 'awk gawk mawk nawk original-awk',
    calls: /system|(?<!\|)\|(?!\|)|@|\\[0-7x]/,
    isOther: true,
  },
  sed: {
    programs: 'sed gsed',
    calls:
      /(?:^|[;{}\n\d$]\s*)e(?:\s|$)|\/\s*e(?:\s+\S|$)|(?<=[^\w\s-])[gimpMI0-9]*e[gimpMI0-9]*\s*(?:[;}\n]|$)/,
    isOther: true,
  },
  tar: {
    programs: 'tar gtar bsdtar',
    calls:
      /^--(?:to-command|checkpoint-action|use-compress-program|rsh-command|info-script|new-volume-script)|^-[A-Za-z]*[IF]$|^-I./,
    isOther: true,
  },
  make: {
    programs: 'make gmake',
    calls: /^--eval|\$\(shell|\$\{shell|!=|^SHELL=|^-f-$|^-$|^\/dev\//,
    isOther: true,
  },
  words: {
    programs: 'rsync zip less man tmux screen socat nc ncat complete compgen',
    called: 'a program that starts others',
    calls:
      /^(?:-e|--rsh(?:=.*)?|--unzip-command.*|-TT|-P|--pager.*|-c|--sh-exec|--exec|-ex|-C|new.*|EXEC:.*|SYSTEM:.*|\+!.*)$/i,
    isOther: true,
  },
};

const byProgram: ReadonlyMap<string, string> = new Map(
  Object.entries(LANGUAGES).flatMap(([name, { programs }]) =>
    programs.split(' ').map((program) => [program, name] as const),
  ),
);

/**
 * The language that a program takes, by its entry in {@link LANGUAGES}; `undefined` for one that takes none.
 *
 * @param program with or without its directory, its version and `.exe`
 */
export function languageOf(program: string): string | undefined {
  const name = programName(program).replace(/\.exe$/, '');
  return byProgram.get(name) ?? byProgram.get(name.replace(/-?\d[\d.]*$/, ''));
}

/** Whether a program is an interpreter whose first operand is a script. */
export function runsScripts(program: string): boolean {
  const { options } = LANGUAGES[languageOf(program) ?? ''] ?? {};
  return options !== undefined && options.codeFrom === undefined;
}

/** Whether words of a program may be code, in which names of files and of other programs stand. */
export function takesCode(program: string): boolean {
  const language = languageOf(program);
  return language !== undefined && LANGUAGES[language]?.isOther !== true;
}

/** Whether code in a language may start a process. */
export function startsProcesses(language: string, code: string): boolean {
  const usual =
    language === 'python' ? code.replaceAll(/__(?:name|main|file|doc|version|init)__/g, '') : code;
  return LANGUAGES[language]?.calls.test(usual) ?? true;
}

/** The language as a sentence names it. */
export function describeLanguage(language: string): string {
  const { called } = LANGUAGES[language] ?? {};
  return called ?? `an interpreter (${language})`;
}
