import { approvalSettings, type ApprovalSettings } from '../../protocol/approval.js';
import { fleetSettings, type FleetSettings } from '../../fleet/fleetSettings.js';
import { promptBudget, promptModel, type PromptModel } from '../../prompts/promptModel.js';
import type { HookDefinitions, PromptBudget } from '../../protocol/types.js';
import type { HookEnvironmentPolicy } from '../../run/hookEnvironment.js';
import {
  count,
  flag,
  listOfText,
  objectOf,
  oneOf,
  positiveCount,
  type FieldTable,
} from '../../util/checks.js';

/** What all settings files say together, checked. */
export interface Settings {
  /** Default false. */
  readonly enableHooks: boolean;
  /** Groups by event: the project's first, then the user's, then the system's, each with its `origin`. */
  readonly hooks: HookDefinitions;
  /** Names of hooks that do not run: those of all files. `user:NAME` means the user's alone; so do other scopes. */
  readonly disabledHooks: readonly string[];
  /** `hold` shows a model's answer only after the AfterModel hooks have seen it. */
  readonly afterModelDisplay?: 'stream' | 'hold';
  /** How often AfterAgent hooks may send the agent back to work in a row. */
  readonly maxStopHookRetries?: number;
  /** Which variables of the host reach its hooks. */
  readonly hookEnvironment?: HookEnvironmentPolicy;
  /** Hook processes that may run at a time for one event. */
  readonly maxParallelHooks?: number;
  /** Characters of one text of a hook, at most. */
  readonly maxHookText?: number;
  /** Async hooks that may run at a time. */
  readonly maxAsyncHooks?: number;
  /** How hooks are started. */
  readonly hooksRunner?: HooksRunnerSettings;
  /** What becomes of hooks' questions to a person. */
  readonly approvals?: ApprovalSettings;
  /** What becomes of a tool of another agent that is not known here, while guards name tools. Default `tell`. */
  readonly unknownTools?: 'tell' | 'deny';
  /** The model that judges hooks of the type `prompt`. No project can say it. */
  readonly promptModel?: PromptModel;
  /** What those hooks may use. No project can say it. */
  readonly promptBudget?: PromptBudget;
  /** How this host belongs to a fleet. No project can say it. */
  readonly fleet?: FleetSettings;
}

/** How hooks are started. */
export interface HooksRunnerSettings {
  /** How many hooks may be started ahead of their event, where bash reads them; 0 starts none. */
  readonly warmShells?: number;
  /** Whether a helper process starts them, once the first hook has run. */
  readonly spawner?: boolean;
}

export type Scalars = Omit<Settings, 'hooks'>;

/**
 * How the keys of settings.json besides `hooks` are checked. What editors show of them is in
 * test/schema/build/descriptions.ts; `npx vitest run test/schema -u` writes the published schema.
 */
export const SCALAR_FIELDS: FieldTable<Partial<Scalars>> = {
  enableHooks: { struct: flag },
  disabledHooks: { struct: listOfText },
  afterModelDisplay: { struct: oneOf('stream', 'hold') },
  maxStopHookRetries: { struct: count },
  hookEnvironment: {
    struct: objectOf<Omit<HookEnvironmentPolicy, 'tokenVariables' | 'host'>>(
      '{ "inherit": "all" | "none", "allow": [names], "redact": [names] }',
      { inherit: oneOf('all', 'none'), allow: listOfText, redact: listOfText },
      { isClosed: true },
    ),
  },
  maxParallelHooks: { struct: positiveCount },
  maxHookText: { struct: positiveCount },
  maxAsyncHooks: { struct: positiveCount },
  approvals: {
    struct: approvalSettings,
    advise: ({ timeout }) =>
      timeout !== undefined && timeout < 1000
        ? `timeout ${timeout} is in milliseconds; did you mean ${timeout * 1000}?`
        : undefined,
  },
  unknownTools: { struct: oneOf('tell', 'deny') },
  fleet: {
    struct: fleetSettings,
    advise: ({ url }) =>
      url === undefined ? 'it has no url, and so no effect: name the server' : undefined,
  },
  promptModel: { struct: promptModel },
  promptBudget: { struct: promptBudget },
  hooksRunner: {
    struct: objectOf<HooksRunnerSettings>(
      '{ "warmShells": a whole number of 0 or more, "spawner": true or false }',
      { warmShells: count, spawner: flag },
    ),
  },
};

/** Where people put these settings, and the top-level key that has the effect. */
export const MISPLACED_SETTINGS = [
  { section: undefined, key: 'hooksEnabled', rightKey: 'enableHooks' },
  { section: 'tools', key: 'enableHooks', rightKey: 'enableHooks' },
  { section: 'hooksConfig', key: 'enabled', rightKey: 'enableHooks' },
  { section: 'hooksConfig', key: 'disabled', rightKey: 'disabledHooks' },
] as const;
