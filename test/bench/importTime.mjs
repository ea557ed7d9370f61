import { spawnSync } from 'node:child_process';
import { toRow } from './contests.mjs';
import { runRounds } from './rounds.mjs';

const CONTEST = { title: 'import of the package, net of Node', goal: 0.08 };

/**
 * How long a new process takes to load either package, less what one takes that loads nothing. The files have been
 * read before, by the hosts.
 *
 * @param {number} rounds
 * @returns {Promise<import('./rows.mjs').Row>}
 */
export async function measureImport(rounds) {
  const packages = {
    nothing: 'node:process',
    ours: new URL('../../dist/index.js', import.meta.url).href,
    theirs: import.meta.resolve('@google/gemini-cli-core'),
  };
  const contenders = Object.fromEntries(
    Object.entries(packages).map(([name, url]) => [name, async () => timeImport(url)]),
  );
  const { nothing, ours, theirs } = await runRounds(contenders, rounds);
  const lessNothing = (samples) => samples.map((ms, round) => ms - nothing[round]);
  return toRow(CONTEST, { ours: lessNothing(ours), theirs: lessNothing(theirs) });
}

function timeImport(url) {
  const startedAt = performance.now();
  const { status, stderr } = spawnSync(
    process.execPath,
    ['--input-type=module', '--eval', 'await import(process.argv[1]); process.exit()', url],
    { encoding: 'utf8' },
  );
  const elapsedMs = performance.now() - startedAt;
  if (status !== 0) throw new Error(`${url} cannot be imported: ${stderr}`);
  return elapsedMs;
}
