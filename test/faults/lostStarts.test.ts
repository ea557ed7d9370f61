import { setTimeout } from 'node:timers/promises';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { hook } from '../helpers/hooks.js';
import { makeTempDir } from '../process/helpers.js';
import { compilePackage, fixture, type CompiledPackage } from './helpers/childHost.js';
import { fault } from './helpers/host.js';
import { commandOf, findProcesses, isExpecting } from './helpers/leftovers.js';

const WAIT = { timeout: 10_000, interval: 1 };

function findHeld(runId: string, command: string): number[] {
  return findProcesses(runId).filter((pid) => isExpecting(pid) && commandOf(pid).includes(command));
}

async function waitForHeld(runId: string, command: string): Promise<void> {
  await expect.poll(() => findHeld(runId, command).length, WAIT).toBeGreaterThan(0);
}

function signalTo(pids: readonly number[], signal: NodeJS.Signals): void {
  for (const pid of pids) {
    try {
      process.kill(pid, signal);
    } catch (error) {
      // It has ended meanwhile.
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  }
}

describe('a held command that is killed', () => {
  fault.override({ start: 'spawner' });

  fault.for([
    ['97 in the instant of the event', ['SIGKILL'], []],
    ['97 before it has read the command', ['SIGSTOP'], ['SIGKILL', 'SIGCONT']],
  ] as const)('%s: every deny counts, once', async ([, before, after], { host }) => {
    const command = 'echo >> runs; echo no >&2; exit 2';
    const config = host.createConfig({ hooks: { BeforeTool: [{ hooks: [hook(command)] }] } });
    const times = 40;
    for (let time = 0; time < times; time++) {
      // After some that ended early, none is held any more.
      if (time > 0 && time < 4) await waitForHeld(host.runId, command);
      const held = findHeld(host.runId, command);
      for (const signal of before) signalTo(held, signal);
      const calling = host.callToolOf(config);
      // By then the command has been handed over.
      if (after.length > 0) await setTimeout(5);
      for (const signal of after) signalTo(held, signal);
      expect(await calling).toMatchObject({ verdict: 'blocked', text: 'no' });
    }
    expect(host.lines('runs')).toHaveLength(times);
    expect(host.warnings).toEqual([]);
  });

  fault('97 after the command has begun: it is not run again', async ({ host }) => {
    const calling = host.callTool([hook('echo >> runs; kill -KILL $$')]);
    const { verdict, hooks } = await calling;
    expect(verdict).toBe('allowed');
    expect(hooks).toMatchObject([{ signal: 'SIGKILL' }]);
    expect(host.lines('runs')).toHaveLength(1);
  });
});

describe('a host with more agents than it has descriptors for', () => {
  let compiled: CompiledPackage;
  let removePackage: () => Promise<void>;

  beforeAll(async () => {
    const { directory, remove } = await makeTempDir();
    removePackage = remove;
    compiled = await compilePackage(directory);
  });
  afterAll(() => removePackage());

  fault.for(['0', '8'])(
    '98 100 agents, 256 descriptors, %s held: every deny counts',
    async (shells, { host }) => {
      const child = [process.execPath, fixture('manyAgents.mjs'), compiled.index, '100'];
      const { stdout } = await execa(
        'bash',
        ['-c', 'ulimit -n 256 && exec "$@"', 'bash', ...child],
        { cwd: host.directory, env: { HOOKSTACK_WARM_SHELLS: shells } },
      );
      expect(JSON.parse(stdout)).toEqual({ blocked: 300, warnings: [] });
    },
  );

  fault(
    '98 whoever waits for a start can be aborted, and runs into its time limit',
    async ({ host }) => {
      const child = [
        process.execPath,
        fixture('manyAgents.mjs'),
        compiled.index,
        '200',
        'impatient',
      ];
      const { stdout } = await execa(
        'bash',
        ['-c', 'ulimit -n 256 && exec "$@"', 'bash', ...child],
        {
          cwd: host.directory,
          env: { HOOKSTACK_WARM_SHELLS: '0' },
        },
      );
      const kinds = JSON.parse(stdout) as string[];
      expect(kinds.toSorted()).toEqual(['aborted', 'spawn']);
    },
  );
});
