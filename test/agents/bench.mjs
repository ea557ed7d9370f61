// npm run bench:agents [-- claude|gemini] [--rounds N]: whole runs of the agents' own programs, 20 calls of a shell each,
// in turns: without hooks, with hooks of their own, and with hookstack. Prints each time, and what it is to a run without
// hookstack: what counts is that ratio, as the machine decides the rest.
import { parseArgs } from 'node:util';
import { INSTALLED, Stage } from './stage.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { rounds: { type: 'string', default: '5' } },
});
const rounds = Number(values.rounds);
const agents = positionals.length > 0 ? positionals : INSTALLED;
if (INSTALLED.length === 0) {
  console.error('There are no agents here: npm run install:agents');
  process.exit(1);
}

const CALLS = 20;
const SILENT = 'cat >/dev/null';
/** Answers at once, event after event. */
const PERSISTENT = `echo '{"hookstack":1}'; while IFS= read -r line; do id=\${line#*:}; echo "{\\"id\\":\${id%%,*}}"; done`;

function hooksOf(command, more = {}) {
  const hook = [{ hooks: [{ type: 'command', command, ...more }] }];
  return { BeforeTool: hook, AfterTool: hook };
}

/** In the format of each agent. */
const OWN = {
  claude: (hook) => ({ PreToolUse: [{ hooks: [hook] }], PostToolUse: [{ hooks: [hook] }] }),
  gemini: (hook) => ({ BeforeTool: [{ hooks: [hook] }], AfterTool: [{ hooks: [hook] }] }),
};

const SHELL = { claude: 'Bash', gemini: 'run_shell_command' };

/** What is compared: `to` is the row that a ratio is to, and `goal` what it may be. */
const ROWS = [
  { name: 'no hooks' },
  // The least that any hook costs there: a process that does nothing at all.
  { name: 'own hooks: exit', own: { type: 'command', command: 'exit 0' }, to: 'no hooks' },
  // The least that a client costs which is a script and needs no Node: it starts, and asks nobody.
  {
    name: 'own hooks: sh and Perl',
    own: { type: 'command', command: 'exec /usr/bin/perl -e 0' },
    to: 'no hooks',
  },
  { name: 'own hooks: cat', own: { type: 'command', command: SILENT }, to: 'no hooks' },
  // The least that any process costs which stays and answers over a socket: it looks at nothing.
  {
    name: 'the client, answered at once',
    settings: { enableHooks: false },
    answersAtOnce: true,
    to: 'no hooks',
  },
  { name: 'hookstack, hooks off', settings: { enableHooks: false }, to: 'no hooks', goal: 1.15 },
  {
    name: 'hookstack, none matches',
    settings: {
      enableHooks: true,
      hooks: {
        BeforeTool: [{ matcher: '^no_such_tool$', hooks: [{ type: 'command', command: SILENT }] }],
      },
    },
    to: 'no hooks',
    goal: 1.15,
  },
  {
    name: 'hookstack, a silent hook',
    settings: { enableHooks: true, hooks: hooksOf(SILENT) },
    to: 'own hooks: cat',
    goal: 1.3,
  },
  {
    name: 'hookstack, a persistent hook',
    settings: { enableHooks: true, hooks: hooksOf(PERSISTENT, { persistent: true }) },
    to: 'own hooks: cat',
    goal: 1.2,
  },
  {
    name: 'hookstack, a silent hook, cold',
    settings: { enableHooks: true, hooks: hooksOf(SILENT) },
    env: { HOOKSTACK_RESIDENT: '0' },
    to: 'own hooks: cat',
  },
];

for (const agent of agents) {
  const rows = ROWS.map((row) => ({ ...row, times: [], stage: undefined }));
  for (const row of rows)
    row.stage = new Stage(agent, { settings: row.settings, own: row.own && OWN[agent](row.own) });
  for (const { stage, answersAtOnce } of rows) if (answersAtOnce) await stage.answerAtOnce();
  // Never the same twice: Gemini CLI takes that for a loop.
  const steps = Array.from({ length: CALLS }, (_, number) => [
    { name: SHELL[agent], input: { command: `true ${number}` } },
  ]);
  for (let round = 0; round <= rounds; round += 1) {
    for (const row of rows) {
      const { ms, code, results, err } = await row.stage.run(steps, row.env);
      if (code !== 0 || results.length !== CALLS || results.some(({ isError }) => isError)) {
        throw new Error(
          `${agent}, ${row.name}: exit code ${code}, ${results.length} results\n${err}`,
        );
      }
      // The first one fills caches.
      if (round > 0) row.times.push(ms);
    }
  }
  print(agent, rows);
  for (const { stage } of rows) stage.remove();
}

function print(agent, rows) {
  console.log(`\n## ${agent}, ${CALLS} calls, ${rounds} rounds: median (least), in s\n`);
  console.log(
    '| | whole run | to | ratio | of the least | goal |\n| --- | --: | --- | --: | --: | --: |',
  );
  for (const { name, times, to, goal } of rows) {
    const base = rows.find((row) => row.name === to);
    const ratio = (of) => (base ? (of(times) / of(base.times)).toFixed(2) : '');
    const seconds = `${(median(times) / 1000).toFixed(2)} (${(least(times) / 1000).toFixed(2)})`;
    const cells = [name, seconds, to ?? '', ratio(median), ratio(least), goal ? `≤ ${goal}` : ''];
    console.log(`| ${cells.join(' | ')} |`);
  }
}

function median(times) {
  return times.toSorted((a, b) => a - b)[Math.floor(times.length / 2)];
}

function least(times) {
  return Math.min(...times);
}
