// node test/agents/moments.mjs [AGENT…]: sub-agents, compressions, model calls that fail and batches of tools inside the
// agents' own programs. A hook is at each of these events. Prints what it was told, and what came of what it said; fails
// where that is something else than below.
import { existsSync, mkdirSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { homedir } from 'node:os';
import path from 'node:path';
import { parseArgs } from 'node:util';
import { load } from './load.mjs';
import { withAgents } from './path.mjs';

const { positionals } = parseArgs({ allowPositionals: true });

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

  play(steps, options) {
    return this.stage.run([...steps, [{ text: 'End.' }]], options);
  }

  /** A helper that makes a file, and says something. */
  helper(name) {
    const { program, model, project } = this.stage;
    const file = path.join(project, name);
    const prompt = model.play([[program.shell(`echo x > ${file}`)], [{ text: 'HELPED' }]]);
    const hasWorked = () => existsSync(file);
    return { call: [program.subagent(prompt)], prompt, hasWorked };
  }

  /** A call that ends once so many helpers have told their end, or after 10 s, as some do not. */
  wait(ends = 1) {
    const { program, home } = this.stage;
    const have = `[ "$(grep -c '"SubagentStop"' '${home}/seen')" -ge ${ends} ]`;
    return [program.shell(`for i in $(seq 100); do ${have} && break; sleep 0.1; done`)];
  }

  async told() {
    const { program } = this.stage;
    this.say({});
    const { call } = this.helper('told');
    await this.play([call, [program.shell('true 1'), program.shell('true 2')], this.wait()]);
    this.saw('start', this.seen('SubagentStart').map(fieldsOf).join(' / '));
    this.saw('end', this.seen('SubagentStop').map(fieldsOf).join(' / '));
    this.saw('ends of the agent', this.seen('AfterAgent').filter(isOfHelper).length === 0);
    const calls = this.seen('BeforeTool').filter(({ tool_input: { command } }) =>
      JSON.stringify(command)?.includes('/told'),
    );
    this.saw('inside, its id', calls.length > 0 && calls.every(isOfHelper));
    this.saw('batch', this.seen('ToolBatchEnd').length > 0);
  }

  saw(what, seen) {
    this.rows.set(what, seen === true ? 'yes' : seen || 'no');
  }

  textOf(requests, script) {
    const chosen = requests.filter((each) => script === undefined || `${each.script}` === script);
    return JSON.stringify(chosen.map(({ body }) => body));
  }

  scriptOf(prompt) {
    return /SCRIPT-(\d+)-/.exec(prompt)[1];
  }

  async blockedStart() {
    this.say({ SubagentStart: { decision: 'block', reason: 'REASON-start.' } });
    const helper = this.helper('blocked');
    const { requests } = await this.play([helper.call, this.wait()]);
    const read = this.textOf(requests).includes('REASON-start.');
    const worked = helper.hasWorked() ? 'it worked' : 'it did not work';
    this.saw('start: block', `${worked}${read ? '; the model read why' : ''}`);
  }

  async contextAtStart() {
    this.say({ SubagentStart: { hookSpecificOutput: { additionalContext: 'CONTEXT-start.' } } });
    const helper = this.helper('context');
    const { requests } = await this.play([helper.call, this.wait()]);
    const read = this.textOf(requests, this.scriptOf(helper.prompt)).includes('CONTEXT-start.');
    this.saw('start: context', read);
  }

  async blockedStop() {
    this.say({ SubagentStop: { decision: 'block', reason: 'REASON-stop.' } });
    const helper = this.helper('again');
    const { requests } = await this.play([helper.call, this.wait(2)]);
    const read = this.textOf(requests, this.scriptOf(helper.prompt)).includes('REASON-stop.');
    this.saw('end: block', read ? 'it went on, and read why' : 'it ended');
  }

  async stoppedStop() {
    this.say({ SubagentStop: { continue: false, stopReason: 'REASON-end.' } });
    const helper = this.helper('ended');
    const { program, project } = this.stage;
    const file = path.join(project, 'after-stop');
    await this.play([helper.call, this.wait(), [program.shell(`echo x > ${file}`)]]);
    this.saw('end: stop', existsSync(file) ? 'the agent went on' : 'the agent ended');
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
    await this.play([[program.shell('true 5')], [program.shell(`echo x > ${file}`)]]);
    this.saw('batch: context', read);
    this.saw('batch: block', this.textOf(blocked.requests).includes('REASON-batch.'));
    this.saw('batch: stop', existsSync(file) ? 'the next tool ran' : 'the next tool did not run');
  }

  async error() {
    const { model } = this.stage;
    this.say({});
    model.failsWith = 400;
    await this.play([], { env: { CLAUDE_CODE_MAX_RETRIES: '0' } });
    model.failsWith = undefined;
    const [told] = this.seen('ModelError');
    this.saw(
      'error',
      told?.error.message.includes('It fails.') && `with ${Object.keys(told.error).join()}`,
    );
  }

  async compress() {
    const how = COMPRESSIONS[this.agent];
    if (!how) return this.saw('compression', false);
    this.say({});
    // A summary that names another script is what the model follows from then on.
    const summary = { text: `${this.stage.model.play([[{ text: 'End.' }]])} It is short.` };
    await this.play([[this.stage.program.shell('true 6')], [summary]], how.first);
    if (how.later) await this.play([], how.later);
    const [told] = this.seen('PostCompress');
    this.saw('compression', told && `${told.trigger}${told.summary ? ', with a summary' : ''}`);
  }

  async all() {
    await this.told();
    await this.blockedStart();
    await this.contextAtStart();
    await this.blockedStop();
    await this.stoppedStop();
    await this.batch();
    await this.error();
    await this.compress();
  }
}

