import { mkdir, readFile, symlink } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import type { CommandHookConfig } from '../src/protocol/types.js';
import { answer, Cli, group, toolCall } from './cli/helpers.js';

const ROOT = path.resolve(import.meta.dirname, '..');
const cli = new Cli();

/** Writes a hook in JavaScript that has `hookstack` installed; returns its command. */
async function writeHook(source: string): Promise<string> {
  await mkdir(path.join(cli.project, 'node_modules'), { recursive: true });
  await symlink(ROOT, path.join(cli.project, 'node_modules/hookstack')).catch(() => undefined);
  const importing = "import { Block, defineHook } from 'hookstack/author';";
  await cli.write('hook.mjs', `${importing}\nvoid Block;\n${source}\n`);
  return `node "$LLXPRT_PROJECT_DIR/hook.mjs"`;
}

interface Fired {
  readonly blocked: boolean;
  readonly reason: string | null;
  readonly hookSpecificOutput: unknown;
  readonly results: { exitCode: number; stdout: string; stderr: string; why: string | null }[];
}

async function fire(source: string, event = 'BeforeTool', hook: Partial<CommandHookConfig> = {}) {
  const command = await writeHook(source);
  const settings = await cli.settings({ [event]: group(command, hook) });
  const { stdout } = await cli.run(['fire', event, '--json', '--settings', settings]);
  const report = JSON.parse(stdout) as Fired;
  return { ...report, result: report.results[0] };
}

