import type { Dirent } from 'node:fs';
import fs from 'node:fs/promises';
import { defineTool } from './defineTool.js';
import { createGlobMatcher } from './globMatcher.js';
import { optional, text, textList } from './parameters.js';
import { capLines, printable } from './printable.js';
import { requireKind } from './workspace.js';

const MAX_ENTRIES = 1000;

export const listDirectory = defineTool({
  name: 'list_directory',
  description:
    'Lists the entries of a directory inside of the working directory, hidden ones included: first ' +
    'directories, which end in "/", then files. "@" marks a symbolic link.',
  parameters: {
    path: text('The directory, relative to the working directory or absolute.', 'dir_path'),
    ignore: optional(textList('Globs; files and directories whose name matches are left out.')),
  },
  targetOf: (args) => args.path,
  async run({ ignore = [] }, target) {
    await requireKind(target, 'directory');
    const findMatching = await createGlobMatcher(ignore, target);
    const entries = await fs.readdir(target.real, { withFileTypes: true });
    const ignored = new Set(findMatching(entries.map(({ name }) => name)));
    const kept = entries.filter(({ name }) => !ignored.has(name));
    const directories = kept.filter((entry) => entry.isDirectory());
    const others = kept.filter((entry) => !entry.isDirectory());
    const names = [...sortedNames(directories), ...sortedNames(others)];

    const hidden = entries.length - kept.length;
    const summary = `Entries of ${target.shown}: ${names.length}${hidden > 0 ? ` (${hidden} ignored)` : ''}`;
    return {
      llmContent: [summary, ...capLines(names, MAX_ENTRIES)].join('\n'),
      returnDisplay: summary,
    };
  },
});

function sortedNames(entries: readonly Dirent[]): string[] {
  return entries.map((entry) => printable(entry.name) + suffixOf(entry)).toSorted();
}

function suffixOf(entry: Dirent): string {
  if (entry.isDirectory()) return '/';
  return entry.isSymbolicLink() ? '@' : '';
}
