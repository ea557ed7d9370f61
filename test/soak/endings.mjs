import { once } from 'node:events';
import { broken, exactly } from './figures.mjs';
import { launchHost } from './launchHost.mjs';
import { listRunning, waitUntil } from './processes.mjs';

const HOOKS = 10;
const PIDS_PER_HOOK = 3;
const HOOKS_START_WITHIN_MS = 20_000;
/** The promise: from the end of the host to the end of its last process. */
const PROCESSES_END_WITHIN_MS = 500;

/** Ways of ending a host, and the exit code or the signal with which it must then have ended. */
const endings = [
  { name: 'SIGINT', end: (host) => host.kill('SIGINT'), status: 'SIGINT' },
  { name: 'SIGTERM', end: (host) => host.kill('SIGTERM'), status: 'SIGTERM' },
  { name: 'SIGHUP', end: (host) => host.kill('SIGHUP'), status: 'SIGHUP' },
  { name: 'process.exit', end: (host) => host.stdin.write('exit'), status: 0 },
  { name: 'an uncaught error', end: (host) => host.stdin.write('throw'), status: 1 },
];

/**
 * Ends hosts in the middle of 10 running hooks, in every way in which a host can end.
 *
 * @returns {Promise<import('./figures.mjs').Figure[]>} one a way
 */
export async function endHosts() {
  const figures = [];
  for (const ending of endings) {
    const figure = await launchHost('endingHost.mjs', [String(HOOKS)], (host) =>
      endHost(host, ending),
    ).catch((error) => broken(`Host ended by ${ending.name}`, error));
    figures.push(figure);
  }
  return figures;
}

async function endHost({ subprocess, runId, pidFile }, { name, end, status }) {
  const listAlive = () => listRunning(runId, pidFile);
  const expected = HOOKS * PIDS_PER_HOOK;
  await waitUntil(() => listAlive().length >= expected, HOOKS_START_WITHIN_MS);
  const started = listAlive().length;
  if (started < expected) throw new Error(`Only ${started} of ${expected} processes were started`);

  const exited = once(subprocess, 'exit');
  end(subprocess);
  const [exitCode, signal] = await exited;
  const tookMs = await waitUntil(() => listAlive().length === 0, PROCESSES_END_WITHIN_MS);
  const alive = listAlive().length;
  if ((signal ?? exitCode) !== status) {
    throw new Error(`Ended with ${signal ?? `code ${exitCode}`} instead`);
  }
  return exactly(
    `Host ended by ${name}: processes alive ${PROCESSES_END_WITHIN_MS} ms later`,
    0,
    alive,
    `of ${started}, after ${tookMs} ms`,
  );
}
