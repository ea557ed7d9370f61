import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { hook, saying } from '../helpers/hooks.js';
import { answer, Cli, group, toolCall } from './helpers.js';

const cli = new Cli();
const running: ReturnType<Cli['start']>[] = [];

afterEach(async () => {
  for (const each of running.splice(0)) {
    each.kill('SIGKILL');
    await each;
  }
});

const writeA = toolCall('write_file', { file_path: 'a', content: '' });
const writeB = toolCall('write_file', { file_path: 'b', content: '' });

const denies = (reason: string) => ({
  BeforeTool: [{ hooks: [saying({ decision: 'block', reason })] }],
});

const folder = () => path.join(cli.home, '.llxprt', 'long-texts');

const SOON = { timeout: 10_000 };

describe('a changed settings file', () => {
  it('counts in a run at the next event', async () => {
    const file = path.join(cli.home, '.llxprt', 'settings.json');
    const guard = JSON.stringify({
      enableHooks: true,
      hooks: { BeforeTool: group('echo "not any more" >&2; exit 2') },
    });
    await cli.userSettings({
      AfterTool: [{ hooks: [hook(`cat > ${file} <<'END'\n${guard}\nEND`)] }],
    });
    const responses = await cli.record(answer(writeA), answer(writeB), answer('Done.'));
    const { exitCode, stderr } = await cli.run(['run', 'Go', '--responses', responses]);
    expect(exitCode).toBe(0);
    expect(stderr).toContain('not any more');
    expect(existsSync(path.join(cli.project, 'a'))).toBe(true);
    expect(existsSync(path.join(cli.project, 'b'))).toBe(false);
  });

  it.each([
    ['is removed', 'rm', 'is gone'],
    ['mistypes it', `sed -i 's/"onFailure"/"onFaliure"/'`, 'would be lost'],
    ['is broken', `sed -i '1s/^/x/'`, 'not valid JSON'],
  ])('leaves a guard in force in a run where it %s', async (_, change, told) => {
    const file = path.join(cli.home, '.llxprt', 'settings.json');
    const guard = hook('! grep -q \'"file_path":"b"\' || { echo "not b" >&2; exit 2; }', {
      name: 'not-b',
      onFailure: 'deny',
    });
    await cli.userSettings({
      BeforeTool: [{ hooks: [guard] }],
      AfterTool: [{ hooks: [hook(`${change} ${file}`)] }],
    });
    const responses = await cli.record(answer(writeA), answer(writeB), answer('Done.'));
    const { stderr } = await cli.run(['run', 'Go', '--responses', responses]);
    expect(stderr).toContain(told);
    expect(stderr).toContain('what it said before stays in force');
    expect(existsSync(path.join(cli.project, 'a'))).toBe(true);
    expect(existsSync(path.join(cli.project, 'b'))).toBe(false);
  });

  it.each([
    ['is named in the directory of the run', ['--settings', 'hooks.json'], 'hooks.json'],
    ['is trusted', ['--trust'], '.llxprt/settings.json'],
  ])('does not count in a run that it could have been written by: %s', async (_, args, file) => {
    const noB = hook('! grep -q \'"file_path":"b"\' || { echo "not b" >&2; exit 2; }', {
      name: 'not-b',
      onFailure: 'deny',
    });
    const guard = { enableHooks: true, hooks: { BeforeTool: [{ hooks: [noB] }] } };
    await cli.write(path.join(cli.project, file), guard);
    const started = path.join(cli.home, 'started');
    const evil = { enableHooks: true, hooks: { AfterTool: group(`touch ${started}`) } };
    const content = JSON.stringify(evil);
    const rewrite = toolCall('write_file', { file_path: file, content });
    const responses = await cli.record(answer(rewrite), answer(writeB), answer('Done.'));
    await cli.run(['run', ...args, 'Go', '--responses', responses]);
    expect(readFileSync(path.join(cli.project, file), 'utf8')).toBe(content);
    expect(existsSync(path.join(cli.project, 'b'))).toBe(false);
    expect(existsSync(started)).toBe(false);
  });

  it('counts in a server, unless not all of its hooks would run', async () => {
    const settings = await cli.settings(denies('one'));
    const server = cli.start(['serve', '--settings', settings, '--listen', '127.0.0.1:0']);
    running.push(server);
    const [line] = (await once(server.stdout!, 'data')) as [Buffer];
    const url = /http:\S+/u.exec(line.toString())?.[0] ?? '';
    let told = '';
    server.stderr?.on('data', (chunk: Buffer) => (told += chunk.toString()));
    const ask = async () => {
      const headers = { 'Content-Type': 'application/json' };
      const body = JSON.stringify({ tool_name: 'x', tool_input: {} });
      const response = await fetch(`${url}/v1/events/BeforeTool`, {
        method: 'POST',
        headers,
        body,
      });
      return ((await response.json()) as { readonly reason?: string }).reason;
    };
    expect(await ask()).toBe('one');
    await cli.settings(denies('two'));
    await expect.poll(ask, SOON).toBe('two');
    await cli.settings({
      BeforeTool: [{ hooks: [{ ...hook('true'), timeout: 'soon' } as never] }],
    });
    await expect.poll(() => told, SOON).toMatch(/named\.json:1:\d+: .*timeout/u);
    expect(await ask()).toBe('two');
    await cli.settings({});
    await expect.poll(() => told, SOON).toMatch(/no hook of it would run/u);
    expect(await ask()).toBe('two');
    await cli.settings(denies('three'));
    await expect.poll(ask, SOON).toBe('three');
  });
});

describe('a long text of a hook', () => {
  const long = `begin ${'x'.repeat(30_000)} end`;
  const adding = (event: string) => ({
    [event]: [{ hooks: [saying({ hookSpecificOutput: { additionalContext: long } })] }],
  });

  it('is read by the model of a run in a file, which goes with the run', async () => {
    await cli.userSettings(adding('BeforeAgent'));
    const responses = await cli.record(answer('Done.'));
    const args = ['run', 'Go', '--responses', responses, '--output-format', 'json'];
    const { stdout } = await cli.run(args);
    expect(stdout).toMatch(/28010 more characters; the whole text is in the file [^\]]+\.txt\]/u);
    expect(readdirSync(folder())).toEqual([]);
  });

  it('is there for another agent until its session ends', async () => {
    await cli.userSettings({ ...adding('BeforeAgent'), SessionEnd: group('true') });
    const event = {
      session_id: 's',
      cwd: cli.project,
      hook_event_name: 'UserPromptSubmit',
      prompt: 'Go',
    };
    const { stdout } = await cli.runProgram(['hook', '--from', 'claude'], {
      input: JSON.stringify(event),
    });
    const [, file = ''] = /in the file ([^\]]+\.txt)\]/u.exec(stdout) ?? [];
    expect(readFileSync(file, 'utf8')).toBe(long);
    const end = { ...event, hook_event_name: 'SessionEnd', reason: 'other' };
    await cli.runProgram(['hook', '--from', 'claude'], { input: JSON.stringify(end) });
    expect(existsSync(file)).toBe(false);
  });
});
