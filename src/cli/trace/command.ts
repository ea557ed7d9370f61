import { Option } from 'commander';
import type { CommandSpec } from '../shared/addCommand.js';
import { natsServerOptions } from '../shared/natsServer.js';
import { countOption, jsonOption } from '../shared/options.js';

export const traceCommand: CommandSpec = {
  name: 'trace',
  description:
    'Tell what happened, from a file that --trace has written, or what happens in a fleet',
  arguments: { '[file]': 'the trace. Default: the one that HOOKSTACK_TRACE names' },
  options: [
    countOption('--slowest <n>', 'list what took longest by itself, instead of the tree'),
    new Option('--html <out>', 'write one page to look through, instead of the tree'),
    new Option('--follow', 'go on with what is added to it, a line for each span, until ^C'),
    ...natsServerOptions,
    jsonOption,
  ],
  exitCodes: '0 told; 2 wrong usage, or a file that cannot be read or written',
  example: `hookstack run "Write a haiku to haiku.txt" --trace trace.jsonl
hookstack trace trace.jsonl --html trace.html
hookstack trace --nats nats://127.0.0.1:4222 --token-file policy.token`,
  load: async () => (await import('./trace.js')).trace,
};
