import { spawnSync } from 'node:child_process';
import { createRequire } from 'node:module';
import path from 'node:path';
import { plural, printJson, printLine, toVisible } from '../shared/terminal.js';
import { UsageError } from '../shared/usageError.js';
import { hostEnvironment } from '../../util/requester.js';

interface ResidentStatus {
  readonly pid: number;
  readonly socket: string;
  readonly upMs: number;
  readonly events: number;
  readonly projects: readonly string[];
  readonly memoryMiB: number;
}

/** With this, an agent has each event answered by a process of its own. */
export const NO_RESIDENT = { HOOKSTACK_RESIDENT: '0' } as const;

interface ResidentOptions {
  readonly json?: boolean;
  readonly socket?: string;
  readonly job?: string;
}

/** @returns the exit code */
export async function resident(
  action = 'status',
  { json = false, socket, job }: ResidentOptions = {},
): Promise<number> {
  if (action === 'async' && job !== undefined) {
    const { superviseAsync } = await import('../hook/superviseAsync.js');
    await superviseAsync(job);
    // What middleware has left running must not keep it.
    process.exit(0);
  }
  if (action === 'serve' && socket !== undefined) {
    const { serveEvents } = await import('./serve.js');
    await serveEvents({ socket });
    return 0;
  }
  if (action !== 'status' && action !== 'stop') {
    throw new UsageError(
      `There is no action ${toVisible(action)}: write hookstack resident, or hookstack resident stop`,
    );
  }
  const status = askResident(action);
  if (json) printJson({ running: status !== undefined, ...status });
  else for (const line of describe(action, status)) printLine(line);
  return status ? 0 : 1;
}

/** The client of this package, which finds the resident, as it does for each event. */
export function clientFile(): string {
  return packagedFile('hookstack-hook.sh');
}

/** A file that the build has put beside the program. */
export function packagedFile(name: string): string {
  const manifest = createRequire(import.meta.url).resolve('hookstack/package.json');
  return path.join(path.dirname(manifest), 'dist', name);
}

/**
 * Asks the resident of this copy of the package, also where the environment keeps events from it.
 *
 * @returns `undefined` where none is there
 */
export function askResident(action: 'status' | 'stop'): ResidentStatus | undefined {
  const variables = Object.entries(hostEnvironment()).filter(
    ([name]) => !name.startsWith('HOOKSTACK_'),
  );
  const { stdout, status } = spawnSync('/bin/sh', [clientFile(), action], {
    env: Object.fromEntries(variables),
    encoding: 'utf8',
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  return status === 0 ? (JSON.parse(stdout) as ResidentStatus) : undefined;
}

function describe(action: 'status' | 'stop', status: ResidentStatus | undefined): string[] {
  if (!status) {
    const isKeptAway = hostEnvironment()['HOOKSTACK_RESIDENT'] === '0';
    const next = isKeptAway
      ? 'HOOKSTACK_RESIDENT=0 keeps it away'
      : 'the next event of hookstack-hook starts one';
    return [`No resident of this copy of hookstack is there: ${next}`];
  }
  const { pid, upMs, events, projects, memoryMiB } = status;
  const verb = action === 'stop' ? 'has been told to end' : 'is running';
  const minutes = Math.floor(upMs / 60_000);
  return [
    `Process ${pid} ${verb}: ${plural(events, 'event')} in ${plural(minutes, 'minute')}, ${memoryMiB} MiB`,
    ...projects.map((project) => `  ${toVisible(project)}`),
  ];
}
