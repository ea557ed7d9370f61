import { describe, expect, it, vi } from 'vitest';
import { runInShell } from '../../../src/agent/tools/runInShell.js';
import { useTemporaryWorkspace } from './temporaryWorkspace.js';

const workspace = useTemporaryWorkspace();

describe('a command in a shell', () => {
  it('is ended with what it has started when its time is over, and keeps what it said', async () => {
    const run = await runInShell({
      command: 'echo begun; sleep 300 & echo $! > pid; wait',
      cwd: workspace.workingDir,
      timeoutMs: 500,
    });
    expect(run).toMatchObject({ interruption: 'timeout', signal: 'SIGTERM', stdout: 'begun\n' });
    const pid = Number(await workspace.read('pid'));
    await vi.waitFor(() => expect(() => process.kill(pid, 0)).toThrow('ESRCH'));
  });

  it('is not started for a call that is aborted', async () => {
    const signal = AbortSignal.abort(new Error('not wanted'));
    const run = runInShell({
      command: 'echo > there',
      cwd: workspace.workingDir,
      timeoutMs: 500,
      signal,
    });
    await expect(run).rejects.toThrow('not wanted');
    await expect(workspace.read('there')).rejects.toThrow('ENOENT');
  });

  it('rejects where the shell cannot be started', async () => {
    const run = runInShell({ command: 'true', cwd: '/there/is/none', timeoutMs: 500 });
    await expect(run).rejects.toMatchObject({ code: 'ENOENT' });
  });
});
