import { spawnSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { toRow } from './contests.mjs';
import { runRounds } from './rounds.mjs';

const MAIN = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));
const CONTEST = { title: '`hookstack hook`, none configured, to `node -e 0`', goal: 1.5 };
const EVENT = { hook_event_name: 'PreToolUse', tool_name: 'Bash', tool_input: { command: 'ls' } };

/**
 * How long an agent waits for the answer to an event for which nothing is configured, as against the start of Node.
 *
 * @param {number} rounds
 * @returns {Promise<import('./rows.mjs').Row>}
 */
export async function measureHookStart(rounds) {
  const home = await mkdtemp(path.join(tmpdir(), 'hookstack-bench-'));
  const options = {
    cwd: home,
    env: { HOME: home, PATH: process.env.PATH },
    input: JSON.stringify({ ...EVENT, cwd: home }),
    encoding: 'utf8',
  };
  try {
    // Files are read from the disk once.
    timeNode([MAIN, 'hook', '--from', 'claude'], options, '{}\n');
    const { ours, theirs } = await runRounds(
      {
        ours: async () => timeNode([MAIN, 'hook', '--from', 'claude'], options, '{}\n'),
        theirs: async () => timeNode(['-e', '0'], options, ''),
      },
      rounds,
    );
    return toRow(CONTEST, { ours, theirs });
  } finally {
    await rm(home, { recursive: true });
  }
}

function timeNode(args, options, expected) {
  const startedAt = performance.now();
  const { status, stdout, stderr } = spawnSync(process.execPath, args, options);
  const elapsedMs = performance.now() - startedAt;
  if (status !== 0 || stdout !== expected) throw new Error(`node ${args.join(' ')}: ${stderr}`);
  return elapsedMs;
}
