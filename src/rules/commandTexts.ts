import { only, replaced, unknownOf, type Inner } from './inner.js';
import type { ShellWord } from './types.js';

/** The commands of `find -exec`. */
export function findActions(words: readonly ShellWord[]): readonly Inner[] {
  const found: Inner[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!;
    if (word.isSplit) found.push(unknownOf('find', word));
    const [, inFolder] = /^-(?:exec|ok)(dir)?$/.exec(only(word) ?? '') ?? [];
    if (!/^-(?:exec|ok)(?:dir)?$/.test(only(word) ?? '')) continue;
    const rest = words.slice(index + 1);
    const end = rest.findIndex((each) => /^[;+]$/.test(only(each) ?? ''));
    const command = replaced(end < 0 ? rest : rest.slice(0, end), '{}');
    index += command.length;
    found.push({
      kind: 'words',
      words: command,
      ...(inFolder ? { directory: { word: undefined } } : {}),
    });
  }
  return found;
}

const COMMAND_KEYS =
  /^(?:alias\..*|.*(?:editor|pager|command|cmd|external|textconv|helper|program|fsmonitor|\.clean|\.smudge|\.process|difffilter|proxy|askpass)|pager\..*)$/i;

/** Texts that git is told to give to a shell. */
export function gitTexts(words: readonly ShellWord[]): readonly Inner[] {
  const texts = words.map(only);
  const settings = words.flatMap((word, index): Inner[] => {
    const before = texts[index - 1];
    const isGiven = before === '-c';
    if (isGiven && texts[index] === undefined) return [unknownOf('git', word)];
    const [, key = '', given] = /^(?:-c)?([^=]+)=([^]*)$/.exec(texts[index] ?? '') ?? [];
    if ((isGiven || texts[index]?.startsWith('-c')) && COMMAND_KEYS.test(key)) {
      return gitSetting(key, given ?? '').map(text);
    }
    const isSet =
      texts.includes('config') && COMMAND_KEYS.test(before ?? '') && !before?.startsWith('-');
    if (isSet)
      return texts[index] === undefined
        ? [unknownOf('git', word)]
        : gitSetting(before ?? '', texts[index]).map(text);
    return [];
  });
  const [subcommand, next] = texts.filter((each) => each === undefined || !each.startsWith('-'));
  const isRebase = texts.includes('rebase') || texts.includes('difftool');
  const after = words.flatMap((word, index): Inner[] => {
    const before = texts[index - 1] ?? '';
    if (isRebase && /^-\w*x$|^--ex\w*$/.test(before)) return [{ kind: 'text', words: [word] }];
    const [, attached] = (isRebase && /^(?:-x|--ex\w*=)([^]+)$/.exec(texts[index] ?? '')) || [];
    if (attached !== undefined) return [text(attached)];
    const isFilter = texts.includes('filter-branch') && /^--[\w-]+-filter$/.test(before);
    return isFilter ? [{ kind: 'text', words: [word] }] : [];
  });
  const start = texts.findIndex(
    (each, index) =>
      (each === 'run' && texts[index - 1] === 'bisect') ||
      (each === 'foreach' && texts.includes('submodule')),
  );
  const rest = words
    .slice(start + 1)
    .filter(
      (word) => only(word) !== '--recursive' && only(word) !== '-q' && only(word) !== '--quiet',
    );
  if (start >= 0 && rest.length > 0) {
    after.push(
      subcommand === 'bisect' && next === 'run'
        ? { kind: 'words', words: rest }
        : { kind: 'text', words: rest },
    );
  }
  return [...settings, ...after];
}

function gitSetting(key: string, value: string): string[] {
  if (value.startsWith('!')) return [value.slice(1)];
  return /^alias\./i.test(key) || /^(?:true|false|\d*)$/.test(value) ? [] : [value];
}

/** Programs that options of ssh start here. */
export function sshTexts(words: readonly ShellWord[]): readonly Inner[] {
  return words.flatMap((word): Inner[] => {
    const [, text] =
      /^(?:-o)?(?:Proxy|Local|KnownHosts)Command[= ]([^]+)$/i.exec(only(word) ?? '') ?? [];
    return text === undefined || text === 'none'
      ? []
      : [{ kind: 'text', words: [{ text, values: [text] }] }];
  });
}

const text = (value: string): Inner => ({
  kind: 'text',
  words: [{ text: value, values: [value] }],
});
