import { constants, type Stats } from 'node:fs';
import { userInfo } from 'node:os';
import { errorCode, errorMessage } from './errorMessage.js';
import {
  readText,
  readTextSync,
  RefusedFile,
  withRegularFile,
  type ReadLimits,
} from './guardedRead.js';
import { quoteWord } from './quoteWord.js';
import { describe } from './checks.js';
import { isShortage, onDemand, waitForDescriptors } from './descriptors.js';
import type { JsonDocument, Position } from './jsonDocument.js';
import { isRecord } from './records.js';

export type GuardedReading =
  | { readonly status: 'read'; readonly text: string }
  | { readonly status: 'missing' }
  | {
      readonly status: 'refused';
      readonly reason: string;
      /** The system has no descriptors left, and may have some later. */
      readonly isShortage?: boolean;
    };

export interface GuardedFileOptions {
  /** Whether to accept a file that its group may write. */
  readonly groupMayWrite: boolean;
  /** A larger file is refused. Default 16 MiB. */
  readonly maxBytes?: number;
}

/**
 * Reads a file that decides which commands run, unless somebody else could have written it.
 *
 * Refused are, on POSIX systems, a file that others may write, unless it is by a group that is the user's alone, and a
 * file that belongs neither to the current user nor to root; everywhere, what is not a regular file, what is too large and what cannot be read.
 *
 * @param file absolute path
 * @returns the text, decoded as UTF-8, without a byte order mark. Never rejects.
 */
export async function readGuardedFile(
  file: string,
  options: GuardedFileOptions,
): Promise<GuardedReading> {
  return guarded(readText(file, limitsOf(file, options)));
}

/** The same as {@link readGuardedFile}, without reading it: the text is empty, and no size is too large. */
export async function checkGuardedFile(
  file: string,
  { groupMayWrite }: Pick<GuardedFileOptions, 'groupMayWrite'>,
): Promise<GuardedReading> {
  const limits = limitsOf(file, { groupMayWrite, maxBytes: Infinity });
  return guarded(withRegularFile(file, limits, async () => ''));
}

function limitsOf(file: string, { groupMayWrite, maxBytes }: GuardedFileOptions): ReadLimits {
  return { maxBytes, objectTo: (stats) => findFileObjection(file, stats, groupMayWrite) };
}

async function guarded(read: Promise<string>): Promise<GuardedReading> {
  try {
    return { status: 'read', text: await read };
  } catch (error) {
    if (error instanceof RefusedFile) return { status: 'refused', reason: error.reason };
    const code = errorCode(error);
    if (code === 'ENOENT' || code === 'ENOTDIR') return { status: 'missing' };
    return {
      status: 'refused',
      reason: `it cannot be read (${errorMessage(error)}); make it readable, or remove it`,
      isShortage: isShortage(error),
    };
  }
}

/** Why a file must not decide what runs: somebody else could have written it. */
export function findFileObjection(
  file: string,
  stats: Stats,
  groupMayWrite: boolean,
): string | undefined {
  const me = process.getuid?.();
  if (me === undefined) return undefined;

  if (stats.uid !== me && stats.uid !== 0) {
    return `it belongs to user ${stats.uid}, who could make it run commands as you (user ${me}, mode ${formatMode(stats)}); if you trust its content, run: chown ${me} ${quoteWord(file)} && chmod go-w ${quoteWord(file)}`;
  }
  // In the letters of chmod.
  const isShared = !groupMayWrite && (stats.mode & constants.S_IWGRP) !== 0;
  const group = isShared && !isPrivateGroup(stats.gid) ? 'g' : '';
  const others = (stats.mode & constants.S_IWOTH) !== 0 ? 'o' : '';
  if (group + others === '') return undefined;
  return `other users may write it (mode ${formatMode(stats)}) and make it run commands as you; check its content, then run: chmod ${group}${others}-w ${quoteWord(file)}`;
}

function formatMode({ mode }: Stats): string {
  return (mode & 0o7777).toString(8).padStart(4, '0');
}

export type JsonReading =
  | {
      readonly status: 'read';
      readonly value: Record<string, unknown>;
      readonly document: JsonDocument;
      readonly text: string;
    }
  | {
      /** It is no JSON, or no object. */
      readonly status: 'invalid';
      readonly reason: string;
      readonly position: Position;
      readonly text: string;
    }
  | Exclude<GuardedReading, { status: 'read' }>;

const loadParser = onDemand(() => import('./jsonDocument.js'));

/**
 * Reads a JSON file that holds an object, with comments and trailing commas, unless somebody else could have written
 * it; see `readGuardedFile`.
 *
 * @param file absolute path
 * @param what completes "expected …"
 * @returns never rejects
 */
export async function readJsonFile(
  file: string,
  options: GuardedFileOptions,
  what = 'an object',
): Promise<JsonReading> {
  const reading = await readGuardedFile(file, options);
  if (reading.status !== 'read') return reading;
  try {
    const { text } = reading;
    const { parseJsonDocument } = await waitForDescriptors(loadParser);
    const document = parseJsonDocument(text);
    const { value, syntaxError } = document;
    if (isRecord(value)) return { status: 'read', value, document, text };
    const reason = syntaxError
      ? `not valid JSON: ${syntaxError.message}`
      : `expected ${what}, got ${describe(value)}`;
    return { status: 'invalid', reason, position: syntaxError ?? document.locate([]), text };
  } catch (error) {
    const reason = `it cannot be read (${errorMessage(error)})`;
    return { status: 'refused', reason, isShortage: isShortage(error) };
  }
}

/** A user, and the two files in which a Unix system keeps its users and groups. */
interface KnownUsers {
  readonly username: string;
  readonly uid: number;
  /** The group in which the user's files are made. */
  readonly gid: number;
  /** The text of `/etc/passwd`. */
  readonly passwd: string;
  /** The text of `/etc/group`. */
  readonly group: string;
}

/**
 * Whether a group is the current user's alone, as where each user has a group of the same name and files are made with
 * `umask 002`. Not for root, whose files everybody relies on. Where it cannot be told, it is not.
 *
 * @param findUsers what is known of users. Default: what this system says
 */
export function isPrivateGroup(gid: number, findUsers = readUsers): boolean {
  try {
    const { username, uid, gid: own, passwd, group } = findUsers();
    if (uid === 0 || gid !== own) return false;
    const entries = rowsOf(group).filter(([, , id]) => id === String(gid));
    const isTheirs = entries.every(
      ([name, , , members = '']) => name === username && (members === '' || members === username),
    );
    const others = rowsOf(passwd).filter(
      ([name, , , id]) => id === String(gid) && name !== username,
    );
    return entries.length > 0 && isTheirs && others.length === 0;
  } catch {
    return false;
  }
}

function readUsers(): KnownUsers {
  const [passwd, group] = [readTextSync('/etc/passwd'), readTextSync('/etc/group')];
  return { ...userInfo(), passwd, group };
}

function rowsOf(text: string): string[][] {
  return text.split('\n').map((line) => line.split(':'));
}
