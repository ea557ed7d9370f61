import { existsSync, statSync, utimesSync, type Stats } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { Script } from 'node:vm';
import { readBytesSync } from '../../util/guardedRead.js';
import { findHome } from '../../util/homeDirectory.js';
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
  run(exports, lateRequire(file), file, (specifier: string): unknown => import(specifier));
  // What was needed this time will be needed the next time, too.
  const keep = async () => {
    if (place !== undefined && isNew) await keepCompiled(place, script);
  };
  return { exports, keep };
}

/** Parts of Node that take a millisecond or more to load, and that most events do not need. */
const LATE = /^node:(?:child_process|crypto|net|stream|worker_threads)$/u;

/** Loads those parts once something of them is asked for. */
function lateRequire(file: string): (name: string) => unknown {
  const load = createRequire(file) as (name: string) => Record<PropertyKey, unknown>;
  return (name) =>
    LATE.test(name) ? new Proxy({}, { get: (_late, key) => load(name)[key] }) : load(name);
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
  const name = [...of, process.version, process.arch].join('-');
  return path.join(home, '.llxprt', 'compiled', `${name}.code`);
}

/**
 * V8 looks at the beginning of the code alone, and dies of what is damaged further on. So the file's time, in s, is its
 * size: whatever writes into it changes that.
 */
function isAsWritten({ mtimeMs, size }: Stats): boolean {
  return mtimeMs === size * 1000;
}

function readCompiled(file: string): Buffer | undefined {
  const me = process.getuid?.();
  try {
    return readBytesSync(file, {
      // Others could put code of their own into it.
      objectTo: (stats) => {
        const isOwn = stats.uid === me && (stats.mode & MAY_BE_WRITTEN_BY_OTHERS) === 0;
        return isOwn && isAsWritten(stats) ? undefined : 'it is not what was written';
      },
    });
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
    await writeAtomically(file, code, 0o600);
    utimesSync(file, new Date(), code.length);
  } catch {
    // Nothing is kept.
  }
}
