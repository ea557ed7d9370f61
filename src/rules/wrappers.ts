import { readInterpreter } from './interpreters.js';
import { languageOf } from './languages.js';
import { findActions, gitTexts, sshTexts } from './commandTexts.js';
import { FROM_INPUT, only, replaced, unknownOf, type Inner } from './inner.js';
import type { ShellWord } from './types.js';
import { WRAPPERS, type Wrapper } from './wrapperTable.js';

/** All that a program starts by its words. */
export function unwrap(program: string, words: readonly ShellWord[]): readonly Inner[] {
  const rest = words.slice(1);
  if (program === 'find' || program === 'gfind') return findActions(rest);
  if (program === 'git') return gitTexts(rest);
  if (program === 'env') return envSplit(rest) ?? wrapped('env', rest);
  if (program === 'xargs') return appended(wrapped('xargs', rest), placeholderOf(rest));
  if (program === 'jobs' && !rest.some(({ text }) => text === '-x')) return [];
  if (program === 'ssh') return [...sshTexts(rest), ...wrapped('ssh', rest)];
  if (program === 'parallel') return parallelTexts(wrapped('parallel', rest));
  if (SCHEDULERS.has(program)) return scheduled(program, rest);
  const language = languageOf(program);
  return [
    ...(WRAPPERS.has(program) ? wrapped(program, rest) : []),
    ...(language === undefined ? [] : readInterpreter(language, rest)),
    ...(program === 'uv' && rest.some((word) => only(word) === '-') ? [PYTHON_INPUT] : []),
  ];
}

const PYTHON_INPUT: Inner = { kind: 'stdin', language: 'python' };

/** Programs that run what they read at another time, with the options that ask, and those that have a value. */
const SCHEDULERS: ReadonlyMap<string, { readonly asks: RegExp; readonly takes: RegExp }> = new Map([
  ['at', { asks: /^-[lrdcV]/, takes: /^-[qt]$/ }],
  ['batch', { asks: /^-V/, takes: /^-q$/ }],
  ['crontab', { asks: /^-[lreV]/, takes: /^-u$/ }],
]);

/** `at TIME`, `at -f FILE TIME`, `crontab FILE`. */
function scheduled(program: string, words: readonly ShellWord[]): readonly Inner[] {
  const { asks, takes } = SCHEDULERS.get(program)!;
  const texts = words.map(only);
  if (texts.some((text) => asks.test(text ?? ''))) return [];
  const isFile = (text: string | undefined, before = '') =>
    program === 'crontab' ? !text?.startsWith('-') && !takes.test(before) : before === '-f';
  const file = words.find((_word, index) => isFile(texts[index], texts[index - 1]));
  return [
    file ? { kind: 'file', language: 'shell', word: file } : { kind: 'stdin', language: 'shell' },
  ];
}

/** Whether a program may start what none of its words names. */
export function startsUnnamed(program: string): boolean {
  const { joins, otherwise } = WRAPPERS.get(program) ?? {};
  return (
    Boolean(joins || otherwise) || SCHEDULERS.has(program) || /^(?:env|xargs|uv)$/.test(program)
  );
}

/** Goes over the options of a wrapper to the command. */
function wrapped(program: string, words: readonly ShellWord[]): readonly Inner[] {
  const wrapper = WRAPPERS.get(program)!;
  const found: Inner[] = [];
  const assigned: string[] = [];
  const common: { directory?: { word: ShellWord | undefined }; isElsewhere?: boolean } =
    wrapper.elsewhere ? { isElsewhere: true, directory: { word: undefined } } : {};
  if (wrapper.elsewhere && /^(?:sudo|doas|pkexec|su|runuser)$/.test(program))
    delete common.directory;
  let skip = wrapper.skip ?? 0;
  let mustBe = wrapper.after?.split(' ');
  let optionsEnd = false;
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!;
    const value = only(word);
    if (value === undefined && !(isOperand(word) && (mustBe || skip === 0))) {
      return mustBe ? found : [...found, unknownOf(program, word)];
    }
    if (value === '--' && !optionsEnd) {
      optionsEnd = true;
    } else if (value !== undefined && !optionsEnd && /^-./s.test(value)) {
      const option = readOption(value, wrapper);
      if (wrapper.not && option.names.some((name) => isOneOf(name, wrapper.not))) return found;
      const argument: ShellWord | undefined = !option.takes
        ? undefined
        : option.attached === undefined
          ? words[++index]
          : { text: option.attached, values: [option.attached] };
      if (isOneOf(option.taker, wrapper.text)) {
        found.push({ kind: 'text', words: argument ? [argument] : [], ...elsewhere(common) });
      }
      if (isOneOf(option.taker, wrapper.directory)) common.directory = { word: argument };
    } else if (wrapper.assigns && value !== undefined && /^[^=/]+=/s.test(value)) {
      assigned.push(value);
      optionsEnd ||= program === 'env';
    } else if (mustBe) {
      if (value === undefined || !mustBe.includes(value)) return found;
      mustBe = undefined;
    } else if (program === 'su' && value === '-') {
      continue;
    } else if (skip > 0) {
      skip--;
      optionsEnd = !wrapper.text;
    } else {
      const rest = words.slice(index);
      if (wrapper.text && program === 'su') return [...found, ...textsAmong(rest, wrapper, common)];
      if (wrapper.joins) return [...found, { kind: 'text', words: rest, ...elsewhere(common) }];
      return [...found, { kind: 'words', words: rest, assigned, ...common }];
    }
  }
  if (found.length === 0 && wrapper.otherwise && !mustBe)
    found.push({ kind: 'stdin', language: 'shell' });
  return found;
}

const elsewhere = ({ isElsewhere }: { isElsewhere?: boolean }) =>
  isElsewhere ? { isElsewhere } : {};

