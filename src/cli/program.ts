import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { Command, CommanderError } from 'commander';
import { COMMANDS } from './commands.js';
import { addCommand } from './shared/addCommand.js';
import { closeIdleConnections } from '../fleet/remoteHooks.js';
import { errorMessage } from '../util/errorMessage.js';
import { onBehalfOf, type RequestingProcess } from '../util/requester.js';
import { standardOutput, writeError } from './shared/streams.js';
import { printJsonError, printNotice, toVisible } from './shared/terminal.js';
import { UsageError } from './shared/usageError.js';

/** Runs the command that the command line of this process names. */
export async function main(): Promise<void> {
  process.stdout.on('error', (error) => endOutput(error, 'stdout'));
  process.stderr.on('error', (error) => endOutput(error, 'stderr'));
  try {
    process.exitCode = await runCommandLine(process.argv.slice(2));
  } finally {
    // One that waits for the next question would keep this process alive.
    await closeIdleConnections();
  }
}

/**
 * Runs the command that a command line names: with the environment, stdin, stdout and stderr of whoever asks for it.
 * The current directory is always that of this process, from which Node reads what is named without its folder.
 *
 * @param args without the program
 * @returns the exit code
 */
export async function runCommandLine(
  args: readonly string[],
  requester: RequestingProcess = {},
): Promise<number> {
  return onBehalfOf(requester, () => run(args));
}

async function run(args: readonly string[]): Promise<number> {
  const { version } = createRequire(import.meta.url)('hookstack/package.json') as {
    version: string;
  };
  const program = new Command('hookstack')
    .description('Hooks for LLM agents: policy and automation around every tool and model call')
    .version(version)
    .configureOutput({ writeOut: (text) => standardOutput().write(text), writeErr: writeError })
    .exitOverride();
  let exitCode = 0;
  for (const spec of COMMANDS) addCommand(program, spec, (code) => (exitCode = code));
  const others = COMMANDS.filter(({ group }) => group === undefined).map(({ name }) => name);
  program.addHelpText(
    'after',
    `\nLess often needed: ${others.join(', ')}; "hookstack help NAME" tells what they do`,
  );
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCode;
  } catch (error) {
    return reportFailure(error, args);
  }
}

/** @returns the exit code */
function reportFailure(error: unknown, args: readonly string[]): number {
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  const isUsage = error instanceof CommanderError || error instanceof UsageError;
  if (!(error instanceof CommanderError)) {
    printNotice('error', toVisible(errorMessage(error)));
  }
  if (args.includes('--json')) printJsonError(errorMessage(error).replace(/^error: /, ''));
  const [command] = args;
  // An agent takes 1 of its hook for a yes.
  if (command === 'hook') return 2;
  // For `fire`, 2 means that a hook blocked.
  return isUsage && command !== 'fire' ? 2 : 1;
}

let isOutputLost = false;

/** EPIPE, as from `| head`, ends the process as SIGPIPE would. After other errors the work and its exit code go on. */
function endOutput(error: NodeJS.ErrnoException, stream: 'stdout' | 'stderr'): void {
  if (error.code === 'EPIPE') process.exit(128 + constants.signals.SIGPIPE);
  if (isOutputLost) return;
  isOutputLost = true;
  process.once('exit', () => (process.exitCode ||= 1));
  if (stream === 'stdout') {
    printNotice('error', `stdout cannot be written (${error.message}); free some space`);
  }
}
