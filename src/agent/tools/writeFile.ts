import fs from 'node:fs/promises';
import path from 'node:path';
import { defineTool } from './defineTool.js';
import { nonEmptyText, text } from './parameters.js';
import { kindOf, requireKind } from './workspace.js';

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
