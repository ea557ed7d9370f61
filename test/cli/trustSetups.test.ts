import { describe, expect, it } from 'vitest';
import { Cli, group } from './helpers.js';

const cli = new Cli();

/** Set-ups as teams have them: files, the command, and what `hookstack trust` says of it. */
const SETUPS: readonly (readonly [
  what: string,
  files: readonly string[],
  command: string,
  said: string,
])[] = [
  [
    'a guard in bash',
    ['.llxprt/hooks/guard.sh', '.llxprt/hooks/lib.sh'],
    'bash "$LLXPRT_PROJECT_DIR/.llxprt/hooks/guard.sh"',
    'pinned: its definition and every file of ".llxprt/hooks/" are covered; what its script loads or starts from elsewhere is not',
  ],
  [
    'a guard of Claude Code in Python',
    ['.claude/hooks/validate.py'],
    'python3 $CLAUDE_PROJECT_DIR/.claude/hooks/validate.py',
    'pinned: its definition and every file of ".claude/hooks/" are covered; what its script loads or starts from elsewhere is not',
  ],
  [
    'a hook of Gemini CLI in Node',
    ['.gemini/hooks/log.mjs', '.gemini/hooks/package.json'],
    'node $GEMINI_PROJECT_DIR/.gemini/hooks/log.mjs --verbose',
    'pinned: its definition and every file of ".gemini/hooks/" are covered; what its script loads or starts from elsewhere is not',
  ],
  [
    'a line of jq and grep',
    [],
    `jq -r '.tool_input.file_path' | grep -qE '\\.env$' && { echo 'no secrets' >&2; exit 2; } || exit 0`,
    'pinned: its definition is covered, and it starts no file of the project',
  ],
  [
    'an audit log in one line',
    [],
    'jq -c . >> .llxprt/audit.jsonl',
    'pinned: its definition is covered, and it starts no file of the project',
  ],
  [
    'a script in the root folder',
    ['check.sh', 'package.json'],
    './check.sh',
    "pinned by file: its definition and the files listed here are covered, and no others: its script lies in the project's root folder",
  ],
  [
    'rules for a scanner',
    ['semgrep.yml'],
    'semgrep --config semgrep.yml --error -',
    'pinned by file: its definition and the files listed here are covered, and no others: a program of the machine reads them as data',
  ],
  [
    'an npm script',
    ['package.json'],
    'npm run --silent guard',
    'open: only its definition is covered: what it runs may change unasked, because it starts npm, which may load or start files of the project by itself',
  ],
  [
    'a script that uv runs',
    ['hooks/guard.py'],
    'uv run --script hooks/guard.py',
    'open: only its definition is covered: what it runs may change unasked, because it starts uv, which may load or start files of the project by itself',
  ],
  [
    'tests after each edit',
    ['package.json'],
    'cd "$LLXPRT_PROJECT_DIR/app" && npx vitest run --changed',
    'open: only its definition is covered: what it runs may change unasked, because it uses cd, of which only the shell knows what it runs',
  ],
  [
    'a Python module',
    ['hooks/__init__.py', 'hooks/guard.py'],
    'python3 -m hooks.guard',
    'open: only its definition is covered: what it runs may change unasked, because it gives python3 code or an option (-m)',
  ],
];

describe('trust says of a set-up what it covers', () => {
  it.each(SETUPS)('%s', async (_, files, command, said) => {
    for (const file of files) await cli.write(file, '#!/bin/sh\nexit 0\n');
    await cli.projectSettings({ BeforeTool: group(command) });
    const { stdout } = await cli.run(['trust']);
    expect(stdout).toContain(`\n    ${said}\n`);
    const covers = said.split(':')[0];
    const { stdout: json } = await cli.run(['list', '--json']);
    expect(JSON.parse(json)).toMatchObject({ hooks: [{ class: covers }] });
    const { exitCode } = await cli.run(['trust', '--yes']);
    expect(exitCode).toBe(covers === 'open' ? 1 : 0);
  });
});
