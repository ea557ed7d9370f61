import { existsSync, statSync } from 'node:fs';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Script } from 'node:vm';
import { readBytesSync } from '../../util/guardedRead.js';
import { findHome } from '../../util/surroundings.js';
import { writeAtomically } from '../../util/writeAtomically.js';
import { makePrivate, MAY_BE_WRITTEN_BY_OTHERS, removeOld } from '../shared/privateFolder.js';

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
  readonly keep: () => Promise<void>;
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
  const keep = async () => {
    if (place !== undefined && isNew) await keepCompiled(place, script);
  };
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
      // Others could put code of their own into it.
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

const OWN_FILE = /\.code(?:\.[\da-f-]+\.tmp)?$/u;

/** Whatever is wrong, the next process compiles as this one did. */
async function keepCompiled(file: string, script: Script): Promise<void> {
  try {
    const folder = path.dirname(file);
    // Who has no settings has no use for it.
    if (!existsSync(path.dirname(folder))) return;
    makePrivate(folder);
    // What other versions of the package, and of Node, have left.
    removeOld(folder, OWN_FILE);
    const code = script.createCachedData();
    await writeAtomically(file, Buffer.concat([checksumOf(code), code]), 0o600);
  } catch {
    // Nothing is kept.
  }
}
