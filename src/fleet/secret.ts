import type { Stats } from 'node:fs';
import path from 'node:path';
import { parseAnswer } from '../protocol/readHookOutput.js';
import { isPrivateGroup } from '../util/guardedFile.js';
import { readText, reasonOf } from '../util/guardedRead.js';
import { requireHome } from '../util/homeDirectory.js';
import { hostEnvironment } from '../util/requester.js';
import { quoteWord } from '../util/quoteWord.js';
import { isRecord } from '../util/records.js';
import { NOTE_KEY } from './question.js';

/** What proves who asks: a bearer token over HTTP; over NATS `user:password`, the seed of an nkey, or a creds file. */
export interface SecretSource {
  /** A file of mode 600, in which it stands, or of root, for a group of this process; `~/` is the home directory. */
  readonly tokenFile?: string;
  /** The variable of this process that holds it. */
  readonly tokenVariable?: string;
}

/** A larger file holds something else. */
const MAX_SECRET_BYTES = 64 * 1024;

/**
 * Reads a secret.
 *
 * @param variables where a variable is looked up. Default: those of this process
 * @returns the text without the line break at its end; `undefined` where the source names none
 * @throws Error for a file that others can read, one that is missing, and for an empty secret
 */
export async function readSecret(
  source: SecretSource,
  variables: NodeJS.ProcessEnv = hostEnvironment(),
): Promise<string | undefined> {
  const { tokenFile, tokenVariable } = source;
  if (tokenFile !== undefined) return readSecretFile(tokenFile);
  if (tokenVariable === undefined) return undefined;
  const secret = variables[tokenVariable]?.trim();
  if (secret) return secret;
  const why = hostEnvironment()[tokenVariable]
    ? 'withheld from hooks (hookEnvironment)'
    : 'not set, or empty';
  throw new Error(`the variable ${tokenVariable} (tokenVariable) is ${why}`);
}

/** @throws Error as {@link readSecret} */
export async function readSecretFile(file: string, maxBytes = MAX_SECRET_BYTES): Promise<string> {
  const at = file.startsWith('~/') ? path.join(requireHome(), file.slice(2)) : path.resolve(file);
  try {
    const text = await readText(at, { maxBytes, objectTo: (stats) => objectTo(at, stats) });
    const secret = text.trim();
    if (secret !== '') return secret;
    throw new Error('it is empty');
  } catch (error) {
    throw new Error(`the secret in ${at} cannot be used: ${reasonOf(error)}`, { cause: error });
  }
}

function objectTo(file: string, stats: Stats): string | undefined {
  if (process.platform === 'win32' || (stats.mode & 0o077) === 0) return undefined;
  if ((stats.mode & 0o037) === 0 && isForOwnGroup(stats)) return undefined;
  return `others can read it: chmod 600 ${quoteWord(file)}`;
}

/** As Kubernetes mounts a secret: of root, and for a group. With a list of its own, as systemd has, the group is root, too. */
function isForOwnGroup({ uid, gid }: Stats): boolean {
  const { geteuid, getegid, getgroups } = process;
  if (uid !== 0) return uid === geteuid?.() && isPrivateGroup(gid);
  return gid === 0 || gid === getegid?.() || getgroups?.().includes(gid) === true;
}

/** Replaces a secret, each of its long lines, and the password of a user, wherever somebody repeats it. */
export function withoutSecret(text: string, secret = ''): string {
  const lines = secret.split('\n');
  const passwords = lines.map((line) => line.slice(line.indexOf(':') + 1));
  const parts = [...new Set([secret, ...lines, ...passwords])]
    .filter((part) => part.length >= MIN_MASKED)
    .toSorted((a, b) => b.length - a.length);
  return parts.reduce((clean, part) => clean.replaceAll(part, '[token]'), text);
}

/**
 * The same in an answer, whose texts are masked and nothing else: what it is called there, and what a tool or a model is
 * to get, stays as it is.
 */
export function answerWithoutSecret(answer: string, secret: string | undefined): string {
  if (!secret) return answer;
  const parsed = parseAnswer(answer);
  if (!parsed) return withoutSecret(answer, secret);
  const mask = (value: unknown): unknown => {
    if (typeof value === 'string') return withoutSecret(value, secret);
    if (Array.isArray(value)) return value.map(mask);
    return isRecord(value) ? Object.fromEntries(Object.entries(value).map(maskEntry)) : value;
  };
  const maskEntry = ([key, item]: [string, unknown]) => [key, DATA.has(key) ? item : mask(item)];
  return JSON.stringify(mask(parsed));
}

const DATA = new Set([
  'tool_input',
  'tool_response',
  'updatedInput',
  'updatedToolOutput',
  'updatedMCPToolOutput',
  'llm_request',
  'llm_response',
  NOTE_KEY,
]);

/** Shorter texts are words that mean something else, too. In characters. */
const MIN_MASKED = 6;
