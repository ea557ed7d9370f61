#!/usr/bin/env node
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { Command, CommanderError } from 'commander';
import { completionCommand } from './completion/command.js';
import { doctorCommand } from './doctor/command.js';
import { explainCommand } from './explain/command.js';
import { fireCommand } from './fire/command.js';
import { initCommand } from './init/command.js';
import { listCommand } from './list/command.js';
import { migrateCommand } from './migrate/command.js';
import { runCommand } from './run/command.js';
import { stackCommand } from './stack/command.js';
import { disableCommand, enableCommand } from './switch/command.js';
import { testCommand } from './test/command.js';
import { traceCommand } from './trace/command.js';
import { validateCommand } from './validate/command.js';
import { trustCommand, untrustCommand } from './trust/command.js';
import { addCommand, type CommandSpec } from './shared/addCommand.js';
import { errorMessage } from '../util/errorMessage.js';
import { printJsonError, printNotice } from './shared/terminal.js';
import { UsageError } from './shared/usageError.js';

/** In the order of the help. */
const COMMANDS: readonly CommandSpec[] = [
  initCommand,
  runCommand,
  fireCommand,
  testCommand,
  explainCommand,
  doctorCommand,
  validateCommand,
  listCommand,
  enableCommand,
  disableCommand,
  stackCommand,
  traceCommand,
  trustCommand,
  untrustCommand,
  migrateCommand,
  completionCommand,
];

process.stdout.on('error', (error) => endOutput(error, 'stdout'));
process.stderr.on('error', (error) => endOutput(error, 'stderr'));
await main();

async function main(): Promise<void> {
  const { version } = createRequire(import.meta.url)('hookstack/package.json') as {
    version: string;
  };
  const program = new Command('hookstack')
    .description('Hooks for LLM agents: policy and automation around every tool and model call')
    .version(version)
    .exitOverride();
  for (const spec of COMMANDS) addCommand(program, spec);
  try {
    await program.parseAsync();
  } catch (error) {
    process.exitCode = reportFailure(error);
  }
}

/** @returns the exit code */
function reportFailure(error: unknown): number {
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  const isUsage = error instanceof CommanderError || error instanceof UsageError;
  if (!(error instanceof CommanderError)) {
    printNotice('error', errorMessage(error));
  }
  if (process.argv.includes('--json')) printJsonError(errorMessage(error).replace(/^error: /, ''));
  // For `fire`, 2 means that a hook blocked.
  return isUsage && process.argv[2] !== 'fire' ? 2 : 1;
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
