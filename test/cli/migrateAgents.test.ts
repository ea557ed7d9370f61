import { chmod, mkdir, symlink } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadSettingsFile } from '../../src/config/settings/settings.js';
import type { DialectName } from '../../src/protocol/types.js';
import { Cli } from './helpers.js';

const cli = new Cli();

interface Agent {
  /** Its files in a project; the guard is in `guard.sh`. */
  readonly files: Readonly<Record<string, unknown>>;
  /** What stands in what the guard reads of a command. */
  readonly reads: string;
  /** How it denies what is dangerous, in the shell. */
  readonly denies: string;
  /** How it changes every other command to "safe", if it can. */
  readonly changes?: string;
  /** Its groups of BeforeTool, as they are here. */
  readonly becomes: readonly object[];
  /** What is told, by path. */
  readonly told?: Readonly<Record<string, RegExp>>;
}

const say = (answer: object) => `echo '${JSON.stringify(answer)}'`;
const EXIT = 'echo no >&2; exit 2';
const DENIES = say({
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision: 'deny',
    permissionDecisionReason: 'no',
  },
});
const CHANGES = say({
  hookSpecificOutput: {
    hookEventName: 'PreToolUse',
    permissionDecision: 'allow',
    updatedInput: { command: 'safe' },
  },
});

const command = 'sh ./guard.sh';
const inGroups = (matcher: string, more: object = {}) => ({
  PreToolUse: [{ matcher, hooks: [{ type: 'command', command, ...more }] }],
});
const read = (matcher: string | undefined, more: object = {}) => ({
  ...(matcher !== undefined && { matcher }),
  hooks: [{ type: 'command', command, ...more }],
});

