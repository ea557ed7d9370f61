import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { enter, holdContest, toRow } from './contests.mjs';
import { ADDED_BY_RULES, EXPRESSIONS, RULES } from './rows.mjs';
import { runRounds } from './rounds.mjs';
import { startHost } from './startHost.mjs';
import { withProcesses } from './withHosts.mjs';

/**
 * What rules cost, which are hooks without a process: to the engine of a policy language with the same rules and the same
 * calls, and to no rules at all. The package fires the whole event, the engine only decides.
 *
 * @param {number} rounds
 * @param {(step: string) => void} onProgress
 * @returns {Promise<{ rows: import('./rows.mjs').Row[] }>}
 */
export function measureRules(rounds, onProgress) {
  const starts = {
    warm: async (directory) => {
      await writeFileThatIsRead(directory);
      return startHost('hookstack', directory);
    },
    cedar: (directory) => startHost('cedar', directory),
  };
  return withProcesses(starts, async (hosts) => {
    const rows = [];
    for (const contest of [...RULES, EXPRESSIONS]) {
      onProgress(contest.title);
      rows.push(await holdContest(contest, hosts, rounds));
    }
    for (const contest of ADDED_BY_RULES) {
      onProgress(contest.title);
      rows.push(await measureAdded(contest, hosts.warm, rounds));
    }
    return { rows };
  });
}

/** As an agent mostly reads files that are there. */
async function writeFileThatIsRead(directory) {
  await mkdir(path.join(directory, 'src'));
  await writeFile(path.join(directory, 'src/index.ts'), '');
}

/** What an event takes more than where nothing is configured, or than another scenario. */
async function measureAdded(contest, host, rounds) {
  const { rules, none } = await runRounds(
    {
      rules: await enter(contest, 'warm', host),
      none: await enter({ ...contest, scenario: contest.over ?? 'noneConfigured' }, 'warm', host),
    },
    rounds,
  );
  const added = rules.map((ms, round) => ms - none[round]);
  return toRow(contest, { ours: added, theirs: none });
}
