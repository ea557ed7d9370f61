#!/usr/bin/env node
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { Command, CommanderError } from 'commander';
import { addDoctor } from './commands/doctor.js';
import { addExplain } from './commands/explain.js';
import { addFire } from './commands/fire.js';
import { addInit } from './commands/init.js';
import { addList } from './commands/list.js';
import { addMigrate } from './commands/migrate.js';
import { addRun } from './commands/run.js';
import { addStack } from './commands/stack.js';
import { addDisable, addEnable } from './commands/switch.js';
import { addTest } from './commands/test.js';
import { addTrace } from './commands/trace.js';
import { addValidate } from './commands/validate.js';
import { addTrust, addUntrust } from './commands/trust.js';
import { printNotice } from './terminal.js';
import { UsageError } from './usageError.js';
import { errorMessage } from '../util/errorMessage.js';

/** In the order of the help. */
const COMMANDS = [
  addInit,
  addRun,
  addFire,
  addTest,
  addExplain,
  addDoctor,
  addValidate,
  addList,
  addEnable,
  addDisable,
  addStack,
  addTrace,
  addTrust,
  addUntrust,
  addMigrate,
];

process.stdout.on('error', (error) => endOutput(error, 'stdout'));
process.stderr.on('error', (error) => endOutput(error, 'stderr'));
await main();

/** A command's words are in `commands/`; what it does is imported only when it runs, so that help is quick. */
async function main(): Promise<void> {
  const { version } = createRequire(import.meta.url)('hookstack/package.json') as {
    version: string;
  };
  const program = new Command('hookstack')
    .description('Hooks for LLM agents: policy and automation around every tool and model call')
    .version(version)
    .exitOverride();
  for (const addCommand of COMMANDS) addCommand(program);
  try {
    await program.parseAsync();
  } catch (error) {
    process.exitCode = reportFailure(error);
  }
}

/** Tells what went wrong, unless commander already has; returns the exit code. */
function reportFailure(error: unknown): number {
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  const isUsage = error instanceof CommanderError || error instanceof UsageError;
  if (!(error instanceof CommanderError)) {
    printNotice('error', 'red', errorMessage(error));
  }
  // For a caller of `fire`, 2 means that a hook blocked.
  return isUsage && process.argv[2] !== 'fire' ? 2 : 1;
}

let isOutputLost = false;

/**
 * A reader that left, as `| head` does, ends the process: other programs are ended by SIGPIPE then, which Node ignores.
 * Where output cannot be written, the work goes on, and a verdict keeps its exit code.
 */
function endOutput(error: NodeJS.ErrnoException, stream: 'stdout' | 'stderr'): void {
  if (error.code === 'EPIPE') process.exit(128 + constants.signals.SIGPIPE);
  if (isOutputLost) return;
  isOutputLost = true;
  process.once('exit', () => (process.exitCode ||= 1));
  if (stream === 'stdout') {
    printNotice('error', 'red', `stdout cannot be written (${error.message}); free some space`);
  }
}
