import { expandCommand, scopeOf } from '../shell/expandCommand.js';
import { splitSimpleCommand } from '../shell/shellWords.js';
import { isFromProject, type Provenance } from '../protocol/identity.js';
import type { CommandHookConfig } from '../protocol/types.js';

/** As `expandCommand` knows it. */
const EXTENSION_REFERENCE = /\$(?:extensionPath\b|\{extensionPath\})/u;

/** What a shell may take for something other than a part of a word. */
const NOT_LITERAL = /[^\w@%+:,./=-]/;

const keys = new WeakMap<object, string>();

/**
 * The same text for hooks that would start the same, or ask the same of the same server or model: by the words of the command, the hook's own variables, its
 * dialect and moment, its conditions, whether it is waited for, and its extension's folder where the command refers to it. `undefined` for a hook that
 * starts nothing.
 */
export function commandKey(hook: Started): string | undefined {
  if (hook.type === 'plugin' || hook.type === 'rule') return undefined;
  const known = keys.get(hook);
  if (known !== undefined) return known;
  const { command, args = [], env = {}, dialect, moment, when, groupWhen } = hook;
  const askedBy = ASKED_BY[hook.type];
  const said: readonly unknown[] = askedBy?.map((name) => hook[name]) ?? [command, ...args];
  const isAsync = hook.async === true || hook.asyncRewake === true;
  const variables = Object.entries(env).toSorted(([a], [b]) => (a < b ? -1 : 1));
  const started = askedBy ? [hook.type, said] : [wordsOf(hook), variables];
  const refersToFolder = said.some((each) => EXTENSION_REFERENCE.test(JSON.stringify(each) ?? ''));
  const folder = refersToFolder ? hook.extensionPath : undefined;
  const key = JSON.stringify([...started, dialect, moment, folder, when, groupWhen, isAsync]);
  keys.set(hook, key);
  return key;
}

/** What tells one question to a server from another: all keys that only remote hooks have. */
export const REMOTE_KEYS = [
  'url',
  'headers',
  'tokenFile',
  'tokenVariable',
  'caFile',
  'certFile',
  'keyFile',
] as const;

/** The same of calls of an MCP tool, and of judgements of a model. */
export const MCP_KEYS = ['server', 'tool', 'input', 'mcpServer'] as const;
export const PROMPT_KEYS = ['prompt', 'model'] as const;

/** What tells the same of hooks that are no commands, by their type. */
const ASKED_BY: { readonly [K in CommandHookConfig['type']]?: readonly AskedKey[] } = {
  remote: REMOTE_KEYS,
  mcp_tool: MCP_KEYS,
  prompt: PROMPT_KEYS,
};

type AskedKey =
  | (typeof REMOTE_KEYS)[number]
  | (typeof MCP_KEYS)[number]
  | (typeof PROMPT_KEYS)[number];

/** All that tells what a hook starts, or asks. */
type Started = Pick<
  CommandHookConfig,
  | 'type'
  | 'command'
  | 'args'
  | 'env'
  | 'dialect'
  | 'moment'
  | 'extensionPath'
  | 'when'
  | 'groupWhen'
  | 'async'
  | 'asyncRewake'
  | AskedKey
>;

/** A program with `args` starts the same as a shell command only where the shell would take each word as it is. */
function wordsOf({ command, args, extensionPath }: Started): unknown {
  const scope = scopeOf(extensionPath);
  if (!args) {
    const expanded = expandCommand(command, scope);
    return splitSimpleCommand(expanded) ?? expanded;
  }
  const words = [command, ...args];
  const isLiteral = words.every((word) => word !== '' && !NOT_LITERAL.test(word));
  return (isLiteral && splitSimpleCommand(words.join(' '))) || { withoutShell: words, scope };
}

/** What of a registered hook tells whether it runs in the place of another. */
export interface Startable extends Provenance {
  readonly config: CommandHookConfig;
  readonly review?: { readonly status: string } | undefined;
}

/**
 * The entry that runs in the place of each, as a command runs once for an event: the first of the same command that
 * the project did not bring, else the first. A hook that only denies, because it has changed, stands for itself.
 *
 * @param entries those that are to run for an event, in plan order
 */
export function findSubstitutes<Entry extends Startable>(
  entries: readonly Entry[],
): ReadonlyMap<Entry, Entry> {
  const counted = new Map<string | undefined, Entry>();
  for (const entry of entries) {
    const key = keyOf(entry);
    const first = counted.get(key);
    const isBetter = !first || (isFromProject(first) && !isFromProject(entry));
    if (key !== undefined && isBetter) counted.set(key, entry);
  }
  return new Map(entries.map((entry) => [entry, counted.get(keyOf(entry)) ?? entry]));
}

/** The entries that run in the place of a guard, and therefore as one. */
export function findGuards<Entry extends Startable>(
  substitutes: ReadonlyMap<Entry, Entry>,
): ReadonlySet<Entry> {
  const guards = [...substitutes].filter(([{ config }]) => config.onFailure === 'deny');
  return new Set(guards.map(([, substitute]) => substitute));
}

function keyOf({ review, config }: Startable): string | undefined {
  return !review || review.status === 'allowed' ? commandKey(config) : undefined;
}
