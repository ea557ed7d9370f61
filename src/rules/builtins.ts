import path from 'node:path';
import type { Command } from 'unbash';
import { EVALUATED, NAME, type EffectHost } from './effects.js';
import { only } from './inner.js';
import { literal, type WordValues, type ShellState } from './shellState.js';
import type { ShellWord } from './types.js';
import { fieldsOfWord } from './words.js';

/** What builtins need of the one who walks through a text. */
export interface BuiltinHost extends EffectHost {
  readonly aliases: Map<string, readonly string[]>;
  readonly frozen: Set<string>;
  /** Whether other programs may call functions. */
  areExported: boolean;
  leave(state: ShellState): void;
  isFunction(name: string): boolean;
  readWords(words: readonly ShellWord[], state: ShellState): void;
  sourceFile(word: ShellWord, state: ShellState): void;
  examineValue(name: string, fields: WordValues, state: ShellState): void;
}

/** Builtins before which, in some shells, an assignment lasts. */
const SPECIAL =
  /^(?::|\.|break|continue|eval|exec|exit|export|readonly|return|set|shift|source|times|trap|unset)$/;

/** Does to the state what a builtin does to a shell, and reads the texts that it runs. */
export function applyBuiltin(
  name: string,
  words: readonly ShellWord[],
  assigned: ReadonlyMap<string, WordValues>,
  state: ShellState,
  host: BuiltinHost,
): void {
  if (SPECIAL.test(name)) for (const [each, fields] of assigned) state.add(each, fields);
  BUILTINS.get(name)?.(words.slice(1), state, host, assigned, name);
}

type Builtin = (
  words: readonly ShellWord[],
  state: ShellState,
  host: BuiltinHost,
  assigned: ReadonlyMap<string, WordValues>,
  name: string,
) => void;

const isOption = (word: ShellWord): boolean => /^[-+]/.test(only(word) ?? '');

const changeDirectory: Builtin = (words, state, host, _assigned, name) => {
  const before = state.directories;
  const operands = words.filter(
    (word) => !/^-[LPe@-]*$/.test(only(word) ?? '') || only(word) === '-',
  );
  const isPhysical = words.some((word) => /^-.*P/.test(only(word) ?? ''));
  if (
    name === 'popd' ||
    (name === 'pushd' && operands.length === 0) ||
    host.isFunction(name) ||
    operands.length > 1
  ) {
    state.directories = [undefined];
  } else {
    moveTo(
      operands[0] ?? { text: '~', values: state.get('HOME')?.map(({ value }) => value) },
      state,
      state,
    );
    if (isPhysical && /\.\./.test(operands[0]?.text ?? '')) state.directories = [undefined];
  }
  state.failedDirectories = before;
};

/** Sets where the other state is to the folder that a word names. */
export function moveTo({ values, isGlob }: ShellWord, from: ShellState, to: ShellState): void {
  if (
    !values ||
    isGlob ||
    values.some((each) => /^(?:-|[-+]\d+)$/.test(each)) ||
    from.get('CDPATH')
  ) {
    to.directories = [undefined];
    return;
  }
  const folders = from.directories.flatMap((directory) =>
    values.map((value) =>
      path.isAbsolute(value)
        ? path.normalize(value)
        : directory === undefined
          ? undefined
          : path.resolve(directory, value),
    ),
  );
  to.directories = [...new Set(folders)].slice(0, 8);
}

/** A builtin that assigns to the variables which its words name. */
const assignNames: Builtin = (words, state, host, _assigned, name) => {
  const names = words.length === 0 && name === 'read' ? ['REPLY'] : [];
  for (const word of words) {
    if (!word.values || word.isGlob) {
      if (!isText(name, word)) state.forgetVariables();
      continue;
    }
    for (const value of word.values) {
      if (EVALUATED.test(value)) host.doubt(`has \`${name}\` work out ${word.text}`);
      names.push(...(value.match(/[A-Za-z_]\w*/g) ?? []));
    }
  }
  for (const each of names) host.assign(each, undefined, state);
};

