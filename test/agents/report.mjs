// npm run test:agents [-- --write] [AGENT…]: `hookstack doctor --live` for each agent whose program is installed here. Fails
// where one did something else than its table says, and where the page of all agents says something else.
import { execFile } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { parseArgs, promisify } from 'node:util';
import { withAgents } from './path.mjs';

const HERE = import.meta.dirname;
const MAIN = path.resolve(HERE, '../../dist/cli.cjs');
const PAGE = path.resolve(HERE, '../../docs/hosts/README.md');
const BEGIN = '<!-- agents: begin -->';
const END = '<!-- agents: end -->';

/** The slow ones first, two at a time. */
const AGENTS = ['opencode', 'qwen', 'gemini', 'cline', 'claude', 'copilot', 'codex'];
const NAMES = {
  claude: 'Claude Code',
  codex: 'Codex',
  gemini: 'Gemini CLI',
  qwen: 'Qwen Code',
  copilot: 'Copilot CLI',
  cline: 'Cline',
  opencode: 'opencode',
};

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { write: { type: 'boolean' } },
});

const env = { ...process.env, PATH: withAgents() };

const reports = new Map();
const waiting = positionals.length > 0 ? [...positionals] : [...AGENTS];
async function work() {
  for (let agent = waiting.shift(); agent; agent = waiting.shift()) {
    const startedAt = performance.now();
    const run = promisify(execFile)(process.execPath, [MAIN, 'doctor', '--live', agent, '--json'], {
      env,
    });
    const { stdout, stderr } = await run.catch((error) => error);
    if (!stdout.startsWith('{')) throw new Error(`${agent}: ${stderr}`);
    const report = JSON.parse(stdout);
    reports.set(agent, report);
    const { scenarios, version } = report;
    const wrong = scenarios.filter(({ ok }) => !ok);
    const seconds = Math.round((performance.now() - startedAt) / 1000);
    const differ = scenarios.filter(({ ok, isDifference }) => ok && isDifference).length;
    const passed = scenarios.length - wrong.length - differ;
    console.log(`${agent} ${version}: ${passed} passed, ${differ} differ, ${seconds} s`);
    for (const { title, expected, seen } of wrong) {
      console.error(`  ${title}: ${seen}; expected: ${expected}`);
    }
  }
}
await Promise.all([work(), work()]);

/** The formatter pads cells. */
function plain(text) {
  return text.replace(/ +/gu, ' ').replace(/-{3,}/gu, '---').trim();
}

/** A row for each scenario; what differs is a note below. */
function tableOf(agents) {
  const all = agents.map((agent) => reports.get(agent));
  const notes = [];
  const rows = all[0].scenarios.map(({ title }, row) => {
    const cells = all.map(({ scenarios }) => {
      const { isDifference, expected } = scenarios[row];
      if (!isDifference) return 'yes';
      if (!notes.includes(expected)) notes.push(expected);
      return `${notes.indexOf(expected) + 1}`;
    });
    return `| ${[title, ...cells].join(' | ')} |`;
  });
  const head = all.map(({ agent, version }) => `${NAMES[agent]} ${version}`);
  return [
    `| | ${head.join(' | ')} |`,
    `| --- |${' --- |'.repeat(head.length)}`,
    ...rows,
    '',
    'Instead:',
    '',
    ...notes.map((note, index) => `${index + 1}. ${note}`),
  ].join('\n');
}

const failed = [...reports.values()].some(({ healthy }) => !healthy);
if (failed) process.exitCode = 1;
else if (reports.size === AGENTS.length) {
  const page = readFileSync(PAGE, 'utf8');
  const [before, rest = ''] = page.split(BEGIN);
  const [given, after] = rest.split(END);
  const table = tableOf(Object.keys(NAMES));
  if (values.write) writeFileSync(PAGE, `${before}${BEGIN}\n\n${table}\n\n${END}${after}`);
  else if (plain(given ?? '') !== plain(table)) {
    console.error(
      'docs/hosts/README.md says something else: npm run test:agents -- --write, and npx oxfmt it',
    );
    process.exitCode = 1;
  }
}
