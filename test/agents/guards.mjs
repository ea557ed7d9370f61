// node test/agents/guards.mjs [claude|gemini…] [--without GUARD]: all guards of `hookstack add` inside the agents' own
// programs. Each agent has one session, in which a model calls what each guard has to stop, and what has to pass. Prints a
// table, and fails where one of them did something else; without one of the guards it has to.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { FILES, guardCalls, KEY, LINKS, partOf, STAND_INS } from './guardCalls.mjs';
import {
  checkBudget,
  checkCalls,
  checkFiles,
  checkFormatter,
  checkLog,
  checkSecrets,
  linesOf,
  resultsIn,
  Tally,
} from './guardChecks.mjs';
import { load } from './load.mjs';
import { withAgents } from './path.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { without: { type: 'string' } },
});
const agents = positionals.length > 0 ? positionals : ['gemini', 'claude'];

process.env.PATH = withAgents();
// Where guards let nobody write, which they do in folders for temporary files; and its name is short enough for a socket.
process.env.TMPDIR = path.join(homedir(), '.cache');
mkdirSync(process.env.TMPDIR, { recursive: true });
const { Stage } = await load('src/cli/doctor/live/stage.ts');
const chosen = await guardCalls();

/** In which prompts are redacted as well. */
const HAS_MODEL_EVENTS = new Set(['gemini']);

/** Fills the project. @returns an environment in which what calls start is a stand-in, and the file that they write to */
function prepare(stage) {
  const { project, home } = stage;
  for (const [name, content] of Object.entries(FILES)) stage.write(project, name, content);
  for (const [name, to] of Object.entries(LINKS)) symlinkSync(to, path.join(project, name));
  const write = (folder, name, script) =>
    chmodSync(stage.write(folder, name, `#!/bin/sh\n${script}\n`), 0o755);
  const programs = path.join(home, 'stand-ins');
  const log = path.join(home, 'ran.log');
  for (const name of STAND_INS) write(programs, name, `echo "${name} $*" | tee -a '${log}'`);
  write(programs, 'sudo', 'exec "$@"');
  // Makes all letters small.
  const formatter = 'for f; do :; done; tr A-Z a-z <"$f" >"$f.new" && mv "$f.new" "$f"';
  write(path.join(project, 'node_modules/.bin'), 'prettier', formatter);
  const PATH = [programs, stage.env.PATH].join(path.delimiter);
  return { env: { PATH, GIT_CEILING_DIRECTORIES: home }, log };
}

/** Adds all guards as a user would. @returns the settings */
async function addGuards(stage, agent, limit) {
  const { guards } = JSON.parse(await stage.hookstack('add', '--json'));
  const names = guards.map(({ name }) => name).filter((name) => name !== values.without);
  await stage.hookstack('add', ...names);
  const settings = '.llxprt/settings.json';
  const text = readFileSync(path.join(stage.project, settings), 'utf8');
  const edited = text.replaceAll('"HOOK_BUDGET_CALLS": "500"', `"HOOK_BUDGET_CALLS": "${limit}"`);
  stage.write(stage.project, settings, edited);
  await stage.hookstack('trust', '--yes');
  await stage.hookstack('install', '--into', agent);
  return JSON.parse(edited);
}

async function play(agent) {
  const startedAt = performance.now();
  const stage = await Stage.open(agent, cache);
  try {
    const found = await tryGuards(stage, agent);
    const seconds = (performance.now() - startedAt) / 1000;
    return { agent, version: await stage.version(), seconds, ...found };
  } finally {
    await stage.remove();
  }
}

async function tryGuards(stage, agent) {
  const { program, project, home } = stage;
  const { env, log } = prepare(stage);
  // One answer of the model for each guard, with all its calls side by side.
  const tried = Object.entries(chosen)
    .map(([guard, calls]) =>
      calls.map((call) => ({ guard, ...call, part: partOf(call, agent, stage) })),
    )
    .map((calls) => calls.filter(({ part }) => part));
  const others = [
    program.read(`${project}/key.txt`),
    program.shell('cat key.txt'),
    program.write(`${project}/src/loud.ts`, 'LOUD'),
    program.shell('echo LOUD > src/shell.ts'),
  ];
  const calls = tried.flat();
  for (const guard of Object.keys(chosen)) {
    const stopped = calls.filter((call) => call.guard === guard && call.kind === 'stopped');
    if (stopped.length < 5) throw new Error(`${agent} has too few calls for ${guard}`);
  }
  const limit = calls.length + others.length;
  const settings = await addGuards(stage, agent, limit);
  const { requests, err, out } = await stage.run(
    [
      ...tried.map((each) => each.map(({ part }) => part)),
      others,
      [program.shell('git log --more-1')],
      [program.shell('git log --more-2')],
    ],
    { env, more: HAS_MODEL_EVENTS.has(agent) ? ` The key is ${KEY}.` : '' },
  );
  const results = resultsIn(requests);
  if (results.length < limit) console.error(`${agent} ended early: ${err}\n${out.slice(-5000)}`);
  const ran = linesOf(log);
  const bodies = JSON.stringify(requests.map(({ body }) => body));
  const tally = new Tally();
  checkCalls(tally, calls, { results, ran, settings });
  checkSecrets(tally, results.slice(calls.length), bodies);
  checkFiles(tally, project);
  checkFormatter(tally, project, bodies);
  const logged = checkLog(tally, calls, home);
  checkBudget(tally, { limit, logged, results, ran, requests });
  return { tally, limit };
}

function print(played) {
  const head = played.map(({ agent, version }) => `${agent} ${version}`);
  console.log(`| guard | ${head.join(' | ')} |\n| --- |${' --- |'.repeat(head.length)}`);
  for (const guard of played[0].tally.rows.keys()) {
    const cells = played.map(({ tally }) =>
      Object.entries(tally.rows.get(guard) ?? {})
        .map(([word, { good, all }]) => `${word} ${good} of ${all}`)
        .join(', '),
    );
    console.log(`| ${[guard, ...cells].join(' | ')} |`);
  }
  for (const { agent, limit, seconds, tally } of played) {
    console.log(`${agent}: ${limit} calls and one more, ${seconds.toFixed(1)} s`);
    for (const line of tally.wrong) console.error(`  ${agent}: ${line}`);
  }
}

const cache = mkdtempSync(path.join(process.env.TMPDIR, 'hookstack-cache-'));
try {
  const played = await Promise.all(agents.map(play));
  print(played);
  if (played.some(({ tally }) => tally.wrong.length > 0)) process.exitCode = 1;
} finally {
  rmSync(cache, { recursive: true, force: true, maxRetries: 3 });
}
