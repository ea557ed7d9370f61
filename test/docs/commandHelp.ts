import { Command } from 'commander';
import { COMMANDS } from '../../src/cli/commands.js';
import { addCommand, type CommandSpec } from '../../src/cli/shared/addCommand.js';

/** By what is typed, such as `mcp install`. */
const ALL: ReadonlyMap<string, CommandSpec> = new Map(
  COMMANDS.flatMap((spec) => [
    [spec.name, spec],
    ...(spec.subcommands ?? []).map((each) => [`${spec.name} ${each.name}`, each] as const),
  ]),
);

/** The page, with the usage and the description of a command in the line behind each `<!-- help of NAME -->`. */
export function withCommandHelp(page: string): string {
  const line = /(<!-- help of (\w+(?: \w+)?) -->\n\n).*/g;
  return page.replaceAll(line, (_all, begin: string, name: string) => {
    const spec = ALL.get(name);
    if (!spec) throw new Error(`There is no command "${name}"`);
    return `${begin}${helpOf(name, spec)}`;
  });
}

function helpOf(name: string, spec: CommandSpec): string {
  const program = new Command('hookstack');
  addCommand(program, spec, () => undefined);
  const [command = program] = program.commands;
  return `\`hookstack ${name} ${command.usage()}\`: ${toMarkdown(spec.description)}.`;
}

/** A text of the help on one line, with code as code. */
function toMarkdown(text: string): string {
  const code = /(?<![\w`])(?:--[a-z-]+|[~.*@]?[\w.~/]*[*_/][\w.*/]+)(?![\w`])/g;
  return text.replaceAll(/\s+/g, ' ').replaceAll(code, '`$&`');
}
