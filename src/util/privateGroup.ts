import { readFileSync } from 'node:fs';
import { userInfo } from 'node:os';

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
  const [passwd = '', group = ''] = ['/etc/passwd', '/etc/group'].map((file) =>
    readFileSync(file, 'utf8'),
  );
  return { ...userInfo(), passwd, group };
}

function rowsOf(text: string): string[][] {
  return text.split('\n').map((line) => line.split(':'));
}
