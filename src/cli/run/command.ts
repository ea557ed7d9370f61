import { type Command, Option } from 'commander';
import { parseCount, traceOption, withWorkspaceOptions } from '../shared/options.js';
import { DEFAULT_MODEL } from '../shared/defaults.js';
import type { RunOptions } from './run.js';

export function addRun(program: Command): void {
  withWorkspaceOptions(program.command('run'))
    .description('Run the agent for one prompt, with all hooks')
    .argument('[prompt]', 'what to do; read from stdin when that is not a terminal')
    .option('--model <name>', 'name of the Gemini model', DEFAULT_MODEL)
    .option('--responses <file>', 'answer from recorded model calls instead of calling Gemini')
    .option('--max-turns <n>', 'give up after this many model calls', parseCount)
    .addOption(
      new Option('--output-format <format>', 'what to write to stdout')
        .choices(['text', 'json', 'stream-json'])
        .default('text'),
    )
    .addOption(traceOption())
    .option(
      '--transcript <file>',
      'append what is said to this file, for hooks to read; default ~/.llxprt/sessions/ID/transcript.jsonl, where there are hooks',
    )
    .option('--no-transcript', 'write no transcript')
    .addHelpText(
      'after',
      `
Environment:
  GEMINI_API_KEY          the key to call Gemini with
  GOOGLE_GEMINI_BASE_URL  where to call it, instead of Google

Exit codes: 0 done, or stopped by a hook; 1 failed; 2 wrong usage or settings

Example:
  $ hookstack run "Write a haiku to haiku.txt" --output-format json`,
    )
    .action(async (prompt: string | undefined, options: RunOptions) => {
      const { run } = await import('./run.js');
      process.exitCode = await run(prompt, options);
    });
}
