import type { ShellWord } from './types.js';

/** What `echo` or `printf` prints. */
export function printedBy(
  program: string,
  words: readonly ShellWord[],
): readonly string[] | undefined {
  if (program !== 'echo' && program !== 'printf') return undefined;
  const texts = words.map(({ values }) => values ?? []);
  const count = texts.reduce((product, values) => product * values.length, 1);
  if (count > 16) return undefined;
  let lists: string[][] = [[]];
  for (const values of texts) {
    const [only] = values;
    if (values.length === 1 && only !== undefined) for (const list of lists) list.push(only);
    else lists = lists.flatMap((list) => values.map((value) => [...list, value]));
  }
  const printed = lists.map((list) => printedOf(program, list));
  return printed.every((each) => each !== undefined) ? printed : undefined;
}

function printedOf(program: string, texts: readonly string[]): string | undefined {
  const [first = ''] = texts;
  if (program === 'echo') {
    const isBare = first === '-n' || first === '-e';
    const rest = isBare ? texts.slice(1) : texts;
    const text = rest.join(' ');
    return text.includes('\\') || /^-[neE]/.test(rest[0] ?? '')
      ? undefined
      : first === '-n'
        ? text
        : `${text}\n`;
  }
  if (program !== 'printf') return undefined;
  if (texts.length === 1 && !/[%\\]/.test(first) && !first.startsWith('-')) return first;
  const end = first === '%s\\n' ? '\n' : first === '%s' ? '' : undefined;
  return end !== undefined && texts.length > 1
    ? texts
        .slice(1)
        .map((text) => text + end)
        .join('')
    : undefined;
}
