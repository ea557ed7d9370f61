import { Option } from 'commander';
import { HookEventName } from '../../protocol/types.js';
import type { CommandSpec } from '../shared/addCommand.js';
import {
  countOption,
  DEFAULT_PROMPT,
  DEFAULT_TOOL,
  jsonOption,
  traceOption,
  workspaceOptions,
} from '../shared/options.js';

export const fireCommand: CommandSpec = {
  name: 'fire',
  description: 'Fire one event, and show what each hook said and what that means',
  arguments: { '[event]': 'what happens; not needed with --from-trace' },
  choices: Object.values(HookEventName),
  options: [
    ...workspaceOptions,
    new Option('--tool <name>', `the tool of BeforeTool and AfterTool; default ${DEFAULT_TOOL}`),
    new Option(
      '--input <json>',
      'the input of the tool; for other events, the fields of the event',
    ),
    new Option(
      '--request <json>',
      'the GenerateContentParameters of the model events; what is missing is filled in',
    ),
    new Option(
      '--response <json>',
      "AfterModel: the GenerateContentResponse; AfterTool: the tool's result; AfterAgent: the text",
    ),
    new Option('--prompt <text>', `what the user asked; default ${DEFAULT_PROMPT}`),
    new Option(
      '--from-trace <file>',
      'fire the last blocked event of a trace again, else its last one',
    ),
    new Option('--span <id>', 'the event of the trace, or a hook of it'),
    new Option('--explain', 'say as well which hooks run, and why not the others'),
    countOption('--repeat <n>', 'fire the event this often, and tell how long that took'),
    new Option('--record <file>', 'write the event and the verdict to a *.hooktest.json'),
    jsonOption,
    traceOption(),
  ],
  notes: 'In place of JSON, @FILE reads a file and - reads stdin.',
  exitCodes:
    '0 proceed; 2 blocked; 3 stopped, also where a hook blocked; 1 wrong usage or settings',
  example: `hookstack fire BeforeTool --tool write_file --input '{"file_path": ".env"}'`,
  load: async () => (await import('./fire.js')).fire,
};
