import { LANGUAGES } from './languages.js';

/** What programs do with their words, as far as it matters whether a file is read or written. */

const words = (text: string): ReadonlySet<string> => new Set(text.split(' '));

/** Programs that read no file that a word names. What wrappers start stands beside them. */
export const NOT_READING = words(
  '[ alias basename bg builtin cd chgrp chmod chown chroot command date declare dirname disown doas echo env ' +
    'eval exec exit export expr false fg hash help id ionice jobs kill killall let local mkdir ' +
    'mkfifo mktemp nice nohup pgrep pkill popd printf ps pushd pwd read readlink readonly realpath return rm ' +
    'rmdir seq set setsid shift sleep stdbuf sudo tee test time timeout touch trap true truncate type typeset ' +
    'ulimit umask unalias uname unlink unset wait watch which whoami xargs yes ' +
    // By their subcommands.
    'git-branch git-checkout git-cherry-pick git-clean git-clone git-commit git-describe git-fetch git-init git-log ' +
    'git-merge git-pull git-push git-rebase git-remote git-reset git-restore git-rev-list git-rev-parse git-revert ' +
    'git-rm git-stash git-status git-switch git-symbolic-ref git-tag git-worktree gh-auth gh-browse gh-issue gh-label ' +
    'gh-pr gh-repo gh-run gh-search gh-workflow',
);

/** Programs with a subcommand, which is a program of its own in these tables. */
export const WITH_SUBCOMMANDS = words('git gh');

const GH_FILES = /^(?:-F|--body-f|--notes-f|--input|--field|-f$)/;

/** Options of those whose value names a file after all, also cut short and with the value in the same word. */
export const READ_OPTIONS: Readonly<Record<string, RegExp>> = {
  xargs: /^(?:-a|--arg-f)/,
  date: /^(?:-f|--f)/,
  sudo: /^(?:-[a-zA-Z]*e$|--edit)/,
  'git-commit': /^(?:-[a-zA-Z]*[Ft]|--fi|--te)/,
  'git-tag': /^(?:-[a-zA-Z]*F|--fi)/,
  'git-merge': /^(?:-[a-zA-Z]*F|--fi)/,
  'gh-issue': GH_FILES,
  'gh-pr': GH_FILES,
};

/** Options with which the history shows what files hold. */
export const SHOWS_CHANGES =
  /^-(?:[a-zA-Z]*[pucmLGSU]|-(?:patch|cc|unified|word-diff|color-words|full-diff|binary))/;

/** What such an option has as its value is left out, and not read. */
export const LEFT_OUT = /^--exclude(?:-dir)?(?:=|$)/;

/** A word with a blank or a bracket is code. */
export const CODE_WORD = /[\s(){};"'`]/;

/** The same for all programs of a language. */
function forEach<T>(language: string, value: T): Readonly<Record<string, T>> {
  const names = LANGUAGES[language]?.programs.split(' ') ?? [];
  return Object.fromEntries(names.map((name) => [name, value]));
}

// GNU programs take long options that are cut short.
const TEXTS_OF_GREP = /^(?:-[a-zA-Z]*[ef]|--reg|--file(?:=|$))/;
const CODE_OF_AWK = /^(?:-[a-zA-Z]*[feE]|--[fse])/;

/** Programs whose first word that is no option is a text to look for, or code, unless one of these options is there. */
export const TEXT_FIRST: Readonly<Record<string, RegExp>> = {
  grep: TEXTS_OF_GREP,
  egrep: TEXTS_OF_GREP,
  fgrep: TEXTS_OF_GREP,
  zgrep: TEXTS_OF_GREP,
  'git-grep': TEXTS_OF_GREP,
  rg: /^(?:-[a-zA-Z]*[ef]|--reg|--files?(?:=|$))/,
  ugrep: TEXTS_OF_GREP,
  ag: /^$/,
  ack: /^--match/,
  ...forEach('sed', /^(?:-[a-zA-Z]*[ef]|--[ef])/),
  ...forEach('awk', CODE_OF_AWK),
  jq: /^(?:-[a-zA-Z]*f|--f)/,
  yq: /^--(?:f|ex)/,
  fd: /^$/,
};

const STRINGS_OF_AWK = /"((?:[^"\\]|\\.)+)"/g;

