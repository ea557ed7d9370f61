import { describe, expect, it } from 'vitest';
import { compileWhen } from '../../src/rules/conditions.js';
import type { Call } from '../../src/rules/types.js';

const PROJECT = '/nowhere/project';
const callOf = (tool: string, input: Call['input']): Call => ({
  tool,
  input,
  cwd: PROJECT,
  project: PROJECT,
});
const shell = (command: string) => callOf('run_shell_command', { command });

const finds = (when: readonly string[], call: Call, isGuard = true) =>
  compileWhen(when).find(call, isGuard);
const covers = (when: readonly string[], call: Call) =>
  compileWhen(when).covers(call) !== undefined;

describe('a finding', () => {
  it('names the pattern and the part that it matched', () => {
    expect(finds(['Bash(npm *)', 'Bash(git push *)'], shell('ls; git push -f origin'))).toEqual({
      pattern: 'Bash(git push *)',
      part: 'git push -f origin',
    });
    expect(finds(['Read(.env)'], callOf('read_file', { file_path: './.env' }))).toEqual({
      pattern: 'Read(.env)',
      part: './.env',
    });
    expect(
      finds(['WebFetch(domain:x.com)'], callOf('web_fetch', { url: 'http://x.com/a' })),
    ).toEqual({ pattern: 'WebFetch(domain:x.com)', part: 'http://x.com/a' });
  });

  it('has no pattern where there are exceptions only', () => {
    expect(finds(['!Bash'], callOf('read_file', {}))).toEqual({});
    expect(finds(['!Bash'], shell('ls'))).toBeUndefined();
    expect(finds(['!Bash(ls *)'], shell('ls -l'))).toBeUndefined();
    expect(finds(['!Bash(ls *)'], shell('ls -l; rm x'))).toEqual({});
    expect(finds(['!Bash(ls *)'], shell('ls $(rm x)'))).toEqual({});
  });

  it('says what cannot be told, to guards alone', () => {
    const found = finds(['Bash(git push *)'], shell('eval "$X"'));
    expect(found?.doubt).toMatch(/^it /);
    expect(finds(['Bash(git push *)'], shell('eval "$X"'), false)).toBeUndefined();
    const guess = finds(['Read(.env)'], callOf('mcp__a__b', { path: '.env' }));
    expect(guess?.doubt).toContain('mcp__a__b');
    expect(finds(['Read(.env)'], callOf('mcp__a__b', { path: '.env' }), false)).toBeUndefined();
  });

  it('is a certain one where there is one', () => {
    expect(finds(['Bash(git push * -f *)', 'Bash(git push *)'], shell('git push $X'))).toEqual({
      pattern: 'Bash(git push *)',
      part: 'git push $X',
    });
  });
});

describe('names of tools', () => {
  it.each([
    ['*', 'anything', true],
    ['Bash', 'run_shell_command', true],
    ['shell', 'run_shell_command', true],
    ['run_shell_command', 'Bash', true],
    ['Read', 'read_file', true],
    ['Read', 'glob', false],
    ['Edit', 'replace', true],
    ['Edit', 'write_file', false],
    ['MultiEdit', 'MultiEdit', true],
    ['apply_patch', 'write_file', true],
    ['mcp__a', 'mcp__a__b', true],
    ['mcp__a', 'mcp__ab__b', false],
    ['mcp__a__*', 'mcp__a__b', true],
    ['mcp__a__b', 'mcp__a__b', true],
    ['mcp_a_b', 'mcp__a__b', true],
    ['mcp__*__delete_*', 'mcp__x__delete_y', true],
    ['*_file', 'read_file', true],
    ['*_file', 'glob', false],
    ['Web*', 'web_fetch', true],
    ['mine', 'mine', true],
    ['mine', 'mines', false],
  ])('%s and %s: %s', (pattern, tool, expected) => {
    expect(finds([pattern], callOf(tool, {})) !== undefined).toBe(expected);
  });

  it('have an argument that is compared by its name', () => {
    const pushes = ['mcp__github__push(branch:main*)'];
    const found = ['main', 'main-2', 'other', 1, undefined].map((branch) =>
      finds(pushes, callOf('mcp__github__push', { branch })),
    );
    expect(found.map((each) => each !== undefined)).toEqual([true, true, false, false, false]);
    expect(finds(['deploy(count:1)'], callOf('deploy', { count: 1 }))).toBeDefined();
    expect(finds(['deploy(constructor:*)'], callOf('deploy', {}))).toBeUndefined();
  });
});

