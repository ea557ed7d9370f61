import type { ChildProcessWithoutNullStreams } from 'node:child_process';
import { inShell, type StartOptions } from '../../process/command/execution.js';
import {
  asRunningCommand,
  environmentOf,
  isDetached,
  newRunId,
  RUN_ID,
  type RunningCommand,
  watchHost,
} from '../../process/command/runningCommand.js';
import { startCommand, startFailure } from '../../process/command/startCommand.js';
import { assertDescriptorHeadroom, onDemand } from '../../util/descriptors.js';

/** In the words of Node, which execa does not get to. */
const NUL_GIVEN = Object.assign(new Error('There is a NUL character'), {
  code: 'ERR_INVALID_ARG_VALUE',
});

/** Not there in the bundles of some hosts: what it needs calls `require`, which they cannot take in. */
const loadExeca = onDemand(() => import('execa').catch(() => undefined));

/**
 * For `runCommand`, which ends it: execa's own limits end the shell and not its process group, and its promise waits
 * for the last holder of a pipe. Throws an Error with a `code` such as `ENOENT`, when the system refuses.
 */
export async function startWithExeca(options: StartOptions): Promise<RunningCommand> {
  const { command, cwd, env } = options;
  try {
    if (`${command}${cwd}`.includes('\0')) throw NUL_GIVEN;
    const loaded = await loadExeca();
    if (!loaded) return await startCommand(options);
    assertDescriptorHeadroom();
    watchHost();
    const runId = newRunId(env[RUN_ID]);
    const { file, args } = inShell(options);
    const child = loaded.execa(file, args, {
      cwd,
      env: environmentOf(options, runId),
      extendEnv: false,
      detached: isDetached,
      buffer: false,
      reject: false,
    });
    const subprocess = child as unknown as ChildProcessWithoutNullStreams;
    const running = asRunningCommand(subprocess, runId);
    if (running) return running;
    throw (await child).cause;
  } catch (error) {
    throw startFailure(error, options);
  }
}
