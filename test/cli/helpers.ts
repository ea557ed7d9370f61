import { mkdir, mkdtemp, readFile, realpath, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Readable } from 'node:stream';
import { fileURLToPath } from 'node:url';
import { execa, type Options, type ResultPromise } from 'execa';
import { afterEach, beforeEach } from 'vitest';
import type * as Program from '../../src/cli/program.js';
import type { CommandHookConfig, HookDefinition } from '../../src/protocol/types.js';

/** The built program. */
export const MAIN = fileURLToPath(new URL('../../dist/cli.cjs', import.meta.url));

/** What it loads for all commands, as a module. */
const PROGRAM = new URL('../../dist/program.js', import.meta.url).href;

/** What `install` has an agent start. */
export const CLIENT = fileURLToPath(new URL('../../dist/hookstack-hook.sh', import.meta.url));

type Hooks = Record<string, readonly HookDefinition[]>;

/** A home and a project of its own for every test, and the program that runs in them. */
export class Cli {
  #base = '';

  constructor() {
    beforeEach(async () => {
      this.#base = await realpath(await mkdtemp(join(tmpdir(), 'hookstack-cli-')));
      await mkdir(this.home);
      await mkdir(this.project);
    });
    afterEach(() => rm(this.#base, { recursive: true, force: true }));
  }

  get home(): string {
    return join(this.#base, 'home');
  }

  get project(): string {
    return join(this.#base, 'project');
  }

  /** The environment of the program; nothing of the tests' own leaks in. */
  get env(): NodeJS.ProcessEnv {
    return { HOME: this.home, PATH: process.env['PATH'] };
  }

  start(args: readonly string[], options: Options = {}): ResultPromise {
    const env = { ...this.env, ...options.env };
    return execa(process.execPath, [MAIN, ...args], {
      cwd: this.project,
      input: '',
      reject: false,
      ...options,
      env,
      extendEnv: false,
    });
  }

  /** Runs a command in this process, as quickly as a function. */
  async run(args: readonly string[], { cwd = this.project, env, input }: RunOptions = {}) {
    const requester = { ...this.env, ...env };
    return inTurn(() => runHere(args, { cwd, env: withoutUndefined(requester), input }));
  }

  /** Runs a command as a process of its own, for what depends on one: signals, pipes, time, what ends it. */
  async runProgram(args: readonly string[], options: Options = {}) {
    const { exitCode, stdout, stderr } = await this.start(args, options);
    return { exitCode, stdout: String(stdout), stderr: String(stderr) };
  }

  /** Runs the program on a terminal of its own, and types an answer to each question. */
  async onTerminal(args: string, ...answers: string[]) {
    const command = `'${process.execPath}' '${MAIN}' ${args}`;
    const subprocess = execa('script', ['-qefc', command, '/dev/null'], {
      cwd: this.project,
      env: { ...this.env, NO_COLOR: '1', SHELL: '/bin/sh' },
      extendEnv: false,
      stdin: 'pipe',
      reject: false,
    });
    let asked = 0;
    let shown = '';
    subprocess.stdout.on('data', (chunk: Buffer) => {
      shown += chunk.toString();
      for (; shown.split(/\((?:q\)uit|s\)kip): /u).length - 1 > asked; asked++) {
        subprocess.stdin.write(answers[asked] ?? 'q\n');
      }
    });
    const { exitCode } = await subprocess;
    return { exitCode, shown: shown.replaceAll('\r\n', '\n') };
  }

  /** Writes a file, whose path is absolute or relative to the project; returns its absolute path. */
  async write(file: string, content: string | object): Promise<string> {
    const path = join(file.startsWith('/') ? '' : this.project, file);
    await mkdir(dirname(path), { recursive: true });
    const text = typeof content === 'string' ? content : JSON.stringify(content);
    await writeFile(path, text, { mode: 0o644 });
    return path;
  }

  read(file: string): Promise<string> {
    return readFile(join(this.project, file), 'utf8');
  }

  /** A settings file that no default looks for. */
  settings(hooks: Hooks, others: object = {}): Promise<string> {
    return this.write(join(this.#base, 'named.json'), { enableHooks: true, hooks, ...others });
  }

  projectSettings(hooks: Hooks, others: object = {}): Promise<string> {
    return this.write('.llxprt/settings.json', { enableHooks: true, hooks, ...others });
  }

  userSettings(hooks: Hooks, others: object = {}): Promise<string> {
    const file = join(this.home, '.llxprt', 'settings.json');
    return this.write(file, { enableHooks: true, hooks, ...others });
  }

  /** An extension: its manifest, without a name, and its other files. */
  async extension(
    scope: 'project' | 'user',
    name: string,
    manifest: object,
    files: Record<string, string> = {},
  ): Promise<string> {
    const home = scope === 'user' ? this.home : this.project;
    const folder = join(home, '.llxprt', 'extensions', name);
    for (const [file, content] of Object.entries(files)) {
      await this.write(join(folder, file), content);
    }
    return this.write(join(folder, 'llxprt-extension.json'), { name, ...manifest });
  }

  /** A file of recorded model calls. */
  record(...calls: readonly object[]): Promise<string> {
    const lines = calls.map((call) => JSON.stringify(call));
    return this.write(join(this.#base, 'calls.responses'), lines.join('\n'));
  }
}

interface RunOptions {
  /** Default: the project. */
  readonly cwd?: string;
  /** Added to what the program has anyway. */
  readonly env?: NodeJS.ProcessEnv;
  readonly input?: string;
}

/** The current directory belongs to the whole process, so commands wait for each other. */
let turn: Promise<unknown> = Promise.resolve();

function inTurn<T>(work: () => Promise<T>): Promise<T> {
  const done = turn.then(work);
  turn = done.catch(() => undefined);
  return done;
}

async function runHere(
  args: readonly string[],
  { cwd, env, input = '' }: RunOptions & { readonly cwd: string },
) {
  const { runCommandLine } = (await import(PROGRAM)) as typeof Program;
  const [stdout, stderr] = [new KeptText(), new KeptText()];
  const before = process.cwd();
  process.chdir(cwd);
  try {
    const stdin = Readable.from(input === '' ? [] : [Buffer.from(input)]);
    const exitCode = await runCommandLine(args, { env, stdin, stdout, stderr });
    return { exitCode, stdout: stdout.text, stderr: stderr.text };
  } finally {
    process.chdir(before);
  }
}

class KeptText {
  #text = '';

  write(text: string): void {
    this.#text += text;
  }

  /** Without the line break at its end. */
  get text(): string {
    return this.#text.replace(/\n$/u, '');
  }
}

function withoutUndefined(env: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(env).filter(([, value]) => value !== undefined));
}

/** One recorded streamed answer; a text is a part like any other. */
export function answer(...parts: readonly (string | object)[]): object {
  const chunks = parts.map((part, index) => ({
    candidates: [
      {
        content: { role: 'model', parts: [typeof part === 'string' ? { text: part } : part] },
        ...(index === parts.length - 1 && { finishReason: 'STOP' }),
      },
    ],
    ...(index === parts.length - 1 && {
      usageMetadata: { promptTokenCount: 10, candidatesTokenCount: 2, totalTokenCount: 12 },
    }),
  }));
  return { method: 'generateContentStream', response: chunks };
}

export function toolCall(name: string, args: object): object {
  return { functionCall: { name, args } };
}

/** A group of one hook that runs a shell command. */
export function group(
  command: string,
  options: Partial<CommandHookConfig> & { matcher?: string; sequential?: boolean } = {},
): HookDefinition[] {
  const { matcher, sequential, ...hook } = options;
  return [{ matcher, sequential, hooks: [{ type: 'command', command, ...hook }] }];
}

/** A command that prints JSON. */
export function saying(output: object): string {
  return `cat > /dev/null; printf %s '${JSON.stringify(output).replaceAll("'", `'\\''`)}'`;
}

/**
 * A script of a persistent hook, which also answers as an ordinary one.
 *
 * @param output an expression of what it answers: of `event`, and of `count`, which is 1 for the first
 */
export function answering(output: string): string {
  return `import { createInterface } from 'node:readline';
let count = 0;
if (process.env.HOOKSTACK_PERSISTENT) console.log('{"hookstack":1}');
for await (const line of createInterface({ input: process.stdin })) {
  const { id, input, ...others } = JSON.parse(line);
  const event = input ?? others;
  count += 1;
  const output = ${output};
  console.log(JSON.stringify(id === undefined ? output : { id, output }));
}
`;
}

/** A command that keeps what it read in a file of the project. */
export function keepingInput(file: string): string {
  return `cat > "$LLXPRT_PROJECT_DIR/${file}"`;
}

/** The objects of a text that has one a line. */
export function parseLines(text: string): { type: string; [field: string]: unknown }[] {
  return text.split('\n').map((line) => JSON.parse(line) as { type: string });
}
