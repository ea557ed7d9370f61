import { errorCode } from './errorMessage.js';

/** Whether there is such a process on this machine. None has the number 0: what bears it was left. */
export function isRunning(pid: number): boolean {
  try {
    if (pid === 0) return false;
    process.kill(pid, 0);
    return true;
  } catch (error) {
    return errorCode(error) === 'EPERM';
  }
}
