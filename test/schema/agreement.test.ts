import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { Ajv2020 } from 'ajv/dist/2020.js';
import { globSync } from 'tinyglobby';
import { describe, expect, it } from 'vitest';
import { toHookInput } from '../../middleware/translator.js';
import { parseHookTest } from '../../src/cli/shared/hookTestFile.js';
import { Config } from '../../src/config/config.js';
import { loadSettingsFile } from '../../src/config/settings/settings.js';
import { formatProblem } from '../../src/util/fileProblem.js';
import { events } from '../../src/protocol/events.js';
import { parseJsonDocument } from '../../src/util/jsonDocument.js';
import { isRecord } from '../../src/util/records.js';
import { readHookOutput } from '../../src/protocol/readHookOutput.js';
import { HookEventName, type HookInput } from '../../src/protocol/types.js';
import { allSchemas } from './build/index.js';
import { findSnippets, readDocument, ROOT } from '../docs/markdown.js';
import { samplePayloads } from '../docs/samplePayloads.js';

const schemas = allSchemas();
const CORPUS = path.resolve(import.meta.dirname, 'corpus');
const ajv = new Ajv2020({
  strict: true,
  strictTypes: false,
  strictRequired: false,
  allErrors: true,
});

function compile(name: string) {
  return ajv.compile(schemas.get(name) ?? false);
}

async function filesOf(folder: string): Promise<{ name: string; file: string }[]> {
  const names = await readdir(path.join(CORPUS, folder));
  return names.map((name) => ({ name, file: path.join(CORPUS, folder, name) }));
}

/** What the loader leaves out; what it only advises on is valid. */
async function findFaults(file: string): Promise<string[]> {
  const { problems } = await loadSettingsFile(file);
  return problems
    .filter(({ kind }) => kind !== 'unlikely-value' && kind !== 'no-effect')
    .map(formatProblem);
}

describe('the schema of the settings says the same as the loader', async () => {
  const validate = compile('settings.json');

  it.each(await filesOf('settings/good'))('good: $name', async ({ file }) => {
    validate(JSON.parse(await readFile(file, 'utf8')));
    expect(validate.errors).toBeNull();
    expect(await findFaults(file)).toEqual([]);
  });

  it.each(await filesOf('settings/bad'))('bad: $name', async ({ file }) => {
    expect(validate(JSON.parse(await readFile(file, 'utf8')))).toBe(false);
    expect(await findFaults(file)).not.toEqual([]);
  });
});

describe('the schema of recorded events says the same as their reader', async () => {
  const validate = compile('hooktest.json');

  it.each(await filesOf('hooktest/good'))('good: $name', async ({ file }) => {
    const text = await readFile(file, 'utf8');
    validate(parseJsonDocument(text).value);
    expect(validate.errors).toBeNull();
    expect(parseHookTest(text)).toHaveProperty('test');
  });

  it.each(await filesOf('hooktest/bad'))('bad: $name', async ({ file }) => {
    const text = await readFile(file, 'utf8');
    expect(validate(parseJsonDocument(text).value)).toBe(false);
    expect(parseHookTest(text)).toHaveProperty('problems');
  });

  it('takes those of the examples and of the pages', async () => {
    const files = globSync('examples/**/*.hooktest.json', { cwd: ROOT });
    const examples = await Promise.all(files.map((file) => readDocument(file)));
    const pages = findSnippets(await readDocument('docs/cli.md')).filter(({ words }) =>
      words.some(({ value }) => value.endsWith('.hooktest.json')),
    );
    expect(pages).not.toEqual([]);
    for (const text of [...examples, ...pages.map(({ content }) => content)]) {
      validate(parseJsonDocument(text).value);
      expect(validate.errors, text).toBeNull();
    }
  });
});

describe('what an editor offers for a hook', () => {
  const { $defs } = schemas.get('settings.json') as {
    $defs: { hook: { properties: Record<string, object>; if: object } };
  };
  const { properties, if: condition } = $defs.hook;

  it('begins with the type that can run, and its command', () => {
    expect(Object.keys(properties).slice(0, 2)).toEqual(['type', 'command']);
    expect(properties['type']).toMatchObject({
      enum: ['command', 'rule', 'remote', 'mcp_tool', 'prompt', 'plugin'],
      default: 'command',
    });
    expect(condition).toEqual({ properties: { type: { const: 'command' } } });
  });
});

it.each([...schemas])(
  'the schema %s has a name of its own, which nobody fetches',
  (name, { $id }) => {
    expect($id).toBe(`urn:hookstack:schema:${name}`);
  },
);

describe('the schemas of answers say the same as their reader', () => {
  it.each(['good', 'bad'])('%s answers', async (kind) => {
    for (const { name, file } of await filesOf(`stdout/${kind}`)) {
      const stdout = await readFile(file, 'utf8');
      const validate = compile(`${name.split('-')[0]}.stdout.json`);
      expect(validate(JSON.parse(stdout)), name).toBe(kind === 'good');
      expect(readHookOutput(stdout).problems.length === 0, name).toBe(kind === 'good');
    }
  });

  it('a field that has no effect at an event is none of its schema', () => {
    const validate = compile('AfterTool.stdout.json');
    expect(validate({ hookSpecificOutput: { tool_input: {} } })).toBe(false);
  });
});

describe.each(Object.values(HookEventName))('the schema of the input of %s', (event) => {
  const validate = compile(`${event}.stdin.json`);
  const input: HookInput & Record<string, unknown> = {
    ...toHookInput(event, samplePayloads[event], new Config()),
  };

  it('takes what hooks read, and lets other fields through', () => {
    validate({ ...input, more: 1 });
    expect(validate.errors).toBeNull();
  });

  it.each(Object.keys(input))('insists on %s, and on its type', (field) => {
    const { [field]: _left, ...others } = input;
    expect(validate(others)).toBe(false);
    expect(validate({ ...input, [field]: 0 })).toBe(false);
  });

  it('agrees with the check of fields from outside, except for the data of the model', () => {
    const specific = Object.keys(events[event].fields).filter((field) => !field.startsWith('llm_'));
    for (const field of specific) {
      for (const value of ['text', 5, null, [], {}, true, 'startup', 'exit', 'auto', 'Idle']) {
        const changed = { ...input, [field]: value };
        const isLikeTheSdk = !Object.keys(changed).some((key) => key.startsWith('llm_'));
        if (isLikeTheSdk) expect(validate(changed)).toBe(events[event].check.is(changed));
      }
    }
  });

  it('describes every field', () => {
    const { properties } = validate.schema as { properties: Record<string, unknown> };
    for (const property of Object.values(properties)) {
      expect(isRecord(property) && property['description']).toEqual(expect.any(String));
    }
  });
});
