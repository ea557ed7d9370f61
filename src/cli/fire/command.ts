import type { Command } from 'commander';
import { jsonOption, parseCount, traceOption, withWorkspaceOptions } from '../shared/options.js';
import { DEFAULT_PROMPT, DEFAULT_TOOL } from '../shared/defaults.js';
import type { FireOptions } from './fireOptions.js';

export function addFire(program: Command): void {
  withWorkspaceOptions(program.command('fire'))
    .description('Fire one event, and show what each hook said and what that means')
    .argument('[event]', 'such as BeforeTool; not needed with --from-trace')
    .option('--tool <name>', `the tool of BeforeTool and AfterTool; default ${DEFAULT_TOOL}`)
    .option('--input <json>', 'the input of the tool; for other events, the fields of the event')
    .option('--request <json>', 'the GenerateContentParameters of the model events')
    .option(
      '--response <json>',
      "AfterModel: the GenerateContentResponse; AfterTool: the tool's result; AfterAgent: the text",
    )
    .option('--prompt <text>', `what the user asked; default ${DEFAULT_PROMPT}`)
    .option(
      '--from-trace <file>',
      'fire the last blocked event of a trace again, else its last one',
    )
    .option('--span <id>', 'the event of the trace, or a hook of it')
    .option('--explain', 'say as well which hooks run, and why not the others')
    .option('--repeat <n>', 'fire the event this often, and tell how long that took', parseCount)
    .option('--record <file>', 'write the event and the verdict to a *.hooktest.json')
    .addOption(jsonOption())
    .addOption(traceOption())
    .addHelpText(
      'after',
      `
In place of JSON, @FILE reads a file and - reads stdin.

Exit codes: 0 proceed; 2 blocked; 3 stopped; 1 wrong usage or settings

Example:
  $ hookstack fire BeforeTool --tool write_file --input '{"file_path": ".env"}'`,
    )
    .action(async (event: string | undefined, options: FireOptions) => {
      const { fire } = await import('./fire.js');
      process.exitCode = await fire(event, options);
    });
}
