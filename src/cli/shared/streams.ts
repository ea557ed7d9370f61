import { findRequester, type RequestingProcess, type TextStream } from '../../util/requester.js';

/** The stdin of whoever asked for what is being done. */
export function standardInput(): NonNullable<RequestingProcess['stdin']> {
  return findRequester()?.stdin ?? process.stdin;
}

/** The stdout of whoever asked for what is being done. */
export function standardOutput(): TextStream {
  return findRequester()?.stdout ?? process.stdout;
}

/** The stderr of whoever asked for what is being done. */
export function standardError(): TextStream {
  return findRequester()?.stderr ?? process.stderr;
}

export function writeError(text: string): void {
  standardError().write(text);
}

/** Whether somebody reads stdout on a terminal, and can answer there. */
export function isInteractive(): boolean {
  return standardInput().isTTY === true && standardOutput().isTTY === true;
}
