import { homedir } from 'node:os';
import { describe, expect, it } from 'vitest';
import { findWords } from '../../src/config/commandWords.js';

describe('the words of a command that may name files', () => {
  it.each([
    ['a plain one', 'sh ./guard.sh', './guard.sh'],
    ['in double quotes', 'sh "my guard.sh"', 'my guard.sh'],
    ['in single quotes', "sh 'my guard.sh'", 'my guard.sh'],
    ['quoted in part', 'sh "$LLXPRT_PROJECT_DIR"/guard.sh', '/guard.sh'],
    ['behind a reference', 'sh ${CLAUDE_PROJECT_DIR%/}/guard.sh', '/guard.sh'],
    ['behind an escape', String.raw`sh my\ guard.sh`, 'my guard.sh'],
    ['of a shell in the shell', `sh -c 'cd x && sh "./guard.sh"'`, './guard.sh'],
    ['of a script in the command', `node -e "require('./guard.cjs')"`, './guard.cjs'],
    ['of a longer script', `node -e "const a = require('./guard.cjs')"`, './guard.cjs'],
    ['behind an option', 'node --import=./guard.mjs x.mjs', './guard.mjs'],
    ['behind a short option', 'node -r./guard.cjs x.mjs', './guard.cjs'],
    ['behind an assignment', 'SCRIPT=guard.sh; sh $SCRIPT', 'guard.sh'],
    ['in a substitution', 'echo $(sh guard.sh)', 'guard.sh'],
    ['behind a substitution', 'sh $(git rev-parse --show-toplevel)/guard.sh', '/guard.sh'],
    ['in backticks', 'echo `sh guard.sh`', 'guard.sh'],
    ['read from', 'sh <guard.sh', 'guard.sh'],
    ['of a process that is written to', 'tee >(sh guard.sh)', 'guard.sh'],
    ['written to and run', 'cat > guard.sh; sh guard.sh', 'guard.sh'],
    ['in the home directory', 'sh ~/guard.sh', `${homedir()}/guard.sh`],
    ['in $HOME', 'sh "$HOME/guard.sh"', `${homedir()}/guard.sh`],
    ['without its quote', 'sh "guard.sh', 'guard.sh'],
  ])('%s', (_, command, word) => {
    expect(findWords(command)).toContain(word);
  });

  it.each([
    'cat > out.log',
    'cat >> "out.log"',
    'sh guard.sh 2>out.log',
    'sh guard.sh &> out.log',
    'sh guard.sh >| out.log',
    "sh -c 'cat > out.log'",
  ])('%s: not where output goes', (command) => {
    expect(findWords(command)).not.toContain('out.log');
  });
});