/** Where the text that comes first names files after all: a group of the expression. */
export const NAMES_IN_TEXT: Readonly<Record<string, RegExp>> = {
  ...forEach('sed', /(?:^|[;{}\d$/!,\s])[rRwW]\s*([^\s;}]+)/g),
  ...forEach('awk', STRINGS_OF_AWK),
};

/** Options that have the next word as a value which names no file that is read, by program. */
export const VALUE_OPTIONS: Readonly<Record<string, RegExp>> = {
  grep: /^(?:-[a-zA-Z]*[eABCmd]|--regexp|--color)$/,
  rg: /^(?:-[a-zA-Z]*[eABCmgtTrj]|--regexp|--glob|--type|--replace)$/,
  sed: /^(?:-[nrsuzE]*[el]|--expression)$/,
  find: /^-(?:name|iname|path|ipath|wholename|regex|iregex|type|maxdepth|mindepth|size|perm|user|group|mtime|mmin|printf)$/,
  fd: /^(?:-[etEdx]|--extension|--type|--exclude|--exec)$/,
  curl: /^(?:-[a-zA-Z]*[ADeHmoruwXxYy]|--(?:output|header|request|user|user-agent|max-time|write-out|proxy|range|referer|retry|connect-timeout|cookie-jar|dump-header))$/,
  wget: /^(?:-[a-zA-Z]*[OoPUtTQ]|--(?:output-document|output-file|directory-prefix|user-agent|tries|timeout|header))$/,
  tar: /^(?:-C|--directory)$/,
  head: /^(?:-[nc]|--lines|--bytes)$/,
  tail: /^(?:-[nc]|--lines|--bytes)$/,
  cut: /^-[dfcb]$/,
  sort: /^-[kto]$/,
  docker: /^(?:--name|--network|-w|--workdir|-p|--publish|-e|--env|-t|--tag)$/,
  ssh: /^-[plJoLRDWbcmQSw]$/,
};

/** Those of them that do so with the directory in which they run where none is named, and nothing comes by a pipe. */
export const READS_HERE = /^(?:[efu]?grep|rgrep|git-grep|rg|ag|ack)$/;

const GREP_BELOW = { when: /^(?:-[a-zA-Z]*[rRd]|--(?:rec|der|dir))/ };

/** Programs that read all in a directory, with the option that has them do it; hidden files only with the second. */
export const READS_BELOW: Readonly<
  Record<string, { readonly when?: RegExp; readonly hidden?: RegExp }>
> = {
  grep: GREP_BELOW,
  ugrep: GREP_BELOW,
  egrep: GREP_BELOW,
  fgrep: GREP_BELOW,
  rgrep: {},
  rg: { hidden: /^(?:-[a-zA-Z]*[u.]|--hidden|--unrestricted)/ },
  ag: { hidden: /^(?:-[a-zA-Z]*[ua]|--hidden|--unrestricted|--all-types)/ },
  ack: {},
  cp: { when: /^(?:-[a-zA-Z]*[rRa]|--recursive|--archive)/ },
  mv: {},
  rsync: { when: /^(?:-[a-zA-Z]*[ra]|--recursive|--archive)/ },
  scp: { when: /^-[a-zA-Z]*r/ },
  tar: { when: /^(?:-?[a-zA-Z]*[cru]|--(?:create|append|update))/ },
  bsdtar: { when: /^-?[a-zA-Z]*c/ },
  zip: { when: /^(?:-[a-zA-Z]*r|--recurse)/ },
  '7z': {},
  diff: { when: /^(?:-[a-zA-Z]*r|--recursive)/ },
  'git-grep': { when: /^--(?:no-index|untracked)/ },
};

/** Which words of a program are files that it writes or removes. */
export interface WriteRow {
  readonly words?: 'all' | 'last' | 'first' | 'rest';
  /** An option without which it writes none. */
  readonly when?: RegExp;
  /** Options whose value is written. */
  readonly options?: RegExp;
  /** What is before the name in a word. */
  readonly prefix?: string;
  /** Whether it makes files of names that nobody sees here, in a directory that an option names. */
  readonly unseen?: RegExp;
  /** Whether files in a directory go with it. */
  readonly below?: RegExp | 'always';
}

