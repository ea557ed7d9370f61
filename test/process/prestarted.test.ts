import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  dropPrestarted,
  isPrestarted,
  prestart,
  takePrestarted,
} from '../../src/process/prestarted.js';
import { runCommand } from '../../src/process/runCommand.js';
import { isRunning, withTempDir } from './helpers.js';

afterEach(() => dropPrestarted());

const env = { PATH: process.env['PATH'] };
const never = () => expect.unreachable();

async function readPid(file: string): Promise<number> {
  return vi.waitFor(async () => {
    const pid = Number(await readFile(file, 'utf8'));
    expect(pid).toBeGreaterThan(0);
    return pid;
  });
}

describe('a command that is started ahead', () => {
  it('runs before its input comes, and is the one that gets it', async () => {
    await withTempDir(async (cwd) => {
      const options = { command: 'echo $$ >pid; read -r line; echo "$$ $line"', cwd, env };
      await prestart(options, never);
      const pid = await readPid(path.join(cwd, 'pid'));
      const input = Buffer.from('hello\n');
      const outcome = await runCommand({ ...options, input, timeoutMs: 5_000, prestart: true });
      expect(outcome).toMatchObject({ ending: 'exit', exitCode: 0, stdout: `${pid} hello\n` });
    });
  });

  it('has its time from the input on', async () => {
    await withTempDir(async (cwd) => {
      const options = { command: 'echo $$ >pid; cat >/dev/null; sleep 60', cwd, env };
      await prestart(options, never);
      const pid = await readPid(path.join(cwd, 'pid'));
      const run = { ...options, input: Buffer.from(''), timeoutMs: 200, prestart: true };
      const outcome = await runCommand(run);
      expect(outcome.ending).toBe('timeout');
      expect(outcome.durationMs).toBeGreaterThanOrEqual(200);
      expect(isRunning(pid)).toBe(false);
    });
  });

  it('serves no command, directory or environment but its own', async () => {
    await withTempDir(async (cwd) => {
      const options = { command: 'cat', cwd, env };
      await prestart(options, never);
      expect(await takePrestarted({ ...options, command: 'cat ' })).toBeUndefined();
      expect(await takePrestarted({ ...options, cwd: path.dirname(cwd) })).toBeUndefined();
      expect(await takePrestarted({ ...options, env: {} })).toBeUndefined();
      expect(await takePrestarted({ ...options, extraEnv: { A: '1' } })).toBeUndefined();
    });
  });

  it('is given up after it has ended early four times, once', async () => {
    await withTempDir(async (cwd) => {
      const onGivingUp = vi.fn<() => void>();
      const options = { command: 'echo started >>log', cwd, env };
      for (let round = 1; round <= 4; round++) {
        await prestart(options, onGivingUp);
        await vi.waitFor(() => expect(isPrestarted(options)).toBe(false));
      }
      await prestart(options, onGivingUp);
      const log = await readFile(path.join(cwd, 'log'), 'utf8');
      expect(log).toBe('started\n'.repeat(4));
      expect(onGivingUp).toHaveBeenCalledOnce();
    });
  });

  it('is ended when it is dropped', async () => {
    await withTempDir(async (cwd) => {
      await writeFile(path.join(cwd, 'wait'), 'echo $$ >pid; cat >/dev/null; sleep 60');
      await prestart({ command: 'bash wait', cwd, env }, never);
      expect(isPrestarted({ command: 'bash wait', args: [], cwd, env })).toBe(false);
      const pid = await readPid(path.join(cwd, 'pid'));
      dropPrestarted(cwd);
      await vi.waitFor(() => expect(isRunning(pid)).toBe(false));
    });
  });
});
