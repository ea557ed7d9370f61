import { cp, mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { execa } from 'execa';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { MAIN } from '../cli/helpers.js';

const EXAMPLES = path.resolve(import.meta.dirname, '../../examples/extensions');

let temporary: string;

beforeEach(async () => {
  temporary = await realpath(await mkdtemp(path.join(os.tmpdir(), 'hookstack-test-')));
  await mkdir(path.join(temporary, 'project'));
});

afterEach(() => rm(temporary, { recursive: true }));

/** Installs the examples for a user. */
async function install(...names: readonly string[]): Promise<void> {
  for (const name of names) {
    const target = path.join(temporary, '.llxprt/extensions', name);
    await cp(path.join(EXAMPLES, name), target, { recursive: true });
  }
}

function hookstack(...args: readonly string[]) {
  return execa(process.execPath, [MAIN, ...args], {
    cwd: path.join(temporary, 'project'),
    env: { HOME: temporary, PATH: process.env['PATH'] },
    extendEnv: false,
  });
}

async function runAgent(): Promise<{ toolCalls: object[]; stderr: string }> {
  const responses = path.join(EXAMPLES, 'conversation.responses');
  const { stdout, stderr } = await hookstack(
    'run',
    'Clean up.',
    '--responses',
    responses,
    '--output-format',
    'json',
  );
  return { ...(JSON.parse(stdout) as { toolCalls: object[] }), stderr };
}

async function readExpected(): Promise<{ toolCalls: object[]; tokens: object[] }> {
  const text = await readFile(path.join(EXAMPLES, 'expected.json'), 'utf8');
  return JSON.parse(text) as { toolCalls: object[]; tokens: object[] };
}

describe('the example extensions', () => {
  it('block by rule, and count tokens', async () => {
    await install('policy', 'token-counter');
    const { toolCalls, stderr } = await runAgent();
    const expected = await readExpected();
    expect(stderr).toBe('');
    expect(toolCalls).toMatchObject(expected.toolCalls);
    const tokens = await readFile(path.join(temporary, 'project/.llxprt/tokens.jsonl'), 'utf8');
    expect(
      tokens
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as object),
    ).toEqual(expected.tokens);
  });

  it('stand where their manifests say', async () => {
    await install('policy', 'token-counter');
    const { stdout, stderr } = await hookstack('stack');
    expect(stderr).toBe('');
    expect(stdout).toContain('  afterTool\n  policy/rulesOfTheHouse [active]\n  execute');
    expect(stdout).toContain('  afterModel\n  token-counter/countTokens [active]\n  openStream');
  });

  it('let nothing run where the rules cannot be read', async () => {
    await install('policy');
    const file = path.join(temporary, '.llxprt/extensions/policy/llxprt-extension.json');
    const manifest = await readFile(file, 'utf8');
    await writeFile(file, manifest.replace('(^|/)', '((^|/)'));
    const { toolCalls, stderr } = await runAgent();
    expect(stderr).toContain('Invalid regular expression');
    expect(toolCalls).toMatchObject([{ status: 'idle' }, { status: 'idle' }]);
  });

  it('let the agent work where the tokens cannot be written', async () => {
    await install('token-counter');
    await mkdir(path.join(temporary, 'project/.llxprt/tokens.jsonl'), { recursive: true });
    const { toolCalls, stderr } = await runAgent();
    expect(toolCalls).toHaveLength(2);
    expect(stderr).toContain('The tokens of a call are not counted: EISDIR');
  });
});
