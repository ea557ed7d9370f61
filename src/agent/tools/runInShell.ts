import type { ChildProcessByStdio } from 'node:child_process';
import { once, setMaxListeners } from 'node:events';
import type { Readable } from 'node:stream';
import { drain } from '../../process/drain.js';
import { COMMAND_TIMINGS } from '../../process/limits.js';
import { trackGroup, untrackGroup, whileWatchingHost } from '../../process/liveGroups.js';
import { OutputCollector } from '../../process/outputCollector.js';
import { dropPrestarted } from '../../process/prestarted.js';
import { endGroup, type ProcessGroup } from '../../process/processGroup.js';
import { readPipes } from '../../process/processTable.js';
import { resolveShell } from '../../process/shell.js';
import { noteEnd, startWithRoom } from '../../process/shortage.js';
import { environmentOf, isDetached, newRunId, RUN_ID } from '../../process/startCommand.js';
import { letPendingEventsThrough, settlesWithin } from '../../process/waiting.js';
import { dropWarmShells } from '../../process/warmShells.js';
import { assertDescriptorHeadroom, onDemand } from '../../util/descriptorHeadroom.js';

/** A shell command, and what it needs to run. */
export interface ShellCommand {
  readonly command: string;
  readonly cwd: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** What became of a shell command that was started. */
export interface ShellRun {
  /** What ended it before its own end. */
  readonly interruption: 'timeout' | 'aborted' | undefined;
  /** `null` when a signal ended the shell. */
  readonly exitCode: number | null;
  readonly signal: NodeJS.Signals | null;
  /** The first MiB, as for stderr. */
  readonly stdout: string;
  readonly stderr: string;
  /** Whether there was more. */
  readonly truncated: boolean;
  /** Whether a background process still held the output after the exit. It is ended where it can be found. */
  readonly stragglers: boolean;
}

interface Started {
  readonly child: ChildProcessByStdio<null, Readable, Readable>;
  readonly group: ProcessGroup;
}

/**
 * Runs a command in a shell and a process group of its own, with the environment of this process and nothing on stdin.
 * No process of the group is left but background jobs that let go of the output.
 *
 * @throws the reason of `signal`, and the system's error when the shell cannot be started
 */
export async function runInShell(options: ShellCommand): Promise<ShellRun> {
  const { signal, timeoutMs } = options;
  signal?.throwIfAborted();
  const patience = { until: performance.now() + timeoutMs, signal };
  const { child, group } = await startWithRoom(() => start(options), dropPrepared, patience);
  const [stdout, stderr] = [new OutputCollector(child.stdout), new OutputCollector(child.stderr)];
  const exited = once(child, 'exit');
  const closed = Promise.all([exited, stdout.closed, stderr.closed]);

  const interruption = await waitForEnd(child, exited, options);
  if (interruption) await endGroup(group, COMMAND_TIMINGS.graceMs);
  await drain([stdout, stderr], closed, COMMAND_TIMINGS);

  const stragglers = !interruption && !(stdout.isClosed && stderr.isClosed);
  child.stdout.destroy();
  child.stderr.destroy();
  noteEnd();
  if (stragglers) void endStragglers(group);
  else untrackGroup(group);
  return {
    interruption,
    exitCode: child.exitCode,
    signal: child.signalCode,
    stdout: stdout.text(),
    stderr: stderr.text(),
    truncated: stdout.truncated || stderr.truncated,
    stragglers,
  };
}

/** Descriptors and processes that are only kept ready are the first to go. */
function dropPrepared(): boolean {
  return dropPrestarted() || dropWarmShells();
}

const loadExeca = onDemand(() => import('execa'));

async function start({ command, cwd }: ShellCommand): Promise<Started> {
  const { execa } = await loadExeca();
  assertDescriptorHeadroom();
  const runId = newRunId(process.env[RUN_ID]);
  const { file, argumentsFor } = resolveShell(process.env['PATH']);
  return whileWatchingHost(() => {
    const child = execa(file, argumentsFor(command), {
      cwd,
      env: environmentOf({ env: process.env }, runId),
      extendEnv: false,
      detached: isDetached,
      stdin: 'ignore',
      // What it collects is read by us, as execa ends a command that says too much.
      buffer: false,
      reject: false,
    });
    const { pid } = child;
    if (pid === undefined) return child.then(({ cause }) => Promise.reject(cause as Error));
    const mark = `${RUN_ID}=${runId}`;
    const group = { id: pid, mark, pipes: readPipes(pid), startedAt: process.uptime() };
    trackGroup(group);
    // In an object, as the child is a promise of its end, for which an async function would wait.
    return { child: child as Started['child'], group };
  });
}

/** Waits for the exit, and says what came before it. An exit that nobody has noticed yet comes first. */
async function waitForEnd(
  child: Started['child'],
  exited: Promise<unknown>,
  { timeoutMs, signal }: ShellCommand,
): Promise<ShellRun['interruption']> {
  const over = new AbortController();
  const aborted = new Promise<void>((resolve) => {
    if (!signal) return;
    if (signal.aborted) resolve();
    // Many commands may wait for one signal, and each of them lets go of it.
    setMaxListeners(0, signal);
    signal.addEventListener('abort', () => resolve(), { once: true, signal: over.signal });
  });
  const isInTime = await settlesWithin(Promise.race([exited, aborted]), timeoutMs);
  over.abort();
  await letPendingEventsThrough();
  if (child.exitCode !== null || child.signalCode !== null) return undefined;
  return isInTime ? 'aborted' : 'timeout';
}

async function endStragglers(group: ProcessGroup): Promise<void> {
  await endGroup(group, COMMAND_TIMINGS.stragglerGraceMs);
  untrackGroup(group);
}
