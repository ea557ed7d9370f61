import type { FileProblem } from '../util/fileProblem.js';
import type { Position, StackName } from '../protocol/stages.js';
import type {
  CommandHookConfig,
  ConfigSource,
  HookDefinition,
  HookDefinitions,
  HookEventName,
  HookOrigin,
} from '../protocol/types.js';

/** One registered hook. */
export interface HookRegistryEntry {
  readonly config: CommandHookConfig;
  readonly source: ConfigSource;
  readonly eventName: HookEventName;
  readonly matcher?: string;
  readonly sequential?: boolean;
  readonly origin?: HookOrigin;
  /** Every field of the group that it was written in. */
  readonly group: HookGroup;
  /** The extension that brings it, where one does. */
  readonly extension?: Extension;
  /** What the user's consent says, for hooks that need it. */
  readonly review?: ConsentReview;
  /** The guard that was allowed in its place, as it was then: it denies what it guarded until this hook is allowed. */
  readonly standIn?: HookRegistryEntry;
  /** Whether it runs. See `skipped` for why not. */
  enabled: boolean;
  /**
   * Why the hook does not run: switched off by name, from a project and not allowed, not to be allowed by anybody, or
   * failed too often.
   */
  skipped?: 'disabled' | 'untrusted' | 'refused' | 'failing';
  /** Failures in a row, up to now. */
  failures: number;
}

type HookGroup = Omit<HookDefinition, 'hooks' | 'origin'>;

/** An extension as far as hooks are concerned. */
export interface Extension {
  readonly name: string;
  /** Hooks of an extension that is not active are not registered. */
  readonly isActive: boolean;
  readonly hooks?: HookDefinitions;
  /** Who installed it. Hooks and middleware of a project's need the user's consent. */
  readonly scope?: 'project' | 'user';
  /** Absolute real path of its folder, for `${extensionPath}` in its commands. */
  readonly directory?: string;
  readonly version?: string;
  /** Modules for `useExtensionMiddleware`; `Config` itself imports nothing. */
  readonly middleware?: readonly ExtensionMiddleware[];
}

/** A middleware module of an extension, as its manifest names it. */
export interface ExtensionMiddleware extends Position {
  readonly stack: StackName;
  /** Absolute real path of the module; where there is a `fault`, as far as it could be told. */
  readonly module: string;
  /** Handed to the module's factory. */
  readonly options?: unknown;
  /** Where the manifest names it. */
  readonly place: Omit<FileProblem, 'message' | 'severity'>;
  /** Why it cannot be used. Only policies have one: in their place, their stack lets nothing pass. */
  readonly fault?: string;
}

/** Whether something of a project may run. `changed`: it was allowed as it was before. */
export type ConsentStatus = 'allowed' | 'new' | 'changed' | 'refused';

/** What is known of one hook or module of a project, or of its settings. */
export interface ConsentReview {
  readonly status: ConsentStatus;
  /** Completes "The hook …", or "What the file sets …", unless it is allowed. */
  readonly reason?: string;
  /** Whether it is allowed by what an earlier version wrote, which does not notice all that consent covers now. */
  readonly isOld?: boolean;
  /** Whether a refusal may be gone at the next look. */
  readonly isTemporary?: boolean;
  readonly item: ConsentItem;
  /** How much of what it starts is covered by consent. */
  readonly class: ConsentClass;
  /** What consent covers, in one sentence. */
  readonly covers: string;
  /** Names of the scripts that it starts, relative to the project. */
  readonly scripts: readonly string[];
  /** What was allowed in its place, where something was. */
  readonly previous?: ConsentItem;
}

/** What somebody allows: exactly this, with exactly these files. */
export interface ConsentItem {
  /** `settings`: the keys of the project's settings file besides `hooks`. */
  readonly kind: 'hook' | 'middleware' | 'settings';
  /** How much of what it starts is covered. Absent of all but hooks; consents of earlier versions have none, or another. */
  readonly class?: ConsentClass | 'pinned by file';
  /** Every field that decides what runs and when; of settings, every key with its value. */
  readonly definition: Readonly<Record<string, unknown>>;
  readonly files: FileDigests;
  /** `sha256:…` of all of that. */
  readonly digest: string;
}

/** How much consent to a hook covers. `pinned`: its definition, and the folder of its script. `open`: its definition only. */
export type ConsentClass = 'pinned' | 'open';

/** Files by the names that they have in lists, each with the digest of its bytes, its mode, and where a link leads. */
export type FileDigests = Readonly<Record<string, string>>;
