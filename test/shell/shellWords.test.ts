import { execFileSync } from 'node:child_process';
import * as fc from 'fast-check';
import { expect, it } from 'vitest';
import { expandCommand, type CommandScope } from '../../src/shell/expandCommand.js';
import { NOT_PROGRAMS, readSimpleCommand, splitSimpleCommand } from '../../src/shell/shellWords.js';

const VALUES = { LLXPRT_PROJECT_DIR: '/a b/$(x)\'"*', extensionPath: '/e `f`' };

const PIECES =
  `a ./x echo if ' " \\ $ { } ( ) [ ] * ? ~ # ! = : , / . - + @ % ^ & | ; < > 'y z' "y" time A=b 2>&1 \${/} é`
    .split(' ')
    .concat(' ', '  ', '\t', '\n', '`', '$LLXPRT_PROJECT_DIR', '"${LLXPRT_PROJECT_DIR}"')
    .concat('${LLXPRT_PROJECT_DIR}', '"$extensionPath/x"', '${extensionPath}', "'$extensionPath'");

/** What bash makes of commands, each in a shell that starts nothing: the words of the program that it looks for. */
function wordsInBash(commands: readonly string[]): string[][] {
  const script =
    'PATH=/nowhere; command_not_found_handle() { printf "%s\\0" "$#" "$@"; }; ' +
    'while IFS= read -r -d "" each; do eval "$each"; done';
  const output = execFileSync('/bin/bash', ['-c', script], {
    input: commands.map((command) => `${command}\0`).join(''),
    env: { ...VALUES, HOME: '/home/x', LC_ALL: 'C.UTF-8' },
    maxBuffer: 8 * 1024 * 1024,
  });
  const said = output.toString().split('\0');
  return commands.map(() => said.splice(0, Number(said[0]) + 1).slice(1));
}

it.each<CommandScope>(['project', 'extension'])(
  'has the words that bash has, for whatever is taken for simple in the scope %s',
  (scope) => {
    const text = fc
      .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 8 })
      .map((pieces) => pieces.join(''));
    const known: [string, readonly string[]][] = [];
    fc.assert(
      fc.property(text, (words) => {
        // A program that has no path, so that bash tells which one it looks for.
        const command = expandCommand(`prog ${words}`, scope);
        const read = readSimpleCommand(command, scope, VALUES);
        if (read) known.push([command, read]);
      }),
      { numRuns: 20_000 },
    );
    expect(known.length).toBeGreaterThan(200);
    const said = wordsInBash(known.map(([command]) => command));
    for (const [index, [command, words]] of known.entries()) {
      expect([command, ...(said[index] ?? [])]).toEqual([command, ...words]);
    }
  },
);

it('takes for simple only what begins with a program', () => {
  const text = fc
    .array(fc.constantFrom(...PIECES), { minLength: 1, maxLength: 6 })
    .map((pieces) => pieces.join(''));
  let simple = 0;
  fc.assert(
    fc.property(text, (command) => {
      const [first] = splitSimpleCommand(command) ?? [];
      if (first === undefined) return;
      simple++;
      expect(first).not.toMatch(/^[A-Za-z_]\w*\+?=/);
      expect(NOT_PROGRAMS.has(first)).toBe(false);
    }),
    { numRuns: 20_000 },
  );
  expect(simple).toBeGreaterThan(200);
});

it('reads no reference of an extension where there is none', () => {
  expect(readSimpleCommand('node "${extensionPath}/x"', 'project', VALUES)).toBeUndefined();
  expect(readSimpleCommand('node "${extensionPath}/x"', 'extension', VALUES)).toEqual([
    'node',
    '/e `f`/x',
  ]);
});
