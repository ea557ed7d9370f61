import { diffLines } from '../../src/trace/diff.js';
import { toOneLine, toVisible, withoutBreaks } from '../../src/cli/shared/terminal.js';
import { secretMasker } from '../../src/run/hookEnvironment.js';
import { readHookOutput } from '../../src/protocol/readHookOutput.js';
import { findControl, removeControls, sanitizeText } from '../../src/protocol/sanitizeText.js';
import { expandCommand } from '../../src/shell/expandCommand.js';
import { readSimpleCommand } from '../../src/shell/shellWords.js';
import { readHook } from '../../src/validate/readCommand.js';
import { printable } from '../../src/agent/tools/printable.js';
import { diffValues } from '../../src/trace/diff.js';
import { findPlaceholders, isCut } from '../../src/trace/record.js';

const mask = secretMasker({ redact: ['@secrets'] }, { API_TOKEN: 'secret', X_KEY: '[[[[' });

/** Whatever reads text of a hook, a model, a file or a directory's name. */
export const READERS: Record<string, (text: string) => unknown> = {
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
  diffOfFiles: (text) => diffLines(text, `${text}x`, 3, 1000),
  readHook: (text) => readHook({ command: text }, { project: '/p' }),
  readSimpleCommand: (text) => readSimpleCommand(text, 'extension', {}),
  expandCommand: (text) => expandCommand(`$${text}`, 'extension'),
  diffOfValues: (text) => diffValues('value', text, `${text}x`),
};

/** What loops and alternatives of expressions stumble over, when it is repeated and then does not come to its end. */
export const PIECES = {
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

/** Begins and ends with what may not match, and consists of one piece as a whole, as a text from a file does. */
export function textOf(piece: keyof typeof PIECES, length: number): string {
  const repeated = PIECES[piece].repeat(Math.ceil(length / PIECES[piece].length));
  return Buffer.from(`${repeated}[x`, 'utf16le').toString('utf16le');
}
