import { hash } from 'node:crypto';
import { Config } from '../../config/config.js';
import type { Settings } from '../../config/settings/settingsKeys.js';
import type { HookRegistryEntry } from '../../hooks/entry.js';
import { isFault } from '../../hooks/givenHooks.js';
import { sortKeys } from '../../trust/consentItem.js';
import { hostEnvironment } from '../../util/requester.js';
import { errorMessage } from '../../util/errorMessage.js';
import { whyHooksAreOff } from '../shared/hookColumns.js';
import { printNotice } from '../shared/terminal.js';
import { UsageError } from '../shared/usageError.js';
import { openWorkspace, type Workspace } from '../shared/workspace.js';

/** What a policy server answers with: the hooks of a settings file, as it was when it was read. */
export class Policy {
  #users = 1;

  constructor(
    readonly config: Config,
    /** Of what the settings say, wherever their file lies: 12 hexadecimal digits. Scripts are no part of it. */
    readonly version: string,
  ) {}

  /** Keeps it for one more user, also once another counts. */
  hold(): void {
    this.#users += 1;
  }

  /** For who has opened or held it. Once nobody holds it, its processes end. Never rejects. */
  async release(): Promise<void> {
    this.#users -= 1;
    if (this.#users > 0) return;
    await this.config.dispose().catch((error: unknown) => {
      printNotice('warning', `policy ${this.version} did not end well: ${errorMessage(error)}`);
    });
  }
}

/** How a policy is opened. */
export interface PolicyOptions {
  readonly cwd?: string | undefined;
  /** Of events that name none. */
  readonly sessionId?: string;
  /** Whether it does not count: what its hooks ask is put to nobody, and nobody reads what they say late. Default false. */
  readonly isShadow?: boolean;
}

/**
 * Reads a settings file, all of which has to count as it is written: agents take the answer of a server for a yes of all
 * that its settings say. Its hooks are ready afterwards.
 *
 * @throws UsageError that says what would not count, and where
 */
export async function openPolicy(file: string, options: PolicyOptions): Promise<Policy> {
  return readPolicy(file, options, async (config) => {
    await config.getHookSystem()?.initialize();
    return config.getHookSystem()?.getAllHooks() ?? [];
  });
}

/**
 * The same without making anything ready.
 *
 * @param read gives the hooks of what was read
 */
export async function readPolicy(
  file: string,
  { cwd, sessionId, isShadow = false }: PolicyOptions,
  read: (config: Config) => Promise<readonly HookRegistryEntry[]>,
): Promise<Policy> {
  const workspace = await openWorkspace(
    { settings: file, ...(cwd !== undefined && { cwd }) },
    {
      makeConfig: (given) =>
        new Config({
          ...given,
          // Read once: to read those of the process takes as long as a rule, for each question.
          hookEnvironment: { ...given.hookEnvironment, host: { ...hostEnvironment() } },
          ...(sessionId !== undefined && { sessionId }),
          ...(isShadow && { approver: undefined, asyncHooks: 'wait' }),
        }),
    },
  );
  const policy = new Policy(workspace.config, versionOf(workspace.settings));
  try {
    requireAll(workspace, file);
    requireHooks(await read(policy.config), file);
    return policy;
  } catch (error) {
    await policy.release();
    throw error;
  }
}

function requireAll({ config, origins, problems }: Workspace, file: string): void {
  const places = problems.filter(isFault).map(({ line, column }) => `${file}:${line}:${column}`);
  if (places.length > 0) {
    throw new UsageError(
      `${file} is no policy, as not all of it would count as it is written; correct what is told above: ${places.join(', ')}`,
    );
  }
  if (config.getEnableHooks()) return;
  const why = whyHooksAreOff(origins.enableHooks?.file);
  throw new UsageError(`No hook would answer, as ${why}: write "enableHooks": true into it`);
}

function requireHooks(hooks: readonly HookRegistryEntry[], file: string): void {
  if (hooks.some(({ enabled }) => enabled)) return;
  const advice = hooks.length > 0 ? 'take one out of its disabledHooks' : 'add one';
  throw new UsageError(`${file} is no policy, as no hook of it would run: ${advice}`);
}

/** Where a group stands is no part of what it says. */
function versionOf({ hooks, ...others }: Settings): string {
  const said = Object.entries(hooks).map(([event, groups]) => [
    event,
    groups.map(({ origin: _where, ...group }) => group),
  ]);
  const text = JSON.stringify(sortKeys({ ...others, hooks: Object.fromEntries(said) as object }));
  return hash('sha256', text).slice(0, 12);
}