const ALL: WriteRow = { words: 'all' };
const TARGET: WriteRow = { words: 'last', options: /^(?:-t|--target-directory)$/ };
const IN_PLACE: WriteRow = { words: 'rest', when: /^(?:-[a-zA-Z]*i|--in-place)/ };

export const WRITES: Readonly<Record<string, WriteRow>> = {
  ...Object.fromEntries(
    [
      ...words(
        'tee rmdir unlink shred truncate touch mkdir mkfifo mknod sponge vi vim nvim nano emacs ed ex pico gzip gunzip ' +
          'bzip2 bunzip2 xz unxz zstd dos2unix unix2dos sqlite3 setfacl fallocate chattr sd code',
      ),
    ].map((name) => [name, ALL]),
  ),
  rm: { words: 'all', below: /^(?:-[a-zA-Z]*[rR]|--recursive)/ },
  srm: { words: 'all', below: 'always' },
  mv: { words: 'all', options: /^(?:-t|--target-directory)$/, below: 'always' },
  rename: { words: 'rest' },
  // A mode such as -x looks like an option, and one such as 644 is the name of no file.
  chmod: { words: 'all', below: /^(?:-[a-zA-Z]*R|--recursive)/ },
  chown: { words: 'all', below: /^(?:-[a-zA-Z]*R|--recursive)/ },
  chgrp: { words: 'all', below: /^(?:-[a-zA-Z]*R|--recursive)/ },
  cp: TARGET,
  install: TARGET,
  ln: TARGET,
  link: TARGET,
  rsync: TARGET,
  scp: TARGET,
  ffmpeg: TARGET,
  dd: { prefix: 'of=' },
  sed: IN_PLACE,
  gsed: IN_PLACE,
  perl: { ...IN_PLACE, words: 'all' },
  ruby: { ...IN_PLACE, words: 'all' },
  awk: { words: 'all', when: /^(?:-i|--include)/ },
  gawk: { words: 'all', when: /^(?:-i|--include)/ },
  patch: { words: 'all', unseen: /^(?:-d|--directory)$/, options: /^(?:-o|--output)$/ },
  tar: { when: /^(?:-?[a-zA-Z]*x|--(?:extract|get))/, unseen: /^(?:-C|--directory)$/ },
  bsdtar: { when: /^-?[a-zA-Z]*x/, unseen: /^-C$/ },
  unzip: { unseen: /^-d$/ },
  cpio: { when: /^-[a-zA-Z]*i/, unseen: /^-D$/ },
  zip: { words: 'first' },
  curl: { options: /^(?:-[a-zA-Z]*[oDc]|--(?:output|dump-header|cookie-jar))$/ },
  wget: { options: /^(?:-[a-zA-Z]*[OoP]|--output-(?:document|file)|--directory-prefix)$/ },
  sort: { options: /^(?:-o|--output)$/ },
  openssl: { options: /^-out$/ },
  gcc: { options: /^-o$/ },
  find: { words: 'all', when: /^-delete$/, options: /^-fprint/, below: 'always' },
  prettier: { words: 'all', when: /^(?:-w|--write)$/, below: 'always' },
  eslint: { words: 'all', when: /^--fix$/, below: 'always' },
  black: { words: 'all', below: 'always' },
  gofmt: { words: 'all', when: /^-w$/, below: 'always' },
  yq: { words: 'rest', when: /^(?:-[a-zA-Z]*i|--inplace)$/ },
  '7z': { unseen: /^-o/ },
  'git-checkout': { words: 'all', below: 'always' },
  'git-restore': { words: 'all', below: 'always' },
  'git-clone': { words: 'rest' },
  'git-init': { words: 'all' },
  'git-worktree': { words: 'rest' },
  'git-rm': { words: 'all', below: 'always' },
  'git-mv': { words: 'all', below: 'always' },
  'git-clean': { words: 'all', when: /^-[a-zA-Z]*f|--force/, below: 'always' },
  'git-apply': { unseen: /^--directory$/ },
  'git-config': { words: 'all' },
};

/** Programs that reach other machines with words that are no URLs. */
export const REACHING = words(
  'curl wget http https xh httpie aria2c nc ncat netcat telnet ssh sftp scp rsync ftp ping dig nslookup host traceroute socat openssl ' +
    'lynx w3m links elinks yt-dlp youtube-dl whois mosh',
);
