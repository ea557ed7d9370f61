import { spawn, type ChildProcessWithoutNullStreams } from 'node:child_process';
import { once } from 'node:events';
import { tmpdir } from 'node:os';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import {
  findByTraces,
  findDescendants,
  readProcessTable,
  stillThere,
} from '../../src/process/command/processTable.js';
import { readPipes } from '../../src/process/command/runningCommand.js';
import { withTempDir } from './helpers.js';

const MARK = 'HOOKSTACK_RUN_ID=process-table-test';

/** Starts a shell in a group of its own. It is killed after the test. */
async function startShell(command: string, env: Record<string, string> = {}) {
  const shell = spawn('sh', ['-c', command], {
    detached: true,
    env: { PATH: process.env['PATH'], ...env },
  });
  onTestFinished(() => void process.kill(-pidOf(shell), 'SIGKILL'));
  await once(shell, 'spawn');
  return shell;
}

function pidOf({ pid }: ChildProcessWithoutNullStreams): number {
  if (pid === undefined) throw new Error('There is no process');
  return pid;
}

/** What a command leaves that was started just now. */
function tracesOf(shell: ChildProcessWithoutNullStreams, startedAt = 0) {
  return { id: pidOf(shell), mark: 'NOBODY=has this', pipes: readPipes(pidOf(shell)), startedAt };
}

const pidsOf = (found: readonly { pid: number }[]) => found.map(({ pid }) => pid);

describe('a process', () => {
  it('is found by what it writes to, but not when it was there before the command', async () => {
    const shell = await startShell('sleep 300');
    const traces = tracesOf(shell);
    expect(pidsOf(findByTraces([traces]))).toContain(pidOf(shell));
    const later = { ...traces, startedAt: process.uptime() + 1 };
    expect(findByTraces([later])).toEqual([]);
  });

  it('is found by what it writes to also where it has closed one of both', async () => {
    const shell = await startShell('exec 2>&-; echo ready; sleep 300');
    await once(shell.stdout, 'data');
    expect(readPipes(pidOf(shell))).toHaveLength(1);
  });

  it('is found by its environment, and this one never is', async () => {
    const [name = '', value = ''] = MARK.split('=');
    const shell = await startShell('sleep 300; true', { [name]: value });
    const traces = { id: 0, mark: MARK, pipes: readPipes(process.pid), startedAt: 0 };
    await vi.waitFor(() => expect(pidsOf(findByTraces([traces]))).toContain(pidOf(shell)));
    expect(pidsOf(findByTraces([traces]))).not.toContain(process.pid);
  });

  it('is found as a descendant, in whatever session', async () => {
    const shell = await startShell('setsid sh -c "sleep 300; true" & wait');
    await vi.waitFor(() => expect(findDescendants([{ id: pidOf(shell) }])).toHaveLength(3));
    const outside = findDescendants([{ id: pidOf(shell) }]).filter(
      ({ pid }) => groupOf(pid) !== pidOf(shell),
    );
    expect(outside).toHaveLength(2);
    onTestFinished(() => {
      for (const { pid } of outside) process.kill(pid, 'SIGKILL');
    });
  });

  it('is no longer itself when another has its pid', async () => {
    const shell = await startShell('sleep 300');
    const found = findByTraces([tracesOf(shell)]);
    expect(stillThere(found)).toEqual(found);
    expect(stillThere(found.map(({ pid }) => ({ pid, identity: 'another' })))).toEqual([]);
  });
});

function groupOf(wanted: number): number | undefined {
  return readProcessTable()?.find(({ pid }) => pid === wanted)?.groupId;
}

describe('the process table', () => {
  it('is what ps prints where there is none to read, or an empty one', async () => {
    const [name = '', value = ''] = MARK.split('=');
    const shell = await startShell('sleep 300; true', { [name]: value });
    await withTempDir(async (empty) => {
      for (const proc of [empty, `${empty}/none`]) {
        // That of Linux takes a flag without a dash for the environment.
        const table = readProcessTable(proc, ['e']);
        expect(table).toContainEqual(expect.objectContaining({ pid: process.pid }));
        const entry = table?.find(({ pid }) => pid === pidOf(shell));
        expect(entry).toMatchObject({
          parentId: process.pid,
          groupId: pidOf(shell),
          hasEnded: false,
        });
        expect(entry?.environment()).toContain(MARK);
        expect(entry?.environment()).not.toContain('NOBODY=has this');
      }
    });
  });

  it('is none where ps does not know its flags either', () => {
    expect(readProcessTable(`${tmpdir()}/none`, ['--no-such-flag'])).toBeUndefined();
  });
});
