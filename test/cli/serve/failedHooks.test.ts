import { once } from 'node:events';
import { afterEach, describe, expect, it } from 'vitest';
import type { CommandHookConfig, HookDefinition } from '../../../src/protocol/types.js';
import { hook, saying } from '../../helpers/hooks.js';
import { Cli } from '../helpers.js';

const cli = new Cli();
const running: ReturnType<Cli['start']>[] = [];

afterEach(async () => {
  for (const each of running.splice(0)) {
    each.kill('SIGKILL');
    await each;
  }
});

/** Starts a policy server with these hooks, and says where it is. */
async function serve(...hooks: CommandHookConfig[]): Promise<string> {
  // A file of its own: what is written into it counts at once.
  const file = `server-${running.length}.json`;
  const settings = await cli.write(file, { enableHooks: true, hooks: { BeforeTool: [{ hooks }] } });
  const server = cli.start(['serve', '--settings', settings, '--listen', '127.0.0.1:0']);
  running.push(server);
  const ended = server.then(({ stderr }) => Promise.reject(new Error(String(stderr))));
  const [line] = (await Promise.race([once(server.stdout!, 'data'), ended])) as [Buffer];
  return /http:\S+/u.exec(line.toString())?.[0] ?? '';
}

/** What an agent comes to whose hook asks a server. */
async function fire(
  url: string,
  guard: { readonly onFailure?: 'deny' } = {},
  dialect?: HookDefinition['dialect'],
) {
  const path = dialect ? 'claude' : 'events';
  const remote = { ...asking(`${url}/v1/${path}`), ...guard, timeout: dialect ? 20 : 20_000 };
  const group = { ...(dialect && { dialect }), hooks: [remote] };
  const settings = await cli.settings({ BeforeTool: [group] });
  const call = ['--tool', 'write_file', '--input', '{"file_path":"a","content":""}'];
  return cli.run(['fire', 'BeforeTool', '--settings', settings, ...call]);
}

function asking(url: string): CommandHookConfig {
  return { type: 'remote', command: '', name: 'central', url };
}

const GUARD = { onFailure: 'deny' } as const;

describe('an agent whose server has hooks that', () => {
  it.each([
    ['are missing', hook('./no-such-hook', { name: 'its-guard' })],
    ['crash', hook('exit 3', { name: 'its-guard' })],
    ['are late', hook('sleep 60', { name: 'its-guard', timeout: 100 })],
  ])('%s denies as a guard, and warns otherwise', async (_what, broken) => {
    const url = await serve(broken, saying({}));
    const guarded = await fire(url, GUARD);
    expect(guarded.exitCode).toBe(2);
    expect(guarded.stdout).toContain('whose own hooks have failed ("its-guard")');
    const plain = await fire(url);
    expect(plain.exitCode).toBe(0);
    expect(plain.stderr).toContain('whose own hooks have failed ("its-guard"): see what it logs');
  });

  it('ask another server, whose hooks crash, denies', async () => {
    const behind = await serve(hook('exit 3'));
    const url = await serve(asking(`${behind}/v1/events`));
    const guarded = await fire(url, GUARD);
    expect(guarded.exitCode).toBe(2);
    expect(guarded.stdout).toContain('whose own hooks have failed ("central")');
  });

  it('crash denies in the format of Claude Code, too', async () => {
    const guarded = await fire(await serve(hook('exit 3')), GUARD, 'claude');
    expect(guarded.exitCode).toBe(2);
    expect(guarded.stdout).toContain('whose own hooks have failed');
    expect(await fire(await serve(saying({})), GUARD, 'claude')).toMatchObject({ exitCode: 0 });
  });

  it('block by exit code 2 reads their reason', async () => {
    const guarded = await fire(await serve(hook('echo frozen >&2; exit 2')), GUARD);
    expect(guarded.exitCode).toBe(2);
    expect(guarded.stdout).toContain('blocked: frozen');
    expect(guarded.stdout + guarded.stderr).not.toContain('failed');
  });
});
