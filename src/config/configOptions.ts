import type { AsyncMode } from '../../middleware/runner.js';
import type { MessageBus } from '../confirmation-bus/types.js';
import { requireWholeHooks } from '../hooks/givenHooks.js';
import { approvalSettings, type ApprovalSettings, type Approver } from '../protocol/approval.js';
import type { Extension } from '../hooks/entry.js';
import {
  promptBudget,
  promptModel,
  type PromptMemory,
  type PromptModel,
} from '../prompts/promptModel.js';
import type { AskModel, HookDefinitions, PromptBudget, WrittenHooks } from '../protocol/types.js';
import type { HookEnvironmentPolicy } from '../run/hookEnvironment.js';
import type { HookConsent } from '../trust/consent.js';
import { flag, listOfText, oneOf, positiveCount, type AnyCheck } from '../util/checks.js';
import type { DebugLogger } from '../util/debugLogger.js';
import { requireKnown } from '../util/requireKnown.js';
import type { HooksRunnerSettings, Settings } from './settings/settingsKeys.js';

/** How the answer reaches the screen: as it arrives, or once AfterModel hooks have seen all of it. */
export type AfterModelDisplay = 'stream' | 'hold';

/** Everything is optional; see the getters of {@link Config} for the defaults. */
export interface ConfigOptions {
  readonly sessionId?: string;
  readonly workingDir?: string;
  readonly enableHooks?: boolean;
  readonly hooks?: WrittenHooks;
  readonly extensions?: readonly Extension[];
  readonly disabledHooks?: readonly string[];
  /**
   * Whether the project's own hooks run: `true` all of them, `false` none. Without it, those that the user has allowed
   * (see `consent`), and those that the host passes in code.
   */
  readonly trustedFolder?: boolean;
  /** What the user has allowed. Default: what `hookstack trust` has noted in the home directory. */
  readonly consent?: HookConsent;
  readonly afterModelDisplay?: AfterModelDisplay;
  /** Absolute path of the session's transcript, which `runAgent` writes. */
  readonly transcriptPath?: string;
  readonly hookEnvironment?: HookEnvironmentPolicy;
  readonly maxParallelHooks?: number;
  readonly maxAsyncHooks?: number;
  /**
   * What becomes of hooks that say `async`. Default `start`; `wait` waits for them all the same, so that their results are
   * seen; `only` runs no others; a function has somebody else run them, where this process ends with its event.
   */
  readonly asyncHooks?: AsyncMode;
  readonly hooksRunner?: HooksRunnerSettings;
  /** Characters of one text of a hook, at most. Default 10,000. */
  readonly maxHookText?: number;
  /**
   * What becomes of a longer one: `cut` cuts it, `file` puts all of it into a file in `~/.llxprt/long-texts`, of which the
   * model is told, until `dispose`; `stay` leaves the file there, for hosts with a process for each event. Default `cut`:
   * whose model can read such a file, says so.
   */
  readonly longHookTexts?: 'cut' | 'file' | 'stay';
  /** The host's model, which judges hooks of the type `prompt` where `promptModel` names none. */
  readonly askModel?: AskModel;
  readonly promptModel?: PromptModel;
  readonly promptBudget?: PromptBudget;
  /**
   * Where it is kept what a session has used of `promptBudget`, and what models have answered: with `files` in
   * `~/.llxprt/sessions`, for hosts with a process for each event. Default `process`.
   */
  readonly promptMemory?: PromptMemory;
  /**
   * Whether processes of hooks that say `persistent` stay for the events to come. Default true; a host that fires a single
   * event says `false`, and starts them as all others.
   */
  readonly keepHooks?: boolean;
  /** Where requests to fire events may come from, besides the host's own calls. */
  readonly messageBus?: MessageBus;
  /** Asks a person where hooks want it. Without one, nobody can be asked. */
  readonly approver?: Approver;
  /** How questions are treated. */
  readonly approvals?: ApprovalSettings;
  readonly debugLogger?: DebugLogger;
}

