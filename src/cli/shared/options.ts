import { InvalidArgumentError, Option, type Command } from 'commander';

export interface WorkspaceOptions {
  /** Default: the current directory. */
  readonly cwd?: string;
  /** Replaces the settings of project, user and system, and all extensions. */
  readonly settings?: string;
  /** Lets everything of the project run, allowed or not. */
  readonly trust?: boolean;
  readonly json?: boolean;
}

export function withWorkspaceOptions(command: Command): Command {
  return command
    .option('--settings <file>', 'use this file instead of project, user and system settings')
    .addOption(cwdOption())
    .option('--trust', "let the hooks of the project's .llxprt/settings.json run");
}

export function cwdOption(): Option {
  return new Option('--cwd <dir>', 'the project; default the current directory');
}

export function jsonOption(): Option {
  return new Option('--json', 'write one JSON object');
}

export function traceOption(what = 'append what happens to this file, for "hookstack trace"') {
  return new Option('--trace <file>', what).env('HOOKSTACK_TRACE');
}

export function parseCount(text: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new InvalidArgumentError('Write a whole number above 0.');
}
