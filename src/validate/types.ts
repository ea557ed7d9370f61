import type { Settings } from '../config/settings/settingsKeys.js';
import type { FileProblem, SettingsFile } from '../util/fileProblem.js';
import type { JsonDocument } from '../util/jsonDocument.js';
import type { Path } from '../util/checks.js';
import type { Expressions } from '../rules/expression.js';
import type { CommandHookConfig, HookDefinition, HookEventName } from '../protocol/types.js';

/** After an `error`, something that was written does not run as it was meant. */
export type Severity = FileProblem['severity'];

/** One thing that `hookstack validate` has to say about a settings file. */
export interface Finding extends Pick<
  FileProblem,
  'file' | 'line' | 'column' | 'severity' | 'path' | 'message'
> {
  /** The rule that was broken, such as `matcher-unanchored`. */
  readonly rule: string;
}

/** A parsed settings file, or file of an extension. */
export interface CheckedFile {
  readonly source: SettingsFile;
  readonly document: JsonDocument;
  readonly value: Readonly<Record<string, unknown>>;
  /** Absolute path of the extension whose file it is. */
  readonly extensionPath?: string;
}

/** A group of hooks with its place. */
export interface GroupSite {
  readonly file: CheckedFile;
  readonly event: HookEventName;
  readonly group: HookDefinition;
  /** The group as it was written. */
  readonly raw: Readonly<Record<string, unknown>>;
  /** Where it stands in its file. */
  readonly at: Path;
}

/** A hook with its place, in its group without the others. */
export interface HookSite extends GroupSite {
  readonly hook: CommandHookConfig;
  /** The same for hooks that would start the same. */
  readonly key: string | undefined;
}

/** All that the rules look at together. */
export interface Checked {
  readonly files: readonly CheckedFile[];
  /** Good and empty groups, in order of priority. */
  readonly groups: readonly GroupSite[];
  /** Good hooks, in order of priority. */
  readonly hooks: readonly HookSite[];
  /** What the files say together. */
  readonly settings: Settings;
  /** Absolute path of the project, in which hooks run. */
  readonly workingDir: string;
  /** What reads the expressions of rules, or why there is nothing that does. */
  readonly expressions?: Expressions | Error | undefined;
  /** Why no tools of MCP servers can be called, where a hook is one. */
  readonly mcpFault?: Error | undefined;
}

export interface Slip {
  readonly file: CheckedFile;
  readonly at: Path;
  readonly message: string;
}

/** What is wrong with one hook or matcher, if anything. */
export type Said = string | undefined;

export interface Rule {
  readonly severity: Severity;
  readonly check: (checked: Checked) => readonly Slip[];
}
