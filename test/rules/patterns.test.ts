import { describe, expect, it } from 'vitest';
import { problemOf } from '../../src/rules/patternProblem.js';
import { readPattern } from '../../src/rules/patterns.js';

describe('a pattern that can be used', () => {
  it.each([
    '*',
    'Bash',
    'run_shell_command',
    'Bash(git push *)',
    'Bash(git:*)',
    '!Bash(git push * --dry-run *)',
    '! Read(**/.env.example)',
    'Read(~/.ssh/**)',
    'Read(//etc/passwd)',
    'Edit(/src/**)',
    'Write(/src/**)',
    'Read(a (copy).txt)',
    'WebFetch(domain:example.com)',
    'WebFetch(domain:*.example.com)',
    'mcp__github',
    'mcp__github__*',
    'mcp__github__push(branch:main)',
    'my_own_tool',
    'deploy(stage:prod*)',
    'web_*',
  ])('%s', (text) => {
    expect(problemOf(text)).toBeUndefined();
    expect(readPattern(text).text).toBe(text);
  });
});

describe('a pattern that cannot be used', () => {
  it.each([
    ['', 'is empty'],
    ['  ', 'is empty'],
    ['!', 'is not of the form Tool'],
    ['!!Bash', 'more than one !'],
    ['Bash(git push', 'a parenthesis that is not closed'],
    ['Bash git push', 'is not of the form Tool'],
    ['Bash()', 'write Bash alone'],
    ['Bsh(git push *)', "did you mean 'Bash'?"],
    ['Raed', "did you mean 'Read'?"],
    ['run_shel_command', "did you mean 'run_shell_command'?"],
    ['Bash(cd x && git push)', 'has && in it'],
    ['Bash(git push | tee x)', 'has | in it'],
    ['Bash(A=1 git push)', 'begins with an assignment'],
    ['Bash(git commit -m "x)', 'a quote that is not closed'],
    ['WebFetch(example.com)', 'WebFetch(domain:example.com)'],
    ['WebFetch(domain:https://example.com)', 'without a scheme'],
    ['Read(!x)', 'write ! before the tool'],
    ['Read(C:\\x)', 'names a drive'],
    ['Read(src\\x)', 'separate the names of a path by /'],
    ['Read([ab)', 'a [ without a ]'],
    ['my_own_tool(x)', 'write it as my_own_tool(name:value)'],
    ['mcp__github__push(main)', 'write it as mcp__github__push(name:value)'],
  ])('%s: %s', (text, said) => {
    expect(problemOf(text)).toContain(said);
    expect(() => readPattern(text)).toThrow(said);
  });

  it('has nothing said of it where it is the name of a tool that others may have', () => {
    expect(['reader', 'deploy', 'task_list'].map(problemOf)).toEqual([
      undefined,
      undefined,
      undefined,
    ]);
  });
});
