import { delimiter } from 'node:path';
import { DIALECT_NAMES } from '../../protocol/types.js';
import { findProgram } from '../../process/command/findProgram.js';
import { isRecord } from '../../util/records.js';
import { hostEnvironment } from '../../util/requester.js';

/** The command that an agent runs, as its settings have it. */
export interface OwnCommand {
  /** Variables of ours that are set for it. */
  readonly variables: string;
  /** Options but for the agent, and what is done where it fails. */
  readonly rest: string;
}

/** The program that agents start; it hands their events to `hookstack hook`, or to the process that stays. */
export const CLIENT = 'hookstack-hook';

/** What an agent does not find, of a command that names a program by its name alone. */
export function missingProgram(command: string): string | undefined {
  const [name = ''] = command.split(' ');
  if (!name.startsWith('hookstack')) return undefined;
  const search = hostEnvironment()['PATH'] ?? '';
  // What npx puts there is there for one command only.
  const lasting = search.split(delimiter).filter((each) => !/[/\\]_npx[/\\]/u.test(each));
  return findProgram(name, lasting.join(delimiter)) === undefined ? name : undefined;
}

/** A word of a shell that starts nothing else, or the sign in front of what is done after a failure. */
const WORD =
  /[ \t]*((?:[\w./~@+:%,=\\-]|\$(?:\w|\{\w+\})|"(?:[^"`$\n]|\$(?=[\w{]))*"|'[^'\n]*')+|\|\|)/y;

/**
 * Reads a command that is as a whole `hookstack-hook` or `hookstack hook`, so that it can be told from others, which may
 * hold a guard.
 *
 * @returns `undefined` for all others
 */
export function readOwnCommand(hook: {
  readonly command?: unknown;
  readonly args?: unknown;
}): OwnCommand | undefined {
  const { command, args } = hook;
  if (typeof command !== 'string' || args !== undefined) return undefined;
  const words = wordsOf(command.trimEnd());
  const start = words.findIndex(({ text }) => !/^HOOKSTACK_\w+=/.test(text));
  const isClient = IS_CLIENT.test(words[start]?.text ?? '');
  const at = isClient ? start : words.findIndex(({ text }) => text === 'hook');
  const [first, last, agent] = [words[start], words[at], words[at + 1]];
  if (!first || !last || (isClient && !agent)) return undefined;
  if (!isClient && !isProgram(textsOf(words.slice(start, at)))) return undefined;
  const given = textsOf(words.slice(at + 1));
  if (!areOptions(isClient ? ['--from', ...given] : given)) return undefined;
  const end = isClient && agent ? agent.end : last.end;
  const rest = command.slice(end).replace(/\s--from[ =]["']?\w+["']?/, '');
  return { variables: command.slice(0, first.start), rest };
}

const IS_CLIENT = new RegExp(String.raw`(?:^|[/\\])${CLIENT}$`);

interface Word {
  /** Without quotes. */
  readonly text: string;
  readonly start: number;
  readonly end: number;
}

/** Empty where there is more than words. */
function wordsOf(command: string): Word[] {
  const words: Word[] = [];
  for (let end = 0; end < command.length; end = WORD.lastIndex) {
    WORD.lastIndex = end;
    const word = WORD.exec(command)?.[1];
    if (word === undefined) return [];
    const text = word.replaceAll(/["']/g, '');
    words.push({ text, start: WORD.lastIndex - word.length, end: WORD.lastIndex });
  }
  return words;
}

function textsOf(words: readonly Word[]): string[] {
  return words.map(({ text }) => text);
}

function isProgram([program = '', ...others]: readonly string[]): boolean {
  if (others.length === 0) return /(?:^|[/\\])hookstack(?:\.cmd)?$/.test(program);
  const isNode = /(?:^|[/\\])node(?:\.exe)?$/.test(program) && others.length === 1;
  if (isNode) return /(?:^|[/\\])(?:cli\.c?js|hookstack)$/.test(others[0] ?? '');
  return program === 'npx' && /^(?:(?:-y|--yes) )?hookstack$/.test(others.join(' '));
}

// Behind an agent's name may stand that of an event.
const AGENTS = `(?:${DIALECT_NAMES.join('|')})(?:_\\w+)?`;
const OPTIONS = new RegExp(
  String.raw`^(?=.* --from[ =]${AGENTS}(?: |$))(?: --from[ =]${AGENTS}| --trust| --(?:cwd|settings|trace)[ =][^ |]+)+(?: \|\| exit \d+)?$`,
);

function areOptions(words: readonly string[]): boolean {
  return OPTIONS.test(words.map((word) => ` ${word.replaceAll(' ', '_')}`).join(''));
}

/** Whether a command of an agent's settings runs all hooks of the project through `hookstack hook`, and nothing else. */
export function isOwnHook(hook: { readonly command?: unknown; readonly args?: unknown }): boolean {
  return readOwnCommand(hook) !== undefined;
}

/** What a program starts, where it is nothing but that. */
export function ownCommandOf(text: string): string | undefined {
  const command = /^#!\/bin\/sh\n(?:exec )?(.*?)(?: \|\| echo '[^'\n]*')?\n$/u.exec(text)?.[1];
  return isOwnHook({ command }) ? command : undefined;
}

/** Whether there is nothing but such commands in the groups of an event. */
export function areOwnHooks(groups: unknown): boolean {
  if (!Array.isArray(groups) || groups.length === 0) return false;
  return groups.every((group) => {
    const hooks: unknown = isRecord(group) ? group['hooks'] : undefined;
    if (!Array.isArray(hooks) || hooks.length === 0) return false;
    return hooks.every((hook) => isRecord(hook) && isOwnHook(hook));
  });
}
