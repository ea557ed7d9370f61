import { Option } from 'commander';
import { DIALECT_NAMES } from '../../protocol/types.js';
import type { CommandSpec } from '../shared/addCommand.js';
import { traceOption, workspaceOptions } from '../shared/options.js';

export const hookCommand: CommandSpec = {
  name: 'hook',
  description: 'Run all hooks of the project as one hook of another agent, which reads its events',
  options: [
    new Option('--from <agent>', 'the agent that runs this command as a hook')
      .choices([...DIALECT_NAMES])
      .makeOptionMandatory(),
    ...workspaceOptions,
    traceOption(),
  ],
  notes: `Reads the JSON of one event on stdin, runs the hooks of the project, the user and the system, and answers in
the JSON of that agent. "hookstack install" has agents start "hookstack-hook", which asks the process that stays, or else runs this command.`,
  exitCodes: `0 answered, on stdout; 2 blocked, for the reason on stderr: an event that could not be read, where a guard
had to be asked, an answer that could not be written, a process that ended before, or wrong usage`,
  example: 'hookstack hook --from claude < event.json',
  load: async () => (await import('./runHooks.js')).runHooks,
};
