import { chmod } from 'node:fs/promises';
import path from 'node:path';
import { PassThrough } from 'node:stream';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { Cli, group } from './helpers.js';

const cli = new Cli();

interface Report {
  readonly files: string[];
  readonly errors: number;
  readonly warnings: number;
  readonly findings: { file: string; line: number; severity: string; rule: string }[];
}

async function validateJson(...args: string[]) {
  const { exitCode, stdout, stderr } = await cli.run(['validate', '--json', ...args]);
  expect(stderr).toBe('');
  return { exitCode, ...(JSON.parse(stdout) as Report) };
}

describe('validate', () => {
  it('says that there is nothing to check', async () => {
    const { exitCode, stdout, stderr } = await cli.run(['validate']);
    expect({ exitCode, stdout, stderr }).toEqual({
      exitCode: 0,
      stdout: 'There are no settings files: nothing to check',
      stderr: '',
    });
  });

  it('names the file that switches hooks off, and not one that switches them on', async () => {
    await cli.write(`${cli.home}/.llxprt/settings.json`, { enableHooks: false });
    await cli.projectSettings({ BeforeTool: group('true') });
    const { findings } = await validateJson();
    const off = findings.filter(({ rule }) => rule === 'hooks-off');
    expect(off).toMatchObject([{ file: expect.stringContaining('home/.llxprt/settings.json') }]);
  });

  it('tells file, line, column, what is wrong, and the rule', async () => {
    await cli.write(
      '.llxprt/settings.json',
      '{\n  "enableHooks": true,\n  "hooks": {\n    "BeforTool": []\n  }\n}\n',
    );
    const { exitCode, stdout } = await cli.run(['validate']);
    expect(stdout.split('\n')).toEqual([
      expect.stringMatching(
        /^\.llxprt\/settings\.json:4:5: error: hooks\.BeforTool: .*did you mean 'BeforeTool'\? \[unknown-event\]$/u,
      ),
      expect.stringMatching(/^\.llxprt\/settings\.json:4:5: warning: .* \[empty-hooks\]$/u),
      '1 file: 1 error, 1 warning',
    ]);
    expect(exitCode).toBe(1);
  });

  it('exits with 1 for a hook that is left out, which the other commands tell as an error', async () => {
    const condition = { if: 'Bash(git *)' };
    await cli.userSettings({ BeforeTool: group('cat', { onFailure: 'deny', ...condition }) });
    expect(await validateJson()).toMatchObject({
      exitCode: 1,
      findings: [{ rule: 'unsupported', severity: 'error' }],
    });
    const { stderr } = await cli.run(['list']);
    expect(stderr).toMatch(/^error: .*settings\.json:1:\d+: .*\.if: the hook is left out/);
  });

  it('exits with 0 for warnings, and for nothing', async () => {
    await cli.userSettings({ BeforeTool: group('cat', { timeout: 5 }) });
    expect(await validateJson()).toMatchObject({
      exitCode: 0,
      errors: 0,
      warnings: 1,
      findings: [{ rule: 'unlikely-value', severity: 'warning' }],
    });
    await cli.userSettings({ BeforeTool: group('cat') });
    expect(await validateJson()).toMatchObject({ exitCode: 0, findings: [] });
  });

  it('looks at the settings of project and user together', async () => {
    const project = await cli.projectSettings({ BeforeTool: group('cat', { name: 'guard' }) });
    const user = await cli.userSettings({ AfterTool: group('true', { name: 'guard' }) });
    const { files, findings } = await validateJson();
    expect(files).toEqual([project, user]);
    expect(findings).toMatchObject([{ file: user, rule: 'duplicate-name' }]);
  });

  it('tells which keys of a project have no effect until they are allowed', async () => {
    await cli.projectSettings({ BeforeTool: group('cat') }, { disabledHooks: ['other'] });
    const { findings } = await validateJson();
    expect(findings).toMatchObject([{ rule: 'untrusted' }]);
    expect((await validateJson('--trust')).findings).toEqual([]);
    await cli.run(['trust', '--yes']);
    expect((await validateJson()).findings).toEqual([]);
  });

  it('checks the files that are named, each in the project where it stands', async () => {
    await cli.write('other/hooks/guard.sh', '#!/bin/sh\n');
    await chmod(path.join(cli.project, 'other/hooks/guard.sh'), 0o755);
    const settings = { enableHooks: true, hooks: { BeforeTool: group('./hooks/guard.sh') } };
    await cli.write('other/.llxprt/settings.json', settings);
    await cli.write('lone.json', settings);
    expect((await validateJson('other/.llxprt/settings.json')).findings).toEqual([]);
    expect((await validateJson('lone.json')).findings).toMatchObject([{ rule: 'script-missing' }]);
    expect((await validateJson('lone.json', '--cwd', 'other')).findings).toEqual([]);
  });

  it('checks the hooks of extensions, and the manifests', async () => {
    const folder = path.join(cli.home, '.llxprt/extensions/policy');
    await cli.userSettings({});
    const manifest = await cli.write(`${folder}/llxprt-extension.json`, {
      name: 'policy',
      hooks: { BeforeTool: group('node "${extensionPath}${/}guard.mjs"') },
    });
    expect((await validateJson()).findings).toMatchObject([
      { file: manifest, rule: 'script-missing' },
    ]);
    await cli.write(`${folder}/guard.mjs`, '');
    expect((await validateJson()).findings).toEqual([]);

    const packed = await cli.write(`${folder}/hooks/hooks.json`, {
      hooks: { BeforeTool: group('no-such-guard') },
    });
    expect((await validateJson()).findings).toMatchObject([
      { file: packed, rule: 'command-not-found' },
    ]);
    await cli.write(manifest, '{');
    expect(await validateJson()).toMatchObject({
      exitCode: 1,
      findings: [{ file: manifest, rule: 'file' }],
    });
  });

  it('reports a file that others may write', async () => {
    const file = await cli.settings({ BeforeTool: group('cat') });
    await chmod(file, 0o666);
    expect(await validateJson(file)).toMatchObject({
      exitCode: 1,
      findings: [{ line: 1, rule: 'file', severity: 'error' }],
    });
  });

  it('refuses a file that is not there, as wrong usage', async () => {
    const { exitCode, stdout, stderr } = await cli.run(['validate', 'missing.json']);
    expect({ exitCode, stdout }).toEqual({ exitCode: 2, stdout: '' });
    expect(stderr).toContain('There is no file missing.json');
  });

  it('starts nothing, and lets no control character of a file through', async () => {
    const command = 'touch started; \u001b]0;x\u0007no-such-program';
    await cli.userSettings({
      BeforeTool: group(command, { name: '\u009bx', matcher: '\u001b[2Jx' }),
    });
    const { stdout } = await cli.run(['validate']);
    expect(stdout).toMatch(/^[\P{Cc}\n]+$/u);
    await expect(cli.read('started')).rejects.toThrow('ENOENT');
  });

  it('never waits for what a pipe would say', async () => {
    const pipe = path.join(cli.project, 'pipe');
    await execa('mkfifo', [pipe]);
    const input = new PassThrough();
    await cli.userSettings({
      BeforeTool: [...group(pipe), ...group(`node ${pipe}`), ...group('sh /dev/stdin')],
    });
    const { exitCode } = await cli.runProgram(['validate'], { input, timeout: 10_000 });
    input.end();
    expect(exitCode).toBe(1);
  });

  it('names the dialect of tools that another agent has', async () => {
    await cli.userSettings({ BeforeTool: group('cat', { matcher: 'Write|Edit' }) });
    const { stdout } = await cli.run(['validate']);
    expect(stdout).toContain('Write is a tool of Claude Code: set "dialect": "claude"');
  });

  it('never hangs over a matcher', async () => {
    const hard = Array.from({ length: 3 }, (_, index) =>
      group('cat', { matcher: `^((a|b|ab${index})*(\\\\w+)*)+(x{1,900}){1,900}$` }),
    ).flat();
    await cli.userSettings({ BeforeTool: hard });
    const { exitCode } = await cli.runProgram(['validate'], { timeout: 25_000 });
    expect(exitCode).toBeDefined();
  });
});
