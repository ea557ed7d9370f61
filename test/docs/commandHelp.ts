import { Command, type Option } from 'commander';
import { COMMANDS } from '../../src/cli/commands.js';
import { addCommand, type CommandSpec } from '../../src/cli/shared/addCommand.js';
import { jsonOption, workspaceOptions } from '../../src/cli/shared/options.js';

/** What the page explains once, for all commands. */
const EXPLAINED_ONCE = new Set<Option>([...workspaceOptions, jsonOption]);

/** By what is typed, such as `mcp install`. */
const ALL: ReadonlyMap<string, CommandSpec> = new Map(
  COMMANDS.flatMap((spec) => [
    [spec.name, spec],
    ...(spec.subcommands ?? []).map((each) => [`${spec.name} ${each.name}`, each] as const),
  ]),
);

/**
 * The page, with what its commands say of themselves behind each `<!-- help of NAME -->`, up to `<!-- end -->`. What a
 * command takes is left out where the comment says `, as OTHER`.
 */
export function withCommandHelp(page: string): string {
  const block = /(<!-- help of (\w+(?: \w+)?)(, as \w+)? -->)[^]*?<!-- end -->/g;
  return page.replaceAll(block, (_all, begin: string, name: string, other?: string) => {
    const spec = ALL.get(name);
    if (!spec) throw new Error(`There is no command "${name}"`);
    const { usage, taken, exitCodes } = helpOf(name, spec);
    const parts = other ? [usage, exitCodes] : [usage, taken, exitCodes];
    return [begin, ...parts.filter((part) => part !== ''), '<!-- end -->'].join('\n\n');
  });
}

/** The paragraphs and the list that take the place of `--help`. */
function helpOf(name: string, spec: CommandSpec): Record<'usage' | 'taken' | 'exitCodes', string> {
  const program = new Command('hookstack');
  addCommand(program, spec, () => undefined);
  const [command = program] = program.commands;
  const given = Object.entries(spec.arguments ?? {}).map(([flags, what]) => itemOf(flags, [what]));
  const own = spec.options.filter((option) => !option.hidden && !EXPLAINED_ONCE.has(option));
  const shared = spec.options.filter((option) => EXPLAINED_ONCE.has(option));
  const last = shared.map(({ long }) => `\`${long}\``).join(', ');
  return {
    usage: `\`hookstack ${name} ${command.usage()}\`: ${toMarkdown(spec.description)}.`,
    taken: [...given, ...own.map(describeOption), ...(last ? [`- ${last}`] : [])].join('\n'),
    exitCodes: `Exit codes: ${toMarkdown(spec.exitCodes)}.`,
  };
}

function describeOption({ flags, description, argChoices, defaultValue, envVar }: Option): string {
  const preset = typeof defaultValue === 'string' ? defaultValue : envVar;
  // What tells the choices apart is said by the description, where there is much to say.
  const choices = (argChoices ?? []).length > 5 ? '' : (argChoices ?? []).join(', ');
  return itemOf(flags, [
    description,
    choices && `one of ${choices}`,
    preset && `default ${preset}`,
  ]);
}

function itemOf(flags: string, parts: readonly (string | undefined)[]): string {
  return `- \`${flags}\`: ${parts.flatMap((part) => (part ? toMarkdown(part) : [])).join('; ')}`;
}

/** A text of the help, with code as code. */
function toMarkdown(text: string): string {
  const code = /(?<![\w`])(?:--[a-z-]+|[~.*@]?[\w.~/]*[*_/][\w.*/]+|@FILE|\^\w+\$)(?![\w`])/g;
  return text.replaceAll(/\s+/g, ' ').replaceAll(code, '`$&`');
}
