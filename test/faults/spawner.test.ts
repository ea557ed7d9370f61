import { readFileSync } from 'node:fs';
import { mkdir, rename } from 'node:fs/promises';
import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { describe, expect, vi } from 'vitest';
import { spawnerStatus } from '../helpers/lookAtSpawner.js';
import { hook } from '../helpers/hooks.js';
import { isRunning } from '../process/helpers.js';
import { fixture } from './helpers/childHost.js';
import { fault, TIMED, type Host } from './helpers/host.js';
import { commandOf, findProcesses, isExpecting, parentOf } from './helpers/leftovers.js';

const INDEX = fileURLToPath(new URL('../../dist/index.js', import.meta.url));

fault.override({ start: 'spawner' });

async function spawnerOf(): Promise<{ pid: number; runId: string }> {
  const found = spawnerStatus();
  if (found?.pid === undefined) throw new Error('there is no spawner');
  return { pid: found.pid, runId: found.runId };
}

/** Waits until the next hook is run by a spawner that is up and holds one. */
async function waitForHeld(count: number): Promise<void> {
  await expect.poll(() => spawnerStatus()?.held, { timeout: 10_000 }).toBe(count);
}

/** The commands of a host's processes, but for the spawner that came after, and what it holds for the next event. */
const leftOf = (host: Host) =>
  findProcesses(host.runId)
    .filter((pid) => ![pid, parentOf(pid)].includes(spawnerStatus()?.pid ?? 0))
    .map((pid) => `${pid} ${commandOf(pid)}`);

const GUARD = { onFailure: 'deny' } as const;

/** Starts a call whose hook runs, and waits until it does. */
async function startCall(host: Host, command: string, settings: object = {}) {
  const calling = host.callTool([hook(`echo >> runs; ${command}`, settings)]);
  await host.waitForFile('runs');
  return { calling };
}

describe('a spawner that dies', () => {
  fault(
    'while it owes an answer: the hook has failed, and nothing of it is left',
    async ({ host }) => {
      const { pid } = await spawnerOf();
      const { calling } = await startCall(host, 'setsid sleep 300 & sleep 300', GUARD);
      process.kill(pid, 'SIGKILL');
      const { verdict, text } = await calling;
      expect(verdict).toBe('blocked');
      expect(text).toContain('must not be bypassed');
      expect(text).toContain('the process that had started it ended with SIGKILL');
      expect(host.warnings).toEqual([expect.stringContaining('ended with SIGKILL')]);
      await vi.waitFor(() => expect(leftOf(host)).toEqual([]), { timeout: 3000 });
      expect(host.lines('runs')).toHaveLength(1);

      // The next one starts anew.
      expect(await host.callTool([hook('echo no >&2; exit 2')])).toMatchObject({
        verdict: 'blocked',
        text: 'no',
      });
      await waitForHeld(1);
      expect((await spawnerOf()).pid).not.toBe(pid);
    },
  );

  fault('while a shell runs what it expected: nothing of it is left', async ({ host }) => {
    const command = '[ -e again ] || exit 0; echo >> runs; setsid sleep 300 & sleep 300';
    expect(await host.callTool([hook(command, GUARD)])).toMatchObject({ verdict: 'allowed' });
    const findExpecting = () =>
      findProcesses(host.runId).filter(
        (pid) => isExpecting(pid) && commandOf(pid).includes('again'),
      );
    await expect.poll(findExpecting, { timeout: 10_000 }).toHaveLength(1);
    const [expecting] = findExpecting();
    await host.write('again', '');
    const calling = host.callTool([hook(command, GUARD)]);
    await host.waitForFile('runs');
    expect(findProcesses(host.runId)).toContain(expecting);
    const { pid } = await spawnerOf();
    process.kill(pid, 'SIGKILL');
    expect(await calling).toMatchObject({ verdict: 'blocked' });
    await vi.waitFor(() => expect(leftOf(host)).toEqual([]), { timeout: 3000 });
    expect(host.lines('runs')).toHaveLength(1);
  });

  fault('between events: the next hook runs, once', async ({ host }) => {
    for (let round = 1; round <= 10; round++) {
      await waitForHeld(1);
      const { pid } = await spawnerOf();
      process.kill(pid, 'SIGKILL');
      // At once, or when its end is known.
      if (round % 2) await setImmediate();
      const answer = await host.callTool([hook('echo >> runs; echo no >&2; exit 2', GUARD)]);
      expect(answer).toMatchObject({ verdict: 'blocked', text: 'no' });
      expect(host.lines('runs')).toHaveLength(round);
    }
    expect(host.warnings).toEqual([]);
  });

  fault('by the hook itself: that hook has failed, and the host lives', async ({ host }) => {
    const { verdict } = await host.callTool([hook('kill -KILL $PPID; sleep 300', GUARD)]);
    expect(verdict).toBe('blocked');
    expect(await host.callTool([hook('true')])).toMatchObject({ verdict: 'allowed' });
  });
});

