import { existsSync } from 'node:fs';
import { chmod } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { Cli, group, MAIN } from './helpers.js';

const cli = new Cli();

const commands =
  'add init run fire test explain doctor validate list enable disable stack trace trust untrust mcp migrate install hook resident serve collect completion';

async function scriptFor(shell: string): Promise<string> {
  const { exitCode, stdout, stderr } = await cli.run(['completion', shell]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return stdout;
}

/** The environment of a shell that finds the program by its name. */
async function withProgram(): Promise<NodeJS.ProcessEnv> {
  const program = await cli.write(
    'bin/hookstack',
    `#!/bin/sh\nexec "${process.execPath}" "${MAIN}" "$@"`,
  );
  await chmod(program, 0o755);
  return { ...cli.env, PATH: `${dirname(program)}:${cli.env['PATH']}` };
}

/** What bash offers for a line, whose last word is the one to complete. */
async function complete(...words: string[]): Promise<string[]> {
  const file = await cli.write('completion.bash', await scriptFor('bash'));
  const ask = `source "$1"; shift
    function="$(complete -p hookstack)"; [[ $function =~ -F.([a-z_]+) ]]
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); "\${BASH_REMATCH[1]}"
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const args = ['--norc', '-c', ask, 'bash', file, 'hookstack', ...words];
  const env = await withProgram();
  const { stdout } = await execa('bash', args, { cwd: cli.project, env, extendEnv: false });
  return stdout.split('\n').filter((line) => line !== '');
}

describe('completion in bash', () => {
  it('offers the commands', async () => {
    expect((await complete('')).toSorted()).toEqual(commands.split(' ').toSorted());
    expect(await complete('en')).toEqual(['enable']);
    expect(await complete('--v')).toEqual(['--version']);
  });

  it("offers nothing for another program's words", async () => {
    expect(await complete('mcp', '--name', 'a', '--', '')).toEqual([]);
    expect(await complete('mcp', 'i')).toEqual(['install']);
  });

  it('offers the options of a command, and no others', async () => {
    expect(await complete('validate', '--f')).toEqual(['--format']);
    expect(await complete('list', '--f')).toEqual([]);
    expect(await complete('test', '-')).toEqual(
      expect.arrayContaining(['-u', '--update', '--watch']),
    );
  });

  it('offers the values of an option and of an argument', async () => {
    expect(await complete('init', '--language', '')).toEqual([
      'bash',
      'node',
      'python',
      'typescript',
    ]);
    expect(await complete('init', '--language', '=', 'p')).toEqual(['python']);
    expect(await complete('init', '--language', '=')).toEqual([
      'bash',
      'node',
      'python',
      'typescript',
    ]);
    expect(await complete('fire', 'BeforeT')).toEqual(['BeforeTool', 'BeforeToolSelection']);
    expect(await complete('stack', 'm')).toEqual(['model']);
  });

  it('leaves names of files to bash', async () => {
    expect(await complete('validate', '')).toEqual([]);
    expect(await complete('list', '--settings', 's')).toEqual([]);
    expect(await scriptFor('bash')).toContain('complete -o default -F ');
  });
});

it('offers the names of hooks where a command is about one', async () => {
  await cli.userSettings({
    BeforeTool: [
      ...group('exit 0', { name: 'protect-env' }),
      ...group('exit 1', { name: 'a hook' }),
    ],
  });
  expect(await complete('disable', '')).toEqual(['protect-env', "'a hook'"]);
  expect(await complete('enable', 'pro')).toEqual(['protect-env']);
  await cli.write(join(cli.home, '.llxprt/settings.json'), 'no JSON');
  expect(await cli.run(['completion', 'bash', '--', 'disable', ''])).toEqual({
    exitCode: 1,
    stdout: '',
    stderr: '',
  });
});

it('says what a word means where the shell shows it', async () => {
  const offered = (shell: string) => cli.run(['completion', shell, '--', 'validate', '--max']);
  const what = 'exit with 1 where there are more warnings than this';
  expect(await offered('zsh')).toMatchObject({ stdout: `--max-warnings:${what}` });
  expect(await offered('fish')).toMatchObject({ stdout: `--max-warnings\t${what}` });
  expect(await cli.run(['completion', 'fish', '--', 'init', '--language=p'])).toMatchObject({
    stdout: '--language=python',
  });
});

const FISH = '/usr/bin/fish';

it.skipIf(!existsSync(FISH))('completes in fish', async () => {
  const file = await cli.write('completion.fish', await scriptFor('fish'));
  const ask = `source ${file}; complete -C 'hookstack disab'; complete -C 'hookstack validate bi'`;
  const env = await withProgram();
  const { stdout } = await execa(FISH, ['-c', ask], { cwd: cli.project, env, extendEnv: false });
  expect(stdout).toMatch(/^disable\tAdd a hook, .*\nbin\//u);
});

it.skipIf(!existsSync('/usr/bin/zsh'))('has a script of zsh', async () => {
  const file = await cli.write('completion.zsh', await scriptFor('zsh'));
  expect(await execa('zsh', ['-n', file])).toMatchObject({ exitCode: 0, stderr: '' });
});

it('names the nearest shell for one that there is not', async () => {
  expect(await cli.run(['completion', 'bsh'])).toMatchObject({
    exitCode: 2,
    stderr: `error: There is no completion for "bsh"; did you mean 'bash'?`,
  });
});
