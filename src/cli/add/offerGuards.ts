import { createInterface } from 'node:readline/promises';
import { printLine } from '../shared/terminal.js';
import { UsageError } from '../shared/usageError.js';
import { formatGuards } from './add.js';
import { guards } from './guards.js';

/**
 * Asks a person on the terminal which guards are to be added. Anything but an answer is asked again.
 *
 * @returns their names; none where the person wants a first hook to write on
 * @throws UsageError where nothing is to be written
 */
export async function offerGuards(): Promise<readonly string[]> {
  printLine(`Guards that are ready to use:\n${formatGuards()}\n`);
  const known = new Set(guards.map(({ name }) => name));
  const terminal = createInterface({ input: process.stdin, output: process.stdout });
  const closed = new Promise<string>((resolve) => void terminal.once('close', () => resolve('q')));
  const question = 'Which of them? Their names, (o)wn for a first hook to write on, or (q)uit: ';
  try {
    for (;;) {
      const answer = await Promise.race([terminal.question(question).catch(() => 'q'), closed]);
      const words = answer.toLowerCase().match(/[^\s,]+/gu) ?? [];
      const [word = ''] = words;
      if (/^o(?:wn)?$/u.test(word)) return [];
      if (/^q(?:uit)?$/u.test(word)) throw new UsageError('Nothing is changed');
      if (words.length > 0 && words.every((each) => known.has(each))) return words;
    }
  } finally {
    terminal.close();
  }
}
