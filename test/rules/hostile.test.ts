import { expect, it } from 'vitest';
import { compileWhen } from '../../src/rules/conditions.js';

const DOUBLED = `x=a; ${'x="$x$x";'.repeat(40)} $x`;

/** Texts that a model may write to keep a guard busy; each would take minutes, or for ever, if it were read naively. */
const COMMANDS: Readonly<Record<string, string>> = {
  'many braces': `cat ${'{a,b}'.repeat(25)}`,
  'a variable that is doubled again and again': DOUBLED,
  'as many words as there can be': 'ls '.repeat(40_000),
  'wildcards among letters': `cat ${'*a'.repeat(200)}`,
  'a pattern of wildcards alone': `cat ${'*'.repeat(500)}b`,
  substitutions: '$('.repeat(2000),
  'loops in loops': `${'for i in 1 2 3; do '.repeat(60)}ls;${'done;'.repeat(60)}`,
  'shells in shells': `${"bash -c '".repeat(40)}ls`,
  'evaluations of evaluations': `${'eval '.repeat(300)}ls`,
};

it.each(Object.entries(COMMANDS))('%s are read in a moment', (_title, command) => {
  const when = compileWhen(['Bash(git push *)', 'Read(**/.env*)', 'Bash(*a*a*a*b)']);
  const call = {
    tool: 'run_shell_command',
    input: { command },
    cwd: '/nowhere',
    project: '/nowhere',
  };
  expect(() => when.find(call, true)).not.toThrow();
});

it.each([
  ['a command', 'Bash(*a*a*a*a*a*a*a*b)', 'run_shell_command', { command: 'a'.repeat(8000) }],
  ['a path', `Read(${'*a'.repeat(12)}b)`, 'read_file', { file_path: 'a'.repeat(4000) }],
  ['folders that are not there', 'Read(~/**)', 'read_file', { file_path: 'a/'.repeat(60_000) }],
  ['folders above', 'Read(.env)', 'read_file', { file_path: `${'../'.repeat(60_000)}.env` }],
  ['folders', `Read(${'**/a/'.repeat(8)}b)`, 'read_file', { file_path: 'a/'.repeat(2000) }],
  ['an argument', `mcp__x__y(t:${'*a'.repeat(12)}b)`, 'mcp__x__y', { t: 'a'.repeat(8000) }],
])('a pattern with many wildcards is compared with %s in a moment', (_of, pattern, tool, input) => {
  const call = { tool, input, cwd: '/nowhere', project: '/nowhere' };
  expect(() => compileWhen([pattern]).find(call, true)).not.toThrow();
});
