import { execFile } from 'node:child_process';
import { chmod, mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { fileURLToPath } from 'node:url';
import { describe, expect, it } from 'vitest';
import { useTempDir } from '../helpers/tempDir.js';

const temp = useTempDir();
const SCRIPTS = fileURLToPath(new URL('../../src/cli/add/scripts/', import.meta.url));

/** What a script answers to an event. */
async function run(script: string, event: object, env: NodeJS.ProcessEnv = {}) {
  const running = promisify(execFile)(process.execPath, [join(SCRIPTS, script)], {
    cwd: temp.path,
    env: { HOME: temp.path, LLXPRT_PROJECT_DIR: temp.path, PATH: process.env['PATH'], ...env },
  });
  running.child.stdin?.end(JSON.stringify({ session_id: 's', cwd: temp.path, ...event }));
  const { stdout } = await running;
  return stdout === '' ? {} : (JSON.parse(stdout) as unknown);
}

/** An answer of the model that took so many tokens. */
function answer(totalTokenCount: number) {
  return {
    hook_event_name: 'AfterModel',
    llm_response: { usageMetadata: { totalTokenCount } },
  };
}

describe('budget', () => {
  const call = { hook_event_name: 'BeforeTool', tool_name: 'read_file', tool_input: {} };

  it('stops a session at the first call that is too many, and no other session', async () => {
    const env = { HOOK_BUDGET_CALLS: '2' };
    expect(await run('budget.mjs', call, env)).toEqual({});
    expect(await run('budget.mjs', call, env)).toEqual({});
    expect(await run('budget.mjs', call, env)).toEqual({
      continue: false,
      stopReason: expect.stringContaining('3 calls of 2') as unknown,
    });
    expect(await run('budget.mjs', { ...call, session_id: 'other' }, env)).toEqual({});
  });

  it('counts calls that are made at the same time', async () => {
    const env = { HOOK_BUDGET_CALLS: '8' };
    await Promise.all(Array.from({ length: 8 }, () => run('budget.mjs', call, env)));
    expect(await run('budget.mjs', call, env)).toMatchObject({ continue: false });
  });

  it('adds up the tokens of answers, and asks before each call of the model', async () => {
    const env = { HOOK_BUDGET_TOKENS: '100' };
    expect(await run('budget.mjs', answer(60), env)).toEqual({});
    expect(await run('budget.mjs', { hook_event_name: 'BeforeModel' }, env)).toEqual({});
    expect(await run('budget.mjs', answer(60), env)).toMatchObject({
      stopReason: expect.stringContaining('120 tokens of 100') as unknown,
    });
    const before = await run('budget.mjs', { hook_event_name: 'BeforeModel' }, env);
    expect(before).toMatchObject({ continue: false });
  });

  it('stops a session that has taken too long', async () => {
    const env = { HOOK_BUDGET_SECONDS: '-1' };
    expect(await run('budget.mjs', call, env)).toMatchObject({
      stopReason: expect.stringContaining('seconds of -1') as unknown,
    });
  });

  it('fails, so that the call is denied, where a limit is no number', async () => {
    await expect(run('budget.mjs', call, { HOOK_BUDGET_CALLS: 'many' })).rejects.toThrow(
      'HOOK_BUDGET_CALLS is no number: many',
    );
  });

  it('keeps what it counts where nobody else can read it', async () => {
    await run('budget.mjs', { ...call, session_id: '../../../x' });
    const folder = await stat(join(temp.path, '.llxprt/budget'));
    expect(folder.mode & 0o777).toBe(0o700);
  });
});

describe('audit-log', () => {
  it('appends a line for each call, in which long texts are cut', async () => {
    const call = { tool_name: 'write_file', timestamp: '2026-01-01T00:00:00.000Z' };
    await run('audit-log.mjs', {
      ...call,
      tool_input: { file_path: 'a', content: 'x'.repeat(9000) },
    });
    await run('audit-log.mjs', { ...call, tool_input: { file_path: 'b\nc' } });
    const log = join(temp.path, '.llxprt/audit.jsonl');
    const entries = (await readFile(log, 'utf8')).trim().split('\n');
    expect(entries.map((line) => JSON.parse(line) as unknown)).toEqual([
      {
        time: '2026-01-01T00:00:00.000Z',
        session: 's',
        cwd: temp.path,
        tool: 'write_file',
        input: { file_path: 'a', content: `${'x'.repeat(500)}… (9000 characters)` },
      },
      expect.objectContaining({ input: { file_path: 'b\nc' } }) as unknown,
    ]);
    expect((await stat(log)).mode & 0o777).toBe(0o600);
  });
});

/** Stands for a formatter: makes all letters small. */
async function install(program: string, script = 'tr A-Z a-z < "$f" > "$f.new"; mv "$f.new" "$f"') {
  const file = join(temp.path, 'node_modules/.bin', program);
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, `#!/bin/sh\nfor f; do :; done\n${script}\n`);
  await chmod(file, 0o755);
}

async function edit(file: string, content = 'A') {
  const path = join(temp.path, file);
  await mkdir(dirname(path), { recursive: true });
  await writeFile(path, content);
  const said = await run('format-after-edit.mjs', { tool_input: { file_path: file } });
  return [await readFile(path, 'utf8'), said];
}

describe('format-after-edit', () => {
  it.each([
    ['src/a.ts', 'prettier'],
    ['a.json', 'prettier'],
    ['docs/a.md', 'prettier'],
    ['-a.yml', 'prettier'],
    ['a b.py', 'ruff'],
    ['a.go', 'gofmt'],
    ['src/a.rs', 'rustfmt'],
  ])('formats %s by %s, and tells the model', async (file, program) => {
    await install(program);
    expect(await edit(file)).toEqual([
      'a',
      {
        hookSpecificOutput: {
          additionalContext: `${program} has formatted ${file}: read it again before you replace text in it.`,
        },
      },
    ]);
  });

  it('says nothing where nothing changes, no formatter is there, or none knows the file', async () => {
    expect(await edit('a.zig')).toEqual(['A', {}]);
    await install('prettier');
    expect(await edit('a.ts', 'a')).toEqual(['a', {}]);
    expect(await edit('a.txt')).toEqual(['A', {}]);
    expect(await run('format-after-edit.mjs', { tool_input: { file_path: 'no.ts' } })).toEqual({});
    expect(await run('format-after-edit.mjs', { tool_input: {} })).toEqual({});
  });

  it('leaves files outside of the project', async () => {
    await install('prettier');
    const outside = join(temp.path, 'a.ts');
    await writeFile(outside, 'A');
    const LLXPRT_PROJECT_DIR = join(temp.path, 'node_modules');
    const event = { tool_input: { file_path: outside } };
    expect(await run('format-after-edit.mjs', event, { LLXPRT_PROJECT_DIR })).toEqual({});
    expect(await readFile(outside, 'utf8')).toBe('A');
  });

  it('tells the model why a file could not be formatted', async () => {
    await install('prettier', 'echo "a.ts: unexpected token" >&2; exit 2');
    expect(await edit('a.ts')).toEqual([
      'A',
      {
        hookSpecificOutput: {
          additionalContext: 'prettier could not format a.ts: a.ts: unexpected token',
        },
      },
    ]);
  });
});
