import { stat } from 'node:fs/promises';
import { SilentLogger } from '../shared/cliLogger.js';
import { printLine, printNotice } from '../shared/terminal.js';
import { orUsageError, UsageError } from '../shared/usageError.js';
import { openRegistry } from '../shared/workspace.js';
import { readPolicy } from './policy.js';

/**
 * Says whether a server would start with a settings file and that of its shadow, and which policies they are.
 *
 * @returns the exit code: 1 for what is no policy
 * @throws UsageError for a file that is not there
 */
export async function checkPolicies(
  check: string,
  { settings, shadow, cwd }: { readonly [name in 'settings' | 'shadow' | 'cwd']?: string },
): Promise<number> {
  if (settings !== undefined) {
    throw new UsageError('--check starts no server: leave out --settings');
  }
  const code = await checkPolicy(check, cwd);
  return shadow === undefined ? code : Math.max(code, await checkPolicy(shadow, cwd));
}

async function checkPolicy(file: string, cwd: string | undefined): Promise<number> {
  await orUsageError(stat(file), (detail) => `${file} cannot be read: ${detail}`);
  try {
    const policy = await readPolicy(file, { cwd }, async (config) => {
      const registry = await openRegistry(config, new SilentLogger('llxprt:core:hooks'));
      return registry.getAllHooks();
    });
    printLine(`${file} is policy ${policy.version}`);
    await policy.release();
    return 0;
  } catch (error) {
    if (!(error instanceof UsageError)) throw error;
    printNotice('error', error.message);
    return 1;
  }
}
