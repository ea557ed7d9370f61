import { once } from 'node:events';
import { statsOf } from '../../util/paths.js';
import { executionOf, inShell, type Execution, type StartOptions } from './execution.js';
import { dropHeld } from './heldCommands.js';
import {
  asRunningCommand,
  enterRoom,
  isShortOfRoom,
  letNextTry,
  newRunId,
  RUN_ID,
  spawnGroup,
  stayOut,
  untilOneEnds,
  type Patience,
  type RunningCommand,
} from './runningCommand.js';

/**
 * Starts a command in a process group of its own.
 *
 * @throws Error with a `code` such as `ENOENT`, when the system refuses
 */
export async function startCommand(options: StartOptions): Promise<RunningCommand> {
  try {
    const execution = executionOf(options);
    try {
      return await execute(options, execution);
    } catch (error) {
      const { code = '' } = error as NodeJS.ErrnoException;
      if (!execution.variables || !NOT_EXECUTED.has(code)) throw error;
      return await execute(options, inShell(options));
    }
  } catch (error) {
    throw startFailure(error, options);
  }
}

/** Codes of what the system does not execute: a shell says why, as for a first line that names no program. */
const NOT_EXECUTED = new Set(
  'EACCES EINVAL EISDIR ELIBBAD ELOOP ENOENT ENOEXEC ENOTDIR EPERM ETXTBSY'.split(' '),
);

async function execute(options: StartOptions, execution: Execution): Promise<RunningCommand> {
  const { runId = newRunId(options.env[RUN_ID]) } = options;
  const subprocess = spawnGroup(options, execution, runId);
  const command = asRunningCommand(subprocess, runId);
  if (!command) throw (await once(subprocess, 'error'))[0];
  return command;
}

/** What ends something that only waits for its next use, and says whether there was any. */
type GiveUp = () => boolean;

const idle = new Set<GiveUp>();

/**
 * Offers the room of something that takes some while it waits for its next use.
 *
 * @param giveUp ends it, with `enterRoom` before and `leaveRoom` after
 * @returns what takes the offer back
 */
export function offerRoom(giveUp: GiveUp): () => void {
  idle.add(giveUp);
  return () => idle.delete(giveUp);
}

function giveUpIdle(): boolean {
  return [...idle].filter((giveUp) => giveUp()).length > 0;
}

/**
 * Starts a command, which runs until `leaveRoom`. Where the system has no descriptors, processes or memory left for it,
 * while commands of this process have some, it is tried again as they end.
 *
 * It counts before it is known whether it succeeds, as others that are started in this instant have to know. In the end
 * one that waits may try: there may be room for more than one, and where there is none, nobody is left waiting.
 *
 * What is only held makes room first, then what has offered its own.
 *
 * @throws what `start` throws, once waiting is of no use, or its time is over
 */
export async function startWithRoom<T>(start: () => Promise<T>, patience: Patience): Promise<T> {
  try {
    for (;;) {
      enterRoom();
      try {
        return await start();
      } catch (error) {
        stayOut();
        const { code = '' } = error as NodeJS.ErrnoException;
        const mayHelp =
          SHORTAGES.has(code) && (dropHeld() || giveUpIdle() || (await untilOneEnds(patience)));
        if (!mayHelp) throw error;
      }
    }
  } finally {
    if (isShortOfRoom()) setImmediate(letNextTry);
  }
}

const SHORTAGES = new Set(['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM']);

/**
 * Says why a command could not be started, and what to do about it.
 *
 * @param cause what Node or the system reported
 * @returns an error with the `code` of its cause, such as `E2BIG`
 */
export function startFailure(
  cause: unknown,
  { command, args, cwd }: Pick<StartOptions, 'command' | 'args' | 'cwd'>,
): Error & { code?: string } {
  const { message, code } = cause as NodeJS.ErrnoException;
  const explanation = explain(code, cwd, args && command) ?? message;
  const error = new Error(
    `The command could not be started in ${JSON.stringify(cwd)} (${code ?? 'unknown error'}): ${explanation}`,
    { cause },
  );
  return Object.assign(error, { code });
}

const TOO_MANY =
  'the system has no process or memory left for it. Run fewer at a time, or raise `ulimit -u`.';
const NO_DESCRIPTORS = 'no file descriptors are left. Close files, or raise `ulimit -n`.';

const ADVICE: Readonly<Record<string, string>> = {
  E2BIG:
    'command and environment are longer than the system accepts. Move the command into a script file.',
  EAGAIN: TOO_MANY,
  ENOMEM: TOO_MANY,
  EMFILE: NO_DESCRIPTORS,
  ENFILE: NO_DESCRIPTORS,
  ERR_INVALID_ARG_VALUE: 'command, directory or environment hold a NUL character. Remove it.',
};

/** @param program what was to be started without a shell */
function explain(code = '', cwd: string, program?: string): string | undefined {
  if (!['ENOENT', 'ENOTDIR', 'EACCES'].includes(code)) return ADVICE[code];
  if (!statsOf(cwd)?.isDirectory())
    return 'there is no such directory. Create it, or work in another one.';
  if (program === undefined)
    return 'the shell or the directory may not be used. Check that bash or sh is installed, and who may enter the directory.';
  const name = JSON.stringify(program);
  if (code === 'EACCES') return `${name} may not be executed. Run chmod +x on it.`;
  return program.includes('/')
    ? `there is no ${name}, or the interpreter that its first line names is not there. Correct the path, or that line.`
    : `there is no program ${name} on the PATH, of which entries that lead into the project do not count. Install it, or write its path. With "args" there is no shell: "command" is the program alone.`;
}
