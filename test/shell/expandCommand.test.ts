import { existsSync } from 'node:fs';
import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { expandCommand, expandWord } from '../../src/shell/expandCommand.js';
import { run, withTempDir } from '../process/helpers.js';

describe('expandCommand', () => {
  it.each([
    // Outside quotes
    ['$LLXPRT_PROJECT_DIR/x.sh', '"${LLXPRT_PROJECT_DIR}"/x.sh'],
    ['${GEMINI_PROJECT_DIR}/x.sh', '"${GEMINI_PROJECT_DIR}"/x.sh'],
    ['a=$CLAUDE_PROJECT_DIR; b', 'a="${CLAUDE_PROJECT_DIR}"; b'],
    ['$(cat $CLAUDE_PROJECT_DIR/x)', '$(cat "${CLAUDE_PROJECT_DIR}"/x)'],
    // In double quotes
    ['"$LLXPRT_PROJECT_DIR/x.sh"', '"${LLXPRT_PROJECT_DIR}/x.sh"'],
    ['"${LLXPRT_PROJECT_DIR}/x.sh"', '"${LLXPRT_PROJECT_DIR}/x.sh"'],
    [`"it's $LLXPRT_PROJECT_DIR"`, `"it's \${LLXPRT_PROJECT_DIR}"`],
    ['"(" $LLXPRT_PROJECT_DIR', '"(" "${LLXPRT_PROJECT_DIR}"'],
    // In what double quotes hold
    ['"$(cat "$CLAUDE_PROJECT_DIR/x")"', '"$(cat "${CLAUDE_PROJECT_DIR}/x")"'],
    ['"$(cat $CLAUDE_PROJECT_DIR/x)"', '"$(cat "${CLAUDE_PROJECT_DIR}"/x)"'],
    ['"`cat $CLAUDE_PROJECT_DIR/x`"', '"`cat "${CLAUDE_PROJECT_DIR}"/x`"'],
    ['"${A:-$CLAUDE_PROJECT_DIR}"', '"${A:-${CLAUDE_PROJECT_DIR}}"'],
    // Left alone
    [`bash -c '$LLXPRT_PROJECT_DIR/x.sh'`, `bash -c '$LLXPRT_PROJECT_DIR/x.sh'`],
    [`$'it\\'s $LLXPRT_PROJECT_DIR'`, `$'it\\'s $LLXPRT_PROJECT_DIR'`],
    ['\\$LLXPRT_PROJECT_DIR', '\\$LLXPRT_PROJECT_DIR'],
    ['"\\$LLXPRT_PROJECT_DIR"', '"\\$LLXPRT_PROJECT_DIR"'],
    ['$$LLXPRT_PROJECT_DIR', '$$LLXPRT_PROJECT_DIR'],
    ['$LLXPRT_PROJECT_DIRS $HOME', '$LLXPRT_PROJECT_DIRS $HOME'],
    ['${LLXPRT_PROJECT_DIR:-x}', '${LLXPRT_PROJECT_DIR:-x}'],
    ['cat <<E\n$LLXPRT_PROJECT_DIR\nE\n', 'cat <<E\n$LLXPRT_PROJECT_DIR\nE\n'],
    ['echo $((1<<2)) $LLXPRT_PROJECT_DIR', 'echo $((1<<2)) $LLXPRT_PROJECT_DIR'],
    // What looks like a quote or a comment and is none
    [`# don't\n$LLXPRT_PROJECT_DIR`, `# don't\n"\${LLXPRT_PROJECT_DIR}"`],
    [`echo a#'b' $LLXPRT_PROJECT_DIR`, `echo a#'b' "\${LLXPRT_PROJECT_DIR}"`],
    [`\\' $LLXPRT_PROJECT_DIR`, `\\' "\${LLXPRT_PROJECT_DIR}"`],
    ['cat <<<a\n$LLXPRT_PROJECT_DIR', 'cat <<<a\n"${LLXPRT_PROJECT_DIR}"'],
    // Incomplete
    ['', ''],
    [`echo '`, `echo '`],
    ['echo "$LLXPRT_PROJECT_DIR', 'echo "${LLXPRT_PROJECT_DIR}'],
    ['echo \\', 'echo \\'],
    ['$', '$'],
  ])('makes of %j %j', (command, expanded) => {
    expect(expandCommand(command)).toBe(expanded);
    expect(expandCommand(expanded)).toBe(expanded);
  });

  it.each([
    ['${extensionPath}/x.sh', '"${extensionPath}"/x.sh'],
    ['$CLAUDE_PLUGIN_ROOT/x.sh', '"${CLAUDE_PLUGIN_ROOT}"/x.sh'],
    ['"${LLXPRT_PLUGIN_DATA}/a b"', '"${LLXPRT_PLUGIN_DATA}/a b"'],
    ['"${extensionPath}${/}x.sh"', '"${extensionPath}/x.sh"'],
    ['$workspacePath $LLXPRT_PROJECT_DIR', '"${workspacePath}" "${LLXPRT_PROJECT_DIR}"'],
    [`sh -c '\${extensionPath}\${/}x'`, `sh -c '\${extensionPath}/x'`],
  ])('makes of %j %j in an extension, and nothing elsewhere', (command, expanded) => {
    expect(expandCommand(command, 'extension')).toBe(expanded);
    expect(expandCommand(expanded, 'extension')).toBe(expanded);
    const [ofProject] = command.split(' ');
    expect(expandCommand(String(ofProject))).toBe(ofProject);
  });

  it('takes time in proportion to the length', () => {
    const startedAt = performance.now();
    expandCommand('("$(`${'.repeat(50_000) + '$LLXPRT_PROJECT_DIR');
    expect(performance.now() - startedAt).toBeLessThan(2_000);
  });
});