describe('a spawner that hangs', TIMED, () => {
  fault('while it owes an answer: the hook has failed some seconds later', async ({ host }) => {
    const { pid } = await spawnerOf();
    const { calling } = await startCall(host, 'sleep 300', GUARD);
    process.kill(pid, 'SIGSTOP');
    const { verdict, text, answerMs } = await calling;
    expect(verdict).toBe('blocked');
    expect(text).toContain('does not answer any more');
    expect(answerMs).toBeLessThan(9_000);
    await vi.waitFor(() => expect(leftOf(host)).toEqual([]), { timeout: 3000 });
  });

  fault('between events: the next hook runs, once', async ({ host }) => {
    const { pid } = await spawnerOf();
    process.kill(pid, 'SIGSTOP');
    const answer = await host.callTool([hook('echo >> runs; echo no >&2; exit 2', GUARD)]);
    expect(answer).toMatchObject({ verdict: 'blocked', text: 'no' });
    expect(answer.answerMs).toBeLessThan(6_000);
    expect(host.lines('runs')).toHaveLength(1);
    expect(isRunning(pid)).toBe(false);
    expect(host.warnings).toEqual([]);
  });

  fault(
    'until the host is too busy to hear that it goes on: nothing runs twice',
    async ({ host }) => {
      const { pid } = await spawnerOf();
      process.kill(pid, 'SIGSTOP');
      const calling = host.callTool([hook('echo >> runs; echo no >&2; exit 2', GUARD)]);
      await sleep(2_700);
      await setImmediate();
      process.kill(pid, 'SIGCONT');
      const end = performance.now() + 600;
      while (performance.now() < end);
      expect(await calling).toMatchObject({ verdict: 'blocked', text: 'no' });
      expect(host.lines('runs')).toHaveLength(1);
    },
  );

  fault('while the host is busy: it is not given up for that', async ({ host }) => {
    const { pid } = await spawnerOf();
    const { calling } = await startCall(host, 'sleep 0.2; echo no >&2; exit 2');
    const end = performance.now() + 7_000;
    while (performance.now() < end);
    expect(await calling).toMatchObject({ verdict: 'blocked', text: 'no' });
    expect((await spawnerOf()).pid).toBe(pid);
  });
});

describe('a host that ends', TIMED, () => {
  fault.override({ start: 'cold' });

  fault.for(['SIGKILL', 'SIGTERM', 'SIGINT'] as const)(
    'by %s: nothing is left',
    async (signal, { host }) => {
      const command = ': > started; sleep 300 & setsid sleep 300 & wait';
      const program = [fixture('ending.mjs'), INDEX, command, 'spawner'];
      const child = execa('node', program, { cwd: host.directory, reject: false });
      await host.waitForFile('started');
      // The spawner, the hook's shell and what it has started.
      await expect.poll(() => findProcesses(host.runId).length).toBeGreaterThan(3);
      child.kill(signal);
      await child;
      await host.expectNoLeftovers(1_000);
    },
  );
});

describe('a host that is itself a hook of another host', () => {
  fault('is ended with its spawner and the hooks of that', async ({ host }) => {
    const { runId } = await spawnerOf();
    const abort = new AbortController();
    const inner = `node ${fixture('ending.mjs')} ${INDEX} ': > started; sleep 300 & wait' spawner </dev/null`;
    const calling = host.callTool([hook(inner, GUARD)], { signal: abort.signal });
    await host.waitForFile('started');
    // The inner host, its spawner, the shell of its hook and what that has started.
    expect(findProcesses(`${runId}/`).length).toBeGreaterThan(3);
    abort.abort();
    expect(await calling).toMatchObject({ verdict: 'blocked' });
    await vi.waitFor(() => expect(host.leftovers()).toEqual([]), { timeout: 3_000 });
  });
});

