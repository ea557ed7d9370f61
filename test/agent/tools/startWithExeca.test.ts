import { describe, expect, it, vi } from 'vitest';
import { startWithExeca } from '../../../src/agent/tools/startWithExeca.js';
import { runCommand } from '../../../src/process/command/runCommand.js';
import { isRunning } from '../../process/helpers.js';
import { useTemporaryWorkspace } from './temporaryWorkspace.js';

const workspace = useTemporaryWorkspace();

function run(command: string, cwd = workspace.workingDir, timeoutMs = 500) {
  const input = new Uint8Array();
  return runCommand({ command, cwd, input, env: process.env, timeoutMs, start: startWithExeca });
}

describe('a command that execa has started', () => {
  it('is ended with what it has started when its time is over, and keeps what it said', async () => {
    const outcome = await run('echo begun; sleep 300 & echo $! > pid; wait');
    expect(outcome).toMatchObject({ ending: 'timeout', signal: 'SIGTERM', stdout: 'begun\n' });
    const pid = Number(await workspace.read('pid'));
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), { timeout: 10_000 });
  });

  it('does not make its caller wait for a process that holds the output', async () => {
    const outcome = await run('sleep 300 & echo done', workspace.workingDir, 60_000);
    expect(outcome).toMatchObject({ ending: 'exit', stdout: 'done\n', stragglers: true });
  });

  it('says why a shell cannot be started', async () => {
    const { ending, error } = await run('true', '/there/is/none');
    expect(ending).toBe('spawn-failed');
    expect(error).toMatchObject({ code: 'ENOENT' });
    expect(error?.message).toContain('there is no such directory');
  });
});