/**
 * All options, with checks of those of which a value of another type would switch hooks off, or hooks of a project on.
 * With `maxStopHookRetries`, `unknownTools` and `fleet`, which are not for Config: hosts pass what `loadSettings` returns as it is.
 */
const OPTIONS: Readonly<Record<keyof Required<ConfigOptions & Settings>, true | AnyCheck>> = {
  sessionId: true,
  workingDir: true,
  enableHooks: flag,
  hooks: true,
  extensions: true,
  disabledHooks: listOfText,
  trustedFolder: flag,
  consent: true,
  afterModelDisplay: oneOf('stream', 'hold'),
  transcriptPath: true,
  hookEnvironment: true,
  maxParallelHooks: true,
  maxAsyncHooks: true,
  asyncHooks: true,
  maxStopHookRetries: true,
  hooksRunner: true,
  maxHookText: positiveCount,
  longHookTexts: oneOf('cut', 'file', 'stay'),
  keepHooks: flag,
  askModel: true,
  promptModel,
  promptBudget,
  promptMemory: oneOf('process', 'files'),
  messageBus: true,
  approver: true,
  approvals: true,
  unknownTools: oneOf('tell', 'deny'),
  fleet: true,
  debugLogger: true,
};

/**
 * Refuses options that a host cannot have meant.
 *
 * @throws TypeError for an option that does not exist, or of another kind, an `approver` that is no function, `approvals`
 *   that are none, or hooks of which a part would be left out or have no effect
 * @throws RangeError when a limit makes no sense
 */
export function requireOptions(options: ConfigOptions): void {
  requireKnown('Config', options, OPTIONS);
  const {
    maxParallelHooks = 1,
    maxAsyncHooks = 1,
    approver,
    approvals,
    hooks,
    extensions,
  } = options;
  if (approver !== undefined && typeof approver !== 'function') {
    throw new TypeError('approver must be a function: (request, { signal }) => answer');
  }
  const [wrong] = approvals === undefined ? [] : approvalSettings.validate(approvals);
  if (wrong) throw new TypeError(`approvals: ${wrong.message}`);
  for (const [name, limit] of Object.entries({ maxParallelHooks, maxAsyncHooks })) {
    if (Number.isSafeInteger(limit) && limit >= 1) continue;
    throw new RangeError(`${name} must be a whole number of 1 or more, and is ${String(limit)}`);
  }
  requireKinds(options);
  requireWholeHooks(hooks, extensions);
}

function requireKinds(options: ConfigOptions): void {
  for (const [name, check] of Object.entries(OPTIONS)) {
    const value: unknown = options[name as keyof ConfigOptions];
    if (check === true || value === undefined) continue;
    const [wrong] = check.validate(value);
    if (wrong) throw new TypeError(`Config: ${name}: ${wrong.message}`);
  }
}

/**
 * The variables that hold tokens of remote hooks and of the fleet, by name. What a host passes is checked later. A
 * project does not decide what is masked: it could make everything unreadable.
 */
export function tokenVariablesOf({
  hooks,
  extensions = [],
  fleet,
  promptModel: { apiKeyEnv } = { model: '' },
}: Pick<ConfigOptions, 'hooks' | 'extensions' | 'promptModel'> &
  Pick<Partial<Settings>, 'fleet'>): readonly string[] {
  const definitions: readonly (WrittenHooks | undefined)[] = [hooks, ...extensions.map(hooksOf)];
  const groups = definitions
    .flatMap((each) => Object.values(each ?? {}))
    .flat()
    .filter((group) => group?.origin?.scope !== 'project');
  const all = [...groups.flatMap((group) => group?.hooks ?? []), fleet];
  const named = [...all.map((each) => each?.tokenVariable), apiKeyEnv].filter(
    (name) => typeof name === 'string',
  );
  return named.filter((name) => /^\w+$/u.test(name));
}

/** An extension that cannot be read is reported where its hooks are registered. */
function hooksOf(extension: Extension): HookDefinitions | undefined {
  try {
    return extension.scope === 'project' ? undefined : extension.hooks;
  } catch {
    return undefined;
  }
}
