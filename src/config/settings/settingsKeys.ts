import type { HookDefinitions } from '../../protocol/types.js';
import type { HookEnvironmentPolicy } from '../../run/hookEnvironment.js';
import {
  count,
  flag,
  listOfText,
  objectOf,
  oneOf,
  positiveCount,
  type DescribedTable,
} from '../../util/checks.js';

/** What all settings files say together, checked. */
export interface Settings {
  /** Default false. */
  readonly enableHooks: boolean;
  /** Groups by event: the project's first, then the user's, then the system's, each with its `origin`. */
  readonly hooks: HookDefinitions;
  /** Names of hooks that do not run: those of all files. */
  readonly disabledHooks: readonly string[];
  /** `hold` shows a model's answer only after the AfterModel hooks have seen it. */
  readonly afterModelDisplay?: 'stream' | 'hold';
  /** How often AfterAgent hooks may send the agent back to work in a row. */
  readonly maxStopHookRetries?: number;
  /** Which variables of the host reach its hooks. */
  readonly hookEnvironment?: HookEnvironmentPolicy;
  /** Hook processes that may run at a time for one event. */
  readonly maxParallelHooks?: number;
  /** How hooks are started. `warmShells: 0` keeps no shells ready. */
  readonly hooksRunner?: { readonly warmShells?: number };
}

export type Scalars = Omit<Settings, 'hooks'>;

/**
 * The keys of settings.json besides `hooks`: how each is checked, and what editors show of it. What comes out is what
 * `Settings` says above; `npx vitest run test/schema -u` writes the published schema.
 */
export const SCALAR_FIELDS: DescribedTable<Partial<Scalars>> = {
  enableHooks: {
    struct: flag,
    description: 'Hooks run only where this is true. Default: false.',
  },
  disabledHooks: {
    struct: listOfText,
    description: 'Hooks that do not run: their names, or the commands of those without one.',
  },
  afterModelDisplay: {
    struct: oneOf('stream', 'hold'),
    description:
      'When the answer of the model is shown: "stream", as it arrives, or "hold", once the AfterModel hooks have answered. Default: "stream".',
  },
  maxStopHookRetries: {
    struct: count,
    description: 'How often in a row AfterAgent hooks may send the agent back to work. Default: 3.',
  },
  hookEnvironment: {
    struct: objectOf<HookEnvironmentPolicy>(
      '{ "inherit": "all" | "none", "allow": [names], "redact": [names] }',
      { inherit: oneOf('all', 'none'), allow: listOfText, redact: listOfText },
      { isClosed: true },
    ),
    description:
      'Which environment variables hooks get. "inherit": "all" passes everything but what "redact" names, "none" passes what "allow" names. Patterns may hold *; "@secrets" stands for the usual names of secrets. Default: all.',
  },
  maxParallelHooks: {
    struct: positiveCount,
    description:
      'Hook processes that may run at a time for one event; the others wait. Default: 16.',
  },
  hooksRunner: {
    struct: objectOf<{ warmShells?: number }>('{ "warmShells": a whole number of 0 or more }', {
      warmShells: count,
    }),
    description:
      'How hooks are started. "warmShells": shells that are kept ready for the next event; 0 keeps none. Default: 16.',
  },
};

/** Where people put these settings, and the top-level key that has the effect. */
export const MISPLACED_SETTINGS = [
  { section: 'tools', key: 'enableHooks', rightKey: 'enableHooks' },
  { section: 'hooksConfig', key: 'enabled', rightKey: 'enableHooks' },
  { section: 'hooksConfig', key: 'disabled', rightKey: 'disabledHooks' },
] as const;
