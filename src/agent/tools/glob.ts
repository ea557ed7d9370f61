import fs from 'node:fs/promises';
import { defineTool } from './defineTool.js';
import { findFiles } from './findFiles.js';
import { flag, nonEmptyText, optional, text } from './parameters.js';
import { capLines, printable } from './printable.js';
import { requireKind, type WorkspacePath } from './workspace.js';

const MAX_FILES = 1000;

export const glob = defineTool({
  name: 'glob',
  description:
    'Finds the files whose path matches a glob such as "src/**/*.ts", newest first. Skips .git, ' +
    'node_modules and symbolic links.',
  parameters: {
    pattern: nonEmptyText('The glob, relative to path.'),
    path: optional(text('The directory to search. Default: the working directory.', 'dir_path')),
    case_sensitive: optional(flag('Whether upper and lower case differ. Default false.')),
  },
  targetOf: (args) => args.path,
  async run({ pattern, case_sensitive = false }, target, { signal }) {
    await requireKind(target, 'directory');
    const found = await findFiles(target, pattern, { caseSensitive: case_sensitive, signal });
    const files = await newestFirst(found, signal);
    const summary = `Files matching ${printable(pattern)} in ${target.shown}: ${files.length}`;
    const lines = files.map((file) => file.shown);
    return {
      llmContent: [summary, ...capLines(lines, MAX_FILES)].join('\n'),
      returnDisplay: summary,
    };
  },
});

/** Files between two checks of the signal. */
const BATCH = 1000;

async function newestFirst(
  files: readonly WorkspacePath[],
  signal: AbortSignal | undefined,
): Promise<WorkspacePath[]> {
  const dated: { readonly file: WorkspacePath; readonly modified: number }[] = [];
  while (dated.length < files.length) {
    signal?.throwIfAborted();
    const batch = files.slice(dated.length, dated.length + BATCH);
    const stats = await Promise.all(batch.map(({ real }) => fs.lstat(real).catch(() => undefined)));
    // A file may be gone by now.
    for (const [at, file] of batch.entries())
      dated.push({ file, modified: stats[at]?.mtimeMs ?? 0 });
  }
  return dated.toSorted((a, b) => b.modified - a.modified).map(({ file }) => file);
}
