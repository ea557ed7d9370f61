import { describe, expect, it } from 'vitest';
import type { HookDefinition } from '../../src/protocol/types.js';
import { Cli } from './helpers.js';

const cli = new Cli();

const NO_PUSH = {
  type: 'rule',
  command: '',
  name: 'no-push',
  decision: 'deny',
  reason: 'People push.',
} as const;
const GROUP: HookDefinition = { when: ['Bash(git push *)', 'Read(**/.env*)'], hooks: [NO_PUSH] };

function ofShell(command: string): string[] {
  return ['BeforeTool', '--tool', 'run_shell_command', '--input', JSON.stringify({ command })];
}

describe('rules on the command line', () => {
  it('explain says what of a call matches which pattern', async () => {
    await cli.userSettings({ BeforeTool: [GROUP] });
    const { stdout } = await cli.run(['explain', ...ofShell('cd x && git -C a push -f')]);
    expect(stdout).toContain('rule: deny, "People push."');
    expect(stdout).toContain('when: Bash(git push *) matches "git -C a push -f"');
    expect(stdout).not.toContain('Variables');
    const other = await cli.run(['explain', ...ofShell('ls')]);
    expect(other.stdout).toContain(
      'no-push: its condition does not match this call: Bash(git push *), Read(**/.env*)',
    );
    const untried = await cli.run(['explain', 'BeforeTool', '--tool', 'run_shell_command']);
    expect(untried.stdout).toContain('not tried: give the arguments with --input');
  });

  it('fire shows the verdict, and why a rule did not run', async () => {
    await cli.userSettings({ BeforeTool: [GROUP] });
    const denied = await cli.run(['fire', ...ofShell('cat .env')]);
    expect(denied.exitCode).toBe(2);
    expect(denied.stdout).toContain('Verdict: blocked: People push.');
    const passed = await cli.run(['fire', ...ofShell('git status')]);
    expect(passed.exitCode).toBe(0);
    expect(passed.stdout).toContain('no-push: its condition does not match this call');
  });

  it('doctor starts nothing for them, and names tools that a guard leaves out', async () => {
    const script = { type: 'command', name: 'protect-env', command: 'cat >/dev/null' } as const;
    const guard: HookDefinition = {
      matcher: '^read_file$',
      hooks: [{ ...script, onFailure: 'deny' }],
    };
    await cli.userSettings({ BeforeTool: [guard, GROUP] });
    const { exitCode, stdout } = await cli.run(['doctor']);
    expect(exitCode).toBe(0);
    expect(stdout).toContain('a rule, which starts nothing');
    expect(stdout.match(/does not see/g)).toHaveLength(1);
    expect(stdout).toMatch(/does not see read_many_files, glob, .*run_shell_command/);
  });

  it('doctor names what a matcher keeps from a pattern', async () => {
    const rule = { ...NO_PUSH, when: ['Read(.env)', 'Edit(.env)'] };
    await cli.userSettings({ BeforeTool: [{ matcher: '^run_shell_command$', hooks: [rule] }] });
    const { stdout } = await cli.run(['doctor']);
    expect(stdout).toMatch(/does not see read_file, .*NotebookRead, .*MultiEdit, .*apply_patch/);
  });

  it('list shows the condition', async () => {
    await cli.userSettings({ BeforeTool: [GROUP] });
    const { stdout } = await cli.run(['list']);
    expect(stdout).toContain('when: Bash(git push *), Read(**/.env*)');
    expect(stdout).not.toContain('command:');
  });

  it('a project brings them under consent, of which a plain yes is enough', async () => {
    await cli.projectSettings({ BeforeTool: [GROUP] });
    expect((await cli.run(['fire', ...ofShell('git push')])).exitCode).toBe(0);
    const { stdout } = await cli.run(['trust', '--yes']);
    expect(stdout).toContain('all of it is covered: a rule starts nothing');
    expect((await cli.run(['fire', ...ofShell('git push')])).exitCode).toBe(2);
  });

  it('of a project counts only with the conditions that were allowed, those of its group too', async () => {
    const rule = { ...NO_PUSH, when: 'Bash(git *)' };
    await cli.projectSettings({ BeforeTool: [{ when: 'Bash(* push *)', hooks: [rule] }] });
    const { stdout } = await cli.run(['trust', '--yes']);
    expect(stdout).toContain('groupWhen: "Bash(* push *)"');
    expect((await cli.run(['fire', ...ofShell('git push')])).exitCode).toBe(2);
    await cli.projectSettings({ BeforeTool: [{ when: 'Bash(nothing)', hooks: [rule] }] });
    const changed = await cli.run(['fire', ...ofShell('git push')]);
    expect(changed).toMatchObject({ exitCode: 2 });
    expect(changed.stdout).not.toContain('People push.');
  });

  it('one that has calls run with other arguments is open, as a plain yes covers no command', async () => {
    const rewriting = {
      type: 'rule',
      command: '',
      name: 'tidy',
      set: { command: './build.sh' },
    } as const;
    await cli.projectSettings({ BeforeTool: [{ when: 'Bash', hooks: [rewriting] }] });
    const { exitCode, stdout } = await cli.run(['trust', '--yes']);
    expect(exitCode).not.toBe(0);
    expect(stdout).toContain('because it has calls run with other arguments');
  });

  it('a pattern that cannot be read is told with its place', async () => {
    const group = { when: ['Bash(git push', 'Bash(ls)'], hooks: [NO_PUSH] };
    await cli.userSettings({ BeforeTool: [group] });
    const { exitCode, stdout } = await cli.run(['validate']);
    expect(exitCode).toBe(1);
    expect(stdout).toMatch(/settings\.json:\d+:\d+.*has a parenthesis that is not closed/s);
  });
});
