import type { Command } from 'commander';
import { jsonOption, parseCount } from '../shared/options.js';
import type { TraceOptions } from './trace.js';

export function addTrace(program: Command): void {
  program
    .command('trace')
    .description('Tell what happened, from a file that --trace has written')
    .argument('<file>', 'the trace')
    .option('--slowest <n>', 'list what took longest by itself, instead of the tree', parseCount)
    .option('--html <out>', 'write one page to look through, instead of the tree')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Exit codes: 0 told; 2 wrong usage, or a file that cannot be read or written

Example:
  $ hookstack run "Write a haiku to haiku.txt" --trace trace.jsonl
  $ hookstack trace trace.jsonl --html trace.html`,
    )
    .action(async (file: string, options: TraceOptions) => {
      const { trace } = await import('./trace.js');
      await trace(file, options);
    });
}
