#!/usr/bin/env node
// Formats a file that a tool has written, where its formatter is installed.
import { spawnSync } from 'node:child_process';
import { readFileSync, realpathSync, statSync } from 'node:fs';
import { delimiter, dirname, join, relative, resolve } from 'node:path';
import { json } from 'node:stream/consumers';

/** The ending of a name, the program, and its arguments before the file. */
const FORMATTERS = [
  [
    /\.([cm]?[jt]sx?|jsonc?|css|scss|less|html|vue|md|ya?ml)$/,
    'prettier',
    '--write',
    '--ignore-unknown',
  ],
  [/\.pyi?$/, 'ruff', 'format', '--quiet'],
  [/\.go$/, 'gofmt', '-w'],
  [/\.rs$/, 'rustfmt', '--edition', '2021'],
];

/** What agents call the arguments that name a file, or hold a patch of several. */
const NAMES = /path|file/i;
const PATCHES = /^(?:input|patch|patchText|command)$/;
const PATCHED = /^\s*\*\*\* (?:(?:Add|Update) File|Move to): (.+)$/gm;

const { tool_input: input = {}, cwd } = await json(process.stdin);
const project = realpathSync(process.env.LLXPRT_PROJECT_DIR ?? cwd);
const files = new Set(filesIn(input).map((named) => resolve(cwd, named)));
const additionalContext = [...files].flatMap(format).join('\n');
if (additionalContext) console.log(JSON.stringify({ hookSpecificOutput: { additionalContext } }));

function filesIn(value, name = '') {
  if (typeof value === 'string') {
    if (NAMES.test(name)) return [value];
    return PATCHES.test(name) ? [...value.matchAll(PATCHED)].map(([, file]) => file.trim()) : [];
  }
  if (Array.isArray(value)) return value.flatMap((each) => filesIn(each, name));
  return Object.entries(value ?? {}).flatMap(([key, each]) => filesIn(each, key));
}

/** What the model is told of a file, if anything. */
function format(given) {
  if (!statSync(given, { throwIfNoEntry: false })?.isFile()) return [];
  const file = realpathSync(given);
  const name = relative(project, file);
  if (name.startsWith('..') || resolve(name) === name) return [];
  const [, program, ...options] = FORMATTERS.find(([ending]) => ending.test(file)) ?? [];
  if (program === undefined) return [];
  const before = readFileSync(file, 'utf8');
  const PATH = [...foldersOf(file), process.env.PATH].join(delimiter);
  const { status, error, stderr } = spawnSync(program, [...options, file], {
    cwd: project,
    env: { ...process.env, PATH },
    encoding: 'utf8',
  });
  if (error?.code === 'ENOENT') return [];
  if (status !== 0) {
    const [why = ''] = (stderr || String(error ?? '')).trim().split('\n');
    return [`${program} could not format ${name}: ${why}`];
  }
  if (readFileSync(file, 'utf8') === before) return [];
  return [`${program} has formatted ${name}: read it again before you replace text in it.`];
}

/** Where the project installs programs, from the folder of a file up to the project. */
function foldersOf(file) {
  const folders = [];
  for (let folder = dirname(file); ; folder = dirname(folder)) {
    folders.push(join(folder, 'node_modules/.bin'), join(folder, '.venv/bin'));
    if (folder === project) return folders;
  }
}