const isOneOf = (name: string | undefined, names: string | undefined): boolean =>
  name !== undefined && names !== undefined && names.split(' ').includes(name);

const isOperand = ({ values, isGlob }: ShellWord): boolean =>
  !isGlob && values !== undefined && values.every((each) => each !== '' && !/^-|=/.test(each));

/** What `su USER -c TEXT` has after the user. */
function textsAmong(
  words: readonly ShellWord[],
  wrapper: Wrapper,
  common: { isElsewhere?: boolean },
): Inner[] {
  const at = words.findIndex((word) => /^-\w*c$|^--(?:session-)?command$/.test(only(word) ?? ''));
  const text = words[at + 1];
  if (at >= 0 && text) return [{ kind: 'text', words: [text], ...elsewhere(common) }];
  const attached = words.map(
    (word) => /^(?:-c|--(?:session-)?command=)([^]+)$/.exec(only(word) ?? '')?.[1],
  );
  const given = attached.find((each) => each !== undefined);
  if (given !== undefined) return [{ kind: 'text', words: [{ text: given, values: [given] }] }];
  return [
    { kind: 'doubt', reason: `starts a shell by \`${wrapper.elsewhere ? 'su' : 'script'}\`` },
  ];
}

interface ReadOption {
  readonly names: readonly string[];
  readonly takes: boolean;
  readonly taker?: string;
  readonly attached?: string;
}

function readOption(
  option: string,
  { takes = '', may = '', long = '', text = '', directory = '' }: Wrapper,
): ReadOption {
  const valued = `${long} ${text} ${directory}`.split(' ').filter((name) => name.length > 1);
  if (option.startsWith('--')) {
    const [, name = '', attached] = /^--([^=]*)(?:=([^]*))?$/.exec(option) ?? [];
    const taker =
      valued.find((each) => each === name) ??
      valued.find((each) => name.length > 1 && each.startsWith(name));
    if (taker === undefined) return { names: [name], takes: false };
    return { names: [taker], takes: true, taker, ...(attached === undefined ? {} : { attached }) };
  }
  const shortTexts = text
    .split(' ')
    .filter((name) => name.length === 1)
    .join('');
  const letters = Array.from(option.slice(1));
  for (const [index, letter] of letters.entries()) {
    const names = letters.slice(0, index + 1);
    if ((takes + shortTexts).includes(letter)) {
      const rest = letters.slice(index + 1).join('');
      return { names, takes: true, taker: letter, ...(rest === '' ? {} : { attached: rest }) };
    }
    if (may.includes(letter)) return { names, takes: false };
  }
  return { names: letters, takes: false };
}

/** `env -S TEXT`: its words, and those after it. */
function envSplit(words: readonly ShellWord[]): readonly Inner[] | undefined {
  const at = words.findIndex((word) => /^(?:-[iv0]*S|--split)/.test(only(word) ?? ''));
  if (at < 0) return undefined;
  const [, attached] = /^(?:-[iv0]*S|--split-s\w*=?)([^]*)$/.exec(only(words[at]!)!) ?? [];
  const text =
    attached === '' || attached === undefined
      ? words[at + 1]
      : { text: attached, values: [attached] };
  const rest = words.slice(attached ? at + 1 : at + 2);
  const known = text && only(text);
  if (known === undefined || /[\\$'"#]/.test(known)) {
    return [{ kind: 'doubt', reason: `splits a text by \`env -S\`` }];
  }
  const split = known
    .split(/\s+/)
    .filter((each) => each !== '')
    .map((each) => ({ text: each, values: [each] }));
  return wrapped('env', [...words.slice(0, at), ...split, ...rest]);
}

/** What stands before the program that `xargs` starts, which may have such options itself. */
function ownOptions(texts: readonly (string | undefined)[]): readonly (string | undefined)[] {
  let end = 0;
  while (texts[end]?.startsWith('-')) end += /^-[adEILnPsJRS]$/.test(texts[end]!) ? 2 : 1;
  return texts.slice(0, end);
}

/** What `xargs` puts its input in the place of. */
function placeholderOf(words: readonly ShellWord[]): string | undefined {
  const texts = ownOptions(words.map(only));
  const at = texts.findIndex((text) => /^-\w*[IJ]/.test(text ?? ''));
  if (at >= 0) return /^-\w*?[IJ]([^]+)$/.exec(texts[at]!)?.[1] ?? texts[at + 1];
  const given = texts.find((text) => /^(?:-i|--replace)/.test(text ?? ''));
  return given === undefined ? undefined : given.replace(/^(?:-i|--replace=?)/, '') || '{}';
}

/** The words, with what is read from the input. */
function appended(found: readonly Inner[], placeholder: string | undefined): readonly Inner[] {
  return found.map((inner) =>
    inner.kind === 'words'
      ? {
          ...inner,
          words:
            placeholder === undefined
              ? [...inner.words, FROM_INPUT]
              : replaced(inner.words, placeholder),
        }
      : inner,
  );
}

/** `parallel WORDS ::: ARGUMENTS`. */
function parallelTexts(found: readonly Inner[]): readonly Inner[] {
  return found.map((inner): Inner => {
    if (inner.kind !== 'text') return inner;
    const at = inner.words.findIndex((word) => only(word)?.startsWith(':::'));
    const words = at < 0 ? inner.words : inner.words.slice(0, at);
    const isGiven = words.length > 0 && !words.some((word) => /\{[^}]*\}/.test(only(word) ?? '{}'));
    if (!isGiven) return { kind: 'doubt', reason: 'has `parallel` put a command together' };
    return { ...inner, words: [...words, { text: '…', values: ['"$_"'] }] };
  });
}
