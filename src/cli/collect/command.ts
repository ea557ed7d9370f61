import { Option } from 'commander';
import type { CommandSpec } from '../shared/addCommand.js';
import { natsServerOptions } from '../shared/natsServer.js';

export const collectCommand: CommandSpec = {
  name: 'collect',
  description: 'Write the record of a fleet into trace files, one for each day',
  options: [
    ...natsServerOptions,
    new Option('--out <dir>', 'where the files are: <day>.jsonl, of days in UTC'),
    new Option('--once', 'end when nothing more is there; default: go on until ^C'),
  ],
  notes:
    'It makes the stream HOOKS_RECORD where there is none. Several may run at once: for one directory, each span is written once.',
  exitCodes:
    '0 all that was there is written; 1 a file or the server fails; 2 wrong usage, or no connection (without --once it waits for a server that is not there yet)',
  example: `hookstack collect --nats nats://127.0.0.1:4222 --token-file policy.token --out record
hookstack trace record/2026-11-22.jsonl`,
  load: async () => (await import('./collect.js')).collect,
};
