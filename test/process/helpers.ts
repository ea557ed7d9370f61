import { chmod, mkdtemp, readFile, realpath, rm, symlink, writeFile } from 'node:fs/promises';
import { readFileSync } from 'node:fs';
import { constants, tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa } from 'execa';
import { onTestFinished, vi } from 'vitest';
import { COMMAND_TIMINGS, type CommandTimings } from '../../src/process/command/limits.js';
import type { CommandOptions, CommandOutcome } from '../../src/process/command/outcome.js';
import { runCommand } from '../../src/process/command/runCommand.js';

/** Everything as in production, but no test waits five seconds. */
export const SHORT_TIMINGS: CommandTimings = {
  ...COMMAND_TIMINGS,
  graceMs: 500,
  stragglerGraceMs: 400,
  answerMs: 1_500,
};

export function run(
  command: string,
  options: Partial<CommandOptions> = {},
  timings: CommandTimings = SHORT_TIMINGS,
): Promise<CommandOutcome> {
  return runCommand(
    {
      command,
      input: new Uint8Array(),
      cwd: tmpdir(),
      env: process.env,
      timeoutMs: 20_000,
      ...options,
    },
    timings,
  );
}

/** A new directory that others may enter, and the way to remove it. */
export async function makeTempDir(): Promise<{ directory: string; remove: () => Promise<void> }> {
  const directory = await realpath(await mkdtemp(path.join(tmpdir(), 'hookstack-process-')));
  await chmod(directory, 0o755);
  return { directory, remove: () => rm(directory, { recursive: true, force: true }) };
}

/** Runs `body` with a new directory, and removes it afterwards. */
export async function withTempDir<T>(body: (directory: string) => Promise<T>): Promise<T> {
  const { directory, remove } = await makeTempDir();
  try {
    return await body(directory);
  } finally {
    await remove();
  }
}

/**
 * Whether a process still does something. A zombie does not, and neither does one that was killed: on a busy machine it
 * may wait long for the processor that it needs to end, which nobody can spare it.
 */
export function isRunning(pid: number): boolean {
  try {
    // First, as SIGKILL waits no longer in a process that has begun to end.
    if (isKilled(readFileSync(`/proc/${pid}/status`, 'latin1'))) return false;
    const stat = readFileSync(`/proc/${pid}/stat`, 'latin1');
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ');
    const [state = 'X', flags] = [fields[0], fields[6]];
    return !'ZX'.includes(state) && (Number(flags) & EXITING) === 0;
  } catch {
    return false;
  }
}

/** Of the flags of a process in Linux: that it is on its way out. */
const EXITING = 0x4;

/** Whether SIGKILL waits for it, by the masks of signals in its `status`. */
function isKilled(status: string): boolean {
  const masks = [...status.matchAll(/^(?:SigPnd|ShdPnd):\s*([0-9a-f]+)/gm)];
  return masks.some(
    ([, mask]) => (BigInt(`0x${mask}`) >> BigInt(constants.signals.SIGKILL - 1)) & 1n,
  );
}

/** Waits until `file` has `count` lines, each of them a pid. What still runs after the test is killed. */
export async function readPids(file: string, count: number): Promise<number[]> {
  const pids = await vi.waitFor(
    async () => {
      const lines = (await readFile(file, 'utf8')).split('\n').slice(0, -1);
      if (lines.length < count) throw new Error(`${file} has ${lines.length} of ${count} pids`);
      return lines.map(Number);
    },
    { timeout: 10_000, interval: 10 },
  );
  onTestFinished(() => {
    for (const pid of pids.filter(isRunning)) process.kill(pid, 'SIGKILL');
  });
  return pids;
}

/** The path of a script that plays a host. */
export function fixture(name: string): string {
  return fileURLToPath(new URL(`../fixtures/process/${name}`, import.meta.url));
}

/** Compiles `src/process` into `directory`, and returns the path of its `runCommand.js`. */
export async function compileRunCommand(directory: string): Promise<string> {
  const root = fileURLToPath(new URL('../..', import.meta.url));
  await symlink(path.join(root, 'node_modules'), path.join(directory, 'node_modules'));
  await writeFile(path.join(directory, 'package.json'), '{ "type": "module" }');
  await writeFile(
    path.join(directory, 'tsconfig.json'),
    JSON.stringify({
      extends: path.join(root, 'tsconfig.json'),
      compilerOptions: {
        rootDir: path.join(root, 'src'),
        outDir: path.join(directory, 'out'),
        declaration: false,
        emitDeclarationOnly: false,
        noCheck: true,
      },
      include: [],
      files: [path.join(root, 'src/process/command/runCommand.ts')],
    }),
  );
  await execa('tsc', ['-p', directory], { preferLocal: true, localDir: root });
  return path.join(directory, 'out/process/command/runCommand.js');
}
