import { Option } from 'commander';
import type { CommandSpec } from '../shared/addCommand.js';
import { cwdOption, jsonOption } from '../shared/options.js';

export const trustCommand: CommandSpec = {
  name: 'trust',
  description: "Show what a project's hooks and middleware would run, and allow it",
  options: [
    cwdOption,
    new Option(
      '--yes',
      'allow without being asked what is pinned, and renew what an earlier version allowed',
    ),
    new Option(
      '--open',
      'allow also what is open: hooks of which only the definition is covered; with --lock, put it in',
    ),
    new Option('--check', 'ask nothing, and list what is not allowed; for CI'),
    new Option(
      '--lock',
      'write .llxprt/hooks.lock, for machines that know the digest that is printed; allows nothing here',
    ),
    jsonOption,
  ],
  notes: `Environment:
  HOOKSTACK_TRUST_LOCK  sha256:… of a .llxprt/hooks.lock, whose hooks need no consent`,
  exitCodes: `0 all is allowed, or the lock is written; 1 something is not allowed, or the lock would
leave a guard out; 2 wrong usage or settings`,
  example: 'hookstack trust --check || hookstack trust',
  load: async () => (await import('./trust.js')).trust,
};

export const untrustCommand: CommandSpec = {
  name: 'untrust',
  description: 'Take back what was allowed for a project',
  options: [cwdOption, jsonOption],
  exitCodes: '0 nothing is allowed any more; 2 wrong usage',
  example: 'hookstack untrust',
  load: async () => (await import('./trust.js')).untrust,
};