describe('a host of a spawner', () => {
  fault('may name its directory as it is called from its own', async ({ host }) => {
    const before = process.cwd();
    await mkdir(`${host.directory}/sub`);
    process.chdir(host.directory);
    try {
      const hooks = { BeforeTool: [{ hooks: [hook('pwd >&2; exit 2')] }] };
      const config = host.createConfig({ workingDir: 'sub', hooks });
      expect(await host.callToolOf(config)).toMatchObject({
        verdict: 'blocked',
        text: `${host.directory}/sub`,
      });
    } finally {
      process.chdir(before);
    }
  });

  fault('may have many calls wait for one signal', async ({ host }) => {
    const warned = vi.fn();
    process.on('warning', warned);
    try {
      const { signal } = new AbortController();
      const config = host.createConfig({ hooks: { BeforeTool: [{ hooks: [hook('true')] }] } });
      const calls = Array.from({ length: 20 }, () => host.callToolOf(config, { signal }));
      await Promise.all(calls);
      await setImmediate();
      expect(warned).not.toHaveBeenCalled();
    } finally {
      process.off('warning', warned);
    }
  });

  fault('is left by one that was stopped', async ({ host }) => {
    const { pid } = await spawnerOf();
    process.kill(pid, 'SIGSTOP');
    await host.expectNoLeftovers();
    expect(isRunning(pid)).toBe(false);
  });

  fault('may be disposed of while a hook is to be started ahead', async ({ host }) => {
    const eager = hook('cat > /dev/null', { prestart: true });
    const config = host.createConfig({ hooks: { BeforeTool: [{ hooks: [eager] }] } });
    await host.callToolOf(config);
    await setImmediate();
    await config.getHookSystem()?.dispose();
    // What is started ahead waits for a quiet moment.
    await sleep(300);
    expect(host.leftovers()).toEqual([]);
  });

  fault('may have no descriptors left for it, and lives', async () => {
    const shell = `ulimit -n 60; exec "${process.execPath}" "${fixture('noRoomForSpawner.mjs')}" "${INDEX}"`;
    const { stdout } = await execa('bash', ['-c', shell], { stderr: 'ignore' });
    expect(stdout).toBe('done');
  });

  fault('may forget to dispose of its systems, which go all the same', async () => {
    const node = ['--expose-gc', fixture('undisposed.mjs'), INDEX];
    const { stdout } = await execa(process.execPath, node, { stderr: 'ignore' });
    expect(stdout).toBe('0 of 30 left');
  });
});

describe('what a spawner gets', () => {
  fault('is the environment of hooks, and nothing of its own', async ({ host }) => {
    vi.stubEnv('MY_TOKEN', 'secret-1');
    const { pid } = await spawnerOf();
    const names = readFileSync(`/proc/${pid}/environ`, 'latin1')
      .split('\0')
      .map((line) => line.split('=')[0]);
    expect(new Set(names.filter(Boolean))).toEqual(
      new Set(['HOOKSTACK_RUN_ID', 'MALLOC_ARENA_MAX', 'PATH']),
    );
    const hooks = {
      BeforeTool: [
        { hooks: [hook('echo "$PPID ${MY_TOKEN-none} ${MALLOC_ARENA_MAX-none}" > seen')] },
      ],
    };
    await host.callToolOf(host.createConfig({ hooks }));
    await host.callToolOf(host.createConfig({ hooks, hookEnvironment: { redact: ['@secrets'] } }));
    expect(host.lines('seen')).toEqual([`${pid} none none`]);
  });

  fault('is as much input as there is, for several hooks at once', async ({ host }) => {
    const content = '😀é\u0000'.repeat(1_500_000);
    const hooks = Array.from({ length: 5 }, (_, index) => hook(`wc -c > size${index}; echo '{}'`));
    await host.callTool(hooks, { toolInput: { content } });
    const sizes = hooks.map((_, index) => Number(host.lines(`size${index}`)[0]));
    expect(new Set(sizes).size).toBe(1);
    expect(sizes[0]).toBeGreaterThan(10_000_000);
    expect(host.warnings).toEqual([]);
  });

  fault('is what a hook answers, however long, in any encoding', async ({ host }) => {
    const reason = `${'é😀'.repeat(3000)}\uFEFF`;
    const command = `python3 -c 'import json,sys; sys.stdout.buffer.write(b"\\xef\\xbb\\xbf" + json.dumps({"decision":"deny","reason":"é😀"*3000}, ensure_ascii=False).encode()); sys.stderr.buffer.write(b"\\xff\\xfe")'`;
    const { text, verdict } = await host.callTool([hook(command)]);
    expect(verdict).toBe('blocked');
    expect(reason.startsWith(text.slice(0, 100))).toBe(true);
  });
});

