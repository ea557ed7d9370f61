import { chmod, lstat, mkdir, readdir, readFile, rm, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { DIALECT_NAMES } from '../../src/protocol/types.js';
import { dialects } from '../../src/dialects/dialects.js';
import { handlersIn } from '../../src/cli/shared/handlers.js';
import { Cli } from './helpers.js';

const cli = new Cli();

/** Files of a person, as each agent reads them: other hooks, other keys, comments where its parser takes them. */
const FILES: Readonly<Record<string, string>> = {
  '.claude/settings.json': `{
  // of this person
  "permissions": { "deny": ["Read(./.env)"] },
  "hooks": {
    "PreToolUse": [
      { "matcher": "Bash", "hooks": [{ "type": "command", "command": "mine" }] } // keep
    ],
    "Stop": [],
  },
  "theme": "dark" /* here, too */
}`,
  '.gemini/settings.json': [
    '{',
    '\t"security": {"auth": {"selectedType": "gemini-api-key"}},',
    '\t"hooks": {"BeforeTool": [{"matcher": "write_file", "hooks": [{"name": "scan", "type": "command", "command": "scan"}]}]}, // keep',
    '}',
    '',
  ].join('\r\n'),
  '.codex/config.toml': 'model = "gpt-5.5"\n',
  '.codex/hooks.json':
    '{"hooks":{"PostToolUse":[{"hooks":[{"type":"command","command":"mine","timeout":5}]}]}}\n',
  '.copilot/config.json': '{ "trusted_folders": [] }\n',
  '.copilot/hooks/guard.json':
    '{ "version": 1, "hooks": { "PreToolUse": [{ "type": "command", "bash": "mine", "timeoutSec": 5 }] } }\n',
  '.cursor/hooks.json':
    '\uFEFF{\n    "version": 1,\n    "hooks": {\n        "preToolUse": [ { "command": "./mine.sh", "failClosed": true } ],\n        "other": []\n    }\n}\n',
  '.qwen/settings.json': '{\n  "hooks": {\n    // none yet\n  }\n}\n',
  '.factory/hooks.json': '{}',
  '.codeium/windsurf/hooks.json': `{
   "hooks": {
      "pre_run_command": [
         { "command": "mine", "show_output": true }
      ]
   }
}
`,
  '.kiro/hooks/hookstack.json': `{
  "version": "v1",
  "hooks": [
    { "name": "mine", "trigger": "PreToolUse", "action": { "type": "command", "command": "mine" } }, // keep
  ]
}
`,
  '.config/goose/config.yaml': 'GOOSE_MODEL: x\n',
  '.config/opencode/opencode.json': '{ "model": "x" }\n',
  '.cline/data/settings/providers.json': '{}\n',
  'Documents/Cline/Hooks/TaskStart': '#!/bin/sh\ntrue; hookstack-hook cline_TaskStart\n',
};

/** Each file with its bytes and its mode, and each folder; without what hookstack keeps. */
async function treeOf(root: string): Promise<Record<string, string>> {
  const entries = await readdir(root, { recursive: true, withFileTypes: true });
  const tree: Record<string, string> = {};
  for (const entry of entries) {
    const file = join(entry.parentPath, entry.name);
    if (file.includes('.llxprt')) continue;
    const { mode } = await lstat(file);
    tree[file] = `${mode} ${entry.isFile() ? await readFile(file, 'latin1') : ''}`;
  }
  return tree;
}

async function write(files = FILES): Promise<void> {
  for (const [file, text] of Object.entries(files)) await cli.write(join(cli.home, file), text);
}

const installAll = (...args: string[]) => cli.run(['install', '--into', 'all', ...args]);
const differences = (text: string) => text.match(/^[-+ ]? .*$/gmu);
const ofUser = ['--scope', 'user'];

describe('install --into all', () => {
  it('adds to the files of all agents that are here, twice gives the same, and takes it back byte for byte', async () => {
    await write();
    const before = await treeOf(cli.home);
    const dry = await installAll(...ofUser, '--dry-run');
    expect(await treeOf(cli.home)).toEqual(before);
    const first = await installAll(...ofUser);
    expect(first).toMatchObject({ exitCode: 0, stderr: expect.not.stringContaining('error:') });
    expect(differences(first.stdout)).toEqual(differences(dry.stdout));
    const between = await treeOf(cli.home);
    for (const [file, text] of Object.entries(FILES)) {
      const now = between[join(cli.home, file)] ?? '';
      const lines = now.split('\n');
      for (const line of text.split('\n')) {
        // A comma may have come before a comment, or behind a bracket that stood in the same line.
        const [, kept = '', comment = ''] = /^\s*(.*?),?(\s*\/[/*].*)?$/u.exec(line.trim()) ?? [];
        const start = Buffer.from(kept.replace(/[\]}\s]*$/u, '')).toString('latin1');
        const isKept = (each: string) => each.includes(start) && each.includes(comment.trim());
        expect(lines.some(isKept), `${file}: ${line}`).toBe(true);
      }
    }
    const installed = Object.values(between).filter((text) => /hookstack-hook \w+/u.test(text));
    // A file each, and of Cline one for each event.
    expect(installed.length).toBeGreaterThan(10);
    expect(between[join(cli.home, '.gemini/settings.json')]).not.toMatch(/[^\r]\n/u);
    expect(between[join(cli.home, '.cursor/hooks.json')]).toContain(
      Buffer.from('\uFEFF{').toString('latin1'),
    );
    const again = await installAll(...ofUser);
    expect(again.stdout.match(/nothing to do/gu)).toHaveLength(
      first.stdout.match(/ runs? all hooks/gu)?.length ?? 0,
    );
    expect(await treeOf(cli.home)).toEqual(between);
    expect(await installAll(...ofUser, '--undo')).toMatchObject({ exitCode: 0 });
    expect(await treeOf(cli.home)).toEqual(before);
    await expect(lstat(join(cli.home, '.llxprt/installed.json'))).rejects.toThrow('ENOENT');
  });

  it('keeps what was changed since, and takes out its own alone', async () => {
    await write({ '.codex/hooks.json': '', '.cursor/mcp.json': '{}' });
    expect(await installAll(...ofUser)).toMatchObject({
      exitCode: 0,
      stderr: expect.not.stringContaining('error:'),
    });
    for (const name of ['.codex/hooks.json', '.cursor/hooks.json']) {
      const file = join(cli.home, name);
      const settings = JSON.parse(await readFile(file, 'utf8')) as Record<string, object>;
      Object.assign(settings['hooks'] ?? {}, { Mine: [{ command: 'mine' }] });
      await cli.write(file, settings);
    }
    await installAll(...ofUser, '--undo');
    expect(JSON.parse(await readFile(join(cli.home, '.codex/hooks.json'), 'utf8'))).toEqual({
      hooks: { Mine: [{ command: 'mine' }] },
    });
    expect(JSON.parse(await readFile(join(cli.home, '.cursor/hooks.json'), 'utf8'))).toEqual({
      version: 1,
      hooks: { Mine: [{ command: 'mine' }] },
    });
  });

  it('says which agent it cannot take and why, does the others, and ends with exit code 1', async () => {
    await write({ '.claude/settings.json': '{ "hooks": [ }', '.codex/config.toml': '' });
    await write({ '.cursor/mcp.json': '{}', '.qwen/x': '', '.factory/x': '', '.devin/x': '' });
    await symlink('/dev/zero', join(cli.home, '.codex/hooks.json'));
    await chmod(join(cli.home, '.cursor'), 0o777);
    await write({ '.qwen/settings.json': '{ "theme": "d\uFFFDark" }' });
    await write({ '.clinerules/hooks/PostToolUse/folder': '' });
    await mkdir(join(cli.home, 'Documents/Cline/Hooks/PostToolUse'), { recursive: true });
    await symlink('nothing', join(cli.home, '.devin/hooks.v1.json'));
    const before = await treeOf(cli.home);
    const { exitCode, stderr, stdout } = await installAll(...ofUser);
    expect(exitCode).toBe(1);
    expect(stderr).toMatch(/Claude Code: .*settings\.json:1:14: not valid JSON/u);
    expect(stderr).toMatch(/Codex: .*hooks\.json is not changed: it is no regular file/u);
    expect(stderr).toMatch(/Cursor: .*for its folder: other users may write it/u);
    expect(stderr).toMatch(/Qwen Code: .*could not be read/u);
    expect(stderr).toMatch(/Cline: .*PostToolUse/u);
    expect(stdout).toContain('Factory Droid runs all hooks');
    const { stdout: json } = await installAll(...ofUser, '--json');
    const report = JSON.parse(json) as Record<string, { into: string; diff?: string[] }[]>;
    expect(report['failed']?.map(({ into }) => into)).toEqual([
      'claude',
      'codex',
      'cursor',
      'qwen',
      'devin',
      'cline',
    ]);
    expect(report['installed']).toMatchObject([{ into: 'droid', changed: false }]);
    expect(stderr).toMatch(/Devin CLI: .* is a link to nothing/u);
    expect(await installAll(...ofUser, '--undo')).toMatchObject({ exitCode: 1 });
    expect(await treeOf(cli.home)).toEqual(before);
  });

  it('leaves out what runs the entry for Claude Code as well, and has two agents read one file', async () => {
    await cli.write('.claude/settings.json', '{}');
    await write({ '.vscode/x': '', '.copilot/x': '', '.cursor/x': '' });
    const { stderr, stdout } = await installAll();
    for (const agent of ['VS Code', 'Copilot CLI'])
      expect(stderr).toContain(`${agent} is left out: it runs what ${cli.project}/.claude/`);
    expect(stderr).toContain('Cursor runs hooks twice, where its setting for third-party hooks is');
    expect(stdout).toContain('Cursor runs all hooks');
    await expect(cli.read('.github/hooks/hookstack.json')).rejects.toThrow('ENOENT');
    const alone = await cli.run(['install', '--into', 'vscode']);
    expect(alone.stderr).toContain('Copilot CLI runs this file as well');
    expect(alone.stderr).toContain('VS Code runs hooks twice, for the entry in');
    const claude = await cli.run(['install', '--into', 'claude']);
    expect(claude.stderr).toMatch(/VS Code runs hooks twice, for the entry in .*hookstack\.json/u);
    await installAll('--undo');
    await rm(join(cli.home, '.claude'), { recursive: true, force: true });
    await rm(join(cli.project, '.claude'), { recursive: true, force: true });
    await expect(cli.read('.github/hooks/hookstack.json')).rejects.toThrow('ENOENT');
    const both = await installAll();
    expect(both.stdout).toContain('Copilot CLI and VS Code run all hooks of the project, at');
    expect(JSON.parse(await cli.read('.github/hooks/hookstack.json'))).toMatchObject({
      hooks: {
        PreToolUse: [
          { type: 'command', command: 'hookstack-hook copilot', timeoutSec: 600, timeout: 600 },
        ],
      },
    });
  });

  it('writes nothing for agents that are not here, and says what it would do', async () => {
    await cli.write(join(cli.home, '.codex/hooks.json'), '{}\n');
    const dry = await installAll(...ofUser, '--dry-run');
    expect(dry.stdout).toContain('Codex would run all hooks');
    expect(dry.stdout).toContain('+            "command": "hookstack-hook codex"');
    expect(dry.stderr).toContain('Codex: it skips hooks, without a word, until a person has');
    expect(dry.stdout).not.toContain('Cursor');
    expect(await readFile(join(cli.home, '.codex/hooks.json'), 'utf8')).toBe('{}\n');
    await rm(join(cli.home, '.codex'), { recursive: true });
    expect(await installAll(...ofUser)).toMatchObject({ exitCode: 2 });
  });
});

const OF_FILES = new Set(['programs', 'plugin']);

describe.each(DIALECT_NAMES.filter((name) => !OF_FILES.has(dialects[name].settings.form ?? '')))(
  'install --into %s',
  (name) => {
    it('has each event of it ask, and takes that back', async () => {
      const { files } = dialects[name].settings;
      const file = join(cli.project, (files[0] ?? '').replace('*', 'hookstack'));
      expect(await cli.run(['install', '--into', name])).toMatchObject({ exitCode: 0 });
      const settings = JSON.parse(await readFile(file, 'utf8')) as Record<string, unknown>;
      const handlers = handlersIn(settings, dialects[name].settings);
      const { events } = dialects[name];
      expect(handlers.map(({ event }) => event)).toEqual(events.map((row) => row.name));
      for (const { hook, event } of handlers) {
        const { tellsNoEvent, installedAs = name } = dialects[name];
        const sender = tellsNoEvent ? `${name}_${event}` : installedAs;
        expect(hook['command']).toBe(`hookstack-hook ${sender}`);
      }
      expect(await cli.run(['install', '--into', name, '--undo'])).toMatchObject({ exitCode: 0 });
      await expect(readFile(file, 'utf8')).rejects.toThrow('ENOENT');
      expect(await readdir(cli.project)).toEqual([]);
    });
  },
);
