import { lstatSync, readlinkSync, renameSync, rmSync, statSync } from 'node:fs';
import { createServer, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import path from 'node:path';
import { removeControls } from '../../protocol/sanitizeText.js';
import type { Sender } from '../../protocol/names.js';
import { HookEventName } from '../../protocol/types.js';
import { onBehalfOf } from '../../util/requester.js';
import { answerEvent } from '../hook/answerEvent.js';
import { parseInput, projectDirectory, readEvent, senderOf } from '../hook/event.js';
import { ANSWERED, BLOCKED } from '../hook/writeAnswer.js';
import { makePrivate, removeOld } from '../shared/privateFolder.js';
import { UsageError } from '../shared/usageError.js';
import { LIMITS } from '../shared/limits.js';
import { openWorkspace, type Workspace } from '../shared/workspace.js';
import {
  formatReply,
  inheritanceOf,
  readRequest,
  STILL_HERE,
  type Inheritance,
  type ResidentRequest,
} from './client.js';
import { MAX_REQUEST, ModDoor, type ResidentReply } from './modDoor.js';
import { RememberedFiles } from './rememberedFiles.js';
import {
  isCurrent,
  KeptWorkspaces,
  NeedsOwnProcess,
  noteGuards,
  requireAnswerable,
} from './workspaces.js';

/** The resident ends after this many ms without an event, and lets go of the projects without one. */
const IDLE_MS = 600_000;
/** Ms between two signs for a client, which waits for the first one for 1.5 s, and between two looks at its own files. */
const SIGN_MS = 500;
const LOOK_MS = 10_000;
/** Bytes of all requests that are being read. */
const MAX_READING = 128 * 1024 * 1024;
/** Events at a time: of all, and from one directory. What is more is answered by processes of their own. */
const MAX_EVENTS = 256;
const MAX_OF_ONE = 64;
/** Ms that a client may say nothing before its request is whole. */
const SILENT_MS = 5000;
/** Ms in which all is read that an event needs: a drive that does not answer holds up the others, too. */
const OPEN_MS = 5000;

export interface ServeOptions {
  readonly socket: string;
}

/**
 * Answers events until nobody has asked for a while. Started by the client, which no person calls.
 *
 * @throws UsageError where the folder of the socket is not this user's alone
 */
export async function serveEvents({ socket }: ServeOptions): Promise<void> {
  if (!OWN_FILE.test(path.basename(socket))) {
    throw new UsageError('hookstack resident serve is started by hookstack-hook only');
  }
  makePrivate(path.dirname(socket));
  // What residents of other packages, and of other starts of the machine, have left.
  removeOld(path.dirname(socket), OWN_FILE);
  await new Resident(socket).listen();
}

const OWN_FILE = /^[\da-f-]+\.(?:sock(?:\.\d+)?|starts)$/u;

class Resident {
  readonly #server: Server;
  readonly #workspaces = new KeptWorkspaces();
  readonly #remembered = new RememberedFiles();
  readonly #mods = new ModDoor((...asked) =>
    this.#isEnding ? Promise.resolve(undefined) : this.#replyAs({ from: 'claude' }, ...asked),
  );
  readonly #startedAt = performance.now();
  /** What can be seen of the socket, and of the client's file, which is another one once the package is replaced. */
  #inode = 0;
  #usedAt = performance.now();
  #reading = 0;
  #answered = 0;
  readonly #busy = new Map<string, number>();
  #isEnding = false;

  readonly #own = inheritanceOf('self');
  readonly #program = stampOfProgram();
  readonly #variables = ownVariables(process.env);

  constructor(private readonly socket: string) {
    this.#server = createServer({ allowHalfOpen: true }, (client) => this.#hear(client));
    this.#server.maxConnections = MAX_EVENTS;
  }

  /** Takes the place of one that is there, which sees that and ends. */
  async listen(): Promise<void> {
    // Its name is the shorter one: what is too long for a socket is cut off, and found by nobody.
    const draft = path.join(path.dirname(this.socket), `${process.pid}.sock`);
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
    if (isIdle || !this.#isFound() || !this.#isWhole()) this.#end();
  }

  /** Whether clients still find it here, and start no other one in its place. */
  #isFound(): boolean {
    return lstatSync(this.socket, { throwIfNoEntry: false })?.ino === this.#inode;
  }

  /** Whether its package is the one that it was started from: what it loads later would be another's, or missing. */
  #isWhole(): boolean {
    return stampOfProgram() === this.#program;
  }

  /** Answers what it has heard, and nothing more. */
  #end(): void {
    if (this.#isEnding) return;
    this.#isEnding = true;
    if (this.#isFound()) rmSync(this.socket, { force: true });
    this.#server.close(() => process.exit());
  }

  #hear(client: Socket): void {
    client.on('error', () => client.destroy());
    client.setTimeout(SILENT_MS, () => client.destroy());
    client.once('data', (first: Buffer) => {
      if (this.#mods.take(client, first)) return;
      this.#hearClient(client);
      client.emit('data', first);
    });
  }

  #hearClient(client: Socket): void {
    const chunks: Buffer[] = [];
    let size = 0;
    const asked = new AbortController();
    const signs = setInterval(() => client.write(STILL_HERE), SIGN_MS);
    client.once('close', () => {
      clearInterval(signs);
      this.#reading -= size;
      if (!client.writableFinished) asked.abort();
    });
    client.on('data', (chunk: Buffer) => {
      size += chunk.length;
      this.#reading += chunk.length;
      if (size > MAX_REQUEST || this.#reading > MAX_READING) client.destroy();
      else chunks.push(chunk);
    });
    client.once('end', () => {
      client.setTimeout(0);
      const answering = this.#answer(client, Buffer.concat(chunks), asked.signal);
      // A sign behind the answer would break it off, where somebody reads it slowly.
      void answering.finally(() => clearInterval(signs));
    });
  }

  /** What it does not answer, the client has answered by a process of its own. */
  async #answer(client: Socket, bytes: Buffer, signal: AbortSignal): Promise<void> {
    try {
      const request = readRequest(bytes);
      const reply = request && (await this.#replyTo(request, signal));
      if (reply) client.end(reply);
      else client.destroy();
    } catch {
      client.destroy();
    }
  }

  async #replyTo(request: ResidentRequest, signal: AbortSignal): Promise<Buffer | undefined> {
    if (request.wants === 'status' || request.wants === 'stop') {
      if (request.wants === 'stop') this.#end();
      return formatReply(0, `${JSON.stringify(this.#status())}\n`, '');
    }
    if (!this.#isWhole()) this.#end();
    const client = this.#isEnding ? undefined : this.#lookAt(request);
    if (!client) return undefined;
    if (request.wants === 'mod') {
      const door = { socket: this.socket, path: this.#mods.admit(client) };
      return formatReply(0, `${JSON.stringify(door)}\n`, '');
    }
    const reply = await this.#replyAs(request.wants, client, request.input, signal);
    return reply && formatReply(reply.code, reply.out, reply.err);
  }

  async #replyAs(
    sender: Sender,
    client: Inheritance,
    input: Buffer,
    signal: AbortSignal,
  ): Promise<ResidentReply | undefined> {
    const count = this.#busy.get(client.cwd) ?? 0;
    if (count >= MAX_OF_ONE) return undefined;
    this.#busy.set(client.cwd, count + 1);
    try {
      const reply = await this.#replyToEvent(sender, client, input, signal);
      if (reply) this.#answered += 1;
      return reply;
    } finally {
      this.#usedAt = performance.now();
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
    named: Sender,
    { env, cwd }: Inheritance,
    input: Buffer,
    signal: AbortSignal,
  ): Promise<ResidentReply | undefined> {
    let err = '';
    let awaited: readonly string[] | undefined;
    const say = (text: string) => void (err += text);
    const reading = parseInput(input);
    const sender = onBehalfOf({ env }, () => senderOf(named, reading));
    const alone = new AbortController();
    const late = setTimeout(() => alone.abort(), LIMITS.all);
    const answering = onBehalfOf({ env, stderr: { write: say } }, () => {
      const event = readEvent(sender, reading);
      const isStart = 'received' in event && event.received?.event === HookEventName.SessionStart;
      const { directory, source } = projectDirectory(sender, reading, cwd);
      return this.#workspaces.use((makeConfig) =>
        answerEvent({ ...sender, cwd: directory, cwdSource: source }, event, {
          signal: AbortSignal.any([signal, alone.signal]),
          passes: () => undefined,
          withholds: () => undefined,
          isLeft: () => alone.signal.aborted,
          openWorkspace: (options, needs) =>
            this.#open(isStart, (isAnew) =>
              openWorkspace(options, {
                ...needs,
                makeConfig: (given) => makeConfig(given, isAnew),
                remember: (project, read) => this.#remembered.of(project, read),
                firesOnce: false,
                withMiddleware: false,
                isQuiet: isAnew && !isStart,
              }),
            )
              .then((workspace) => {
                awaited = awaitedEvents(workspace);
                return workspace;
              })
              .catch((error: unknown) => {
                alone.abort();
                throw error;
              }),
        }),
      );
    });
    const answer = await Promise.race([answering, once(alone.signal, 'abort')]);
    clearTimeout(late);
    if (alone.signal.aborted || Array.isArray(answer)) return undefined;
    if ('blocked' in answer) {
      const reason = `${err}${removeControls(answer.blocked)}\n`;
      return { code: BLOCKED, out: '', err: reason, awaited };
    }
    return { code: ANSWERED, out: answer.out, err, awaited };
  }

  /**
   * Reads what an event needs, anew where that has changed since the last one.
   *
   * @throws what went wrong, which may be of this process alone; the client then starts another one
   */
  async #open(isStart: boolean, open: (isAnew: boolean) => Promise<Workspace>): Promise<Workspace> {
    const opening = async () => {
      let workspace = await open(isStart);
      if (!(await isCurrent(workspace.config))) workspace = await open(true);
      await requireAnswerable(workspace);
      await noteGuards(path.dirname(this.socket), workspace.config);
      return workspace;
    };
    let timer: NodeJS.Timeout | undefined;
    const late = new Promise<never>((_resolve, reject) => {
      timer = setTimeout(() => {
        // The threads that read are few, and those that hang do not come back.
        this.#end();
        reject(new NeedsOwnProcess('files cannot be read in time'));
      }, OPEN_MS);
    });
    return Promise.race([opening(), late]).finally(() => clearTimeout(timer));
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

/** The events for which a hook is there. */
function awaitedEvents({ config }: Workspace): readonly string[] {
  const hooks = config.getHookSystem()?.getAllHooks() ?? [];
  return [...new Set(hooks.flatMap(({ enabled, eventName }) => (enabled ? [eventName] : [])))];
}

function stampOfProgram(): string {
  const [, file = ''] = process.argv;
  const stats = statSync(file, { throwIfNoEntry: false });
  return [stats?.dev, stats?.ino, stats?.mtimeMs].join(':');
}

/** Variables that change what this program does itself, and no hook alone. */
const OF_PROGRAM = /^(?:HOME|(?:NODE|SSL|OPENSSL)_.*)$/u;

function ownVariables(env: Readonly<NodeJS.ProcessEnv>): string {
  const names = Object.keys(env).filter((name) => OF_PROGRAM.test(name));
  return JSON.stringify(names.toSorted().map((name) => [name, env[name]]));
}