describe('an exception', () => {
  it('holds for the part that was matched, and for no other', () => {
    const list = ['Bash(git *)', '!Bash(git status *)'];
    expect(finds(list, shell('git status'))).toBeUndefined();
    expect(finds(list, shell('git status && git push'))?.part).toBe('git push');
    expect(finds(list, shell('git status; bash -c "git push"'))?.part).toBe('git push');
    const files = ['Read(**/.env*)', '!Read(**/.env.example)'];
    expect(finds(files, shell('cat .env.example .env'))?.part).toBe('.env');
  });

  it('of commands holds for files that they name, and one of a tool for all that it does', () => {
    expect(finds(['Read(.env)', '!Bash(git add *)'], shell('git add .env'))).toBeUndefined();
    expect(
      finds(['Read(.env)', '!Bash(git add *)'], shell('git add .env; cat .env')),
    ).toBeDefined();
    expect(finds(['Read(.env)', '!Bash'], shell('cat .env'))).toBeUndefined();
    const all = ['*', '!Read(/**)'];
    expect(finds(all, callOf('read_file', { file_path: 'x' }))).toBeUndefined();
    expect(finds(all, callOf('read_file', { file_path: '/etc/x' }))).toBeDefined();
  });

  it('does not hold where it is not certain', () => {
    const list = ['Bash(git *)', '!Bash(git status *)'];
    expect(finds(list, shell('git $X'))).toBeDefined();
    expect(finds(['Bash', '!Bash(ls *)'], shell('ls; $X'))).toBeDefined();
    expect(finds(['Read(**)', '!Read(/**)'], shell('cat "$X"'))?.doubt).toContain('$X');
  });

  it('of a domain is for the host alone, while a guard looks at subdomains as well', () => {
    const call = callOf('web_fetch', { url: 'https://a.x.com' });
    expect(finds(['WebFetch(domain:x.com)'], call)).toBeDefined();
    expect(finds(['WebFetch(domain:x.com)'], call, false)).toBeUndefined();
    expect(finds(['WebFetch(domain:*)', '!WebFetch(domain:x.com)'], call)).toBeDefined();
    expect(finds(['WebFetch(domain:*)', '!WebFetch(domain:*.x.com)'], call)).toBeUndefined();
  });
});

describe('what covers a call', () => {
  it.each([
    [['Bash(git *)'], 'git status', true],
    [['Bash(git *)'], 'git status && rm -rf x', false],
    [['Bash(git *)'], 'cd src && git status', true],
    [['Bash(git *)'], 'git log $(rm x)', false],
    [['Bash(git *)'], 'git log > x', false],
    [['Bash(git *)'], 'git log > /dev/null', true],
    [['Bash(git *)', 'Edit(/**)'], 'git log > x', true],
    [['Bash(git *)', 'Edit(/**)'], 'git log > ../x', false],
    [['Bash(git *)'], 'sudo git status', false],
    [['Bash(git *)'], 'git $X', true],
    [['Bash(git status *)'], 'git $X', false],
    [['Bash(git *)', '!Bash(git push *)'], 'git status', true],
    [['Bash(git *)', '!Bash(git push *)'], 'git push', false],
    [['Bash(git *)', '!Bash(git push *)'], 'git $X', false],
    [['Bash(git *)'], 'echo x', false],
    [['Bash'], 'anything', true],
    [['!Bash(rm *)'], 'ls', true],
    [['!Bash(rm *)'], 'eval "$X"', false],
    [['Read(/**)'], 'cat x', false],
  ] as const)('%j and %s: %s', (when, command, expected) => {
    expect(covers(when, shell(command))).toBe(expected);
  });

  it('is each file and each host of it', () => {
    expect(covers(['Read(/**)'], callOf('read_file', { file_path: 'x' }))).toBe(true);
    expect(covers(['Read(/**)'], callOf('read_many_files', { paths: ['x', '../y'] }))).toBe(false);
    expect(covers(['Read(/**)'], callOf('write_file', { file_path: 'x' }))).toBe(false);
    expect(covers(['Read(/**)'], callOf('mcp__a__b', { path: 'x' }))).toBe(false);
    const urls = callOf('web_fetch', { prompt: 'https://x.com https://y.com' });
    expect(covers(['WebFetch(domain:x.com)'], urls)).toBe(false);
    expect(covers(['WebFetch(domain:x.com)', 'WebFetch(domain:y.com)'], urls)).toBe(true);
  });
});

it('is tried for a call of any form without an error', () => {
  const values = [
    undefined,
    null,
    1,
    'x\0y',
    '',
    [],
    {},
    [[['.env']]],
    '\uD800',
    'a'.repeat(20_000),
  ];
  const list = [
    'Bash(git *)',
    'Read(.env)',
    'Edit(/**)',
    'WebFetch(domain:x.com)',
    'a(b:c)',
    '!Bash(ls)',
  ];
  const tools = [
    'run_shell_command',
    'read_file',
    'glob',
    'apply_patch',
    'web_fetch',
    'mcp__a__b',
    '',
  ];
  for (const tool of tools) {
    for (const value of values) {
      const names = ['command', 'file_path', 'path', 'pattern', 'input', 'url', 'directory'];
      const call = callOf(tool, Object.fromEntries(names.map((name) => [name, value])));
      expect(() => [
        compileWhen(list).find(call, true),
        compileWhen(list).covers(call),
      ]).not.toThrow();
    }
  }
});