describe('a spawner keeps ready', () => {
  fault('as many commands as a burst of events took', async ({ host }) => {
    const hooks = ['true', 'true # 2', 'true # 3', 'true # 4', 'true # 5'];
    await host.callTool(hooks.map((command) => hook(command)));
    await waitForHeld(5);
  });

  fault('no more than the settings say', async ({ host }) => {
    const hooksRunner = { warmShells: 2, spawner: true };
    const hooks = {
      BeforeTool: [{ hooks: [hook('true'), hook('true # 2'), hook('true # 3'), hook('true # 4')] }],
    };
    const config = host.createConfig({ hooks, hooksRunner });
    for (let event = 0; event < 5; event++) await host.callToolOf(config);
    await waitForHeld(2);
  });

  fault('no hook of a directory in whose place there is another one', async ({ host }) => {
    const workingDir = `${host.directory}/project`;
    await host.write('project/name', 'old');
    const command = `echo >> ${host.directory}/started; read -r input; cat name >&2; exit 2`;
    const hooks = { BeforeTool: [{ hooks: [hook(command, { prestart: true })] }] };
    const config = host.createConfig({ workingDir, hooks });
    expect(await host.callToolOf(config)).toMatchObject({ text: 'old' });
    await vi.waitFor(() => expect(host.lines('started')).toHaveLength(2), { timeout: 5_000 });
    await rename(workingDir, `${workingDir}-before`);
    await host.write('project/name', 'new');
    expect(await host.callToolOf(config)).toMatchObject({ text: 'new' });
  });

  fault('hooks that say prestart, and says of one that ends too early', async ({ host }) => {
    const hooks = {
      BeforeTool: [
        {
          hooks: [
            hook('echo $PPID >> started; cat > /dev/null; echo no >&2; exit 2', { prestart: true }),
            hook('true', { prestart: true }),
          ],
        },
      ],
    };
    const config = host.createConfig({ hooks });
    const { pid } = await spawnerOf();
    for (let event = 1; event <= 6; event++) {
      expect(await host.callToolOf(config)).toMatchObject({ verdict: 'blocked' });
      await vi.waitFor(() => expect(host.lines('started')).toHaveLength(event + 1), {
        timeout: 5_000,
      });
    }
    expect(host.lines('started').slice(1)).toEqual(Array.from({ length: 6 }, () => String(pid)));
    // One that was asked before it ended does not count, and more than one in a row must end too early.
    await vi.waitFor(
      async () => {
        await host.callToolOf(config);
        expect(host.warnings).toEqual([expect.stringContaining('ends before it is asked')]);
      },
      { timeout: 20_000, interval: 300 },
    );
  });
});

describe('there is no spawner', () => {
  fault('after the last system that used it is disposed of', async ({ host }) => {
    const { pid } = await spawnerOf();
    const other = host.createConfig({ hooks: { BeforeTool: [{ hooks: [hook('true')] }] } });
    await host.callToolOf(other);
    await setImmediate();
    await other.getHookSystem()?.dispose();
    expect(isRunning(pid)).toBe(true);
    await host.expectNoLeftovers();
    expect(isRunning(pid)).toBe(false);
  });

  fault('where settings or the environment say so', async ({ host }) => {
    await host.expectNoLeftovers();
    const hooks = { BeforeTool: [{ hooks: [hook('echo $PPID >> parents')] }] };
    const off = host.createConfig({ hooks, hooksRunner: { spawner: false } });
    vi.stubEnv('HOOKSTACK_SPAWNER', '0');
    const unset = host.createConfig({ hooks, hooksRunner: {} });
    for (const config of [off, unset, off, unset]) await host.callToolOf(config);
    await setImmediate();
    expect(spawnerStatus()).toBeUndefined();
    expect(new Set(host.lines('parents'))).toEqual(new Set([String(process.pid)]));
  });

  fault('that inherited something else than the host has now', async ({ host }) => {
    const { pid } = await spawnerOf();
    const before = process.umask(0o077);
    try {
      await host.callTool([hook(': > private')]);
      await vi.waitFor(() => expect(isRunning(pid)).toBe(false), { timeout: 5_000 });
      await waitForHeld(1);
      await host.callTool([hook('umask > mask')]);
      expect(host.lines('mask')).toEqual(['0077']);
    } finally {
      process.umask(before);
    }
  });
});
