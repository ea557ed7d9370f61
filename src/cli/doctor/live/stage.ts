import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { execa, type ResultPromise } from 'execa';
import { findProgram } from '../../../process/command/findProgram.js';
import type { DialectName } from '../../../protocol/types.js';
import { isRecord } from '../../../util/records.js';
import { hostEnvironment } from '../../../util/requester.js';
import type { Fields } from '../../../dialects/dialect.js';
import { clientFile } from '../../resident/resident.js';
import { UsageError } from '../../shared/usageError.js';
import { LoopbackModel, type ModelRequest, type Step } from './model.js';
import { NOT_HERE, PROGRAMS, type AgentProgram, type Places } from './programs.js';

/** What came of a run. */
export interface Ran {
  readonly ms: number;
  readonly exitCode: number | undefined;
  readonly out: string;
  readonly err: string;
  /** What the program asked its model. */
  readonly requests: readonly ModelRequest[];
}

interface RunOptions {
  readonly mode?: string | undefined;
  readonly env?: Readonly<Record<string, string>> | undefined;
  /** What a person answers who is asked. */
  readonly person?: 'yes' | 'no' | undefined;
  /** What the prompt says besides. */
  readonly more?: string | undefined;
  /** What it says instead. */
  readonly prompt?: string | undefined;
  /** Further arguments of the program. */
  readonly args?: readonly string[] | undefined;
}

/** An agent that hangs is ended after that, in ms. */
const LIMIT = 120_000;

/** A server of MCP in the file that is given, whose tool makes a file in the folder that is given. */
const SERVER = `import { createInterface } from 'node:readline';
import { writeFileSync } from 'node:fs';
const inputSchema = { type: 'object', properties: { file: { type: 'string' } } };
const ANSWERS = {
  initialize: ({ protocolVersion }) => ({
    protocolVersion, capabilities: { tools: {} }, serverInfo: { name: 'live', version: '1' },
  }),
  'tools/list': () => ({ tools: [{ name: 'touch', description: 'Makes a file', inputSchema }] }),
  'tools/call': ({ arguments: { file } }) => {
    writeFileSync(file, '');
    return { content: [{ type: 'text', text: 'made' }] };
  },
};
createInterface({ input: process.stdin }).on('line', (line) => {
  const { id, method, params } = JSON.parse(line);
  if (id === undefined) return;
  const result = ANSWERS[method]?.(params) ?? {};
  process.stdout.write(JSON.stringify({ jsonrpc: '2.0', id, result }) + '\\n');
});
`;

/** A home with `hookstack` on its search path, a project, and a model, for runs of one agent's own program. */
export class Stage {
  readonly program: AgentProgram;
  readonly model: LoopbackModel;
  readonly home: string;
  readonly project: string;
  readonly #file: string;
  readonly #bin: string;
  readonly #base: string;
  readonly #cache: string;

  private constructor(
    base: string,
    file: string,
    program: AgentProgram,
    model: LoopbackModel,
    cache: string,
  ) {
    this.#cache = cache;
    this.#base = base;
    this.#file = file;
    this.program = program;
    this.model = model;
    this.home = path.join(base, 'home');
    this.project = path.join(base, 'project');
    this.#bin = path.join(base, 'bin');
  }