describe('a hook made with defineHook', () => {
  it('blocks with what it returns', async () => {
    const { blocked, reason, result } = await fire(
      "defineHook('BeforeTool', (input) => ({ decision: 'deny', reason: `no ${input.tool_name}` }));",
    );
    expect({ blocked, reason }).toEqual({ blocked: true, reason: 'no write_file' });
    expect(result).toMatchObject({ exitCode: 0, stderr: '' });
  });

  it('blocks with a Block thrown from anywhere', async () => {
    const { blocked, reason, result } = await fire(
      "defineHook('BeforeTool', async () => { await null; throw new Block('not today'); });",
    );
    expect({ blocked, reason }).toEqual({ blocked: true, reason: 'not today' });
    expect(result?.exitCode).toBe(0);
  });

  it('lets go on when it returns nothing', async () => {
    const { blocked, result } = await fire("await defineHook('BeforeTool', async () => {});");
    expect(blocked).toBe(false);
    expect(result).toMatchObject({ exitCode: 0, stdout: '', stderr: '' });
  });

  it('keeps its answer whole, whatever it logs', async () => {
    const { hookSpecificOutput, result } = await fire(
      "defineHook('AfterTool', () => { console.log('seen'); console.info('so'); return { hookSpecificOutput: { additionalContext: 'x'.repeat(9000) } }; });",
      'AfterTool',
    );
    expect(hookSpecificOutput).toEqual({ additionalContext: 'x'.repeat(9000) });
    expect(result?.stderr).toBe('seen\nso\n');
  });

  it('ends once it has answered, whatever still runs', async () => {
    const { blocked, result } = await fire(
      "setInterval(() => {}, 1000); defineHook('BeforeTool', () => ({ decision: 'block', reason: 'x' }));",
    );
    expect(blocked).toBe(true);
    expect(result?.exitCode).toBe(0);
  });

  it.each([
    ['an error', "defineHook('BeforeTool', () => { throw new Error('no rules'); });", 'no rules'],
    ['an answer that is no JSON', "defineHook('BeforeTool', () => ({ reason: 1n }));", 'BigInt'],
    [
      'a text in place of an answer',
      "defineHook('BeforeTool', () => 'blocked');",
      "The hook returned a string, which says nothing: return an object, such as { decision: 'block'",
    ],
    ['a list', "defineHook('BeforeTool', () => []);", 'The hook returned an array'],
    [
      'a text that is thrown',
      "defineHook('BeforeTool', () => { throw 'no'; });",
      'threw no, which',
    ],
    [
      'a promise that never settles',
      "defineHook('BeforeTool', () => new Promise(() => {}));",
      'The hook never answered',
    ],
    [
      'another event',
      "defineHook('AfterTool', () => ({}));",
      'This hook is for AfterTool and was started for "BeforeTool"',
    ],
  ])('fails with %s, and a guard that fails blocks', async (_, source, message) => {
    const { blocked, result } = await fire(source, 'BeforeTool', { onFailure: 'deny' });
    expect(result?.exitCode).toBe(1);
    expect(result?.stderr).toContain(message);
    expect(blocked).toBe(true);
  });

  it('says where it threw', async () => {
    const { result } = await fire(
      "async function look() { await null; throw new TypeError('no rules'); }\ndefineHook('BeforeTool', async () => {\n  await look();\n});",
    );
    expect(result?.why).toBe(`TypeError: no rules (${cli.project}/hook.mjs:3)`);
    expect(result?.stderr).not.toContain('node:');
  });

  it('says that it waits for stdin where that is a terminal', async () => {
    await writeHook("defineHook('BeforeTool', () => ({}));");
    const pty = "import pty, sys; sys.exit(pty.spawn(['node', 'hook.mjs']) >> 8)";
    const { stdout, exitCode } = await execa('python3', ['-c', pty], {
      cwd: cli.project,
      // Ctrl+D
      input: '\u0004',
      reject: false,
      timeout: 20_000,
    });
    expect(stdout).toContain('This hook waits for an event on stdin');
    expect(stdout).toContain('hookstack fire BeforeTool');
    expect(exitCode).toBe(1);
  });

  it.each([
    ['nothing', '', 'Try this hook with: hookstack fire BeforeTool'],
    ['no JSON', '{"hook', 'stdin is not JSON'],
    ['null', 'null', 'was started for undefined'],
  ])('says what is wrong when it reads %s', async (_, input, message) => {
    await writeHook("defineHook('BeforeTool', () => ({}));");
    const result = await execa('node', ['hook.mjs'], { cwd: cli.project, input, reject: false });
    expect(result.exitCode).toBe(1);
    expect(result.stderr).toContain(message);
  });

  it.each([
    ['its answer', "return { systemMessage: 'x'.repeat(1_000_000) };", '> >(exec 0<&-)'],
    [
      'what it logs',
      "await new Promise((done) => process.stderr.write('x'.repeat(1_000_000), () => setImmediate(done)));",
      '2> >(exec 0<&-)',
    ],
  ])('does not fail when nobody reads %s', async (_, body, redirection) => {
    await writeHook(`defineHook('BeforeTool', async () => { ${body} });`);
    const { exitCode } = await execa('bash', ['-c', `node hook.mjs ${redirection}`], {
      cwd: cli.project,
      input: JSON.stringify({ hook_event_name: 'BeforeTool' }),
      reject: false,
      timeout: 20_000,
    });
    expect(exitCode).toBe(0);
  });

  it('changes what a tool is given, in a run of the agent', async () => {
    const command = await writeHook(
      "defineHook('BeforeTool', (input) => ({ hookSpecificOutput: { tool_input: { file_path: `drafts/${input.tool_input.file_path}` } } }));",
    );
    const settings = await cli.settings({ BeforeTool: group(command) });
    const calls = await cli.record(
      answer(toolCall('write_file', { file_path: 'a.txt', content: 'A' })),
      answer('Done.'),
    );
    const { exitCode } = await cli.run(['run', 'x', '--responses', calls, '--settings', settings]);
    expect(exitCode).toBe(0);
    expect(await cli.read('drafts/a.txt')).toBe('A');
  });
});

async function importsOf(file: string): Promise<string[]> {
  const bundle = await readFile(path.join(ROOT, 'dist', file), 'utf8');
  const found = bundle.matchAll(/\bfrom\s*["'`]([^"'`]+)|\bimport\s*\(?\s*["'`]([^"'`]+)/gu);
  return Array.from(found, ([, from, dynamic]) => from ?? dynamic ?? '').filter(
    (module) => !module.startsWith('node:'),
  );
}

it('the bundle for authors imports nothing but modules of Node, and for a process that stays one file', async () => {
  expect(await importsOf('author.js')).toEqual(['./chunks/answerEvents.js']);
  expect(await importsOf('chunks/answerEvents.js')).toEqual([]);
});
