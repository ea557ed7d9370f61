import { subprogramOf } from './commandUses.js';
import { NOT_READING, REACHING, TEXT_FIRST, VALUE_OPTIONS } from './programs.js';
import type { StartedCommand } from './types.js';

/** A host that a call may reach. */
export interface Address {
  /** In lower case; `undefined` where it cannot be told. */
  readonly host: string | undefined;
  /** As it is written. */
  readonly text: string;
}

const URLS = /\b[a-z][\w+.-]{0,20}:\/\/[^\s"'<>`|]+/gi;

/** The hosts of a text that is a URL, or holds some. */
export function addressesIn(text: string): readonly Address[] {
  return (text.match(URLS) ?? []).map((url) => ({ host: hostOf(url), text: url }));
}

function hostOf(url: string): string | undefined {
  // Programs read a backslash differently.
  if (url.includes('\\')) return undefined;
  try {
    // Of other schemes the host stays as it is written.
    const { hostname } = new URL(url.replace(/^[a-z][\w+.-]*:/i, 'http:'));
    return hostname.replace(/\.$/, '').toLowerCase() || undefined;
  } catch {
    return undefined;
  }
}

const BARE =
  /^(?:[\w.-]+@)?((?:[\w-]+\.)+[a-z][\w-]*|localhost|\d+(?:\.\d+){0,3}|0x[\da-f]+|\[[\da-f:]+\])(?::[^\s]*|\/[^\s]*)?$/i;

/** Of those that read no files. */
const REACHING_TOO = /^git-(?:clone|fetch|pull|push|remote)$/;

/** Whether a command is about texts, such as one that looks for addresses, and reaches none that a word names. */
function isAboutTexts(program: string, { words }: StartedCommand): boolean {
  if (program === 'openssl') return !words.some(({ values }) => values?.includes('s_client'));
  return Object.hasOwn(TEXT_FIRST, program);
}

/** Options by which hosts are reached that are named elsewhere, or stand in for the one that is named. */
const ELSEWHERE: Readonly<Record<string, RegExp>> = {
  curl: /^(?:-[fgikLsSv]*[Kx]|--(?:config|connect-to|proxy|preproxy|resolve|socks))/,
  wget: /^(?:-[cNqv]*i|--input-file|-e$)/,
};

const OVER_SSH = /^(?:[\w.-]+@)?([\w.-]+):(?!\/\/)/;

/** The host of a repository, named as ssh has it. */
function hostOfRemote({ words }: StartedCommand): Address | undefined {
  const [, remote] = words.slice(1).filter(({ text }) => !text.startsWith('-'));
  const [value] = remote?.values ?? [];
  const [, host] = OVER_SSH.exec(value ?? '') ?? [];
  return value !== undefined && host !== undefined
    ? { host: hostOf(`http://${host}`), text: value }
    : undefined;
}

/** The hosts that a command may reach. */
export function addressesOf(command: StartedCommand): readonly Address[] {
  const program = subprogramOf(command);
  const found: Address[] = [];
  if (isAboutTexts(program, command)) return found;
  if (/^git-(?:clone|fetch|pull|push|ls-remote)$/.test(program)) {
    found.push(...[hostOfRemote(command) ?? []].flat());
  }
  const reaches = REACHING.has(program);
  // What wrappers start stands beside them.
  if (NOT_READING.has(program) && !REACHING_TOO.test(program)) return found;
  let isValue = false;
  for (const word of command.words.slice(1)) {
    const isOfOption: boolean = isValue;
    isValue = !isOfOption && VALUE_OPTIONS[program]?.test(word.values?.[0] ?? '') === true;
    if (!word.values) {
      if (reaches && !isOfOption) found.push({ host: undefined, text: word.text });
      else if (/:\/\//.test(word.text)) found.push({ host: undefined, text: word.text });
      continue;
    }
    for (const value of word.values) {
      if (ELSEWHERE[program]?.test(value)) found.push({ host: undefined, text: value });
      const urls = addressesIn(value);
      found.push(...urls);
      if (urls.length > 0 || !reaches || isOfOption || isValue) continue;
      const [, bare] = BARE.exec(value) ?? [];
      if (bare !== undefined) found.push({ host: hostOf(`http://${bare}`), text: value });
      else if (word.isGlob) found.push({ host: undefined, text: word.text });
    }
  }
  return found;
}

/**
 * Whether a host is of the domain that a pattern names.
 *
 * @param isBroad whether subdomains of it count as well, as they do against a call
 */
export function isOfDomain(host: string, domain: string, isBroad: boolean): boolean {
  if (domain === '*') return true;
  if (domain.startsWith('*.')) return host.endsWith(domain.slice(1));
  if (host === domain || (isBroad && host.endsWith(`.${domain}`))) return true;
  if (!domain.includes('*')) return false;
  const parts = domain.split('*').map((part) => part.replaceAll('.', String.raw`\.`));
  return new RegExp(`^${parts.join('.*')}$`).test(host);
}