const AGENTS: Partial<Record<DialectName, Agent>> = {
  codex: {
    files: {
      '.codex/hooks.json': {
        hooks: { ...inGroups('Bash', { timeout: 5 }), Interrupt: [{ hooks: [{ command }] }] },
      },
      '.codex/config.toml': 'model = "x"\n\n[[hooks.PreToolUse]]\nmatcher = "Bash"\n',
    },
    reads: '"tool_name":"Bash"',
    denies: DENIES,
    changes: CHANGES,
    becomes: [read('Bash', { timeout: 5 })],
    told: {
      hooks: /TOML are not read: write them into \.codex\/hooks\.json/u,
      'hooks.Interrupt': /does not exist here/u,
    },
  },
  copilot: {
    files: {
      '.github/hooks/a.json': {
        version: 1,
        hooks: {
          PreToolUse: [
            {
              type: 'command',
              bash: command,
              powershell: 'guard.ps1',
              timeoutSec: 5,
              matcher: 'Bash',
            },
          ],
        },
      },
      '.github/hooks/b.json': {
        version: 1,
        hooks: {
          PreToolUse: [{ type: 'prompt', prompt: 'Fine?' }],
          preToolUse: [{ type: 'command', bash: 'other' }],
        },
      },
    },
    reads: '"tool_name":"Bash"',
    denies: DENIES,
    changes: CHANGES,
    becomes: [read('Bash', { timeout: 5 })],
    told: {
      'hooks.PreToolUse[0].powershell': /unknown key/u,
      'hooks.PreToolUse[0].type': /'prompt' cannot run here/u,
      'hooks.preToolUse': /write it as PreToolUse/u,
    },
  },
  vscode: {
    files: {
      '.github/hooks/a.json': {
        hooks: {
          preToolUse: [{ type: 'command', command, timeout: 5, windows: 'x', cwd: 'sub dir' }],
        },
      },
      'sub dir/guard.sh': 'exec sh ../guard.sh',
    },
    reads: '"tool_name":"runTerminalCommand"',
    denies: DENIES,
    changes: CHANGES,
    becomes: [read(undefined, { timeout: 5, command: `cd 'sub dir' && ${command}` })],
    told: { 'hooks.preToolUse[0].windows': /unknown key/u },
  },
  cursor: {
    files: {
      '.cursor/hooks.json': {
        version: 1,
        hooks: {
          preToolUse: [{ command, timeout: 5, matcher: 'Shell', failClosed: true, loop_limit: 1 }],
          beforeShellExecution: [{ command: 'other' }],
        },
      },
    },
    reads: '"tool_name":"Shell"',
    denies: say({ permission: 'deny', agent_message: 'no' }),
    changes: say({ permission: 'allow', updated_input: { command: 'safe' } }),
    becomes: [read('Shell', { timeout: 5, onFailure: 'deny' })],
    told: {
      'hooks.preToolUse[0].loop_limit': /unknown key/u,
      'hooks.beforeShellExecution': /this event of Cursor does not exist here/u,
    },
  },
  antigravity: {
    files: {
      '.agents/hooks.json': {
        'my.guard': inGroups('run_command', { timeout: 5 }),
        off: { enabled: false, ...inGroups('*', { command: 'other' }) },
        more: { Stop: [{ type: 'prompt', prompt: 'Done?' }] },
      },
    },
    reads: '"CommandLine":',
    denies: say({ decision: 'deny', reason: 'no' }),
    becomes: [read('run_command', { timeout: 5, name: 'my.guard' })],
    told: { 'off.enabled': /switched off/u, 'more.Stop[0].type': /'prompt' cannot run here/u },
  },
  droid: {
    files: {
      '.factory/hooks.json': { hooks: inGroups('Execute', { timeout: 5 }) },
      '.factory/settings.json': { model: 'x', hooks: inGroups('Create', { command: 'true' }) },
    },
    reads: '"tool_name":"Execute"',
    denies: DENIES,
    changes: CHANGES,
    becomes: [read('Execute', { timeout: 5 }), read('Create', { command: 'true' })],
    told: { model: /is not a setting of hooks/u },
  },
  qwen: {
    files: { '.qwen/settings.json': { hooks: inGroups('run_shell_command', { timeout: 5000 }) } },
    reads: '"tool_name":"run_shell_command"',
    denies: DENIES,
    becomes: [read('run_shell_command', { timeout: 5000 })],
  },
  openhands: {
    files: { '.openhands/hooks.json': { hooks: inGroups('terminal') } },
    reads: '"tool_name":"terminal"',
    denies: EXIT,
    becomes: [read('terminal')],
  },
  devin: {
    files: { '.devin/hooks.v1.json': inGroups('exec', { timeout: 5, if: undefined }) },
    reads: '"tool_name":"exec"',
    denies: EXIT,
    changes: CHANGES,
    becomes: [read('exec', { timeout: 5 })],
  },
  windsurf: {
    files: {
      '.windsurf/hooks.json': {
        hooks: {
          pre_run_command: [{ command, show_output: true, working_directory: '.' }],
          post_setup_worktree: [{ command: 'other' }],
        },
      },
    },
    reads: '"command_line":',
    denies: EXIT,
    becomes: [read('^run_shell_command$', { command: `cd '.' && ${command}` })],
    told: {
      'hooks.pre_run_command[0].show_output': /unknown key/u,
      'hooks.post_setup_worktree': /does not exist here/u,
    },
  },
  kiro: {
    files: {
      '.kiro/hooks/a.json': {
        version: 'v1',
        hooks: [
          {
            name: 'shell guard',
            trigger: 'PreToolUse',
            matcher: 'execute_bash',
            action: { type: 'command', command },
            timeout: 5,
          },
          { name: 'off', trigger: 'Stop', enabled: false, action: { type: 'command', command } },
        ],
      },
      '.kiro/hooks/b.json': {
        version: 'v1',
        hooks: [
          { name: 'ask', trigger: 'PreToolUse', action: { type: 'agent', prompt: 'Fine?' } },
          { name: 'task', trigger: 'PreTaskExec', action: { type: 'command', command } },
        ],
      },
    },
    reads: '"tool_name":"execute_bash"',
    denies: EXIT,
    becomes: [read('execute_bash', { name: 'shell guard', timeout: 5 })],
    told: {
      'hooks[1].enabled': /switched off/u,
      'hooks[0].action.type': /'agent' cannot run here/u,
      'hooks.PreTaskExec': /does not exist here/u,
    },
  },
  goose: {
    files: {
      '.agents/plugins/guards/hooks/hooks.json': {
        hooks: inGroups('developer__shell', {
          command: 'sh "${PLUGIN_ROOT}/guard.sh"',
          timeout: 5,
          on_failure: 'block',
        }),
      },
      '.agents/plugins/guards/guard.sh': 'exec sh ./guard.sh',
    },
    reads: '"tool_name":"developer__shell"',
    denies: say({ decision: 'block', reason: 'no' }),
    becomes: [
      read('developer__shell', {
        command: 'sh "${PLUGIN_ROOT}/guard.sh"',
        timeout: 5,
        env: { PLUGIN_ROOT: './.agents/plugins/guards' },
        onFailure: 'deny',
      }),
    ],
  },
  cline: {
    files: {
      '.clinerules/hooks/PreToolUse': '#!/bin/sh\nexec sh ./guard.sh\n',
      '.clinerules/hooks/TaskResume': '#!/bin/sh\n',
      '.clinerules/hooks/PostToolUse': 'no program\n',
    },
    reads: '"hookName":"tool_call"',
    denies: say({ cancel: true, errorMessage: 'no' }),
    changes: say({ overrideInput: { commands: ['safe'] } }),
    becomes: [read(undefined, { command: '.clinerules/hooks/PreToolUse' })],
    told: { TaskResume: /does not exist here/u, PostToolUse: /chmod \+x/u },
  },
};

