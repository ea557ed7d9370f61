import {
  closeSync,
  existsSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Script } from 'node:vm';
import { readBytesSync } from '../../util/guardedRead.js';
import { findHome } from '../../util/surroundings.js';
import { makePrivate } from '../shared/privateFolder.js';

/** Others could put code of their own into it. */
const MAY_BE_WRITTEN_BY_OTHERS = 0o022;

/**
 * Loads a file that the build has made a function of, with the code that V8 has made of it before: compiling it takes longer than all
 * that most events want of it. Node keeps such code itself from version 22 on, though not in a folder that is the user's
 * alone.
 *
 * @param file absolute path; its text has no other characters than those of ASCII
 * @returns what it exports; and `keep`, to be called when nothing is left to do, which keeps what was compiled this time
 */
export function loadCompiled(file: string): {
  readonly exports: unknown;
  readonly keep: () => void;
} {
  const place = placeOf(file);
  const cachedData = place === undefined ? undefined : readCompiled(place);
  const script = new Script(readBytesSync(file).toString('latin1'), {
    filename: file,
    cachedData,
  });
  const isNew = cachedData === undefined || script.cachedDataRejected === true;
  const exports = {};
  const run = script.runInThisContext() as (...args: unknown[]) => void;
  run(exports, createRequire(file), file, (specifier: string): unknown => import(specifier));
  // What was needed this time will be needed the next time, too.
  const keep = () => void (place !== undefined && isNew && keepCompiled(place, script));
  return { exports, keep };
}

/**
 * Beside the user's settings, where no project can write. The code of another Node of the same version is another one, as
 * several machines may share a home.
 */
function placeOf(file: string): string | undefined {
  const home = findHome();
  if (home === undefined) return undefined;
  const of = [file, process.execPath].flatMap((each) => {
    const { dev, ino, size, mtimeMs, ctimeMs } = statSync(each);
    return [dev, ino, size, mtimeMs, ctimeMs].map((stat) => Math.round(stat).toString(16));
  });
  const name = createHash('sha256').update(of.join('-')).digest('hex').slice(0, 32);
  return path.join(home, '.llxprt', 'compiled', `${name}-${process.version}-${process.arch}.code`);
}

const CHECKSUM_BYTES = 32;

/** V8 looks at the beginning of the code alone, and dies of what is damaged further on. */
function checksumOf(code: Buffer): Buffer {
  return createHash('sha256').update(code).digest();
}

function readCompiled(file: string): Buffer | undefined {
  const me = process.getuid?.();
  try {
    const bytes = readBytesSync(file, {
      objectTo: ({ uid, mode }) =>
        uid === me && (mode & MAY_BE_WRITTEN_BY_OTHERS) === 0 ? undefined : 'it is of others',
    });
    const code = bytes.subarray(CHECKSUM_BYTES);
    return checksumOf(code).equals(bytes.subarray(0, CHECKSUM_BYTES)) ? code : undefined;
  } catch {
    // It is made anew.
    return undefined;
  }
}

/** Whatever is wrong, the next process compiles as this one did. */
function keepCompiled(file: string, script: Script): void {
  try {
    const folder = path.dirname(file);
    // Who has no settings has no use for it.
    if (!existsSync(path.dirname(folder))) return;
    makePrivate(folder);
    removeOld(folder);
    const code = script.createCachedData();
    writeAsOne(file, Buffer.concat([checksumOf(code), code]));
  } catch {
    // Nothing is kept.
  }
}

function writeAsOne(file: string, bytes: Buffer): void {
  const draft = `${file}.${process.pid}`;
  const descriptor = openSync(draft, 'wx', 0o600);
  try {
    // Less may be written at a time, as on a disk that is nearly full.
    for (let at = 0; at < bytes.length;) at += writeSync(descriptor, bytes, at);
    renameSync(draft, file);
  } catch (error) {
    rmSync(draft, { force: true });
    throw error;
  } finally {
    closeSync(descriptor);
  }
}

/** Ms. */
const OLD_MS = 30 * 24 * 3600 * 1000;

const OWN_FILE = /\.code(?:\.\d+)?$/u;

/** What other versions of the package, and of Node, have left. */
function removeOld(folder: string): void {
  for (const name of readdirSync(folder).filter((each) => OWN_FILE.test(each))) {
    const file = path.join(folder, name);
    if (Date.now() - lstatSync(file).mtimeMs > OLD_MS) rmSync(file, { force: true });
  }
}
