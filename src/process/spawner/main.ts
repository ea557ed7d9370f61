import type { StartOptions } from '../command/execution.js';
import { dropHeld, holdAtStdin, takeHeld } from '../command/heldCommands.js';
import { killGroups } from '../command/processGroup.js';
import { runCommand } from '../command/runCommand.js';
import type { ProcessGroup } from '../command/processTable.js';
import { Bursts } from './bursts.js';
import {
  readFrames,
  writeFrame,
  type FromSpawner,
  type SharedId,
  type ToSpawner,
} from './messages.js';

// A small process that starts commands in the place of its host, whose memory makes a start slow. It runs them as its
// host would, and ends with it, and with it all that it has started.

type Environment = StartOptions['env'];
type Message<T extends ToSpawner['type']> = Extract<ToSpawner, { type: T }>;

const environments = new Map<SharedId, Environment>();
const inputs = new Map<SharedId, Buffer>();
const aborts = new Map<number, AbortController>();
const bursts = new Bursts();
let watched: readonly ProcessGroup[] = [];

const send: (message: FromSpawner, bytes?: Uint8Array) => void = writeFrame.bind(
  undefined,
  process.stdout,
);

/** What is done about each type of message. */
const handlers: {
  readonly [T in ToSpawner['type']]: (message: Message<T>, bytes: Buffer) => unknown;
} = {
  run,
  expect,
  share({ id, what }, bytes) {
    if (what === 'input') inputs.set(id, bytes);
    else environments.set(id, JSON.parse(bytes.toString()) as Environment);
  },
  forget({ id }) {
    inputs.delete(id);
    environments.delete(id);
  },
  abort({ id }) {
    aborts.get(id)?.abort();
  },
  drop({ cwd }) {
    bursts.forget(cwd);
    dropHeld(cwd);
  },
  watch({ groups }) {
    watched = groups.map((group) => ({ ...group, pipes: [], startedAt: -Infinity }));
  },
  ping() {
    send({ type: 'alive' });
  },
};

function receive<T extends ToSpawner['type']>(message: Message<T>, bytes: Buffer): void {
  handlers[message.type](message, bytes);
}

readFrames(process.stdin, receive, leave);
for (const event of ['end', 'error', 'close']) process.stdin.once(event, leave);
// An error on stdout is ignored: where the host is gone, stdin ends as well, and messages before that are still
// handled.
process.stdout.on('error', () => undefined);
send({ type: 'alive' });

/** The host has ended. */
function leave(): void {
  killGroups(watched);
  process.exit();
}

async function run({ id, command }: Message<'run'>, bytes: Buffer): Promise<void> {
  const start = { ...command, env: environmentOf(command) };
  const held = takeHeld(start);
  const { runId } = held ?? command;
  // Written before anything is started, so that nothing is run twice where this process is lost.
  send({ type: 'taken', id, runId });
  const abort = new AbortController();
  aborts.set(id, abort);
  const input = command.input === undefined ? bytes : (inputs.get(command.input) ?? bytes);
  const { warmShells = 0, prestart: isEager } = command;
  const ending = runCommand({ ...start, runId, input, signal: abort.signal, held });
  bursts.noteUse(start, isEager ? 0 : warmShells, input.byteLength);
  const { stdout, stderr, error, ...rest } = await ending;
  aborts.delete(id);
  const said = [Buffer.from(stdout), Buffer.from(stderr)];
  const outcome = {
    ...rest,
    stdoutBytes: said[0]?.byteLength ?? 0,
    error: error && { message: error.message, code: error.code },
  };
  send({ type: 'ended', id, outcome }, Buffer.concat(said));
}

function expect({ id, start: sent, max }: Message<'expect'>): void {
  const start = { ...sent, env: environmentOf(sent) };
  if (!start.prestart) return bursts.noteUse(start, max, 0);
  bursts.later(start.cwd, () => holdAtStdin(start, () => send({ type: 'gave-up', id })));
}

function environmentOf({ env }: { env: SharedId }): Environment {
  return environments.get(env) ?? {};
}