const DIRECTORY_NAMES = [
  'plain',
  'a b',
  `q'"`,
  '$(touch pwned)',
  '`touch pwned`',
  'new\nline',
  '; touch pwned #',
  '*',
  'ünï',
  '-n',
  '\\x',
  '!!',
  '~',
];

const COMMANDS = [
  '$LLXPRT_PROJECT_DIR/x.sh',
  '"$LLXPRT_PROJECT_DIR"/x.sh',
  '"$LLXPRT_PROJECT_DIR/x.sh"',
  '"${GEMINI_PROJECT_DIR}/x.sh" a',
  'bash $CLAUDE_PROJECT_DIR/x.sh b',
  `bash -c '"$LLXPRT_PROJECT_DIR/x.sh"'`,
];

describe.each(DIRECTORY_NAMES)('in a directory named %j', (name) => {
  it('runs the script in every form of the command, and nothing else', async () => {
    await withTempDir(async (parent) => {
      const directory = path.join(parent, name);
      await mkdir(directory);
      await writeFile(path.join(directory, 'x.sh'), '#!/bin/sh\necho ran\n', { mode: 0o755 });
      const env = {
        ...process.env,
        LLXPRT_PROJECT_DIR: directory,
        GEMINI_PROJECT_DIR: directory,
        CLAUDE_PROJECT_DIR: directory,
      };
      for (const command of COMMANDS) {
        const { stdout, stderr } = await run(expandCommand(command), { cwd: directory, env });
        expect({ command, stdout, stderr }).toEqual({ command, stdout: 'ran\n', stderr: '' });
      }
      expect(existsSync(path.join(directory, 'pwned'))).toBe(false);
    });
  });
});

describe('expandWord', () => {
  const variables = { CLAUDE_PROJECT_DIR: '/a $& b', extensionPath: '/e', HOME: '/h' };

  it.each([
    ['${CLAUDE_PROJECT_DIR}/x', '/a $& b/x'],
    ['--in=$CLAUDE_PROJECT_DIR', '--in=/a $& b'],
    ['$CLAUDE_PROJECT_DIRS $HOME `x`', '$CLAUDE_PROJECT_DIRS $HOME `x`'],
    ['$extensionPath ${/}', '$extensionPath ${/}'],
  ])('puts in the project, and nothing else: %s', (word, expanded) => {
    expect(expandWord(word, 'project', variables)).toBe(expanded);
  });

  it('puts in the extension for its own hooks', () => {
    expect(expandWord('${extensionPath}${/}x', 'extension', variables)).toBe('/e/x');
  });
});
