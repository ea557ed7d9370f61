import {
  closeSync,
  existsSync,
  fsyncSync,
  lstatSync,
  openSync,
  readdirSync,
  renameSync,
  rmSync,
  statSync,
  writeSync,
} from 'node:fs';
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
 * @returns what it exports
 */
export function loadCompiled(file: string): unknown {
  const place = placeOf(file);
  const cachedData = place === undefined ? undefined : readCompiled(place);
  const script = new Script(readBytesSync(file).toString('latin1'), {
    filename: file,
    cachedData,
  });
  const isNew = cachedData === undefined || script.cachedDataRejected === true;
  // What was needed this time will be needed the next time, too.
  if (place !== undefined && isNew) process.once('exit', () => keepCompiled(place, script));
  const exports = {};
  const run = script.runInThisContext() as (...args: unknown[]) => void;
  run(exports, createRequire(file), file, (specifier: string): unknown => import(specifier));
  return exports;
}

/** Beside the user's settings, where no project can write. V8 itself looks whether it made the code, and for which options. */
function placeOf(file: string): string | undefined {
  const home = findHome();
  if (home === undefined) return undefined;
  const { dev, ino, size, mtimeMs, ctimeMs } = statSync(file);
  const of = [dev, ino, size, mtimeMs, ctimeMs].map((each) => Math.round(each).toString(16));
  return path.join(home, '.llxprt', 'compiled', `${of.join('-')}-${process.version}.code`);
}

function readCompiled(file: string): Buffer | undefined {
  const me = process.getuid?.();
  try {
    return readBytesSync(file, {
      objectTo: ({ uid, mode }) =>
        uid === me && (mode & MAY_BE_WRITTEN_BY_OTHERS) === 0 ? undefined : 'it is of others',
    });
  } catch {
    // It is made anew.
    return undefined;
  }
}

/** Whatever is wrong, the next process compiles as this one did. */
function keepCompiled(file: string, script: Script): void {
  const folder = path.dirname(file);
  // Who has no settings has no use for it.
  if (!existsSync(path.dirname(folder))) return;
  try {
    makePrivate(folder);
    removeOld(folder);
    writeAsOne(file, script.createCachedData());
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
    // V8 looks at no more than its beginning: what a fall of the power leaves must be all of it.
    fsyncSync(descriptor);
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
