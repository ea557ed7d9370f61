import { InvalidArgumentError, Option, type Command } from 'commander';

/** The options that every command has that looks at a project. */
export interface WorkspaceOptions {
  /** The project. Default the current directory. */
  readonly cwd?: string;
  /** A settings file to use in place of the project's, the user's and the system's, and of all extensions. */
  readonly settings?: string;
  /** Lets everything of the project run, whether it was allowed or not. */
  readonly trust?: boolean;
  /** Writes JSON in place of text. */
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

/** @param what what the command does with the file */
export function traceOption(what = 'append what happens to this file, for "hookstack trace"') {
  return new Option('--trace <file>', what).env('HOOKSTACK_TRACE');
}

/** The parser of an option that is a count. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new InvalidArgumentError('Write a whole number above 0.');
}
