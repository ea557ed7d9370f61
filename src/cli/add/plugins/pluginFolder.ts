import { createHash } from 'node:crypto';
import { lstat, readdir, readlink, realpath } from 'node:fs/promises';
import { dirname, join, relative } from 'node:path';
import { readBytes, reasonOf } from '../../../util/guardedRead.js';
import { isInside } from '../../../util/paths.js';
import { toOneLine } from '../../shared/terminal.js';
import { UsageError } from '../../shared/usageError.js';

/** A file of a plugin, as it was read once: what is shown is what is written. */
export interface PluginFile {
  readonly bytes: Buffer;
  readonly isProgram: boolean;
}

/** All of a plugin's folder, by paths within it. */
export interface PluginFolder {
  /** Absolute, without links. */
  readonly root: string;
  readonly files: ReadonlyMap<string, PluginFile>;
  /** Where links lead, as paths within the folder. */
  readonly links: ReadonlyMap<string, string>;
  /** Of all of it. */
  readonly digest: string;
}

const MAX_FILES = 10_000;
const MAX_BYTES = 64 * 1024 * 1024;

/** What no hook of a plugin needs, and what differs in each copy. */
const LEFT_OUT: ReadonlySet<string> = new Set(['.git', '__pycache__']);

/**
 * Reads all files of a plugin.
 *
 * @throws UsageError where it is too large, or a link leads out of it
 */
export async function readFolder(folder: string): Promise<PluginFolder> {
  const root = await realpath(folder);
  const files = new Map<string, PluginFile>();
  const links = new Map<string, string>();
  let left = MAX_BYTES;
  const pending = [''];
  for (let within = pending.pop(); within !== undefined; within = pending.pop()) {
    for (const entry of await readdir(join(root, within), { withFileTypes: true })) {
      if (LEFT_OUT.has(entry.name)) continue;
      const name = join(within, entry.name);
      if (entry.isDirectory()) pending.push(name);
      else if (entry.isSymbolicLink()) links.set(name, await targetOf(root, name));
      else {
        const file = await readOne(join(root, name), left);
        left -= file.bytes.length;
        files.set(name, file);
      }
      if (files.size + links.size + pending.length > MAX_FILES) throw tooLarge(root);
    }
  }
  return { root, files, links, digest: digestOf(files, links) };
}

async function readOne(file: string, maxBytes: number): Promise<PluginFile> {
  try {
    const { mode } = await lstat(file);
    return { bytes: await readBytes(file, { maxBytes }), isProgram: (mode & 0o100) !== 0 };
  } catch (error) {
    throw new UsageError(`${toOneLine(file)} is not taken over: ${reasonOf(error)}`);
  }
}

async function targetOf(root: string, name: string): Promise<string> {
  const file = join(root, name);
  const target = await realpath(file).catch(() => undefined);
  if (target !== undefined && isInside(target, root)) {
    return relative(dirname(name), relative(root, target)) || '.';
  }
  const leads = target === undefined ? 'leads to nothing' : "leads out of the plugin's folder";
  const to = await readlink(file).catch(() => '');
  throw new UsageError(
    `${toOneLine(file)} is a link that ${leads} (${toOneLine(to)}): remove it, or put the file there`,
  );
}

function tooLarge(root: string): UsageError {
  const files = MAX_FILES.toLocaleString('en');
  return new UsageError(
    `${toOneLine(root)} is not taken over: a plugin may have ${files} files and 64 MB; name the folder of one plugin`,
  );
}

function digestOf(
  files: ReadonlyMap<string, PluginFile>,
  links: ReadonlyMap<string, string>,
): string {
  const hash = createHash('sha256');
  const parts: readonly (readonly [string, string | Buffer])[] = [
    ...[...files].flatMap(([name, { bytes, isProgram }]) => [
      [`${isProgram ? 'program' : 'file'} ${name}`, bytes] as const,
    ]),
    ...[...links].map(([name, target]) => [`link ${name}`, target] as const),
  ];
  for (const [name, content] of parts.toSorted(([a], [b]) => (a < b ? -1 : 1))) {
    // Lengths first, so that two folders never give the same text.
    hash.update(`${Buffer.byteLength(name)} ${Buffer.byteLength(content)}\n`).update(name);
    hash.update(content);
  }
  return hash.digest('hex');
}
