#!/usr/bin/env node
import { createRequire } from 'node:module';
import { constants } from 'node:os';
import { Command, CommanderError } from 'commander';
import { addDoctor } from './doctor/command.js';
import { addExplain } from './explain/command.js';
import { addFire } from './fire/command.js';
import { addInit } from './init/command.js';
import { addList } from './list/command.js';
import { addMigrate } from './migrate/command.js';
import { addRun } from './run/command.js';
import { addStack } from './stack/command.js';
import { addDisable, addEnable } from './switch/command.js';
import { addTest } from './test/command.js';
import { addTrace } from './trace/command.js';
import { addValidate } from './validate/command.js';
import { addTrust, addUntrust } from './trust/command.js';
import { errorMessage } from '../util/errorMessage.js';
import { printNotice } from './shared/terminal.js';
import { UsageError } from './shared/usageError.js';

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

/** The code of a command is imported when it runs, so that help is quick. */
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

/** @returns the exit code */
function reportFailure(error: unknown): number {
  if (error instanceof CommanderError && error.exitCode === 0) return 0;
  const isUsage = error instanceof CommanderError || error instanceof UsageError;
  if (!(error instanceof CommanderError)) {
    printNotice('error', errorMessage(error));
  }
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
