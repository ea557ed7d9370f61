import { statSync } from 'node:fs';

/**
 * Says why a command could not be started, and what to do about it.
 *
 * @param cause what Node or the system reported
 * @param cwd the directory that the command was to run in
 * @returns an error with the `code` of its cause, such as `E2BIG`
 */
export function startFailure(cause: unknown, cwd: string): Error & { code?: string } {
  const { message, code } = cause as NodeJS.ErrnoException;
  const explanation = explain(code, cwd) ?? message;
  const error = new Error(
    `The command could not be started in ${JSON.stringify(cwd)} (${code ?? 'unknown error'}): ${explanation}`,
    { cause },
  );
  return Object.assign(error, { code });
}

function explain(code: string | undefined, cwd: string): string | undefined {
  switch (code) {
    case 'E2BIG':
      return 'command and environment are longer than the system accepts. Move the command into a script file.';
    case 'EAGAIN':
    case 'ENOMEM':
      return 'the system has no process or memory left for it. Run fewer at a time, or raise `ulimit -u`.';
    case 'EMFILE':
    case 'ENFILE':
      return 'no file descriptors are left. Close files, or raise `ulimit -n`.';
    case 'ERR_INVALID_ARG_VALUE':
      return 'command, directory or environment hold a NUL character. Remove it.';
    case 'ENOENT':
    case 'ENOTDIR':
    case 'EACCES':
      return isDirectory(cwd)
        ? 'the shell or the directory may not be used. Check that bash or sh is installed, and who may enter the directory.'
        : 'there is no such directory. Create it, or work in another one.';
    default:
      return undefined;
  }
}

function isDirectory(cwd: string): boolean {
  try {
    return statSync(cwd).isDirectory();
  } catch {
    return false;
  }
}
