import { describe, expect, it } from 'vitest';
import { diffLines } from '../../src/util/lineDiff.js';
import { toOneLine, toVisible, withoutBreaks } from '../../src/cli/shared/terminal.js';
import { secretMasker } from '../../src/run/hookEnvironment.js';
import { readHookOutput } from '../../src/protocol/readHookOutput.js';
import { findControl, removeControls, sanitizeText } from '../../src/protocol/sanitizeText.js';
import { expandCommand } from '../../src/shell/expandCommand.js';
import { isSimpleCommand } from '../../src/shell/shellWords.js';
import { readCommand } from '../../src/shell/readCommand.js';
import { printable } from '../../src/agent/tools/printable.js';
import { diffValues } from '../../src/trace/diff.js';
import { findPlaceholders, isCut } from '../../src/trace/record.js';

const mask = secretMasker({ redact: ['@secrets'] }, { API_TOKEN: 'secret', X_KEY: '[[[[' });

/** Whatever reads text of a hook, a model, a file or a directory's name. */
const READERS: Record<string, (text: string) => unknown> = {
  sanitizeText,
  removeControls,
  findControl,
  withoutBreaks,
  toOneLine,
  toVisible,
  printable,
  mask,
  readHookOutput,
  isCut,
  findPlaceholders: (text) => findPlaceholders(text, {}),
  diffOfFiles: (text) => diffLines(text, `${text}x`, 3),
  readCommand: (text) => readCommand(text, new Map()),
  isSimpleCommand,
  expandCommand: (text) => expandCommand(`$${text}`, 'extension'),
  diffOfValues: (text) => diffValues('value', text, `${text}x`),
};

/** What loops and alternatives of expressions stumble over, when it is repeated and then does not come to its end. */
const PIECES = {
  'zero-width': '\u200B',
  'wide blank': '\u2003',
  newline: '\n',
  'carriage return': '\r',
  'line separator': '\u2028',
  CSI: '\u001B[',
  'CSI in C1': '\u009B0;',
  OSC: '\u001B]',
  digits: '\u001B[0',
  bracket: '[',
  digit: '1',
  note: '[System]',
  'note in a line': 'a [System]',
  tag: '<hook_context ',
  'closing tag': '</hook_context',
  quote: '"',
  brace: '{',
  backslash: '\\',
  escape: '\\u001b',
  emoji: '\u{1F600}',
  'half an emoji': '\uD83D',
  'soft hyphen and newline': '\u00AD\n',
} as const;

const pieces = Object.keys(PIECES) as (keyof typeof PIECES)[];

describe.each(Object.keys(READERS))('%s', (name) => {
  const read = READERS[name]!;

  it.each(pieces)('takes time in proportion to the length of its text: %s', (piece) => {
    const [short, long] = [50_000, 400_000].map((length) => timeFor(read, piece, length));
    // Eight times as long: 64 times as much would be quadratic. What takes no time at all is not compared.
    expect(long! / Math.max(short!, 2)).toBeLessThan(32);
  });

  it('overflows no stack', () => {
    for (const piece of ['zero-width', 'wide blank', 'emoji', 'digit'] as const) {
      expect(() => read(textOf(piece, 17_000_000))).not.toThrow();
    }
  }, 60_000);
});

/** The best of three, in ms. */
function timeFor(read: (text: string) => unknown, piece: keyof typeof PIECES, length: number) {
  const times = [1, 2, 3].map(() => {
    const text = textOf(piece, length);
    const startedAt = performance.now();
    read(text);
    return performance.now() - startedAt;
  });
  return Math.min(...times);
}

/** Begins and ends with what may not match, and consists of one piece as a whole, as a text from a file does. */
function textOf(piece: keyof typeof PIECES, length: number): string {
  const repeated = PIECES[piece].repeat(Math.ceil(length / PIECES[piece].length));
  return Buffer.from(`${repeated}[x`, 'utf16le').toString('utf16le');
}
