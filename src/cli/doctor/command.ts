import type { CommandSpec } from '../shared/addCommand.js';
import { jsonOption, workspaceOptions } from '../shared/options.js';

export const doctorCommand: CommandSpec = {
  name: 'doctor',
  description: 'Run each hook in a scratch directory, and say what is wrong with it',
  options: [...workspaceOptions, jsonOption],
  exitCodes: `0 nothing is wrong, though there may be warnings; 1 something is, or no hook was run; 2 wrong usage or
settings`,
  example: 'hookstack doctor --trust',
  load: async () => (await import('./doctor.js')).doctor,
};
