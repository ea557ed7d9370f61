import { isUtf8 } from 'node:buffer';
import type { Stats } from 'node:fs';
import fs from 'node:fs/promises';
import path from 'node:path';
import type { ToolResult } from '../../tools/tools.js';
import { readBytes } from '../../util/guardedRead.js';
import { defineTool } from './defineTool.js';
import { integer, nonEmptyText, optional, text } from './parameters.js';
import { type ToolFailure, failed, invalid } from './toolFailure.js';
import { type WorkspacePath, kindOf, requireKind } from './workspace.js';

const MAX_BYTES = 10 * 1024 * 1024;

/** Keeps a byte order mark. Throws ToolFailure for what is no such file, or has over 10 MiB. */
async function readTextFile(target: WorkspacePath): Promise<string> {
  await requireKind(target, 'file');
  const decoded = decodeText(await readSized(target));
  if (decoded !== undefined) return decoded;
  throw failed(
    `${target.shown} is not UTF-8 text.`,
    'Examine it with run_shell_command, such as with file, xxd or iconv.',
  );
}

async function readSized({ real, shown }: WorkspacePath): Promise<Buffer> {
  const objectTo = ({ size }: Stats) => {
    if (size <= MAX_BYTES) return undefined;
    throw failed(
      `${shown} is too large: ${size} bytes, and at most ${MAX_BYTES} are read.`,
      'Look at a part of it with run_shell_command, such as with head, tail, sed or grep.',
    );
  };
  return readBytes(real, { maxBytes: MAX_BYTES, objectTo });
}

/** `undefined` when the bytes are not UTF-8 or contain a NUL. */
export function decodeText(bytes: Buffer): string | undefined {
  return isUtf8(bytes) && !bytes.includes(0) ? bytes.toString('utf8') : undefined;
}

const DEFAULT_LINES = 2000;
const MAX_CHARACTERS = 200_000;

export const readFile = defineTool({
  name: 'read_file',
  description:
    `Reads a UTF-8 text file inside of the working directory. Gives at most ${DEFAULT_LINES} lines ` +
    'unless limit says otherwise, and says so at the top when there is more.',
  parameters: {
    file_path: nonEmptyText('The file to read, relative to the working directory or absolute.'),
    offset: optional(integer('The line to start at, counted from 0. Default 0.', 0)),
    limit: optional(integer(`How many lines to read. Default ${DEFAULT_LINES}.`, 1)),
  },
  isReader: true,
  targetOf: (args) => args.file_path,
  async run({ offset = 0, limit = DEFAULT_LINES }, target) {
    const content = (await readTextFile(target)).replace(/^\uFEFF/, '');
    if (content === '') {
      const note = `${target.shown} is empty`;
      return { llmContent: `[${note}]`, returnDisplay: note };
    }
    // With their line ends, so that joining them gives the text again.
    const lines = content.split(/(?<=\n)/);
    if (offset >= lines.length) {
      throw invalid(
        `read_file: the argument offset is ${offset}; the last line of ${target.shown} is at ${lines.length - 1}.`,
        'Use a smaller offset.',
      );
    }

    const selected = takeUpTo(MAX_CHARACTERS, lines.slice(offset, offset + limit));
    const range = `lines ${offset + 1}-${offset + selected.count} of ${lines.length}`;
    if (selected.count === lines.length && !selected.cut) {
      return { llmContent: selected.text, returnDisplay: `Read ${target.shown}` };
    }
    const note = describePart(range, offset + selected.count, lines.length, selected.cut);
    return {
      llmContent: `[${target.shown}: ${note}]\n${selected.text}`,
      returnDisplay: `Read ${range} from ${target.shown}`,
    };
  },
});

/** Whole lines only; of a first line that does not fit, its beginning. */
function takeUpTo(maxCharacters: number, lines: readonly string[]) {
  const kept: string[] = [];
  let characters = 0;
  for (const line of lines) {
    characters += line.length;
    if (characters > maxCharacters) break;
    kept.push(line);
  }
  const [first = ''] = lines;
  return kept.length > 0
    ? { text: kept.join(''), count: kept.length, cut: false }
    : { text: first.slice(0, maxCharacters), count: 1, cut: true };
}

