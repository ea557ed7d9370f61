import path from 'node:path';
import { PROJECT_NAMES } from '../shell/expandCommand.js';
import { findControl } from '../protocol/sanitizeText.js';
import { findNamedFiles } from '../process/persistent/freshness.js';
import { quoteWord } from '../util/quoteWord.js';
import {
  canStart,
  findPrograms,
  findScripts,
  interpreterOf,
  isInterpreter,
  readingOf,
} from './programs.js';
import type { Checked, HookSite } from './types.js';
import { isInside, statsOf } from '../util/paths.js';
import { hostEnvironment } from '../util/requester.js';

/** Each of these says what is wrong with the command of one hook, if anything. */
type CommandRule = (site: HookSite, checked: Checked) => string | undefined;

/** A command that the parser does not understand, so that no other rule looks at it. */
export const commandNotUnderstood: CommandRule = (site, checked) => {
  const { unknown } = readingOf(site, checked);
  // PowerShell is not read, and hidden characters are another rule's.
  const isOther = process.platform === 'win32' || findControl(site.hook.command) !== undefined;
  if (unknown === undefined || isOther) return undefined;
  return `its programs are not checked, because it ${unknown}; correct it, or put it into a script`;
};

export const commandNotFound: CommandRule = (site, checked) => {
  const missing = findMissing(site, checked).find((name) => !isInterpreter(name));
  return missing === undefined
    ? undefined
    : `${quoteWord(missing)} is not on the PATH; install it, or write its path`;
};

/** The interpreter of the command, or of the first line of a script. */
export const interpreterMissing: CommandRule = (site, checked) => {
  const missing = findMissing(site, checked).find(isInterpreter);
  if (missing !== undefined) return `${quoteWord(missing)} is not on the PATH; install it`;
  for (const { path: file } of findPrograms(site, checked)) {
    const interpreter = file === undefined ? undefined : interpreterOf(file);
    if (interpreter === undefined || canStart(interpreter, site)) continue;
    return `${quoteWord(interpreter)}, which the first line of ${show(file, checked)} names, is not there; install it, or change that line`;
  }
  return undefined;
};

export const scriptMissing: CommandRule = (site, checked) => {
  const missing = findScripts(site, checked).find((file) => !statsOf(file));
  return missing === undefined
    ? undefined
    : `there is no ${show(missing, checked)}; create it, or correct the path`;
};

export const commandNotExecutable: CommandRule = (site, checked) => {
  const found = findPrograms(site, checked).find(
    ({ path: file }) => file !== undefined && statsOf(file) && !canStart(file, site),
  );
  if (found?.path === undefined) return undefined;
  const file = show(found.path, checked);
  return statsOf(found.path)?.isFile()
    ? `${file} is not executable; run: chmod +x ${file}`
    : `${file} is not a file; name a program`;
};

/** They print, or read all of their input, before anything else of a command can speak. */
const FILTERS = new Set(
  'awk base64 cat cut date echo grep head jq printf sed sha256sum sort tail tee tr uniq wc'.split(
    ' ',
  ),
);

/** One that names a file, or speaks of the protocol, may do more. */
export const persistentShellLine: CommandRule = (site, checked) => {
  const { command, args, persistent } = site.hook;
  if (!persistent) return undefined;
  const { programs } = readingOf(site, checked);
  const isLine = programs.length > 0 && programs.every(([name = '']) => FILTERS.has(name));
  const mayMore = /hookstack|\s(?:-\w*f|--from-file)\b/iu.test(
    [command, ...(args ?? [])].join(' '),
  );
  if (!isLine || mayMore || namesFile(site, checked)) return undefined;
  return 'is hardly meant for a line of shell that names no script: it does not speak the protocol of persistent hooks, so it fails at each event; remove it, or put the work into a script that does (see docs: Persistent hooks)';
};

function namesFile({ hook }: HookSite, { workingDir }: Checked): boolean {
  const { command, args } = hook;
  const names = PROJECT_NAMES.split('|').map((name) => [name, workingDir]);
  const env = { ...hostEnvironment(), ...Object.fromEntries(names) };
  return findNamedFiles({ command, ...(args && { args }), cwd: workingDir, env }).length > 0;
}

const PROJECT_REFERENCE = new RegExp(
  String.raw`\$(?:(?:${PROJECT_NAMES})\b|\{(?:${PROJECT_NAMES}|extensionPath)\})`,
  'u',
);

/**
 * In single quotes, the hook's shell does not expand a reference. One in double quotes within them, as in
 * `bash -c 'cat "$LLXPRT_PROJECT_DIR/x"'`, is expanded by another shell.
 */
export const unexpandedReference: CommandRule = (site, checked) => {
  const { singleQuoted } = readingOf(site, checked);
  const outside = singleQuoted.map((text) => text.replaceAll(/"(?:[^"\\]|\\[^])*"/gu, ''));
  const reference = outside.flatMap((text) => PROJECT_REFERENCE.exec(text) ?? [])[0];
  return reference === undefined
    ? undefined
    : `${reference} stands in single quotes, so that it is not expanded, or split at the spaces of the directory's name by another shell; write "${reference}"`;
};

/** The names that are not on the PATH; a path that leads nowhere is another rule's. */
function findMissing(site: HookSite, checked: Checked): string[] {
  return findPrograms(site, checked)
    .filter(({ name, path: file }) => file === undefined && !canStart(name, site))
    .map(({ name }) => name);
}

function show(file: string | undefined, { workingDir }: Checked): string {
  const isOwn = file !== undefined && isInside(file, workingDir);
  return quoteWord(isOwn ? path.relative(workingDir, file) : (file ?? ''));
}
