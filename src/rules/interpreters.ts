import { describeLanguage, LANGUAGES } from './languages.js';
import { known, only, type Inner } from './inner.js';
import type { ShellWord } from './types.js';

/** What a program that takes code runs. */
export function readInterpreter(language: string, words: readonly ShellWord[]): readonly Inner[] {
  if (language === 'awk' || language === 'sed') return programWords(language, words);
  const { options } = LANGUAGES[language] ?? {};
  if (options === undefined) {
    const code = words.filter(({ values }) => values);
    return code.map((word) => ({ kind: 'code', language, word }));
  }
  const { code, attached, takes, instead, file, before, codeFrom } = options;
  const isShell = language === 'shell';
  const found: Inner[] = [];
  let isCode = false;
  let operands = 0;
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!;
    const next = words[index + 1];
    const value = only(word);
    if (value === undefined) {
      if (codeFrom === undefined) return [...found, unknownScript(language, word, isCode)];
      if (++operands > codeFrom || word.isSplit) found.push({ kind: 'code', language, word });
      continue;
    }
    if (isShell && isCode && !/^[-+]./.test(value)) return [shellText(words, index)];
    if (instead?.test(value)) return found;
    const given = attached?.exec(value)?.[1];
    const isOption = /^-./.test(value) || (isShell && /^\+./.test(value));
    if (code.test(value)) {
      isCode = true;
      if (isShell) continue;
      if (language === 'powershell') return powershellText(words.slice(index + 1));
      if (next) found.push({ kind: 'code', language, word: next });
      index++;
    } else if (given !== undefined) {
      found.push({ kind: 'code', language, word: known(given) });
    } else if (file?.test(value) && next) {
      found.push(
        only(next) === '-' ? { kind: 'stdin', language } : { kind: 'file', language, word: next },
      );
      index++;
    } else if (takes?.test(value)) {
      index++;
    } else if (value === '--' && isShell && isCode) {
      return next ? [shellText(words, index + 1)] : found;
    } else if (isShell && /^-[A-Za-z]*s/.test(value)) {
      return [{ kind: 'stdin', language }];
    } else if (value !== '--' && value !== '-' && !isOption) {
      if (operands === 0 && before?.test(value)) continue;
      if (codeFrom === undefined)
        return found.length > 0 ? found : [{ kind: 'file', language, word }];
      if (++operands > codeFrom) found.push({ kind: 'code', language, word });
    }
  }
  return found.length > 0 ? found : [{ kind: 'stdin', language }];
}

const shellText = (words: readonly ShellWord[], at: number): Inner => ({
  kind: 'text',
  words: [words[at]!],
  positional: words.slice(at + 2),
});

/** All words after the option are code; of nothing but simple commands, it means the same to a shell. */
function powershellText(words: readonly ShellWord[]): readonly Inner[] {
  const language = 'powershell';
  const texts = words.map(only);
  if (texts.includes('-')) return [{ kind: 'stdin', language }];
  const unknown = words.find((_word, index) => texts[index] === undefined);
  if (unknown) return [{ kind: 'code', language, word: unknown }];
  const text = texts.join(' ');
  if (/^[\w\s./:=,;|-]*$/.test(text))
    return [
      { kind: 'code', language, word: known(text) },
      { kind: 'text', words },
    ];
  return [{ kind: 'code', language, word: known(text) }];
}

function unknownScript(language: string, word: ShellWord, isCode: boolean): Inner {
  // A path whose end is known is no option.
  const isFile = !isCode && !word.isSplit && /\/[\w.-]+"?$/.test(word.text);
  if (isFile || (word.isGlob && !isCode)) return { kind: 'file', language, word };
  return {
    kind: 'doubt',
    reason: `gives ${describeLanguage(language)} the word ${word.text}, which may be code`,
  };
}

/** The program of `awk` or `sed`: what is after `-e`, or the first word that is no option, or a file. */
function programWords(language: 'awk' | 'sed', words: readonly ShellWord[]): readonly Inner[] {
  const found: Inner[] = [];
  for (let index = 0; index < words.length; index++) {
    const word = words[index]!;
    const [value = ''] = word.values ?? [];
    const [, attached] = /^(?:-[nErsiz]*e|--(?:expression|source)=)([^]+)$/.exec(value) ?? [];
    const [, file] = /^(?:-[nErsz]*f|--file=?)([^]*)$/.exec(value) ?? [];
    if (attached !== undefined) {
      found.push({ kind: 'code', language, word: known(attached) });
    } else if (/^(?:-[nErsz]*e|--expression|--source)$/.test(value)) {
      found.push({ kind: 'code', language, word: words[++index] ?? word });
    } else if (file !== undefined) {
      const script = file === '' ? (words[++index] ?? word) : known(file);
      found.push(
        only(script) === '-'
          ? { kind: 'stdin', language }
          : { kind: 'file', language, word: script },
      );
    } else if (language === 'awk' && /^-[Fv]$/.test(value)) {
      index++;
    } else if (!/^-./.test(value)) {
      return found.length > 0 ? found : [{ kind: 'code', language, word }];
    }
  }
  return found;
}
