import { STACK_NAMES } from '../../protocol/stages.js';
import type { CommandSpec } from '../shared/addCommand.js';
import { jsonOption, workspaceOptions } from '../shared/options.js';

export const stackCommand: CommandSpec = {
  name: 'stack',
  description: 'Show what each call passes through, from the outside in',
  arguments: { '[stack]': 'default all three' },
  choices: STACK_NAMES,
  options: [...workspaceOptions, jsonOption],
  notes: 'Imports the middleware of extensions, except for those of a project that is not trusted.',
  exitCodes: '0 shown; 2 wrong usage or settings',
  example: 'hookstack stack tool',
  load: async () => (await import('./stack.js')).stack,
};