interface Move {
  added: number;
  present: number;
  remarks: { file: string; path: string; message: string; kind: string }[];
}

async function migrate(from: string, ...args: string[]): Promise<Move> {
  const { stdout } = await cli.run(['migrate', '--from', from, '--json', ...args]);
  const { files } = JSON.parse(stdout) as { files: [Move] };
  return files[0];
}

async function fire(line: string) {
  const tool = ['--tool', 'run_shell_command'];
  const input = ['--input', JSON.stringify({ command: line })];
  const { exitCode, stdout } = await cli.run([
    'fire',
    'BeforeTool',
    ...tool,
    ...input,
    '--json',
    '--trust',
  ]);
  return { exitCode, report: JSON.parse(stdout) as object };
}

const hooksOf = async () => loadSettingsFile(join(cli.project, '.llxprt/settings.json'));

describe.each(Object.entries(AGENTS))('migrate --from %s', (name, agent) => {
  const { files, reads, denies, changes = 'true', becomes, told = {} } = agent;

  it('takes its hooks over, tells what it does not, and they do the same here', async () => {
    const script = `input=$(cat)\ncase $input in\n*'${reads}'*) ;;\n*) exit 0 ;;\nesac\ncase $input in\n*danger*) ${denies} ;;\n*) ${changes} ;;\nesac\n`;
    await cli.write('guard.sh', script);
    for (const [file, content] of Object.entries(files)) {
      const path = await cli.write(file, content as string | object);
      if (typeof content === 'string' && content.startsWith('#!')) await chmod(path, 0o755);
    }
    const { remarks, added } = await migrate(name);
    expect(Object.fromEntries(remarks.map(({ path, message }) => [path, message]))).toEqual(
      Object.fromEntries(
        Object.entries(told).map(([path, says]) => [path, expect.stringMatching(says) as string]),
      ),
    );
    expect(added).toBe(becomes.length);
    const { settings, problems } = await hooksOf();
    expect(problems).toEqual([]);
    expect(settings.hooks.BeforeTool).toMatchObject(
      becomes.map((group) => ({ dialect: name, ...group })),
    );
    expect(await migrate(name)).toMatchObject({ added: 0, present: becomes.length });

    const denied = await fire('danger');
    expect(denied.exitCode).not.toBe(0);
    expect(denied.report).toMatchObject({ proceed: false });
    expect(JSON.stringify(denied.report)).toContain('"no"');
    const other = await fire('ls');
    expect(other.exitCode).toBe(0);
    const changed = { hookSpecificOutput: { tool_input: { command: 'safe' } } };
    expect(other.report).toMatchObject(agent.changes ? changed : { hookSpecificOutput: null });
  });
});

const guard = (line: string, more: object = {}) => ({
  hooks: { PreToolUse: [{ hooks: [{ type: 'command', command: line, ...more }] }] },
});

