import { createHash } from 'node:crypto';
import { commandLine } from '../protocol/identity.js';
import { forbiddenVariables } from '../run/hookEnvironment.js';
import { MAX_EXPRESSION_LENGTH } from '../util/limitedRegExp.js';
import { isRecord } from '../util/records.js';
import type { CommandHookConfig, HookDefinition, HookEventName } from '../protocol/types.js';
import type { ConsentClass, ConsentItem, FileDigests } from '../hooks/entry.js';

/** A hook of a project, as far as it decides what runs. */
export interface ProjectHook {
  readonly event: HookEventName;
  readonly group: Omit<HookDefinition, 'hooks' | 'origin'>;
  readonly config: CommandHookConfig;
  /** The project's extension that brings it, where one does. */
  readonly extension?: { readonly name: string; readonly directory?: string };
}

/** A middleware module of a project's extension. */
export interface ProjectModule {
  readonly extension: string;
  /** Absolute path of the extension's folder. */
  readonly directory: string;
  /** Its entry in the manifest. */
  readonly entry: Readonly<Record<string, unknown>>;
}

export function itemOfHook(
  { event, group, config, extension }: ProjectHook,
  covered: { readonly class: ConsentClass; readonly files: FileDigests },
): ConsentItem {
  // Set by the registry, or said of every hook: neither changes anything of what runs.
  const { extensionPath: _path, scope: _scope, shell: _bash, groupWhen: _when, ...fields } = config;
  const definition = sortKeys<ConsentItem['definition']>({
    ...group,
    groupWhen: group.when,
    when: undefined,
    ...fields,
    ...(isWithoutCommand(config) && { command: undefined }),
    event,
    extension: extension?.name,
  });
  return withDigest({ kind: 'hook', class: covered.class, definition, files: covered.files });
}

function isWithoutCommand({ type }: CommandHookConfig): boolean {
  return type !== 'command' && type !== 'plugin';
}

export function itemOfModule({ entry, extension }: ProjectModule, files: FileDigests): ConsentItem {
  return withDigest({
    kind: 'middleware',
    definition: sortKeys<ConsentItem['definition']>({ ...entry, extension }),
    files,
  });
}

/** @param settings what a project's file says besides its hooks, checked */
export function itemOfSettings(settings: Readonly<Record<string, unknown>>): ConsentItem {
  return withDigest({ kind: 'settings', definition: sortKeys({ ...settings }), files: {} });
}

/** The digest of what an item says, in whatever order that was written. */
export function digestOf({
  kind,
  class: covers,
  definition,
  files,
}: Omit<ConsentItem, 'digest'>): string {
  const [said, definitionSaid] = [JSON.stringify(kind), JSON.stringify(sortKeys(definition))];
  const parts = [said, definitionSaid, listText(files)];
  if (covers !== undefined) parts.push(JSON.stringify(covers));
  return sha256(`[${parts.join(',')}]`);
}

const listTexts = new WeakMap<FileDigests, string>();

/** What a list of files says, in whatever order that was written. Made once for the hooks that share a list. */
export function listText(files: FileDigests): string {
  const text = listTexts.get(files) ?? JSON.stringify(sortKeys(files));
  listTexts.set(files, text);
  return text;
}

export function isSameDefinition(a: ConsentItem, b: ConsentItem): boolean {
  return (
    a.kind === b.kind &&
    JSON.stringify(sortKeys(a.definition)) === JSON.stringify(sortKeys(b.definition))
  );
}

export function sha256(bytes: string | Uint8Array): string {
  return `sha256:${createHash('sha256').update(bytes).digest('hex')}`;
}

/** A file's digest with what git keeps of its mode, so that it is the same on all machines. */
export function withMode(digest: string, mode = 0): string {
  return `${digest} ${mode & 0o100 ? '755' : '644'}`;
}

/** As consents had it before they covered modes. */
export function withoutMode(digest: string): string {
  return digest.replace(/^(sha256:[\da-f]{64}) (?:644|755)/, '$1');
}

function withDigest(item: Omit<ConsentItem, 'digest'>): ConsentItem {
  return { ...item, digest: digestOf(item) };
}

/** The same value, whose keys stand in the same order however they were written. */
export function sortKeys<T>(value: T): T {
  if (Array.isArray(value)) return value.map((item: unknown) => sortKeys(item)) as T;
  if (!isRecord(value)) return value;
  const entries = Object.entries(value).filter(([, item]) => item !== undefined);
  const sorted = entries.toSorted(([a], [b]) => (a < b ? -1 : 1));
  return Object.fromEntries(sorted.map(([key, item]) => [key, sortKeys(item)])) as T;
}

/** Longer commands of a project are refused: nobody reads them, and each is looked at before anybody allows it. */
const MAX_COMMAND_BYTES = 64 * 1024;

/** Why a hook of a project must not run whoever trusts it; `undefined` for one that may. */
export function harmOf({ group: { matcher = '' }, config }: ProjectHook): string | undefined {
  const forbidden = forbiddenVariables({ ...config.env, ...config.mcpServer?.env });
  if (forbidden !== undefined) return forbidden;
  if (Buffer.byteLength(commandLine(config)) > MAX_COMMAND_BYTES) {
    return 'its command is longer than 64 KB; put it into a script';
  }
  const asked = JSON.stringify([config.mcpServer, config.input]);
  if (Buffer.byteLength(asked) > MAX_COMMAND_BYTES) {
    return 'its server and its "input" are longer than 64 KB; make them shorter';
  }
  const patterns = [config.when, config.groupWhen].flatMap((when) => when ?? []);
  if (patterns.some(({ length }) => length > MAX_EXPRESSION_LENGTH)) {
    return `a pattern of its "when" is longer than ${MAX_EXPRESSION_LENGTH} characters; simplify it`;
  }
  if (matcher.length <= MAX_EXPRESSION_LENGTH) return undefined;
  return `its matcher is longer than ${MAX_EXPRESSION_LENGTH} characters; simplify it`;
}
