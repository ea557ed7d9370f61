import fs from 'node:fs/promises';
import { defineTool } from './defineTool.js';
import { findFiles } from './findFiles.js';
import { createLineMatcher, type LineMatcher } from './lineMatcher.js';
import type { Outcome } from './outcome.js';
import { nonEmptyText, optional, text } from './parameters.js';
import { printable } from './printable.js';
import { decodeText } from './textFile.js';
import type { ToolResult } from '../../tools/tools.js';
import { failUnlessDirectory, kindOf, type WorkspacePath } from './workspace.js';

const MAX_FILE_BYTES = 1024 * 1024;
const MAX_MATCHES = 200;
const MAX_LINE_CHARACTERS = 500;

/** Searches the content of files, line by line. */
export const searchFileContent = defineTool({
  name: 'search_file_content',
  description:
    'Finds the lines of text files that match a JavaScript regular expression (case-sensitive), as ' +
    `"file:line: text". Gives at most ${MAX_MATCHES} lines. Skips .git, node_modules, symbolic ` +
    'links, binary files, and files over 1 MiB.',
  parameters: {
    pattern: nonEmptyText('The regular expression, without slashes.'),
    path: {
      ...optional(text('The directory or file to search. Default: the working directory.')),
      alias: 'dir_path',
    },
    include: optional(
      nonEmptyText('Search only files that match this glob, such as "*.ts" or "src/**/*.{js,ts}".'),
    ),
  },
  targetOf: (args) => args.path,
  async run({ pattern, include }, target, { signal }) {
    const matcher = createLineMatcher(pattern);
    if (matcher.failure) return matcher.failure;
    const files = await filesToSearch(target, include, signal);
    if (files.failure) return files.failure;
    const search = await searchFiles(files.value, matcher.value, signal);
    if (search.failure) return search.failure;
    return describeSearch(pattern, target, search.value);
  },
});

interface Search {
  /** `file:line: text`; one more than is shown when there are too many. */
  readonly matches: readonly string[];
  readonly skippedFiles: number;
}

async function filesToSearch(
  target: WorkspacePath,
  include: string | undefined,
  signal: AbortSignal | undefined,
): Promise<Outcome<readonly WorkspacePath[]>> {
  if ((await kindOf(target)) === 'file') return { value: [target] };
  const failure = await failUnlessDirectory(target);
  if (failure) return { failure };
  return findFiles(target, atAnyDepth(include ?? '*'), { signal });
}

/** A glob without a directory means file names, wherever they are, as it does for grep and ripgrep. */
function atAnyDepth(pattern: string): string {
  return pattern.includes('/') ? pattern : `**/${pattern}`;
}

async function searchFiles(
  files: readonly WorkspacePath[],
  findMatchingLines: LineMatcher,
  signal: AbortSignal | undefined,
): Promise<Outcome<Search>> {
  const matches: string[] = [];
  let skippedFiles = 0;
  for (const file of files) {
    signal?.throwIfAborted();
    const lines = await readLines(file);
    if (!lines) {
      skippedFiles += 1;
      continue;
    }
    const found = findMatchingLines(lines);
    if (found.failure) return found;
    for (const { number, line } of found.value) {
      matches.push(`${file.shown}:${number}: ${shorten(line)}`);
    }
    if (matches.length > MAX_MATCHES) break;
  }
  return { value: { matches, skippedFiles } };
}

/** The lines of a file, or `undefined` when it is binary, too large, or cannot be read. */
async function readLines(file: WorkspacePath): Promise<string[] | undefined> {
  try {
    const { size } = await fs.stat(file.real);
    if (size > MAX_FILE_BYTES) return undefined;
    const content = decodeText(await fs.readFile(file.real));
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
  { matches, skippedFiles }: Search,
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
