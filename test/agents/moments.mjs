// node test/agents/moments.mjs [AGENT…] [--payloads FILE]: sub-agents, compressions, model calls that fail and batches of tools
// inside the agents' own programs. A hook of ours is at each of these events; prints what it was told and what came of what
// it said, and fails where that is something else than is known of the agent.
import { chmodSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { load } from './load.mjs';
import { withAgents } from './path.mjs';

const { values, positionals } = parseArgs({
  allowPositionals: true,
  options: { payloads: { type: 'string' } },
});

process.env.PATH = withAgents();
// The name of a socket must be short.
process.env.TMPDIR = path.join(homedir(), '.cache');
mkdirSync(process.env.TMPDIR, { recursive: true });
const { Stage } = await load('src/cli/doctor/live/stage.ts');

const EVENTS = ['SubagentStart', 'SubagentStop', 'PostCompress', 'ModelError', 'ToolBatchEnd'];

/** Writes down what it reads, and answers what stands in a file for its event. */
const HOOK = `import { appendFileSync, existsSync, readFileSync } from 'node:fs';
let text = '';
for await (const chunk of process.stdin) text += chunk;
const home = process.argv[2];
appendFileSync(home + '/seen', text.trim() + '\\n');
const { hook_event_name: event, stop_hook_active: isAgain } = JSON.parse(text);
const file = home + '/say-' + event;
if (existsSync(file) && !isAgain) process.stdout.write(readFileSync(file, 'utf8'));
`;

class Moments {
  constructor(stage, agent) {
    this.stage = stage;
    this.agent = agent;
    this.rows = new Map();
  }

  static async open(agent, cache) {
    const moments = new Moments(await Stage.open(agent, cache), agent);
    await moments.install();
    return moments;
  }

  async install() {
    const { stage, agent } = this;
    const { home } = stage;
    const script = stage.write(home, 'hook.mjs', HOOK);
    const command = `'${process.execPath}' '${script}' '${home}'`;
    const hooks = [{ hooks: [{ type: 'command', command, timeout: 30_000 }] }];
    const events = [...EVENTS, 'BeforeTool', 'AfterAgent'];
    stage.write(home, '.llxprt/settings.json', {
      enableHooks: true,
      hooks: Object.fromEntries(events.map((event) => [event, hooks])),
    });
    await stage.hookstack('install', '--into', agent);
    // What the program itself sends is written down as well.
    mkdirSync(path.join(home, 'sent'));
    const bin = path.join(path.dirname(home), 'bin', 'hookstack-hook');
    const client = path.join(import.meta.dirname, '../../dist/hookstack-hook.sh');
    rmSync(bin);
    const record = `#!/bin/sh\nf=$(mktemp '${home}/sent/XXXXXX'); cat >"$f"; exec '${client}' "$@" <"$f"\n`;
    writeFileSync(bin, record);
    chmodSync(bin, 0o755);
  }

  /** Has the hook answer so, and no more what it said before. */
  say(answers) {
    const { home } = this.stage;
    for (const name of readdirSync(home)) {
      if (name.startsWith('say-') || name === 'seen') rmSync(path.join(home, name));
    }
    for (const [event, answer] of Object.entries(answers)) {
      this.stage.write(home, `say-${event}`, answer);
    }
  }

  seen(event) {
    try {
      const lines = readFileSync(path.join(this.stage.home, 'seen'), 'utf8').trim().split('\n');
      return lines.map((line) => JSON.parse(line)).filter((each) => each.hook_event_name === event);
    } catch {
      return [];
    }
  }

  sent() {
    const folder = path.join(this.stage.home, 'sent');
    return readdirSync(folder).map((name) => readFileSync(path.join(folder, name), 'utf8'));
  }
}

const cache = mkdtempSync(path.join(process.env.TMPDIR, 'hookstack-cache-'));
for (const agent of positionals) {
  const m = await Moments.open(agent, cache);
  const { stage } = m; const { program, model } = stage;
  const show = (title, ran) => {
    console.log(`## ${agent} ${title}: exit ${ran.exitCode}, ${ran.requests.length} requests, ${Math.round(ran.ms)} ms`);
    if (ran.exitCode !== 0) console.log(ran.err.slice(-600), ran.out.slice(-600));
    for (const e of [...EVENTS, 'BeforeTool', 'AfterAgent']) for (const s of m.seen(e)) console.log('  seen', JSON.stringify(s).slice(0, 700));
  };
  m.say({ });
  const helper = model.play([[program.shell('echo helper')], [{ text: 'HELPED' }]]);
  show('subagent', await stage.run([[program.subagent(helper)], [program.shell('echo one'), program.shell('echo two')], [{ text: 'End.' }]]));
  m.say({});
  model.failsWith = 400;
  show('error', await stage.run([[{ text: 'no' }]], { env: { CLAUDE_CODE_MAX_RETRIES: '0' } }));
  model.failsWith = undefined;
  writeFileSync(`/tmp/sent-${agent}.json`, JSON.stringify(m.sent().map((t) => { try { return JSON.parse(t); } catch { return t; } }), null, 1));
  await stage.remove();
}
rmSync(cache, { recursive: true, force: true });