  /**
   * @param cache a folder for what the program unpacks
   * @throws UsageError where there is no such program, or it cannot be pointed at another model
   */
  static async open(agent: DialectName, cache: string): Promise<Stage> {
    const program = PROGRAMS[agent];
    if (!program) {
      const why = NOT_HERE[agent] ?? 'it has no program that could be pointed at another model';
      throw new UsageError(`${agent} cannot be tried against a model on this machine: ${why}`);
    }
    const { command, api } = program;
    const file = findProgram(command);
    if (file === undefined) {
      throw new UsageError(`${command} is not on the search path: install it, and try again`);
    }
    const base = realpathSync(mkdtempSync(path.join(tmpdir(), 'hookstack-live-')));
    const stage = new Stage(base, file, program, await LoopbackModel.start(api), cache);
    for (const folder of [stage.home, stage.project, stage.#bin]) mkdirSync(folder);
    // Some look for the root of a repository.
    mkdirSync(path.join(stage.project, '.git'));
    stage.link();
    stage.write(stage.home, 'server.mjs', SERVER);
    for (const [name, value] of Object.entries(program.files?.(stage.#places) ?? {})) {
      stage.write(stage.home, name, value);
    }
    return stage;
  }

  /** Puts `hookstack` on the search path; `unlink` takes it away, wherever it is. */
  link(): void {
    const client = clientFile();
    const main = path.join(path.dirname(client), 'cli.cjs');
    const files = [
      ['node', findProgram('node') ?? process.execPath],
      ['hookstack', main],
      ['hookstack-hook', client],
    ] as const;
    for (const [name, file] of files) {
      rmSync(path.join(this.#bin, name), { force: true });
      symlinkSync(file, path.join(this.#bin, name));
    }
  }

  unlink(): void {
    for (const name of ['hookstack', 'hookstack-hook']) rmSync(path.join(this.#bin, name));
  }

  get #places(): Places {
    const { home, project, model } = this;
    const command = process.execPath;
    return { home, project, url: model.url, mcp: { command, args: [`${home}/server.mjs`] } };
  }

  get env(): Record<string, string> {
    const search = hostEnvironment()['PATH'] ?? '';
    const others = search.split(path.delimiter).filter(isWithoutUs);
    return {
      HOME: this.home,
      PATH: [this.#bin, ...others].join(path.delimiter),
      LANG: 'C.UTF-8',
      TERM: 'xterm',
      XDG_CACHE_HOME: this.#cache,
    };
  }

  write(folder: string, name: string, value: unknown): string {
    const file = path.join(folder, name);
    mkdirSync(path.dirname(file), { recursive: true });
    writeFileSync(file, typeof value === 'string' ? value : JSON.stringify(value), { mode: 0o600 });
    return file;
  }

  /** Runs a command of hookstack in the project. */
  async hookstack(...args: string[]): Promise<string> {
    const main = path.join(path.dirname(clientFile()), 'cli.cjs');
    const { stdout } = await execa(process.execPath, [main, ...args], this.#options);
    return stdout;
  }

  get #options() {
    return { cwd: this.project, env: this.env, extendEnv: false, stdin: 'ignore' } as const;
  }

  async version(): Promise<string> {
    const { stdout } = await execa(this.#file, ['--version'], { ...this.#options, reject: false });
    return /\d+\.\d+\.\d+(?:-[\w.]*\w)?/u.exec(stdout)?.[0] ?? stdout.trim();
  }

  /** Has the agent work on a prompt for which its model follows the steps. */
  async run(
    steps: readonly Step[],
    { mode, env, person, more = '', prompt: said, args = [] }: RunOptions = {},
  ): Promise<Ran> {
    const prompt = said ?? `${this.model.play(steps)}${more}`;
    const plain = this.program.start(prompt, this.#places, mode);
    const start = person === undefined ? plain : (this.program.person?.(plain) ?? plain);
    const before = this.model.requests.length;
    const startedAt = performance.now();
    const running = execa(this.#file, [...start.args, ...args], {
      ...this.#options,
      env: { ...this.env, ...start.env, ...env },
      stdin: person === undefined ? 'ignore' : 'pipe',
      reject: false,
      // Some start themselves again, and what they start keeps their outputs open.
      detached: true,
    });
    const end = setTimeout(() => endGroup(running.pid), LIMIT);
    if (person !== undefined) void answerQuestions(running as Asking, prompt, person);
    const { exitCode, stdout: out, stderr: err } = await running;
    clearTimeout(end);
    endGroup(running.pid);
    const ms = performance.now() - startedAt;
    return { ms, exitCode, out, err, requests: this.model.requests.slice(before) };
  }

  /** Ends what stays, and takes everything away. */
  async remove(): Promise<void> {
    this.model.close();
    this.link();
    await this.hookstack('resident', 'stop').catch(() => undefined);
    rmSync(this.#base, { recursive: true, force: true, maxRetries: 3 });
  }
}

function isWithoutUs(folder: string): boolean {
  return findProgram('hookstack-hook', folder) === undefined;
}

function endGroup(pid: number | undefined): void {
  try {
    if (pid !== undefined) process.kill(-pid, 'SIGKILL');
  } catch {
    // Nobody is left.
  }
}

type Asking = ResultPromise<{ stdin: 'pipe' }>;

/** Answers what a program asks on stdout, in the words of the SDK of Claude Code, until it says that it is done. */
async function answerQuestions(
  running: Asking,
  prompt: string,
  answer: 'yes' | 'no',
): Promise<void> {
  const send = (message: object) => running.stdin.write(`${JSON.stringify(message)}\n`);
  send({ type: 'user', message: { role: 'user', content: prompt } });
  for await (const line of running.iterable()) {
    const { type, request_id, request } = JSON.parse(line) as Fields;
    if (type === 'result') running.stdin.end();
    if (type !== 'control_request' || !isRecord(request)) continue;
    const response =
      answer === 'yes'
        ? { behavior: 'allow', updatedInput: request['input'] }
        : { behavior: 'deny', message: 'No.' };
    send({ type: 'control_response', response: { subtype: 'success', request_id, response } });
  }
}
