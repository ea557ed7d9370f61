import { InvalidArgumentError, Option, type Command } from 'commander';

/** The options that every command has that looks at a project. */
export function withWorkspaceOptions(command: Command): Command {
  return command
    .option('--settings <file>', 'use this file instead of project, user and system settings')
    .option('--cwd <dir>', 'the project; default the current directory')
    .option('--trust', "let the hooks of the project's .llxprt/settings.json run");
}

/** The option of commands that run hooks. */
export function traceOption(): Option {
  const what = 'append what happens to this file, for "hookstack trace"';
  return new Option('--trace <file>', what).env('HOOKSTACK_TRACE');
}

/** The parser of an option that is a count. */
export function parseCount(text: string): number {
  const count = Number(text);
  if (Number.isSafeInteger(count) && count > 0) return count;
  throw new InvalidArgumentError('Write a whole number above 0.');
}
