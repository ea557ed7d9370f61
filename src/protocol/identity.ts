import { REFERENCE } from '../shell/expandCommand.js';
import { quoteWord } from '../util/quoteWord.js';
import { ConfigSource, HOOK_SCOPES, type CommandHookConfig, type HookScope } from './types.js';

/** How a hook is called in lists, logs and `disabledHooks`: its name, else its command. */
export function hookIdentity(
  hook: Pick<
    CommandHookConfig,
    'name' | 'command' | 'args' | 'type' | 'url' | 'when' | 'groupWhen' | AskedKey
  >,
): string {
  return hook.name || commandLine(hook) || patternsOf(hook) || hook.type;
}

/** What a rule without a name is about. */
function patternsOf({
  when,
  groupWhen = [],
}: Pick<CommandHookConfig, 'when' | 'groupWhen'>): string {
  return [when ?? groupWhen].flat().join(', ');
}

/** A command for people: as it was written, or a program with its arguments, as one would type them; or what is asked. */
export function commandLine({ command, args, url, server, tool, prompt }: Written): string {
  if (args) return [command, ...args].map(quoteOddWord).join(' ');
  // The name by which models and permission rules know a tool of a server.
  const asked =
    tool === undefined ? prompt?.trim().replaceAll(/\s+/gu, ' ') : `mcp__${server}__${tool}`;
  return command || (asked ?? withoutSecrets(url));
}

/** Whether a server or a model answers the hook, so that no process is started for its event. */
export function isAsked({ type }: Pick<CommandHookConfig, 'type'>): boolean {
  return type === 'remote' || type === 'mcp_tool' || type === 'prompt';
}

type AskedKey = 'server' | 'tool' | 'prompt';
type Written = Pick<CommandHookConfig, 'command' | 'args' | 'url' | AskedKey>;

/** A password or a token has no place in an address, and is not shown where it stands there all the same. */
function withoutSecrets(url = ''): string {
  return url.replace(/\/\/[^/?#]*@/u, '//…@').replace(/\?.+/su, '?…');
}

const REFERENCES = new RegExp(REFERENCE, 'g');

/** Quotes what a shell would change. References need no quotes: they are expanded in any case. */
function quoteOddWord(word: string): string {
  const isPlain = word !== '' && !/[^\w@%+:,./=-]/.test(word.replaceAll(REFERENCES, ''));
  return isPlain ? word : quoteWord(word);
}

/** The same for a message: a long command must not hide what the message says. */
export function shortIdentity(
  hook: Pick<
    CommandHookConfig,
    'name' | 'command' | 'type' | 'url' | 'when' | 'groupWhen' | AskedKey
  >,
): string {
  const identity = hookIdentity(hook);
  return identity.length > MAX_SHOWN ? `${identity.slice(0, MAX_SHOWN)}…` : identity;
}

/** Characters of a name or a command in a message, at most. */
const MAX_SHOWN = 60;

/** Where a hook was written, as registry entries know it. */
export interface Provenance {
  readonly source: ConfigSource;
  readonly origin?: { readonly scope: string } | undefined;
  readonly extension?: { readonly scope?: string | undefined } | undefined;
}

/** Whose a hook is; `undefined` for one of the host, or of a file that it was given. */
export function scopeOf(provenance: Provenance): HookScope | undefined {
  if (isFromProject(provenance)) return 'project';
  if (provenance.source === ConfigSource.Extensions) return 'extension';
  return HOOK_SCOPES.find((scope) => scope === provenance.origin?.scope);
}

/** The distrust rank of a hook: 0 for the system and the host, higher for less trusted scopes. */
export function distrustOf({ scope = 'system' }: Pick<CommandHookConfig, 'scope'>): number {
  return HOOK_SCOPES.indexOf(scope);
}

/** Whether a hook came with the project, as opposed to one of the user, the system or the host. */
export function isFromProject({ source, origin, extension }: Provenance): boolean {
  const from = source === ConfigSource.Extensions ? extension : origin;
  return from?.scope === 'project';
}
