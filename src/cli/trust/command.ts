import type { Command } from 'commander';
import { cwdOption, jsonOption } from '../shared/options.js';
import type { TrustOptions } from './trust.js';

export function addTrust(program: Command): void {
  program
    .command('trust')
    .description("Show what a project's hooks and middleware would run, and allow it")
    .addOption(cwdOption())
    .option('--yes', 'allow without being asked what is pinned, and pinned by file')
    .option('--open', 'allow also what is open: hooks of which only the definition is covered')
    .option('--check', 'only tell by the exit code whether all is allowed')
    .option('--lock', 'write .llxprt/hooks.lock, for machines that know its digest')
    .addOption(jsonOption())
    .addHelpText(
      'after',
      `
Environment:
  HOOKSTACK_TRUST_LOCK  sha256:… of a .llxprt/hooks.lock, whose hooks need no consent

Exit codes: 0 all is allowed, or the lock is written; 1 something is not allowed; 2 wrong usage or
settings

Example:
  $ hookstack trust --check || hookstack trust`,
    )
    .action(async (options: TrustOptions) => {
      const { trust } = await import('./trust.js');
      process.exitCode = await trust(options);
    });
}

export function addUntrust(program: Command): void {
  program
    .command('untrust')
    .description('Take back what was allowed for a project')
    .addOption(cwdOption())
    .action(async (options: Pick<TrustOptions, 'cwd'>) => {
      const { untrust } = await import('./trust.js');
      await untrust(options);
    });
}
