import { collectCommand } from './collect/command.js';
import { completionCommand } from './completion/command.js';
import { doctorCommand } from './doctor/command.js';
import { explainCommand } from './explain/command.js';
import { fireCommand } from './fire/command.js';
import { hookCommand } from './hook/command.js';
import { initCommand } from './init/command.js';
import { installCommand } from './install/command.js';
import { listCommand } from './list/command.js';
import { mcpCommand } from './mcp/command.js';
import { migrateCommand } from './migrate/command.js';
import { residentCommand } from './resident/command.js';
import { runCommand } from './run/command.js';
import { serveCommand } from './serve/command.js';
import { stackCommand } from './stack/command.js';
import { disableCommand, enableCommand } from './switch/command.js';
import { testCommand } from './test/command.js';
import { traceCommand } from './trace/command.js';
import { validateCommand } from './validate/command.js';
import { trustCommand, untrustCommand } from './trust/command.js';
import type { CommandSpec } from './shared/addCommand.js';

/** In the order of the help. */
export const COMMANDS: readonly CommandSpec[] = [
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
  collectCommand,
  trustCommand,
  untrustCommand,
  mcpCommand,
  migrateCommand,
  installCommand,
  hookCommand,
  residentCommand,
  serveCommand,
  completionCommand,
];
