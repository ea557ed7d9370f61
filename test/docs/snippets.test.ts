import { mkdir, mkdtemp, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toHookInput } from '../../middleware/translator.js';
import { Config } from '../../src/config/config.js';
import { formatProblem, loadSettingsFile } from '../../src/config/settings.js';
import { startRecordedModel } from '../../src/core/recordedModel.js';
import { isHookEventName } from '../../src/hooks/events.js';
import { readHookOutput } from '../../src/hooks/readHookOutput.js';
import type { HookEventInput, HookEventName } from '../../src/hooks/types.js';
import {
  findAttribute,
  findDocuments,
  findSnippets,
  readDocument,
  ROOT,
  type Snippet,
} from './markdown.js';
import { samplePayloads } from './samplePayloads.js';

/** What every call of the model is answered with while a snippet runs. */
const ANSWER = { candidates: [{ content: { role: 'model', parts: [{ text: 'Hello!' }] } }] };
const CHECKED_LANGUAGES = ['js', 'ts', 'sh', 'json', 'jsonl', 'py'];

describe.each(await findDocuments())('the snippets of %s', async (document) => {
  const snippets = findSnippets(await readDocument(document));
  let directory: string;
  let lastOutput = '';

  beforeAll(async () => {
    directory = await makeDirectory();
  });

  afterAll(() => rm(directory, { recursive: true }));

  // The blocks of a document are one story: files written by one are there for the next.
  it.each(snippets.map((snippet) => [titleOf(snippet), snippet] as const))(
    '%s',
    async (_, each) => {
      const { language, words, content } = each;
      const file = findAttribute(each, 'file');
      if (file !== undefined) await writeInto(directory, file, content);
      if (words.includes('run')) lastOutput = await run(each, directory);
      else if (words.includes('settings')) await checkSettings(directory, content);
      else if (words.includes('output')) expect(lastOutput).toMatch(toPattern(content));
      else if (findAttribute(each, 'stdin')) checkInput(each);
      else if (findAttribute(each, 'stdout')) checkOutput(each);
      else if (file === undefined && !words.includes('manual')) {
        expect(CHECKED_LANGUAGES, 'a block that says how to check it').not.toContain(language);
      }
    },
  );
});

function titleOf({ language, words, line }: Snippet): string {
  return `line ${line}: ${[language, ...words].join(' ')}`;
}

async function isInstalled(program: string): Promise<boolean> {
  const { failed } = await execa(program, ['--version'], { reject: false });
  return !failed;
}

/** A directory in which `hookstack` and the SDK can be imported, and `hookstack` called. */
async function makeDirectory(): Promise<string> {
  const directory = await realpath(await mkdtemp(path.join(os.tmpdir(), 'hookstack-test-')));
  for (const name of ['home', 'bin', 'work/node_modules/@google']) {
    await mkdir(path.join(directory, name), { recursive: true });
  }
  const modules = path.join(directory, 'work/node_modules');
  await symlink(ROOT, path.join(modules, 'hookstack'));
  await symlink(path.join(ROOT, 'node_modules/@google/genai'), path.join(modules, '@google/genai'));
  const main = path.join(ROOT, 'dist/src/cli/main.js');
  await writeFile(
    path.join(directory, 'bin/hookstack'),
    `#!/usr/bin/env bash\nexec node '${main}' "$@"\n`,
    { mode: 0o755 },
  );
  return directory;
}

async function writeInto(directory: string, file: string, content: string): Promise<void> {
  const target = path.join(directory, 'work', file);
  await mkdir(path.dirname(target), { recursive: true });
  await writeFile(target, content, { mode: 0o755 });
}

/** Runs a block to its end, and returns what it printed. */
async function run({ language, content, line }: Snippet, directory: string): Promise<string> {
  const script = path.join(
    directory,
    'work',
    `snippet-${line}.${language === 'sh' ? 'sh' : 'mjs'}`,
  );
  await writeFile(script, content);
  const responses = path.join(directory, 'model.responses');
  const call = JSON.stringify({ method: 'generateContentStream', response: [ANSWER] });
  await writeFile(responses, `${call}\n`.repeat(20));
  const model = await startRecordedModel(responses);
  try {
    const [program, ...args] =
      language === 'sh' ? ['bash', '-euo', 'pipefail', script] : [process.execPath, script];
    const { all, exitCode } = await execa(program ?? '', args, {
      cwd: path.join(directory, 'work'),
      env: {
        HOME: path.join(directory, 'home'),
        PATH: `${path.join(directory, 'bin')}:${process.env['PATH']}`,
        GEMINI_API_KEY: 'recorded',
        GOOGLE_GEMINI_BASE_URL: model.baseUrl,
        NO_COLOR: '1',
      },
      stdin: 'ignore',
      all: true,
      reject: false,
    });
    expect(exitCode, all).toBe(0);
    return all;
  } finally {
    await model.close();
    await rm(script);
  }
}

async function checkSettings(directory: string, content: string): Promise<void> {
  const file = path.join(directory, 'checked-settings.json');
  await writeFile(file, content);
  const { problems } = await loadSettingsFile(file);
  expect(problems.map(formatProblem)).toEqual([]);
}

/** What a script is said to read has the fields that it does read. */
function checkInput(snippet: Snippet): void {
  const event = findAttribute(snippet, 'stdin');
  if (!isHookEventName(event)) throw new Error(`There is no event ${event}`);
  expect(shapeOf(JSON.parse(snippet.content))).toEqual(shapeOf(readInput(event)));
}

function readInput<E extends HookEventName>(event: E): HookEventInput<E> {
  return toHookInput(event, samplePayloads[event], new Config());
}

/** What a script is said to print is understood. */
function checkOutput({ content }: Snippet): void {
  const { output, problems } = readHookOutput(content);
  expect(output).toBeDefined();
  expect(problems).toEqual([]);
}

/** The names and types of fields, at every depth; of lists, those of the first item. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (typeof value !== 'object' || value === null) return typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shapeOf(item)]));
}

/** In expected output, `…` stands for anything on a line. */
function toPattern(expected: string): RegExp {
  const lines = expected.trimEnd().split('\n');
  const escape = (text: string) => text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
  return new RegExp(
    `^${lines.map((line) => line.split('…').map(escape).join('.*')).join('\n')}$`,
    'm',
  );
}
