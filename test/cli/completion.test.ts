import { existsSync } from 'node:fs';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { Cli } from './helpers.js';

const cli = new Cli();

const commands =
  'init run fire test explain doctor validate list enable disable stack trace trust untrust mcp migrate install hook resident serve collect completion help';

async function scriptFor(shell: string): Promise<string> {
  const { exitCode, stdout, stderr } = await cli.run(['completion', shell]);
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return stdout;
}

/** What bash offers for a line, whose last word is the one to complete. */
async function complete(...words: string[]): Promise<string[]> {
  const file = await cli.write('completion.bash', await scriptFor('bash'));
  const ask = `source "$1"; shift
    function="$(complete -p hookstack)"; [[ $function =~ -F.([a-z_]+) ]]
    COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); "\${BASH_REMATCH[1]}"
    printf '%s\\n' "\${COMPREPLY[@]}"`;
  const args = ['--norc', '-uc', ask, 'bash', file, 'hookstack', ...words];
  const { stdout } = await execa('bash', args);
  return stdout.split('\n').filter((line) => line !== '');
}

describe('completion in bash', () => {
  it('offers the commands', async () => {
    expect((await complete('')).toSorted()).toEqual(commands.split(' ').toSorted());
    expect(await complete('en')).toEqual(['enable']);
    expect(await complete('--v')).toEqual(['--version']);
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

describe.each(['zsh', 'fish'])('completion in %s', (shell) => {
  it('names every command and its options, with what they do', async () => {
    const script = await scriptFor(shell);
    for (const command of commands.split(' ')) expect(script).toContain(command);
    expect(script).toMatch(/bash node python/u);
    expect(script).toMatch(/max-warnings/u);
    expect(script).toContain('Print a script that completes commands');
    expect(script).toMatch(/^[\P{Cc}\n]+$/u);
  });

  it.skipIf(!existsSync(`/usr/bin/${shell}`))('is a script of it', async () => {
    const file = await cli.write(`completion.${shell}`, await scriptFor(shell));
    expect(await execa(shell, ['-n', file])).toMatchObject({ exitCode: 0, stderr: '' });
  });
});

it('names the nearest shell for one that there is not', async () => {
  expect(await cli.run(['completion', 'bsh'])).toMatchObject({
    exitCode: 2,
    stderr: `error: There is no completion for "bsh"; did you mean 'bash'?`,
  });
});
