import type { SessionTextBound } from '../../middleware/runHook.js';
import type { AsyncMode } from '../../middleware/runner.js';
import type { SessionFacts } from '../../middleware/translator.js';
import type { Extension, HookRegistryEntry } from './entry.js';
import type { JudgeHost } from '../prompts/promptModel.js';
import type { CommandHookConfig, WrittenHooks } from '../protocol/types.js';
import type { HookEnvironmentPolicy } from '../run/hookEnvironment.js';
import type { Registration } from '../stack.js';
import type { DebugLogger } from '../util/debugLogger.js';

/** All that the hook system asks of its host. `Config` is one. */
export interface HookHost extends SessionFacts, JudgeHost {
  /** Whether hooks run at all. */
  getEnableHooks(): boolean;
  getHooks(): WrittenHooks;
  getExtensions(): readonly Extension[];
  getDisabledHooks(): readonly string[];
  /** Whether the project's own hooks may run. */
  isTrustedFolder(): boolean;
  /** Whether hooks that came with the project need the user's consent. */
  needsConsent(): boolean;
  /** What lets the project's hooks run only as the user has allowed them. */
  openGate(logger: DebugLogger): HookGate;
  getHookEnvironment(): HookEnvironmentPolicy;
  getMaxParallelHooks(): number;
  /** Async hooks that may run at a time. Default 16. */
  getMaxAsyncHooks?(): number;
  /** What becomes of async hooks. Default: they are started. */
  getAsyncHooks?(): AsyncMode;
  getWarmShells(): number;
  /** Whether a helper process may start hooks. Without it, none does. */
  usesSpawner?(): boolean;
  /** Whether processes of hooks that say `persistent` stay for the events to come. Without it, they do. */
  keepsHooks?(): boolean;
  getDebugLogger(): DebugLogger;
  /** How long texts of hooks may be. Default: 10,000 characters, and a cut. Never rejects. */
  getTextBound?(): Promise<SessionTextBound> | undefined;
  /** Whether what the hooks are written in may have changed since `refresh`. Asked only after `HookSystem.watch`. */
  hasChanged?(): boolean;
  /** Reads that anew. @returns whether something of the hooks is another one. Never rejects */
  refresh?(): Promise<boolean>;
  /** The custom middleware of the hook stack. Asking closes the registration. */
  registrations(stackName: 'hook'): readonly Registration<'hook'>[];
}

/** Decides which hooks of a project run. Hooks of others pass at no cost. */
export interface HookGate {
  /** Whether the last `admit` could read the consents. If not, the next event tries again. */
  readonly isSettled: boolean;
  /** The entries as they may run; warns once of those that may not. Never rejects. */
  admit(entries: readonly HookRegistryEntry[]): Promise<HookRegistryEntry[]>;
  /** Makes `copy` need the same consent as `original`. */
  shareConsent(copy: CommandHookConfig, original: CommandHookConfig): void;
  /**
   * Why a hook must not be started now, as the end of "The hook …". Never throws or rejects.
   *
   * @param onObjection called before the objection is returned; `isLasting` unless the hook could not be looked at now
   */
  findObjection(
    config: CommandHookConfig,
    onObjection: (reason: string, isLasting: boolean) => void,
  ): string | undefined | Promise<string | undefined>;
  /** The one warning about a hook that does not run any more. */
  warnSkipped(entry: HookRegistryEntry, reason: string): void;
}
