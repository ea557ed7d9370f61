import { dropPrestarted, prestart } from '../prestarted.js';
import { killGroups, type ProcessGroup } from '../processGroup.js';
import { runCommand } from '../runCommand.js';
import type { StartOptions } from '../execution.js';
import { countHeld, dropHeld, heldRunId, startHeld } from '../heldCommands.js';
import { readFrames, writeFrame } from './frames.js';
import type { FromSpawner, SharedId, ToSpawner } from './messages.js';
import { Refill } from './refill.js';

// A small process that starts commands in the place of its host, whose memory makes a start slow. It runs them as its
// host would, and ends with it, and with it all that it has started.

type Environment = StartOptions['env'];

const environments = new Map<SharedId, Environment>();
const inputs = new Map<SharedId, Buffer>();
const aborts = new Map<number, AbortController>();
const refill = new Refill();
let watched: readonly ProcessGroup[] = [];
/** What is to be started ahead once there is time. */
const awaited = new Map<number, StartOptions>();

readFrames(process.stdin, (message, bytes) => receive(message as ToSpawner, bytes));
for (const event of ['end', 'error', 'close']) process.stdin.once(event, leave);
// Stdin ends, too, where nobody hears it any more, and there may be something to read before that.
process.stdout.on('error', () => undefined);
tellAlive();

function receive(message: ToSpawner, bytes: Buffer): void {
  switch (message.type) {
    case 'share':
      if (message.what === 'input') inputs.set(message.id, bytes);
      else environments.set(message.id, JSON.parse(bytes.toString()) as Environment);
      return;
    case 'forget':
      inputs.delete(message.id);
      environments.delete(message.id);
      return;
    case 'run':
      return void run(message, bytes);
    case 'abort':
      return aborts.get(message.id)?.abort();
    case 'prepare':
      for (const start of message.commands)
        refill.noteUse({ ...start, env: environmentOf(start) }, message.max, 0);
      return;
    case 'prestart':
      awaited.set(message.id, { ...message.start, env: environmentOf(message.start) });
      return refill.later(() => void startAhead(message.id));
    case 'drop':
      return drop(message);
    case 'watch':
      watched = message.groups.map((group) => ({ ...group, pipes: [], startedAt: -Infinity }));
      return;
    case 'ping':
      tellAlive();
  }
}

/** The host has gone. */
function leave(): void {
  killGroups(watched);
  process.exit();
}

async function run(
  { id, command }: Extract<ToSpawner, { type: 'run' }>,
  bytes: Buffer,
): Promise<void> {
  const env = environmentOf(command);
  const runId = heldRunId({ ...command, env }) ?? command.runId;
  // Written before anything is started, so that nothing is run twice where this process is lost.
  tell({ type: 'taken', id, ...(runId !== undefined && { runId }) });
  const abort = new AbortController();
  aborts.set(id, abort);
  const input = command.input === undefined ? bytes : (inputs.get(command.input) ?? bytes);
  const ending = runCommand({
    ...command,
    runId,
    env,
    input,
    signal: abort.signal,
    takeHeld: startHeld,
  });
  const { warmShells = 0, prestart: isEager } = command;
  refill.noteUse({ ...command, env }, isEager ? 0 : warmShells, input.byteLength);
  const { stdout, stderr, error, ...rest } = await ending;
  aborts.delete(id);
  const said = [Buffer.from(stdout), Buffer.from(stderr)];
  const outcome = {
    ...rest,
    stdoutBytes: said[0]?.byteLength ?? 0,
    ...(error && { error: { message: error.message, code: error.code } }),
  };
  tell({ type: 'ended', id, outcome }, Buffer.concat(said));
}

async function startAhead(id: number): Promise<void> {
  const start = awaited.get(id);
  if (awaited.delete(id) && start) await prestart(start, () => tell({ type: 'gave-up', id }));
}

function drop({ what, cwd }: Extract<ToSpawner, { type: 'drop' }>): void {
  if (what === 'prestarted') {
    for (const [id, start] of awaited) if (start.cwd === cwd) awaited.delete(id);
    return void dropPrestarted(cwd);
  }
  refill.forget(cwd);
  dropHeld(cwd);
}

function environmentOf({ env }: { env: SharedId }): Environment {
  return environments.get(env) ?? {};
}

function tellAlive(): void {
  tell({ type: 'alive', held: countHeld() });
}

function tell(message: FromSpawner, bytes?: Uint8Array): void {
  writeFrame(process.stdout, message, bytes);
}
