import { spawnSync } from 'node:child_process';
import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { Config, loadSettings, openConsent } from '../../dist/index.js';
import { toRow } from './contests.mjs';
import { runRounds } from './rounds.mjs';

/** Files in the folder of the script. */
const FILES = 20;
const CHECKS = 200;

/**
 * How long it takes to know that a hook is as it was allowed, and that another needs no consent.
 *
 * @param {number} rounds
 * @returns {Promise<import('./rows.mjs').Row[]>} the goal of the first is in ms, not a ratio
 */
export async function measureConsentCheck(rounds) {
  const directory = await mkdtemp(path.join(tmpdir(), 'hookstack-bench-'));
  try {
    const { allowed, own, registry } = await openProject(directory);
    const { check, free, start } = await runRounds(
      {
        check: async () => timeChecks(registry, allowed),
        free: async () => timeChecks(registry, own),
        start: async () => timeStart(),
      },
      rounds,
    );
    const title = `check before a start of a hook with a folder of ${FILES} files, to the start of a program`;
    const other = 'the same for a hook that needs no consent, to one that does';
    return [
      { ...toRow({ title }, { ours: check, theirs: start }), goalAmount: 0.3 },
      toRow({ title: other, goal: 0.01 }, { ours: free, theirs: check }),
    ];
  } finally {
    await rm(directory, { recursive: true });
  }
}

function settingsOf(command) {
  return { hooks: { BeforeTool: [{ hooks: [{ type: 'command', command }] }] } };
}

/** A project with a hook that the user has allowed, and a hook of the user. */
async function openProject(directory) {
  const at = (...parts) => path.join(directory, ...parts);
  for (const folder of ['project/.llxprt/hooks', 'home/.llxprt']) {
    await mkdir(at(folder), { recursive: true });
  }
  for (let file = 0; file < FILES; file++) {
    await writeFile(at('project/.llxprt/hooks', `${file}.sh`), 'exit 0\n');
  }
  const settings = { ...settingsOf('bash .llxprt/hooks/0.sh'), enableHooks: true };
  await writeFile(at('project/.llxprt/settings.json'), JSON.stringify(settings));
  await writeFile(at('home/.llxprt/settings.json'), JSON.stringify(settingsOf('true')));

  const place = { workingDir: at('project'), home: at('home') };
  const consent = await openConsent(place);
  const loaded = await loadSettings({ ...place, systemPath: at('none') });
  const open = async () => {
    const config = new Config({
      ...loaded.settings,
      enableHooks: true,
      workingDir: at('project'),
      consent,
      hooksRunner: { warmShells: 0 },
    });
    await config.getHookSystem().initialize();
    return config.getHookSystem();
  };
  const before = await open();
  await consent.allow(before.getAllHooks().flatMap(({ review }) => review ?? []));
  const registry = (await open()).getRegistry();
  const [allowed, own] = registry.getAllHooks().map(({ config }) => config);
  // Files that are new could change again without another time stamp, and are read each time.
  while (registry.findObjection(allowed) instanceof Promise) await setTimeout(100);
  return { allowed, own, registry };
}

async function timeChecks(registry, hook) {
  const startedAt = performance.now();
  for (let check = 0; check < CHECKS; check++) {
    const objection = registry.findObjection(hook);
    if (objection !== undefined) throw new Error(`There is an objection: ${String(objection)}`);
    // Those that start together are looked at once.
    await Promise.resolve();
  }
  return (performance.now() - startedAt) / CHECKS;
}

function timeStart() {
  const startedAt = performance.now();
  const { status } = spawnSync('true');
  if (status !== 0) throw new Error('"true" did not run');
  return performance.now() - startedAt;
}
