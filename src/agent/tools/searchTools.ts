import type { Dirent } from 'node:fs';
import fs from 'node:fs/promises';
import type { ToolResult } from '../../tools/tools.js';
import { errorMessage } from '../../util/errorMessage.js';
import { readBytes } from '../../util/guardedRead.js';
import { defineTool } from './defineTool.js';
import { decodeText } from './fileTools.js';
import { createGlobMatcher, findFiles } from './findFiles.js';
import { flag, nonEmptyText, optional, text, textList } from './parameters.js';
import { capLines, printable } from './printable.js';
import { invalid, limitedSteps } from './toolFailure.js';
import { type WorkspacePath, kindOf, requireKind } from './workspace.js';

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

const MAX_FILE_BYTES = 1024 * 1024;
const MAX_MATCHES = 200;
const MAX_LINE_CHARACTERS = 500;

export const searchFileContent = defineTool({
  name: 'search_file_content',
  description:
    'Finds the lines of text files that match a JavaScript regular expression (case-sensitive), as ' +
    `"file:line: text". Gives at most ${MAX_MATCHES} lines. Skips .git, node_modules, symbolic ` +
    'links, binary files, and files over 1 MiB.',
  parameters: {
    pattern: nonEmptyText('The regular expression, without slashes.'),
    path: optional(
      text('The directory or file to search. Default: the working directory.', 'dir_path'),
    ),
    include: optional(
      nonEmptyText('Search only files that match this glob, such as "*.ts" or "src/**/*.{js,ts}".'),
    ),
  },
  targetOf: (args) => args.path,
  async run({ pattern, include }, target, { signal }) {
    const findMatchingLines = createLineMatcher(pattern);
    const files = await filesToSearch(target, include, signal);
    return describeSearch(pattern, target, await searchFiles(files, findMatchingLines, signal));
  },
});

/** Gives each matching line with its number, from 1. */
type LineMatcher = (lines: readonly string[]) => string[];

function createLineMatcher(pattern: string): LineMatcher {
  const regex = compile(pattern);
  const inLimits = limitedSteps(
    `The regular expression /${pattern}/`,
    'Simplify it: avoid nested quantifiers such as (a+)+, or search fewer files.',
  );
  return (lines) =>
    inLimits(() =>
      lines.flatMap((line, index) => (regex.test(line) ? `${index + 1}: ${shorten(line)}` : [])),
    );
}

function compile(pattern: string): RegExp {
  try {
    return new RegExp(pattern);
  } catch (error) {
    throw invalid(
      `${errorMessage(error)}.`,
      'Use the syntax of JavaScript regular expressions; escape what is meant literally.',
    );
  }
}

async function filesToSearch(
  target: WorkspacePath,
  include = '*',
  signal: AbortSignal | undefined,
): Promise<readonly WorkspacePath[]> {
  if ((await kindOf(target)) === 'file') return [target];
  await requireKind(target, 'directory');
  // As with grep, a glob without a directory matches file names at any depth.
  return findFiles(target, include.includes('/') ? include : `**/${include}`, { signal });
}

async function searchFiles(
  files: readonly WorkspacePath[],
  findMatchingLines: LineMatcher,
  signal: AbortSignal | undefined,
) {
  const matches: string[] = [];
  let skippedFiles = 0;
  for (const file of files) {
    signal?.throwIfAborted();
    const lines = await readLines(file);
    if (!lines) {
      skippedFiles += 1;
      continue;
    }
    for (const match of findMatchingLines(lines)) matches.push(`${file.shown}:${match}`);
    if (matches.length > MAX_MATCHES) break;
  }
  return { matches, skippedFiles };
}

/** `undefined` when the file is binary, too large, or cannot be read. */
async function readLines(file: WorkspacePath): Promise<string[] | undefined> {
  try {
    const content = decodeText(await readBytes(file.real, { maxBytes: MAX_FILE_BYTES }));
    return content
      ?.replace(/^\uFEFF/, '')
      .replace(/\r?\n$/, '')
      .split(/\r?\n/);
  } catch {
    return undefined;
  }
}

function shorten(line: string): string {
  return line.length > MAX_LINE_CHARACTERS ? `${line.slice(0, MAX_LINE_CHARACTERS)}…` : line;
}

function describeSearch(
  pattern: string,
  target: WorkspacePath,
  { matches, skippedFiles }: Awaited<ReturnType<typeof searchFiles>>,
): ToolResult {
  const count = matches.length > MAX_MATCHES ? `more than ${MAX_MATCHES}` : `${matches.length}`;
  const summary = `Lines matching ${printable(pattern)} in ${target.shown}: ${count}`;
  const notes = [
    matches.length > MAX_MATCHES && `[only the first ${MAX_MATCHES} are shown; narrow the search]`,
    skippedFiles > 0 &&
      `[files not searched, being binary, unreadable or over 1 MiB: ${skippedFiles}]`,
  ].filter((note) => note !== false);
  return {
    llmContent: [summary, ...matches.slice(0, MAX_MATCHES), ...notes].join('\n'),
    returnDisplay: summary,
  };
}
