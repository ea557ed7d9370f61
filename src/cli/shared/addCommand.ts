import type { Command, Option } from 'commander';
import { hostEnvironment } from '../../util/requester.js';

export interface CommandSpec {
  readonly name: string;
  readonly description: string;
  /** The heading under which the help lists it. Default: the help has its name alone. */
  readonly group?: string;
  /** What arguments are, by their flags, such as `<event>`. */
  readonly arguments?: Readonly<Record<string, string>>;
  /** What the first argument usually is: for the help, and for completion. Others are not refused here. */
  readonly choices?: readonly string[];
  readonly options: readonly Option[];
  /** What the help says above the exit codes. */
  readonly notes?: string;
  readonly exitCodes: string;
  /** Shell commands, one per line. */
  readonly example: string;
  /** Commands of its own, such as `mcp install`. */
  readonly subcommands?: readonly CommandSpec[];
  /** Imports what the command does only when it runs, so that help is quick. It returns the exit code; default 0. */
  readonly load: () => Promise<(...given: never[]) => Promise<unknown>>;
}

/** @param finish called with the exit code, once the command has run */
export function addCommand(
  program: Command,
  spec: CommandSpec,
  finish: (exitCode: number) => void,
): void {
  const isOwn = program.parent !== null;
  const command = program
    .command(spec.name, { hidden: !isOwn && spec.group === undefined })
    .description(spec.description);
  if (spec.group !== undefined) command.helpGroup(spec.group);
  for (const [flags, what] of Object.entries(spec.arguments ?? {})) command.argument(flags, what);
  const [first] = command.registeredArguments;
  if (first && spec.choices) first.argChoices = [...spec.choices];
  for (const option of spec.options) {
    command.addOption(option);
    // By itself, it asks the environment of this process only.
    const said = option.envVar === undefined ? undefined : hostEnvironment()[option.envVar];
    if (said !== undefined) command.setOptionValueWithSource(option.attributeName(), said, 'env');
  }
  command.addHelpText('after', helpOf(spec)).action(async (...given: unknown[]) => {
    const run = await spec.load();
    const exitCode = await run(...(given as never[]));
    if (typeof exitCode === 'number') finish(exitCode);
  });
  for (const subcommand of spec.subcommands ?? []) addCommand(command, subcommand, finish);
}

function helpOf({ notes, exitCodes, example }: CommandSpec): string {
  const commands = example.split('\n').map((line) => `  $ ${line.trim()}`);
  const sections = [notes, `Exit codes: ${exitCodes}`, ['Example:', ...commands].join('\n')];
  return sections.flatMap((section) => (section ? ['', section] : [])).join('\n');
}
