import { runCommand, type CommandOptions, type CommandOutcome } from '../command/runCommand.js';
import { runInSpawner } from '../spawner/spawner.js';
import { isHello, isHelloOfOther, isOfProtocol } from './lines.js';

/** Runs a hook that could be kept for one event alone. */
export async function runOrdinary(
  options: CommandOptions,
  spawner = false,
): Promise<CommandOutcome> {
  const spawned = spawner ? await runInSpawner(options) : undefined;
  return withoutHello(spawned ?? (await runCommand(options)));
}

/**
 * Takes the hello away from what an ordinary hook has said. Whoever says one and then nothing, or an answer of the
 * protocol, has waited for an event of the protocol: what it has to say of this one is not known.
 */
function withoutHello(outcome: CommandOutcome): CommandOutcome {
  const [, line = '', stdout = ''] = /^\s*([^\n]*)\n?([^]*)$/.exec(outcome.stdout) ?? [];
  if (!isHello(line) && !isHelloOfOther(line)) return outcome;
  // Any other end speaks for itself.
  const hasEndedWell = outcome.ending === 'exit' && outcome.exitCode === 0;
  const isUnheard = hasEndedWell && (stdout.trim() === '' || isOfProtocol(stdout));
  if (!isUnheard) return { ...outcome, stdout };
  return { ...outcome, stdout, ending: 'broken', exitCode: null, error: new Error(UNHEARD) };
}

const UNHEARD =
  'said the hello of persistent hooks where it was started for one event alone, and did not answer that as an ordinary hook: say hello only where HOOKSTACK_PERSISTENT is set';