/** Whether only the text of a word may be unknown, as of those of `printf`. */
const isText = (name: string, word: ShellWord): boolean =>
  (name === 'printf' || name === 'test' || name === '[') && word.text !== '';

const evaluate: Builtin = (words, _state, host, _assigned, name) => {
  for (const { values = [], text } of words) {
    if (values.some((value) => EVALUATED.test(value)))
      host.doubt(`has \`${name}\` work out ${text}`);
  }
};

const printf: Builtin = (words, state, host, assigned, name) => {
  evaluate(words, state, host, assigned, name);
  const at = words.findIndex((word) => only(word)?.startsWith('-v'));
  if (at < 0) return;
  const attached = only(words[at]!)!.slice(2);
  const target = attached === '' ? only(words[at + 1] ?? { text: '' }) : attached;
  if (target === undefined) state.forgetVariables();
  else host.assign(NAME.exec(target)?.[0] ?? '', undefined, state);
};

/** `export`, `declare` and their like. */
const declare: Builtin = (words, state, host, _assigned, name) => {
  const flags = words
    .filter(isOption)
    .map((word) => only(word))
    .join('');
  if (/f/.test(flags)) {
    host.areExported = true;
    return;
  }
  const changes = name === 'readonly' || /[ilunrtc]/.test(flags);
  for (const word of words) {
    if (isOption(word)) continue;
    if (!word.values || word.isGlob) {
      const named = /^([A-Za-z_]\w*)(?:\[[^\]]*\])?\+?=/.exec(word.text)?.[1];
      if (named === undefined) state.forgetVariables();
      else host.assign(named, undefined, state);
      if (named !== undefined) host.examineValue(named, undefined, state);
      continue;
    }
    for (const value of word.values) {
      const [variable, given] = split(value);
      if (EVALUATED.test(value)) host.doubt(`has \`${name}\` work out ${word.text}`);
      if (changes) host.frozen.add(variable);
      if (given === undefined) {
        if (name === 'local' || changes) host.assign(variable, undefined, state);
        continue;
      }
      const fields = word.values.length > 1 ? undefined : [literal(given)];
      host.examineValue(variable, fields, state);
      host.assign(variable, fields, state);
    }
  }
  if (/n/.test(flags)) state.forgetVariables();
};

function split(value: string): [string, string | undefined] {
  const match = /^([A-Za-z_]\w*)(?:\[[^]*?\])?(?:(\+?)=([^]*))?$/.exec(value);
  return [match?.[1] ?? value, match?.[2] === '' ? match[3] : undefined];
}

const unset: Builtin = (words, state, host, assigned, name) => {
  if (words.some((word) => only(word) === '-f')) return;
  for (const word of words) {
    if (word.values && !word.isGlob)
      for (const value of word.values) host.assign(value, [literal('')], state);
    else state.forgetVariables();
    evaluate([word], state, host, assigned, name);
  }
  // An unset IFS splits as usual.
  state.set('IFS', words.some((word) => only(word) === 'IFS') ? undefined : state.get('IFS'));
};

const set: Builtin = (words, state, host) => {
  if (words.some((word) => /^-\w*a|^allexport$/.test(only(word) ?? ''))) host.areExported = true;
  const at = words.findIndex(
    (word) => !isOption(word) || only(word) === '--' || only(word) === '-',
  );
  if (words.some((word) => !word.values)) state.positional = undefined;
  else if (at >= 0 && !words.slice(0, at).some((word) => only(word)?.endsWith('o'))) {
    const given = words.slice(/^--?$/.test(only(words[at]!) ?? '') ? at + 1 : at);
    state.positional = given.map(fieldsOfWord);
  } else if (at >= 0) state.positional = undefined;
};

const shift: Builtin = (words, state) => {
  const count = words.length === 0 ? 1 : Number(only(words[0]!) ?? Number.NaN);
  state.positional = Number.isInteger(count) ? state.positional?.slice(count) : undefined;
};

const runText: Builtin = (words, state, host, assigned) => {
  for (const [name, fields] of assigned) host.assign(name, fields, state);
  const given = only(words[0] ?? { text: '' }) === '--' ? words.slice(1) : words;
  if (given.length > 0) host.readWords(given, state);
};

