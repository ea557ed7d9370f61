import { isDirectory } from './findProgram.js';

/** What was to be started, and where. */
interface Attempt {
  readonly command: string;
  readonly args?: readonly string[];
  readonly cwd: string;
}

/**
 * Says why a command could not be started, and what to do about it.
 *
 * @param cause what Node or the system reported
 * @returns an error with the `code` of its cause, such as `E2BIG`
 */
export function startFailure(
  cause: unknown,
  { command, args, cwd }: Attempt,
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
  if (!isDirectory(cwd)) return 'there is no such directory. Create it, or work in another one.';
  if (program === undefined)
    return 'the shell or the directory may not be used. Check that bash or sh is installed, and who may enter the directory.';
  const name = JSON.stringify(program);
  if (code === 'EACCES') return `${name} may not be executed. Run chmod +x on it.`;
  return program.includes('/')
    ? `there is no ${name}, or the interpreter that its first line names is not there. Correct the path, or that line.`
    : `there is no program ${name} on the PATH, of which entries that lead into the project do not count. Install it, or write its path. With "args" there is no shell: "command" is the program alone.`;
}
