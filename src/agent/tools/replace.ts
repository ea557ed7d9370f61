import fs from 'node:fs/promises';
import path from 'node:path';
import { defineTool } from './defineTool.js';
import { integer, nonEmptyText, optional, text } from './parameters.js';
import { readTextFile } from './textFile.js';
import type { ToolResult } from '../../tools/tools.js';
import { failed, invalid, type ToolFailure } from './toolFailure.js';
import { kindOf, type WorkspacePath } from './workspace.js';

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
