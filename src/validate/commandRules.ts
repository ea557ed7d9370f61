import path from 'node:path';
import { findUnexpanded } from './commandWords.js';
import {
  canStart,
  findPrograms,
  findScripts,
  isInterpreter,
  kindOf,
  readShebang,
} from './programs.js';
import type { Checked, HookSite } from './types.js';
import { isInside } from '../util/paths.js';
import { quoteWord } from '../util/quoteWord.js';

/** Each of these says what is wrong with the command of one hook, if anything. */
type CommandRule = (site: HookSite, checked: Checked) => string | undefined;

/** A program that is neither on the PATH nor an interpreter. */
export const commandNotFound: CommandRule = (site, checked) => {
  const missing = findMissing(site, checked).find((name) => !isInterpreter(name));
  return missing === undefined
    ? undefined
    : `${quoteWord(missing)} is not on the PATH; install it, or write its path`;
};

/** An interpreter that is not there, of the command or of the first line of a script. */
export const interpreterMissing: CommandRule = (site, checked) => {
  const missing = findMissing(site, checked).find(isInterpreter);
  if (missing !== undefined) return `${quoteWord(missing)} is not on the PATH; install it`;
  for (const { path: file } of findPrograms(site, checked)) {
    const interpreter =
      file !== undefined && kindOf(file) === 'file' ? readShebang(file) : undefined;
    if (interpreter === undefined || canStart(interpreter, site)) continue;
    return `${quoteWord(interpreter)}, which the first line of ${show(file, checked)} names, is not there; install it, or change that line`;
  }
  return undefined;
};

/** A script, or a program named by its path, that does not exist. */
export const scriptMissing: CommandRule = (site, checked) => {
  const missing = findScripts(site, checked).find((file) => kindOf(file) === 'missing');
  return missing === undefined
    ? undefined
    : `there is no ${show(missing, checked)}; create it, or correct the path`;
};

/** A program named by its path that may not be executed. */
export const commandNotExecutable: CommandRule = (site, checked) => {
  const found = findPrograms(site, checked).find(
    ({ path: file }) => file !== undefined && kindOf(file) !== 'missing' && !canStart(file, site),
  );
  if (found?.path === undefined) return undefined;
  const file = show(found.path, checked);
  return kindOf(found.path) === 'file'
    ? `${file} is not executable; run: chmod +x ${file}`
    : `${file} is no file; name a program`;
};

/** A reference to the project in single quotes. */
export const unexpandedReference: CommandRule = ({ hook }) => {
  const [reference] = hook.args ? [] : findUnexpanded(hook.command);
  return reference === undefined
    ? undefined
    : `${reference} stands in single quotes, so that it is not expanded, or split at the spaces of the directory's name by another shell; write "${reference}"`;
};

/** The first lines of these name programs by path, and a missing path is another rule's. */
function findMissing(site: HookSite, checked: Checked): string[] {
  return findPrograms(site, checked)
    .filter(({ name, path: file }) => file === undefined && !canStart(name, site))
    .map(({ name }) => name);
}

function show(file: string | undefined, { workingDir }: Checked): string {
  const isOwn = file !== undefined && isInside(file, workingDir);
  return quoteWord(isOwn ? path.relative(workingDir, file) : (file ?? ''));
}