const trap: Builtin = (words, state, host) => {
  const given = only(words[0] ?? { text: '' }) === '--' ? words.slice(1) : words;
  const [text] = given;
  if (!text || /^-[lp]?$/.test(only(text) ?? '') || (given.length < 2 && only(text) !== undefined))
    return;
  const later = state.copy();
  later.forget();
  host.readWords([text], later);
  // It may run between any two commands.
  for (const name of later.assignedNames()) {
    host.frozen.add(name);
    state.set(name, undefined);
  }
};

const alias: Builtin = (words, state, host) => {
  for (const word of words) {
    if (/^-[ps]?g?$/.test(only(word) ?? '')) continue;
    if (!word.values || word.isGlob) {
      host.doubt(`defines an alias that only the shell knows: ${word.text}`);
      continue;
    }
    for (const value of word.values) {
      const at = value.indexOf('=');
      if (at < 0) continue;
      const [name, text] = [value.slice(0, at), value.slice(at + 1)];
      if (RESERVED.test(name)) host.doubt(`defines an alias for the word ${name}`);
      host.aliases.set(name, [...(host.aliases.get(name) ?? []), text]);
      const later = state.copy();
      later.forget();
      host.readWords([{ text: word.text, values: [text] }], later);
    }
  }
};

const RESERVED =
  /^(?:if|then|else|elif|fi|for|while|until|do|done|case|esac|in|select|function|time|coproc|\{|\}|!|\[\[|\]\])$/;

const source: Builtin = ([first, second], state, host) => {
  const file = first && only(first) === '--' ? second : first;
  if (file) host.sourceFile(file, state);
};

const doubtful =
  (isSo: RegExp): Builtin =>
  (words, state, host, assigned, name) => {
    if (words.some((word) => isSo.test(only(word) ?? '-C')))
      host.doubt(`has \`${name}\` name other commands`);
    if (name === 'mapfile' || name === 'readarray') assignNames(words, state, host, assigned, name);
  };

const leave: Builtin = (_words, state, host) => host.leave(state);
const assignAll = assignNames;

const BUILTINS: ReadonlyMap<string, Builtin> = new Map(
  Object.entries<Builtin>({
    cd: changeDirectory,
    chdir: changeDirectory,
    pushd: changeDirectory,
    popd: changeDirectory,
    export: declare,
    declare,
    typeset: declare,
    local: declare,
    readonly: declare,
    integer: declare,
    unset,
    set,
    shift,
    read: assignAll,
    getopts: assignAll,
    let: assignAll,
    wait: assignAll,
    vared: assignAll,
    print: printf,
    printf,
    test: evaluate,
    '[': evaluate,
    eval: runText,
    trap,
    alias,
    source,
    '.': source,
    hash: doubtful(/^-\w*p/),
    enable: doubtful(/^-\w*[fnd]/),
    mapfile: doubtful(/^-\w*C/),
    readarray: doubtful(/^-\w*C/),
    compgen: doubtful(/^-\w*[CF]/),
    complete: doubtful(/^-\w*[CF]/),
    bind: doubtful(/^-\w*x/),
    fc: doubtful(/^/),
    break: leave,
    continue: leave,
    return: leave,
    exit: leave,
  }),
);

/** With plain words, these start nothing: `test` works out numbers with brackets alone. */
const STARTS_NOTHING: ReadonlySet<Builtin> = new Set([changeDirectory, leave, evaluate]);

/** Whether a builtin may read its words as commands, or change what later words mean. */
export function readsCommands(name: string): boolean {
  const builtin = BUILTINS.get(name);
  return builtin !== undefined && !STARTS_NOTHING.has(builtin);
}

/** Whether a command ends the list that it stands in. */
export function isExit({ name, prefix }: Command, host: Pick<BuiltinHost, 'isFunction'>): boolean {
  return (
    prefix.length === 0 &&
    /^(?:exit|return|break|continue)$/.test(name?.text ?? '') &&
    !host.isFunction(name!.text)
  );
}