const fieldsOf = ({ agent_id, agent_type, prompt_response }) =>
  [agent_id && 'id', agent_type && 'kind', prompt_response && 'answer'].filter(Boolean).join(', ');

function isOfHelper({ agent_id: id }) {
  return id !== undefined;
}

/** How each of them is had to sum up: at once, or in a session that goes on. */
const COMPRESSIONS = {
  claude: { later: { prompt: '/compact', args: ['--continue'] } },
  codex: { first: { args: ['-c', 'model_auto_compact_token_limit=1'] } },
  qwen: {
    first: { more: ' long'.repeat(20_000) },
    later: { prompt: '/compress', args: ['--continue'] },
  },
};

const ALL = {
  start: 'id, kind',
  end: 'id, kind, answer',
  'ends of the agent': 'yes',
  'inside, its id': 'yes',
  batch: 'yes',
  'start: block': 'it did not work; the model read why',
  'start: context': 'yes',
  'end: block': 'it went on, and read why',
  'end: stop': 'the agent went on',
  'batch: context': 'yes',
  'batch: block': 'yes',
  'batch: stop': 'the next tool did not run',
  error: 'with message',
  compression: 'manual, with a summary',
};
const NO_BATCH = {
  batch: 'no',
  'batch: context': 'no',
  'batch: block': 'no',
  'batch: stop': 'the next tool ran',
};

/** What each of them is known for. */
const KNOWN = {
  claude: { ...ALL, error: 'with message,code,status' },
  // It tells nobody that a model call failed.
  codex: { ...ALL, ...NO_BATCH, error: 'no', compression: 'auto' },
  copilot: { ...ALL, ...NO_BATCH, compression: 'no' },
  // Without a person, it tells no hook that a model call failed; and what is said here is too short for it to sum up.
  qwen: { ...ALL, error: 'no', 'start: context': 'no', compression: 'no' },
  cline: {
    ...ALL,
    ...NO_BATCH,
    start: 'id',
    end: 'id, answer',
    // Its tools were seen to run all the same.
    'start: block': 'it worked',
    'start: context': 'no',
    'end: block': 'it ended',
    compression: 'no',
  },
};

const cache = mkdtempSync(path.join(process.env.TMPDIR, 'hookstack-cache-'));
const agents = positionals.length > 0 ? positionals : Object.keys(KNOWN);
const found = new Map();
const waiting = [...agents];
async function work() {
  for (let agent = waiting.shift(); agent; agent = waiting.shift()) {
    const moments = await Moments.open(agent, cache);
    try {
      await moments.all();
      found.set(agent, moments.rows);
    } finally {
      await moments.stage.remove();
    }
  }
}

try {
  await Promise.all([work(), work()]);
  console.log(`| moment | ${agents.join(' | ')} |\n| --- |${' --- |'.repeat(agents.length)}`);
  for (const what of Object.keys(ALL)) {
    const cells = agents.map((agent) => found.get(agent).get(what));
    console.log(`| ${[what, ...cells].join(' | ')} |`);
    for (const [at, agent] of agents.entries()) {
      const known = KNOWN[agent][what];
      if (cells[at] === known) continue;
      console.error(`  ${agent}, ${what}: ${cells[at]}, where ${known} is known`);
      process.exitCode = 1;
    }
  }
} finally {
  rmSync(cache, { recursive: true, force: true, maxRetries: 3 });
}
