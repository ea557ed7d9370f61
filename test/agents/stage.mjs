// Runs an agent's own program, against a model on this machine, in a home and a project of its own.
import { execFileSync, spawn, spawnSync } from 'node:child_process';
import { existsSync, mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:net';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { anthropicModel, geminiModel, promptFor } from './models.mjs';

const HERE = import.meta.dirname;
const DIST = path.resolve(HERE, '../../dist');
const MODULES = path.join(HERE, 'node_modules');

const PROGRAMS = {
  claude: path.join(
    MODULES,
    `@anthropic-ai/claude-code-${process.platform}-${process.arch}/claude`,
  ),
  gemini: path.join(MODULES, '@google/gemini-cli/bundle/gemini.js'),
};

/** The agents whose programs are installed here. */
export const INSTALLED = Object.keys(PROGRAMS).filter((agent) => existsSync(PROGRAMS[agent]));

const SETTINGS = {
  claude: '.claude/settings.json',
  gemini: '.gemini/settings.json',
};

const GEMINI_SETTINGS = {
  security: { auth: { selectedType: 'gemini-api-key' } },
  privacy: { usageStatisticsEnabled: false },
  telemetry: { enabled: false },
  general: { enableAutoUpdate: false },
};

/** A home with `hookstack` on its search path, and a project, for runs of one agent. */
export class Stage {
  #base = mkdtempSync(path.join(tmpdir(), 'hookstack-agent-'));
  home = path.join(this.#base, 'home');
  project = path.join(this.#base, 'project');
  #bin = path.join(this.#base, 'bin');
  #server;

  /**
   * @param agent `claude` or `gemini`
   * @param settings of hookstack's user; without them it is not installed
   * @param own hooks in the agent's own settings
   */
  constructor(agent, { settings, own } = {}) {
    this.agent = agent;
    for (const folder of [this.home, this.project, this.#bin]) mkdirSync(folder);
    execFileSync('git', ['init', '-q', this.project]);
    symlinkSync(process.execPath, path.join(this.#bin, 'node'));
    symlinkSync(path.join(DIST, 'cli.cjs'), path.join(this.#bin, 'hookstack'));
    symlinkSync(path.join(DIST, 'hookstack-hook.sh'), path.join(this.#bin, 'hookstack-hook'));
    if (agent === 'gemini') this.#write(this.home, SETTINGS.gemini, GEMINI_SETTINGS);
    if (own) this.#write(this.project, SETTINGS[agent], { hooks: own });
    if (!settings) return;
    this.#write(this.home, '.llxprt/settings.json', settings);
    this.hookstack('install', '--into', agent);
  }

  #write(folder, file, value) {
    mkdirSync(path.dirname(path.join(folder, file)), { recursive: true });
    writeFileSync(path.join(folder, file), JSON.stringify(value), { mode: 0o600 });
  }

  get env() {
    return {
      HOME: this.home,
      PATH: `${this.#bin}:/usr/local/bin:/usr/bin:/bin`,
      LANG: 'C.UTF-8',
      TERM: 'xterm',
    };
  }

  /** Runs a command of hookstack in the project. */
  hookstack(...args) {
    return execFileSync(path.join(this.#bin, 'hookstack'), args, {
      cwd: this.project,
      env: this.env,
      encoding: 'utf8',
      stdio: ['ignore', 'pipe', 'ignore'],
    });
  }

  /** Answers all events itself from now on, in the place of hookstack's process that stays, and looks at none. */
  async answerAtOnce() {
    const socket = this.#socket();
    this.hookstack('resident', 'stop');
    this.#server = createServer({ allowHalfOpen: true }, (client) => {
      client.on('error', () => client.destroy());
      client.resume().on('end', () => client.end('=0 3 0\n{}\n'));
    });
    await new Promise((resolve) => this.#server.listen(socket, resolve));
  }

  /** The first event starts the process that listens there. */
  #socket() {
    const program = path.join(this.#bin, 'hookstack-hook');
    const options = { cwd: this.project, env: this.env, encoding: 'utf8', input: '{}' };
    for (let tries = 0; tries < 100; tries += 1) {
      const { status, stdout } = spawnSync(program, ['status'], options);
      if (status === 0) return JSON.parse(stdout).socket;
      spawnSync(program, [this.agent], options);
    }
    throw new Error('no process that stays has started');
  }

  /**
   * Has the agent work on a prompt for which its model follows `steps`.
   *
   * @returns how long it took in ms, its exit code, and its tools' results
   */
  async run(steps, env = {}) {
    const model = this.agent === 'claude' ? await anthropicModel() : await geminiModel();
    const [program, args, variables] = COMMANDS[this.agent](promptFor(steps), model.url);
    const startedAt = performance.now();
    const { code, out, err } = await finish(program, args, {
      cwd: this.project,
      env: { ...this.env, ...variables, ...env },
    });
    const ms = performance.now() - startedAt;
    model.close();
    const events = out
      .split('\n')
      .flatMap((line) => (line.startsWith('{') ? JSON.parse(line) : []));
    return { ms, code, events, err, results: RESULTS[this.agent](events) };
  }

  /** Ends what stays, and takes everything away. */
  remove() {
    this.#server?.close();
    try {
      this.hookstack('resident', 'stop');
    } catch {
      // None was there.
    }
    rmSync(this.#base, { recursive: true, force: true });
  }
}

const COMMANDS = {
  claude: (prompt, url) => [
    PROGRAMS.claude,
    [
      '-p',
      prompt,
      '--output-format',
      'stream-json',
      '--verbose',
      '--permission-mode',
      'bypassPermissions',
    ],
    {
      ANTHROPIC_BASE_URL: url,
      ANTHROPIC_API_KEY: 'none',
      CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1',
      DISABLE_AUTOUPDATER: '1',
      IS_SANDBOX: '1',
    },
  ],
  gemini: (prompt, url) => [
    process.execPath,
    [PROGRAMS.gemini, '-p', prompt, '-o', 'stream-json', '--yolo'],
    {
      GOOGLE_GEMINI_BASE_URL: url,
      GEMINI_API_KEY: 'none',
      GEMINI_MODEL: 'gemini-2.5-flash',
      GEMINI_CLI_TRUST_WORKSPACE: 'true',
    },
  ],
};

const RESULTS = {
  claude: (events) =>
    events
      .filter(({ type }) => type === 'user')
      .flatMap(({ message }) => (Array.isArray(message.content) ? message.content : []))
      .filter(({ type }) => type === 'tool_result')
      .map(({ is_error, content }) => ({
        isError: is_error === true,
        text: JSON.stringify(content),
      })),
  gemini: (events) =>
    events
      .filter(({ type }) => type === 'tool_result')
      .map(({ status, output, error }) => ({
        isError: status !== 'success',
        text: output ?? error?.message,
      })),
};

function finish(program, args, options) {
  return new Promise((resolve, reject) => {
    const subprocess = spawn(program, args, { ...options, stdio: ['ignore', 'pipe', 'pipe'] });
    let [out, err] = ['', ''];
    subprocess.stdout.on('data', (chunk) => (out += chunk));
    subprocess.stderr.on('data', (chunk) => (err += chunk));
    subprocess.on('error', reject);
    subprocess.on('close', (code) => resolve({ code, out, err }));
  });
}
