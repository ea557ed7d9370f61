import { describe, expect, it } from 'vitest';
import { commandKey } from '../../src/run/sameCommand.js';
import { hook } from '../helpers/hooks.js';

const inExtension = (command: string, extensionPath: string) => ({
  ...hook(command),
  extensionPath,
});

describe('the same command', () => {
  it.each([
    ['other blanks', hook('sh  x.sh\ta '), hook('sh x.sh a')],
    [
      'another order of variables',
      hook('x', { env: { A: '1', B: '2' } }),
      hook('x', { env: { B: '2', A: '1' } }),
    ],
    ['no variables', hook('x', { env: {} }), hook('x')],
    ['another timeout', hook('x', { timeout: 1 }), hook('x', { onFailure: 'deny' })],
    ['another name', hook('x', { name: 'a' }), hook('x', { name: 'b' })],
    ['two extensions that it does not refer to', inExtension('x', '/a'), inExtension('x', '/b')],
    [
      'no shell, where it changed nothing',
      hook('bash x.sh a'),
      hook('bash', { args: ['x.sh', 'a'] }),
    ],
    ['no shell and no words', hook('./x.sh'), hook('./x.sh', { args: [] })],
    [
      'braces around a variable',
      hook('sh $LLXPRT_PROJECT_DIR/x'),
      hook('sh ${LLXPRT_PROJECT_DIR}/x'),
    ],
    [
      'two extensions that refer to the project',
      inExtension('${workspacePath}/x', '/a'),
      inExtension('${workspacePath}/x', '/b'),
    ],
    ['a separator of extensions', inExtension('sh a${/}b', '/a'), inExtension('sh a/b', '/b')],
    ['an extension and none', inExtension('x $HOME', '/a'), hook('x $HOME')],
  ])('in spite of %s', (_, one, other) => {
    expect(commandKey(one)).toBe(commandKey(other));
  });

  it.each([
    ['another word', hook('sh x.sh a'), hook('sh x.sh b')],
    ['blanks in quotes', hook("echo 'a  b'"), hook("echo 'a b'")],
    ['blanks where a shell decides', hook('echo "a  $b"; x'), hook('echo "a $b"; x')],
    [
      'an extension and none, for its words',
      inExtension('x ${workspacePath}', '/a'),
      hook('x ${workspacePath}'),
    ],
    ['another dialect', hook('x', { dialect: 'claude' }), hook('x')],
    ['other arguments', hook('x', { args: ['a'] }), hook('x', { args: ['b'] })],
    ['one argument in place of two', hook('x', { args: ['a b'] }), hook('x', { args: ['a', 'b'] })],
    ['a blank that a shell splits at', hook('x a b'), hook('x', { args: ['a b'] })],
    ['quotes that a shell removes', hook("x 'a'"), hook('x', { args: ["'a'"] })],
    ['what a shell expands', hook('x $HOME'), hook('x', { args: ['$HOME'] })],
    ['a builtin and a program', hook('echo a'), hook('echo', { args: ['a'] })],
    ['no argument and an empty one', hook('x', { args: [] }), hook('x', { args: [''] })],
    ['other variables', hook('x', { env: { A: '1' } }), hook('x', { env: { A: '2' } })],
  ])('is none: %s', (_, one, other) => {
    expect(commandKey(one)).not.toBe(commandKey(other));
  });

  it.each(['${extensionPath}/x', '"$extensionPath"/x', 'x $extensionPath'])(
    'is none in another extension, to which it refers: %s',
    (command) => {
      const [one, other] = [inExtension(command, '/a'), inExtension(command, '/b')];
      expect(commandKey(one)).not.toBe(commandKey(other));
    },
  );

  it('is none where nothing is started', () => {
    expect(commandKey({ type: 'plugin', command: 'x' })).toBeUndefined();
  });
});
