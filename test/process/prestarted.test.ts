import { readFile, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, describe, expect, it, vi } from 'vitest';
import {
  countHeld,
  dropHeld,
  holdAtStdin,
  takeHeld,
} from '../../src/process/command/heldCommands.js';
import { runCommand } from '../../src/process/command/runCommand.js';
import { isRunning, withTempDir } from './helpers.js';

afterEach(() => void dropHeld());

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
      const options = {
        command: 'echo $$ >pid; read -r line; echo "$$ $line"',
        cwd,
        env,
        prestart: true,
      };
      holdAtStdin(options, never);
      const pid = await readPid(path.join(cwd, 'pid'));
      const input = Buffer.from('hello\n');
      const outcome = await runCommand({ ...options, input, timeoutMs: 5_000 });
      expect(outcome).toMatchObject({ ending: 'exit', exitCode: 0, stdout: `${pid} hello\n` });
    });
  });

  it('has its time from the input on', async () => {
    await withTempDir(async (cwd) => {
      const options = {
        command: 'echo $$ >pid; cat >/dev/null; sleep 60',
        cwd,
        env,
        prestart: true,
      };
      holdAtStdin(options, never);
      const pid = await readPid(path.join(cwd, 'pid'));
      const run = { ...options, input: Buffer.from(''), timeoutMs: 200 };
      const outcome = await runCommand(run);
      expect(outcome.ending).toBe('timeout');
      expect(outcome.durationMs).toBeGreaterThanOrEqual(200);
      expect(isRunning(pid)).toBe(false);
    });
  });

  it('serves no command, directory or environment but its own', async () => {
    await withTempDir(async (cwd) => {
      const options = { command: 'cat', cwd, env, prestart: true };
      holdAtStdin(options, never);
      expect(takeHeld({ ...options, command: 'cat ' })).toBeUndefined();
      expect(takeHeld({ ...options, cwd: path.dirname(cwd) })).toBeUndefined();
      expect(takeHeld({ ...options, env: {} })).toBeUndefined();
      expect(takeHeld({ ...options, extraEnv: { A: '1' } })).toBeUndefined();
    });
  });

  it('is given up after it has ended early four times, once', async () => {
    await withTempDir(async (cwd) => {
      const onGivingUp = vi.fn<() => void>();
      const options = { command: 'echo started >>log', cwd, env, prestart: true };
      for (let round = 1; round <= 4; round++) {
        holdAtStdin(options, onGivingUp);
        await vi.waitFor(() => expect(countHeld(cwd)).toBe(0));
      }
      holdAtStdin(options, onGivingUp);
      const log = await readFile(path.join(cwd, 'log'), 'utf8');
      expect(log).toBe('started\n'.repeat(4));
      expect(onGivingUp).toHaveBeenCalledOnce();
    });
  });

  it('is ended when it is dropped', async () => {
    await withTempDir(async (cwd) => {
      await writeFile(path.join(cwd, 'wait'), 'echo $$ >pid; cat >/dev/null; sleep 60');
      holdAtStdin({ command: 'bash wait', cwd, env, prestart: true }, never);
      expect(
        takeHeld({ command: 'bash wait', args: [], cwd, env, prestart: true }),
      ).toBeUndefined();
      const pid = await readPid(path.join(cwd, 'pid'));
      dropHeld(cwd);
      await vi.waitFor(() => expect(isRunning(pid)).toBe(false));
    });
  });
});
