import type { Command, Option } from 'commander';
import { suggestName } from '../../util/suggestName.js';
import { printLine } from '../shared/terminal.js';
import { UsageError } from '../shared/usageError.js';
import { completionScripts, type CompletedCommand, type CompletedOption } from './scripts.js';
import { SHELLS } from './shells.js';

/** @param command the one of commander that runs; its parent is the program with all others */
export async function completion(name: string, _options: object, command: Command): Promise<void> {
  const shell = SHELLS.find((each) => each === name);
  if (shell === undefined) {
    throw new UsageError(`There is no completion for "${name}"; ${suggestName(name, SHELLS)}`);
  }
  const program = command.parent ?? command;
  const commands = program.createHelp().visibleCommands(program).map(describeCommand);
  printLine(completionScripts[shell](describeCommand(program), commands));
}

function describeCommand(command: Command): CompletedCommand {
  return {
    name: command.name(),
    description: command.description(),
    choices: command.registeredArguments[0]?.argChoices ?? [],
    options: command.createHelp().visibleOptions(command).map(describeOption),
  };
}

function describeOption({ short, long, flags, description, argChoices }: Option): CompletedOption {
  const [, placeholder] = /[<[](\w+)/.exec(flags) ?? [];
  return { short, long, description, placeholder, choices: argChoices ?? [] };
}
