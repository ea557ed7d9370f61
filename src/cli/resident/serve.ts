import { lstatSync, readdirSync, readlinkSync, renameSync, rmSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import path from 'node:path';
import { removeControls } from '../../protocol/sanitizeText.js';
import { HookEventName, type DialectName } from '../../protocol/types.js';
import { within } from '../../util/surroundings.js';
import { answerEvent } from '../hook/answerEvent.js';
import { projectDirectory } from '../hook/projectDirectory.js';
import { parseInput } from '../hook/readInput.js';
import { readEvent } from '../hook/refusal.js';
import { ANSWERED, BLOCKED } from '../hook/writeAnswer.js';
import { makePrivate } from '../shared/privateFolder.js';
import { UsageError } from '../shared/usageError.js';
import { openWorkspace } from '../shared/workspace.js';
import { noteGuards } from './guards.js';
import { inheritanceOf, type Inheritance } from './inheritance.js';
import { formatReply, readRequest, STILL_HERE, type ResidentRequest } from './request.js';
import { isCurrent, KeptWorkspaces, NeedsOwnProcess } from './workspaces.js';

/** The resident ends after this many ms without an event, and lets go of the projects without one. */
const IDLE_MS = 600_000;
/** Ms between two signs for a client, and between two looks at its own files. */
const SIGN_MS = 1500;
const LOOK_MS = 10_000;
/** Bytes of a request, as the client sends no more, and of all that are being read. */
const MAX_REQUEST = 10 * 1024 * 1024;
const MAX_READING = 128 * 1024 * 1024;
/** Events at a time: of all, and from one directory. What is more is answered by processes of their own. */
const MAX_EVENTS = 256;
const MAX_OF_ONE = 64;
/** Ms. */
const OLD_MS = 30 * 24 * 3600 * 1000;

export interface ServeOptions {
  readonly socket: string;
}

/**
 * Answers events until nobody has asked for a while. Started by the client, which no person calls.
 *
 * @throws UsageError where the folder of the socket is not this user's alone
 */
export async function serveEvents({ socket }: ServeOptions): Promise<void> {
  if (!/\/[\da-f-]+\.sock$/u.test(socket)) {
    throw new UsageError('hookstack resident serve is started by hookstack-hook only');
  }
  restoreOptions();
  makePrivate(path.dirname(socket));
  removeOld(path.dirname(socket));
  await new Resident(socket).listen();
}

/** What the user has said to Node; the client has added something for this process alone. */
const GIVEN_OPTIONS = 'HOOKSTACK_NODE_OPTIONS';

function restoreOptions(): void {
  const given = process.env[GIVEN_OPTIONS];
  delete process.env[GIVEN_OPTIONS];
  delete process.env['NODE_OPTIONS'];
  if (given) process.env['NODE_OPTIONS'] = given;
}

/** What residents of other packages, and of other starts of the machine, have left. */
function removeOld(folder: string): void {
  for (const name of readdirSync(folder)) {
    const file = path.join(folder, name);
    const stats = lstatSync(file, { throwIfNoEntry: false });
    if (stats && Date.now() - stats.mtimeMs > OLD_MS && name !== 'guards') rmSync(file);
  }
}

class Resident {
  readonly #server: Server;
  readonly #workspaces = new KeptWorkspaces();
  readonly #startedAt = performance.now();
  /** What can be seen of the socket, and of the client's file, which is another one once the package is replaced. */
  #inode = 0;
  #usedAt = performance.now();
  #reading = 0;
  #answered = 0;
  readonly #busy = new Map<string, number>();
  #isEnding = false;

  readonly #own = inheritanceOf('self');
  readonly #variables = ownVariables(process.env);

  constructor(private readonly socket: string) {
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#hear(client));
    this.#server.maxConnections = MAX_EVENTS;
  }

  /** Takes the place of one that is there, which sees that and ends. */
  async listen(): Promise<void> {
    const draft = `${this.socket}.${process.pid}`;
    rmSync(draft, { force: true });
    await new Promise<void>((resolve, reject) => {
      this.#server.once('error', reject);
      this.#server.listen(draft, resolve);
    });
    this.#inode = lstatSync(draft).ino;
    renameSync(draft, this.socket);
    setInterval(() => this.#look(), LOOK_MS);
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
      process.once(signal, () => this.#end());
    }
  }

  #look(): void {
    const isIdle = performance.now() - this.#usedAt > IDLE_MS;
    this.#workspaces.forgetUnused(IDLE_MS);
    if (isIdle || !this.#isCurrent()) this.#end();
  }

  /** Whether clients still find it here, and start no other one in its place. */
  #isCurrent(): boolean {
    return lstatSync(this.socket, { throwIfNoEntry: false })?.ino === this.#inode;
  }

  /** Answers what it has heard, and nothing more. */
  #end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    if (this.#isCurrent()) rmSync(this.socket, { force: true });
    this.#server.close(() => process.exit());
  }

  #hear(client: Socket): void {
    const chunks: Buffer[] = [];
    let size = 0;
    const asked = new AbortController();
    client.on('error', () => client.destroy());
    client.once('close', () => {
      this.#reading -= size;
      asked.abort();
    });
    client.on('data', (chunk: Buffer) => {
      size += chunk.length;
      this.#reading += chunk.length;
      if (size > MAX_REQUEST || this.#reading > MAX_READING) client.destroy();
      else chunks.push(chunk);
    });
    client.once('end', () => void this.#answer(client, Buffer.concat(chunks), asked.signal));
    client.write(STILL_HERE);
  }

  /** What it does not answer, the client has answered by a process of its own. */
  async #answer(client: Socket, bytes: Buffer, signal: AbortSignal): Promise<void> {
    const signs = setInterval(() => client.write(STILL_HERE), SIGN_MS);
    try {
      const request = readRequest(bytes);
      const reply = request && (await this.#replyTo(request, signal));
      if (reply) client.end(reply);
      else client.destroy();
    } catch {
      client.destroy();
    } finally {
      clearInterval(signs);
    }
  }

  async #replyTo(request: ResidentRequest, signal: AbortSignal): Promise<Buffer | undefined> {
    if (request.wants === 'status')
      return formatReply(0, `${JSON.stringify(this.#status())}\n`, '');
    if (request.wants === 'stop') {
      this.#end();
      return formatReply(0, `${JSON.stringify(this.#status())}\n`, '');
    }
    const client = this.#isEnding ? undefined : this.#lookAt(request);
    if (!client) return undefined;
    const count = this.#busy.get(client.cwd) ?? 0;
    if (count >= MAX_OF_ONE) return undefined;
    this.#busy.set(client.cwd, count + 1);
    try {
      return await this.#replyToEvent(request.wants, client, request.input, signal);
    } finally {
      this.#usedAt = performance.now();
      this.#answered += 1;
      const left = (this.#busy.get(client.cwd) ?? 1) - 1;
      if (left > 0) this.#busy.set(client.cwd, left);
      else this.#busy.delete(client.cwd);
    }
  }

  /** @returns `undefined` where a process that is started here would inherit something else than one that the client starts */
  #lookAt({ pid, space }: ResidentRequest): Inheritance | undefined {
    if (space !== readlinkSync('/proc/self/ns/pid')) return undefined;
    const client = inheritanceOf(pid);
    const { uid, state, env } = client;
    const isLike = uid === this.#own.uid && state === this.#own.state;
    return isLike && env['PATH'] !== undefined && ownVariables(env) === this.#variables
      ? client
      : undefined;
  }

  async #replyToEvent(
    from: DialectName,
    { env, cwd }: Inheritance,
    input: Buffer,
    signal: AbortSignal,
  ): Promise<Buffer | undefined> {
    let err = '';
    const say = (text: string) => void (err += text);
    let needsOwnProcess = false;
    const reading = parseInput(input);
    const event = readEvent({ from }, reading);
    const isStart = 'received' in event && event.received?.event === HookEventName.SessionStart;
    const answer = await within({ env, say }, () => {
      const { directory, source } = projectDirectory({ from }, reading, cwd);
      return this.#workspaces.use((makeConfig) =>
        answerEvent({ from, cwd: directory, cwdSource: source }, event, {
          signal,
          passes: () => undefined,
          withholds: () => undefined,
          openWorkspace: async (options, needs) => {
            const open = (isAnew: boolean) =>
              openWorkspace(options, {
                ...needs,
                makeConfig: (given) => makeConfig(given, isAnew),
                firesOnce: false,
                withMiddleware: false,
                isQuiet: isAnew && !isStart,
              });
            try {
              let workspace = await open(isStart);
              if (!(await isCurrent(workspace.config))) workspace = await open(true);
              await noteGuards(path.dirname(this.socket), workspace.config).catch(() => undefined);
              return workspace;
            } catch (error) {
              needsOwnProcess ||= error instanceof NeedsOwnProcess;
              throw error;
            }
          },
        }),
      );
    });
    if (needsOwnProcess) return undefined;
    if ('blocked' in answer) {
      return formatReply(BLOCKED, '', `${err}${removeControls(answer.blocked)}\n`);
    }
    return formatReply(ANSWERED, `${JSON.stringify(answer.json)}\n`, err);
  }

  #status() {
    const { rss } = process.memoryUsage();
    return {
      pid: process.pid,
      socket: this.socket,
      upMs: Math.round(performance.now() - this.#startedAt),
      events: this.#answered,
      projects: this.#workspaces.projects,
      memoryMiB: Math.round(rss / 1024 / 1024),
    };
  }
}

/** Variables that change what this program does itself, and no hook alone. */
const OF_PROGRAM = /^(?:HOME|TMPDIR|TZ|(?:NODE|SSL|OPENSSL)_.*)$/u;

function ownVariables(env: Readonly<NodeJS.ProcessEnv>): string {
  const names = Object.keys(env).filter((name) => OF_PROGRAM.test(name));
  return JSON.stringify(names.toSorted().map((name) => [name, env[name]]));
}
