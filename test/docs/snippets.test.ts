import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { toHookInput } from '../../middleware/translator.js';
import { Config } from '../../src/config/config.js';
import { loadSettingsFile } from '../../src/config/settings/settings.js';
import { formatProblem } from '../../src/util/fileProblem.js';
import { isHookEventName } from '../../src/protocol/events.js';
import { readHookOutput } from '../../src/protocol/readHookOutput.js';
import type { HookEventInput, HookEventName } from '../../src/protocol/types.js';
import { toPatternSource } from '../helpers/matchText.js';
import { findDocuments, findSnippets, readDocument, type Snippet } from './markdown.js';
import { samplePayloads } from './samplePayloads.js';
import { Workbench } from './workbench.js';

const documents = await Promise.all(
  (await findDocuments()).map(async (file) => ({
    file,
    snippets: findSnippets(await readDocument(file)).map((snippet) => ({
      title: titleOf(snippet),
      snippet,
    })),
  })),
);

// The blocks of a document are one story: files written by one are there for the next.
describe.each(documents.filter(({ snippets }) => snippets.length > 0))(
  'the snippets of $file',
  ({ snippets }) => {
    let bench: Workbench;

    beforeAll(async () => {
      bench = await Workbench.create();
    });

    afterAll(() => bench.remove());

    it.each(snippets)('$title', async ({ snippet }) => {
      for (const { name, value } of snippet.words) {
        const check = checks[name];
        if (!check) throw new Error(`There is no check "${name}" for a block`);
        if ((await check({ snippet, value, bench })) === 'skip') return;
      }
      const isChecked = snippet.words.length > 0 || UNCHECKED.has(snippet.language);
      expect(isChecked, 'a block that says how it is checked').toBe(true);
    });
  },
);

describe('the answers in the table of the guide', async () => {
  const guide = await readDocument('docs/guide.md');
  const answers = Array.from(guide.matchAll(/^\|.*`(\{".*\})`/gm), ([, answer = '']) => answer);

  it('are there', () => expect(answers.length).toBeGreaterThan(10));

  it.each(answers)('%s is understood', expectUnderstood);
});

interface Checked {
  readonly snippet: Snippet;
  /** What stands behind `=`. */
  readonly value: string;
  readonly bench: Workbench;
}

const UNCHECKED = new Set(['text', 'mermaid']);

/** What the words behind the language of a block mean. */
const checks: Record<string, (checked: Checked) => Promise<unknown>> = {
  /** Later blocks use the block as a file. */
  file: ({ snippet, value, bench }) => bench.write(value, snippet.content),
  /** The block needs a program that a machine may lack. */
  needs: async ({ value }) => {
    const { failed } = await execa(value, ['--version'], { reject: false });
    return failed ? 'skip' : undefined;
  },
  run: async ({ snippet, bench }) => {
    const { exitCode } = await (snippet.language === 'sh'
      ? bench.run('bash', ['-euo', 'pipefail', '-c', snippet.content])
      : bench.run(process.execPath, [await bench.write('snippet.mjs', snippet.content)]));
    expect(exitCode, bench.output).toBe(0);
  },
  /** The block that was run before has printed this; `…` stands for anything on a line. */
  output: async ({ snippet, bench }) => {
    expect(bench.output).toMatch(toPattern(snippet.content));
  },
  /** The block that was run before has printed JSON that has these fields. */
  fields: async ({ snippet, bench }) => {
    expect(shapeOf(JSON.parse(bench.output))).toMatchObject(
      shapeOf(JSON.parse(snippet.content)) as object,
    );
  },
  settings: async ({ snippet, bench }) => {
    const file = await bench.write('checked-settings.json', snippet.content);
    const { problems } = await loadSettingsFile(file);
    expect(problems.map(formatProblem)).toEqual([]);
  },
  /** A script of this event reads such an object. */
  stdin: async ({ snippet, value }) => {
    if (!isHookEventName(value)) throw new Error(`There is no event "${value}"`);
    expect(shapeOf(JSON.parse(snippet.content))).toEqual(shapeOf(inputOf(value)));
  },
  /** A script may print this. */
  stdout: async ({ snippet }) => expectUnderstood(snippet.content),
  /** Needs packages of other agents: `npm run test:hosts` runs it. */
  host: async () => 'skip',
  /** For the reader only. */
  manual: async () => undefined,
};

function titleOf({ language, info, line }: Snippet): string {
  return `line ${line}: ${language} ${info}`;
}

function expectUnderstood(stdout: string): void {
  const { output, problems } = readHookOutput(stdout);
  expect(output).toEqual(JSON.parse(stdout));
  expect(problems).toEqual([]);
}

function inputOf<E extends HookEventName>(event: E): HookEventInput<E> {
  return toHookInput(event, samplePayloads[event], new Config());
}

/** The names and types of fields, at every depth; of lists, those of the first item. */
function shapeOf(value: unknown): unknown {
  if (Array.isArray(value)) return value.slice(0, 1).map(shapeOf);
  if (typeof value !== 'object' || value === null) return value === null ? null : typeof value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, shapeOf(item)]));
}

function toPattern(expected: string): RegExp {
  return new RegExp(`^${toPatternSource(expected.trimEnd(), '.*')}$`, 'm');
}
