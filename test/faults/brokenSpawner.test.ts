import { expect, describe, vi } from 'vitest';
import { spawnerStatus } from '../helpers/lookAtSpawner.js';
import { hook } from '../helpers/hooks.js';
import { useSpawnerProgram } from '../helpers/spawnerProgram.js';
import { isRunning } from '../process/helpers.js';
import { fixture } from './helpers/childHost.js';
import { fault, TIMED, type Host } from './helpers/host.js';

// What no hook can make it do: a spawner that does not keep to its own protocol.
useSpawnerProgram(fixture('brokenSpawner.mjs'));

const GUARD = { onFailure: 'deny' } as const;
const WAIT = { timeout: 10_000, interval: 10 };

/** Calls once it is there that runs the hook, and says which it is. */
async function call(host: Host, command: string) {
  const hooks = { BeforeTool: [{ hooks: [hook(command, { ...GUARD, timeout: 300 })] }] };
  const hooksRunner = { warmShells: 0, spawner: true };
  const config = host.createConfig({ hooks, hooksRunner });
  if (!spawnerStatus()) {
    const other = { BeforeTool: [{ hooks: [hook('true')] }] };
    await host.callToolOf(host.createConfig({ hooks: other, hooksRunner }));
  }
  await expect.poll(() => spawnerStatus()?.pid, WAIT).toBeGreaterThan(0);
  const pid = spawnerStatus()?.pid ?? 0;
  return { ...(await host.callToolOf(config)), pid };
}

describe('a spawner', TIMED, () => {
  fault('that answers twice is heard once', async ({ host }) => {
    expect(await call(host, 'twice')).toMatchObject({ verdict: 'blocked' });
    expect(await call(host, 'twice')).toMatchObject({ verdict: 'blocked' });
    expect(host.runWarnings).toEqual([]);
  });

  fault.for([
    ['answers for another hook', 'other', /did not tell of its end/],
    ['answers with half a message, and ends', 'half', /ended with exit code 0/],
    ['writes something else', 'text', /wrote what cannot be read/],
    ['writes a message that is none', 'null', /wrote what cannot be read/],
    ['leaves the outcome out', 'outcome', /wrote what cannot be read/],
    ['writes 100 MB', 'long', /wrote what cannot be read/],
  ] as const)('that %s has failed, and a guard denies', async ([, command, why], { host }) => {
    const { verdict, text, pid, answerMs } = await call(host, command);
    expect(verdict).toBe('blocked');
    expect(text).toMatch(why);
    expect(answerMs).toBeLessThan(10_000);
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), WAIT);
    expect(await call(host, 'exit 2')).toMatchObject({ verdict: 'blocked' });
  });

  fault('that writes something between two events is not used again', async ({ host }) => {
    const { verdict, pid } = await call(host, 'between');
    expect(verdict).toBe('blocked');
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), WAIT);
    expect(await call(host, 'exit 2')).toMatchObject({ verdict: 'blocked' });
    expect(host.runWarnings).toEqual([]);
  });
});