describe('migrate of plugins', () => {
  it('takes over their hooks with their folder in the environment, which then run', async () => {
    const line = 'sh "${CLAUDE_PLUGIN_ROOT}/guard.sh"';
    for (const name of ['a', 'b']) {
      await cli.write(`plugins/${name}/hooks/hooks.json`, guard(line));
      await cli.write(
        `plugins/${name}/guard.sh`,
        `grep -q danger-${name} && { echo "$CLAUDE_PLUGIN_ROOT" >&2; exit 2; }; exit 0`,
      );
    }
    const args = ['$CLAUDE_PLUGIN_ROOT/guard.sh', '--strict'];
    await cli.write('.claude/plugins/c/hooks/hooks.json', guard('sh', { args }));
    await cli.write('.claude/plugins/c/guard.sh', 'exit 0');
    await cli.write('hooks/hooks.json', guard('$CLAUDE_PLUGIN_DATA/x'));
    expect(await migrate('claude')).toMatchObject({
      added: 3,
      remarks: [{ kind: 'lost', message: expect.stringContaining('CLAUDE_PLUGIN_DATA') }],
    });
    const { settings } = await hooksOf();
    expect(settings.hooks.BeforeTool?.flatMap(({ hooks }) => hooks)).toMatchObject([
      { name: 'guard', command: line, env: { CLAUDE_PLUGIN_ROOT: './plugins/a' } },
      { name: 'guard-2', command: line, env: { CLAUDE_PLUGIN_ROOT: './plugins/b' } },
      { name: 'guard-3', command: 'sh', args: ['./.claude/plugins/c/guard.sh', '--strict'] },
    ]);
    expect(await migrate('claude')).toMatchObject({ added: 0, present: 3 });
    for (const name of ['a', 'b']) {
      const { exitCode, report } = await fire(`danger-${name}`);
      expect({ exitCode, report }).toMatchObject({
        exitCode: 2,
        report: { reason: `./plugins/${name}` },
      });
    }
  });

  it.each<[DialectName, string, string, object]>([
    ['codex', 'hooks/hooks.json', '$PLUGIN_ROOT/x', { env: { PLUGIN_ROOT: '.' } }],
    ['droid', 'hooks/hooks.json', '${DROID_PLUGIN_ROOT}/x', { env: { DROID_PLUGIN_ROOT: '.' } }],
    [
      'gemini',
      '.gemini/extensions/e/hooks/hooks.json',
      'sh ${extensionPath}/x',
      { command: 'sh ./.gemini/extensions/e/x' },
    ],
    [
      'qwen',
      '.qwen/extensions/e/hooks/hooks.json',
      '${extensionPath}/x',
      { command: './.qwen/extensions/e/x' },
    ],
  ])('takes over those of %s', async (from, file, line, becomes) => {
    const { hooks } = guard(line);
    const named = from === 'gemini' ? { BeforeTool: hooks.PreToolUse } : hooks;
    await cli.write(file, { hooks: named });
    expect(await migrate(from)).toMatchObject({ added: 1, remarks: [] });
    expect((await hooksOf()).settings.hooks.BeforeTool).toMatchObject([{ hooks: [becomes] }]);
  });

  it.each([
    ['dots', '"$CLAUDE_PLUGIN_ROOT"/../../../x'],
    ['a link of its own', 'sh $CLAUDE_PLUGIN_ROOT/out/x'],
    ['a link in its place', 'sh $CLAUDE_PLUGIN_ROOT/x'],
  ])('leaves and tells what leads out of the project, by %s', async (what, line) => {
    const outside = join(cli.home, 'elsewhere');
    const isLinked = what === 'a link in its place';
    const folder = isLinked ? outside : join(cli.project, 'plugins/a');
    await cli.write(join(folder, 'hooks/hooks.json'), guard(line));
    await cli.write(join(outside, 'x'), '');
    await mkdir(join(cli.project, 'plugins'), { recursive: true });
    await (isLinked
      ? symlink(outside, join(cli.project, 'plugins/a'))
      : symlink(outside, join(folder, 'out')));
    expect(await migrate('claude')).toMatchObject({
      added: 0,
      remarks: [{ kind: 'lost', message: expect.stringMatching(/leads? out of the project/u) }],
    });
    await expect(cli.read('.llxprt/settings.json')).rejects.toThrow('ENOENT');
  });
});

it('starts hooks of a person’s own file where that agent does', async () => {
  await cli.write(join(cli.home, '.cursor/hooks.json'), {
    version: 1,
    hooks: { preToolUse: [{ command: './guard.sh' }] },
  });
  await migrate('cursor', '--scope', 'user');
  const { settings } = await loadSettingsFile(join(cli.home, '.llxprt/settings.json'));
  expect(settings.hooks.BeforeTool).toMatchObject([
    { hooks: [{ command: `cd '${join(cli.home, '.cursor')}' && ./guard.sh` }] },
  ]);
});