function describePart(range: string, next: number, total: number, cut: boolean): string {
  const cutNote = cut ? `, cut after ${MAX_CHARACTERS} characters` : '';
  const more = next < total ? ` To read on, call read_file with offset ${next}.` : '';
  return `showing ${range}${cutNote}.${more}`;
}

export const writeFile = defineTool({
  name: 'write_file',
  description:
    'Writes a file inside of the working directory: creates it, with its parent directories, or ' +
    'overwrites all of it.',
  parameters: {
    file_path: nonEmptyText('The file to write, relative to the working directory or absolute.'),
    content: text('The whole new content of the file.'),
  },
  targetOf: (args) => args.file_path,
  async run({ content }, target) {
    const isNew = (await kindOf(target)) === 'missing';
    if (!isNew) await requireKind(target, 'file');
    await fs.mkdir(path.dirname(target.real), { recursive: true });
    await fs.writeFile(target.real, content);

    const done = `${isNew ? 'Created' : 'Overwrote'} ${target.shown}`;
    return {
      llmContent: `${done} (${Buffer.byteLength(content)} bytes).`,
      returnDisplay: done,
    };
  },
});

export const replace = defineTool({
  name: 'replace',
  description:
    'Replaces text in a UTF-8 file inside of the working directory. old_string is compared literally, ' +
    'white space included, and must occur exactly expected_replacements times. An empty old_string ' +
    'creates a new file.',
  parameters: {
    file_path: nonEmptyText('The file to change, relative to the working directory or absolute.'),
    old_string: text('The exact text to replace; empty to create a file.'),
    new_string: text('The text to put in its place, literally.'),
    expected_replacements: optional(integer('How often old_string occurs. Default 1.', 1)),
  },
  targetOf: (args) => args.file_path,
  async run({ old_string, new_string, expected_replacements = 1 }, target) {
    if (old_string === '') return createFile(target, new_string);
    if (old_string === new_string) {
      throw invalid(
        `replace: old_string and new_string are the same, so ${target.shown} would not change.`,
        'Give the text as it should become in new_string.',
      );
    }

    const content = await readTextFile(target);
    const pieces = content.split(old_string);
    const found = pieces.length - 1;
    if (found !== expected_replacements) {
      throw wrongCount(target, found, expected_replacements, content.includes('\r\n'));
    }
    await fs.writeFile(target.real, pieces.join(new_string));
    return {
      llmContent: `Replaced ${occurrences(found)} of old_string in ${target.shown}.`,
      returnDisplay: `Replaced ${occurrences(found)} in ${target.shown}`,
    };
  },
});

async function createFile(target: WorkspacePath, content: string): Promise<ToolResult> {
  if ((await kindOf(target)) !== 'missing') {
    throw failed(
      `replace: old_string is empty, which creates a file, but ${target.shown} exists.`,
      'Give the text to replace in old_string, or overwrite the file with write_file.',
    );
  }
  await fs.mkdir(path.dirname(target.real), { recursive: true });
  await fs.writeFile(target.real, content, { flag: 'wx' });
  return {
    llmContent: `Created ${target.shown} (${Buffer.byteLength(content)} bytes).`,
    returnDisplay: `Created ${target.shown}`,
  };
}

function wrongCount(
  target: WorkspacePath,
  found: number,
  expected: number,
  hasCarriageReturns: boolean,
): ToolFailure {
  const hint = hasCarriageReturns ? ' Lines of this file end in \\r\\n.' : '';
  return failed(
    `replace: found ${occurrences(found)} of old_string in ${target.shown}, expected ${expected}; nothing was changed.`,
    found === 0
      ? `Read the file again and copy the text exactly, white space included.${hint}`
      : `Add surrounding lines to old_string, or set expected_replacements to ${found}.`,
  );
}

function occurrences(count: number): string {
  return count === 1 ? '1 occurrence' : `${count} occurrences`;
}
