import { spawnSync } from 'node:child_process';
import { chmod, mkdir, writeFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { describe, expect, it } from 'vitest';
import { Cli, MAIN } from './helpers.js';
import { common, haveHook, SAID, sendToProgram } from './hookHelpers.js';

const cli = new Cli();

const call = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'ls' } };
const result = { ...call, hook_event_name: 'PostToolUse', tool_response: 'out' };

/** An extension of the user, with middleware around events. */
async function haveModule(text: string): Promise<void> {
  const middleware = [{ module: './guard.mjs', stack: 'hook' }];
  await cli.extension('user', 'guard', { middleware }, { 'guard.mjs': text });
  await haveHook(cli);
}

describe('code of an extension that fails when nobody waits for it', () => {
  it.each([
    ['in a timer', `setTimeout(() => { throw new Error('broken\\nguard'); })`],
    ['in a promise that nobody has', `Promise.reject(new Error('broken guard'))`],
  ])('blocks what can be blocked: %s', async (_what, fault) => {
    await haveModule(`export default async (ctx, next) => {
      ${fault};
      await next();
      if (ctx.event !== 'AfterTool') await new Promise((resolve) => setTimeout(resolve, 300));
    };`);
    const { exitCode, json } = await sendToProgram(cli, 'claude', call);
    expect(exitCode).toBe(0);
    expect(json).toMatchObject({
      hookSpecificOutput: {
        permissionDecision: 'deny',
        permissionDecisionReason: expect.stringMatching(
          /^The hooks could not be asked: broken\sguard/u,
        ) as string,
      },
    });
    expect(await sendToProgram(cli, 'claude', result)).toMatchObject({ exitCode: 0, json: {} });
  });

  it('blocks also where an answer never comes after that', async () => {
    await haveModule(`export default async (ctx, next) => {
      setTimeout(() => { throw new Error('broken\\nguard'); });
      await new Promise((resolve) => setTimeout(resolve, 1e6));
    };`);
    expect(await sendToProgram(cli, 'claude', call)).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: 'Blocked, as an extension failed: broken guard',
    });
  });

  it('blocks where it ends the process', async () => {
    await haveModule('export default async () => process.exit(0);');
    expect(await sendToProgram(cli, 'claude', call)).toMatchObject({
      exitCode: 2,
      stdout: '',
      stderr: 'Blocked, as the process ended before the hooks had answered',
    });
    expect(await sendToProgram(cli, 'claude', result)).toMatchObject({ exitCode: 0, stdout: '' });
  });

  it('ends hooks that run', async () => {
    await haveModule(
      `export default async (ctx, next) => {
        setTimeout(() => { throw new Error('broken guard'); }, 300);
        await next();
      };`,
    );
    await haveHook(cli, { command: 'echo $$ > pid; exec sleep 1000' });
    const { json } = await sendToProgram(cli, 'gemini', { ...call, hook_event_name: 'BeforeTool' });
    expect(json).toMatchObject({ decision: 'deny' });
    const pid = Number(await cli.read('pid'));
    expect(() => process.kill(pid, 0)).toThrow('ESRCH');
  });
});

it('keeps what an extension prints out of the answer', async () => {
  await haveModule(`console.log('loaded');
    export default async (ctx, next) => {
      process.stdout.write('{"before":1}');
      await next();
      console.log('{}');
    };`);
  await haveHook(cli, { command: 'echo no >&2; exit 2' });
  const { exitCode, json, stderr } = await sendToProgram(cli, 'claude', call);
  expect(exitCode).toBe(0);
  expect(json).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
  expect(stderr).toContain('loaded');
});

it('does not wait for an extension once there is an answer', async () => {
  await haveModule(
    'setInterval(() => {}, 1000); export default async (ctx, next) => { await next(); };',
  );
  const { exitCode, json } = await sendToProgram(cli, 'claude', call, SAID.block);
  expect(exitCode).toBe(0);
  expect(json).toMatchObject({ hookSpecificOutput: { permissionDecision: 'deny' } });
});

function runShell(command: string, input = '') {
  const env = { ...process.env, HOME: cli.home, NO_COLOR: '1' };
  const ended = spawnSync('bash', ['-c', command], { cwd: cli.project, env, input });
  return { exitCode: ended.status, stderr: ended.stderr.toString() };
}

const HOOK = `'${process.execPath}' '${MAIN}' hook --from claude`;

describe('an agent that is not there any more', () => {
  it('is blocked where it does not read the answer', async () => {
    await haveHook(cli);
    await cli.write('said.json', SAID.block);
    const input = JSON.stringify({ ...common(cli), ...call });
    const command = `${HOOK} | exec true; exit "\${PIPESTATUS[0]}"`;
    expect(runShell(command, input)).toEqual({
      exitCode: 2,
      stderr: expect.stringMatching(/^Blocked, .*no$/mu) as string,
    });
  });

  it.each([
    ['closed', '<&-'],
    ['a folder', '< /'],
    ['without an end', '< /dev/zero'],
  ])('blocks where its input is %s', async (_what, redirection) => {
    await haveHook(cli, { onFailure: 'deny', name: 'guard' });
    expect(runShell(`${HOOK} ${redirection}`)).toEqual({
      exitCode: 2,
      stderr: expect.stringContaining('Blocked, as hooks could not be asked ("guard")') as string,
    });
  });
});

it('says that a folder which cannot be used is that of the event', async () => {
  await haveHook(cli);
  const closed = `${cli.project}/closed`;
  await mkdir(`${closed}/further`, { recursive: true });
  const isRoot = process.getuid?.() === 0;
  await chmod(closed, isRoot ? 0o700 : 0);
  await chmod(dirname(cli.project), 0o755);
  await writeFile(
    `${cli.project}/event.json`,
    JSON.stringify({ ...call, cwd: `${closed}/further` }),
  );
  const asNobody = isRoot ? 'setpriv --reuid=65534 --clear-groups ' : '';
  const command = `${asNobody}${HOOK} < event.json`;
  const { stdout } = spawnSync('bash', ['-c', command], {
    cwd: cli.project,
    env: { ...process.env, HOME: cli.home },
  });
  await chmod(closed, 0o700);
  const said = stdout.toString();
  expect(said).toContain(`the \\"cwd\\" of the event, ${closed}/further cannot be used`);
  expect(said).toContain('"permissionDecision":"deny"');
});
