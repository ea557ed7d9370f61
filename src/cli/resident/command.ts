import { Option } from 'commander';
import type { CommandSpec } from '../shared/addCommand.js';
import { jsonOption } from '../shared/options.js';

export const residentCommand: CommandSpec = {
  name: 'resident',
  description: 'Show, or stop, the process that answers the events of agents',
  arguments: { '[action]': '"status" (default) or "stop"' },
  choices: ['status', 'stop'],
  options: [jsonOption, new Option('--socket <file>').hideHelp()],
  notes: `The first event that an agent hands to "hookstack-hook" starts it; it ends ten minutes after the last one. With
HOOKSTACK_RESIDENT=0 in the environment of an agent, each event is answered by a process of its own.`,
  exitCodes: '0 shown, or stopped; 1 none is there; 2 wrong usage',
  example: 'hookstack resident',
  load: async () => (await import('./resident.js')).resident,
};
