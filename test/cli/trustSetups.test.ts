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
    'open: only its definition is covered: what it runs may change unasked, because it has a pipe: put the line into a script in .llxprt/hooks, and start that',
  ],
  [
    'an audit log in one line',
    [],
    'jq -c . >> .llxprt/audit.jsonl',
    'open: only its definition is covered: what it runs may change unasked, because it has a redirection (>> .llxprt/audit.jsonl): put the line into a script in .llxprt/hooks, and start that',
  ],
  [
    'one program of the machine',
    [],
    'jq -e .tool_input',
    'open: only its definition is covered: what it runs may change unasked, because it starts jq, which is no script in a folder for hooks (.llxprt/hooks, .claude/hooks, .gemini/hooks)',
  ],
  [
    'a script in the root folder',
    ['check.sh', 'package.json'],
    './check.sh',
    'open: only its definition is covered: what it runs may change unasked, because it starts ./check.sh, which is no script in a folder for hooks (.llxprt/hooks, .claude/hooks, .gemini/hooks)',
  ],
  [
    'a script in a folder of its own',
    ['hooks/check.sh'],
    'bash hooks/check.sh',
    'open: only its definition is covered: what it runs may change unasked, because it has bash run hooks/check.sh, which is no script in a folder for hooks (.llxprt/hooks, .claude/hooks, .gemini/hooks)',
  ],
  [
    'rules for a scanner',
    ['semgrep.yml'],
    'semgrep --config semgrep.yml --error -',
    'open: only its definition is covered: what it runs may change unasked, because it starts semgrep, which is no script in a folder for hooks (.llxprt/hooks, .claude/hooks, .gemini/hooks)',
  ],
  [
    'an npm script',
    ['package.json'],
    'npm run --silent guard',
    'open: only its definition is covered: what it runs may change unasked, because it starts npm, which is no script in a folder for hooks (.llxprt/hooks, .claude/hooks, .gemini/hooks)',
  ],
  [
    'a script that uv runs',
    ['.llxprt/hooks/guard.py'],
    'uv run --script .llxprt/hooks/guard.py',
    'open: only its definition is covered: what it runs may change unasked, because it starts uv, which is no script in a folder for hooks (.llxprt/hooks, .claude/hooks, .gemini/hooks)',
  ],
  [
    'tests after each edit',
    ['package.json'],
    'cd "$LLXPRT_PROJECT_DIR/app" && npx vitest run --changed',
    'open: only its definition is covered: what it runs may change unasked, because it has "&&": put the line into a script in .llxprt/hooks, and start that',
  ],
  [
    'a Python module',
    ['.llxprt/hooks/__init__.py', '.llxprt/hooks/guard.py'],
    'python3 -m hooks.guard',
    'open: only its definition is covered: what it runs may change unasked, because it gives python3 code or an option (-m)',
  ],
  [
    'a hook that preloads something',
    ['.claude/hooks/a.js', 'x.js'],
    'node --require ./x.js .claude/hooks/a.js',
    'open: only its definition is covered: what it runs may change unasked, because it gives node code or an option (--require)',
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
