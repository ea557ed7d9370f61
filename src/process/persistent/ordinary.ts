import { runCommand, type CommandOptions, type CommandOutcome } from '../command/runCommand.js';
import { runInSpawner } from '../spawner/spawner.js';
import type { RunningCommand } from '../command/startCommand.js';
import type { AskedEvent } from './askedEvent.js';
import type { Greeting } from './keptProcess.js';
import type { PersistentLimits } from './limits.js';
import { isHello, isHelloOfOther, isOfProtocol } from './lines.js';

export const NOT_SPOKEN = 'does not speak the protocol of persistent hooks';

/** What is wrong with how a process began, as the end of "The hook …". */
export function describeGreeting(greeting: Greeting | undefined): string {
  if (!greeting) return 'said no hello';
  if (greeting.kind === 'other' && isHelloOfOther(greeting.line)) {
    return 'speaks another version of the protocol of persistent hooks than 1, the only one that is spoken here';
  }
  return NOT_SPOKEN;
}

/** Runs an event of a hook that is none to keep, as it waited to be put to a kept one. */
export async function runAlone(event: AskedEvent): Promise<void> {
  const { hook, options } = event;
  event.release();
  const objection = await hook.findObjection?.();
  if (objection !== undefined) event.fail('broken', new Error(objection));
  else {
    // It may have waited for a process already.
    const timeoutMs = Math.max(1, event.deadline - performance.now());
    event.settle(await runOrdinary({ ...options, timeoutMs }, hook.spawner));
  }
}

/** Runs a hook that could be kept for one event alone. */
export async function runOrdinary(
  options: CommandOptions,
  spawner = false,
): Promise<CommandOutcome> {
  const spawned = spawner ? await runInSpawner(options) : undefined;
  return withoutHello(spawned ?? (await runCommand(options)), ALONE).outcome;
}

/**
 * Lets a process that runs already, and was not asked anything, serve an event as an ordinary command.
 *
 * @returns also whether it said hello in the end, which is no part of its output
 */
export async function takeOver(
  command: RunningCommand,
  event: AskedEvent,
  limits: PersistentLimits,
): Promise<{ readonly outcome: CommandOutcome; readonly saidHello: boolean }> {
  const { options, deadline } = event;
  event.release();
  const timeoutMs = Math.max(1, deadline - performance.now());
  const start = () => Promise.resolve(command);
  const ordinary = { ...options, timeoutMs, start, warmShells: 0, prestart: false };
  const outcome = await runCommand(ordinary, limits);
  return withoutHello(outcome, describeLate(limits));
}

/**
 * Takes the hello away from what an ordinary hook has said. Whoever says one and then nothing, or an answer of the
 * protocol, has waited for an event of the protocol: what it has to say of this one is not known.
 *
 * @param fault what that is, as the end of "The hook …"
 */
function withoutHello(
  outcome: CommandOutcome,
  fault: string,
): { readonly outcome: CommandOutcome; readonly saidHello: boolean } {
  const [, line = '', stdout = ''] = /^\s*([^\n]*)\n?([^]*)$/.exec(outcome.stdout) ?? [];
  const saidHello = isHello(line);
  if (!saidHello && !isHelloOfOther(line)) return { outcome, saidHello };
  const rest = { ...outcome, stdout };
  // Any other end speaks for itself.
  const hasEndedWell = outcome.ending === 'exit' && outcome.exitCode === 0;
  const isUnheard = hasEndedWell && (stdout.trim() === '' || isOfProtocol(stdout));
  if (!isUnheard) return { outcome: rest, saidHello };
  const error = new Error(fault);
  return { outcome: { ...rest, ending: 'broken', exitCode: null, error }, saidHello };
}

const ALONE =
  'said the hello of persistent hooks where it was started for one event alone, and did not answer that as an ordinary hook: say hello only where HOOKSTACK_PERSISTENT is set';

function describeLate({ helloMs }: PersistentLimits): string {
  return `said no {"hookstack":1} within ${helloMs / 1_000} s of its start, was given its input as an ordinary hook therefore, and did not answer that: say hello sooner, or answer such an input too, with {} where there is nothing to say (see docs: Persistent hooks)`;
}
