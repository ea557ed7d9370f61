// node test/agents/moments.mjs [AGENT…] [--payloads FILE]: sub-agents, compressions, model calls that fail and batches of tools
// inside the agents' own programs. A hook of ours is at each of these events; prints what it was told and what came of what
// it said, and fails where that is something else than is known of the agent.
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
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

  async play(steps, options) {
    const ran = await this.stage.run([...steps, [{ text: 'End.' }]], options);
    if (process.env.VERBOSE) console.error(this.agent, ran.exitCode, ran.err.slice(-300), ran.out.slice(-1500));
    return ran;
  }

  /** A helper that makes a file, and says something. */
  helper(name) {
    const { program, model, project } = this.stage;
    const file = path.join(project, name);
    const prompt = model.play([[program.shell(`echo x > ${file}`)], [{ text: 'HELPED' }]]);
    const hasWorked = () => existsSync(file);
    return { call: [program.subagent(prompt)], prompt, hasWorked };
  }

  wait() {
    return [this.stage.program.shell('sleep 4')];
  }

  async told() {
    const { program } = this.stage;
    this.say({});
    const { call } = this.helper('told');
    await this.play([call, [program.shell('true 1'), program.shell('true 2')], this.wait()]);
    const fields = ({ agent_id, agent_type, prompt_response }) =>
      [agent_id && 'id', agent_type && 'kind', prompt_response && 'answer'].filter(Boolean).join(', ');
    this.saw('SubagentStart', this.seen('SubagentStart').map(fields).join(' / '));
    this.saw('SubagentStop', this.seen('SubagentStop').map(fields).join(' / '));
    this.saw('AfterAgent', this.seen('AfterAgent').filter(({ agent_id }) => agent_id && this.agent !== 'cline').length === 0 ? 'of the agent alone' : 'of helpers, too');
    const inside = this.seen('BeforeTool').filter(({ tool_input }) => JSON.stringify(tool_input).includes('told') && !JSON.stringify(tool_input).includes('SCRIPT'));
    this.saw('inside', inside.every(({ agent_id }) => agent_id) && inside.length > 0 ? 'names the helper' : 'does not');
    const batches = this.seen('ToolBatchEnd');
    this.saw('ToolBatchEnd', batches.length ? `${batches.length} of ${Math.max(...batches.map(({ tool_calls }) => tool_calls.length))}` : 'never');
  }

  saw(what, seen) {
    this.rows.set(what, seen || 'never');
  }

  textOf(requests, script) {
    return JSON.stringify(requests.filter((each) => script === undefined || String(each.script) === script).map(({ body }) => body));
  }

  scriptOf(prompt) {
    return /SCRIPT-(\d+)-/.exec(prompt)[1];
  }

  async blockedStart() {
    this.say({ SubagentStart: { decision: 'block', reason: 'REASON-start.' } });
    const helper = this.helper('blocked');
    const { requests } = await this.play([helper.call, this.wait()]);
    const read = this.textOf(requests).includes('REASON-start.');
    this.saw('start: block', `${helper.hasWorked() ? 'it worked' : 'it did not work'}${read ? '; the model read why' : ''}`);
  }

  async contextAtStart() {
    this.say({ SubagentStart: { hookSpecificOutput: { additionalContext: 'CONTEXT-start.' } } });
    const helper = this.helper('context');
    const { requests } = await this.play([helper.call, this.wait()]);
    const read = this.textOf(requests, this.scriptOf(helper.prompt)).includes('CONTEXT-start.');
    this.saw('start: context', read ? 'the helper read it' : 'not read');
  }

  async blockedStop() {
    this.say({ SubagentStop: { decision: 'block', reason: 'REASON-stop.' } });
    const helper = this.helper('again');
    const { requests } = await this.play([helper.call, this.wait()]);
    const read = this.textOf(requests, this.scriptOf(helper.prompt)).includes('REASON-stop.');
    this.saw('stop: block', read ? 'the helper went on, and read why' : 'it ended');
  }

  async stoppedStop() {
    this.say({ SubagentStop: { continue: false, stopReason: 'REASON-end.' } });
    const helper = this.helper('ended');
    const { program, project } = this.stage;
    const file = path.join(project, 'after-stop');
    await this.play([helper.call, this.wait(), [program.shell(`echo x > ${file}`)]]);
    this.saw('stop: stop', existsSync(file) ? 'the agent went on' : 'the agent ended');
  }

  async batch() {
    const { program, project } = this.stage;
    this.say({ ToolBatchEnd: { hookSpecificOutput: { additionalContext: 'CONTEXT-batch.' } } });
    const noted = await this.play([[program.shell('true 3')]]);
    const read = this.textOf(noted.requests).includes('CONTEXT-batch.');
    this.say({ ToolBatchEnd: { decision: 'block', reason: 'REASON-batch.' } });
    const blocked = await this.play([[program.shell('true 4')]]);
    this.say({ ToolBatchEnd: { continue: false, stopReason: 'REASON-end.' } });
    const file = path.join(project, 'after-batch');
    const stopped = await this.play([[program.shell('true 5')], [program.shell(`echo x > ${file}`)]]);
    this.saw('batch: context', read ? 'the model read it' : 'not read');
    this.saw('batch: block', this.textOf(blocked.requests).includes('REASON-batch.') ? 'the model read it' : 'not read');
    this.saw('batch: stop', `${existsSync(file) ? 'the next tool ran' : 'the next tool did not run'}; ${stopped.requests.length} requests`);
  }

  async error() {
    const { model } = this.stage;
    this.say({});
    model.failsWith = 400;
    await this.play([], { env: { CLAUDE_CODE_MAX_RETRIES: '0' } });
    model.failsWith = undefined;
    this.saw('ModelError', this.seen('ModelError').map(({ error }) => JSON.stringify(error)).join(' / '));
  }

  async compress() {
    const how = COMPRESSIONS[this.agent];
    if (!how) return this.saw('PostCompress', 'never');
    this.say({});
    // A summary that names another script is what the model follows from then on.
    const summary = { text: `${this.stage.model.play([[{ text: 'End.' }]])} It is short.` };
    await this.play([[this.stage.program.shell('true 6')], [summary]], how.first);
    if (how.then) {
      const { out } = await this.play([], how.then);
      if (process.env.VERBOSE) console.error(out.slice(-3000));
    }
    const seen = this.seen('PostCompress');
    this.saw('PostCompress', [...new Set(seen.map(({ trigger, summary }) => `${trigger}${summary ? ', with a summary' : ''}`))].join(' / '));
  }

  async all() {
    for (const name of ['told', 'blockedStart', 'contextAtStart', 'blockedStop', 'stoppedStop', 'batch', 'error', 'compress']) {
      if (process.env.ONLY && !process.env.ONLY.split(',').includes(name)) continue;
      await this[name]();
    }
  }
}

const COMPRESSIONS = {
  claude: { then: { prompt: '/compact', args: ['--continue'] } },
  codex: { first: { args: ['-c', 'model_auto_compact_token_limit=1'] } },
  qwen: { then: { prompt: '/compress', args: ['--continue'] } },
};

const cache = mkdtempSync(path.join(process.env.TMPDIR, 'hookstack-cache-'));
for (const agent of positionals) {
  const m = await Moments.open(agent, cache);
  await m.all();
  console.log(agent); for (const [k, v] of m.rows) console.log('  ', k, '|', v);
  writeFileSync(`/tmp/sent2-${agent}.json`, JSON.stringify(m.sent().map((t) => { try { return JSON.parse(t); } catch { return t; } }), null, 1));
  writeFileSync(`/tmp/req2-${agent}.json`, JSON.stringify(m.stage.model.requests, null, 1));
  await m.stage.remove();
}
rmSync(cache, { recursive: true, force: true });
