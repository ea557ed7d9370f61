import { execa, type ResultPromise } from 'execa';

/** Somebody whom a limit of processes binds: root is not. */
export function limitedUser(): { uid?: number; gid?: number } {
  return process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
}

/** How many processes there may be for this one to start another. */
export async function readProcessLimit({ pid }: Pick<ResultPromise, 'pid'>): Promise<string> {
  const columns = ['--noheadings', '--raw', '--output', 'SOFT'];
  const { stdout } = await execa(
    'prlimit',
    ['--pid', String(pid), ...columns, '--nproc'],
    limitedUser(),
  );
  return stdout.trim();
}

/** Changes that; what runs goes on. */
export async function setProcessLimit(
  { pid }: Pick<ResultPromise, 'pid'>,
  soft: string,
): Promise<void> {
  await execa('prlimit', ['--pid', String(pid), `--nproc=${soft}:`], limitedUser());
}
