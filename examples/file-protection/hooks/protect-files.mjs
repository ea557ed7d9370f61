// BeforeTool: some files are changed by people only.
import { lstat, readlink, realpath } from 'node:fs/promises';
import path from 'node:path';
import { Block, defineHook } from 'hookstack/author';

// Paths in the project. Case does not count, as some file systems do not tell it apart.
const PROTECTED = [
  /^\.git(\/|$)/i,
  /^\.llxprt(\/|$)/i, // these hooks
  /^\.github\/workflows\//i,
  /(^|\/)\.env(\.[^/]*)?$/i,
  /(^|\/)package-lock\.json$/i,
];

// Whatever goes wrong in here blocks the call: onFailure is "deny".
await defineHook('BeforeTool', async ({ cwd, tool_input: input }) => {
  const target = await followLinks(path.resolve(cwd, input.file_path));
  const file = path.relative(await realpath(cwd), target).replaceAll(path.sep, '/');
  if (PROTECTED.some((pattern) => pattern.test(file))) {
    throw new Block(`${file} is protected. Tell the user which change you would make.`);
  }
});

/** Where writing to a path ends up. The file need not exist yet, and a link may lead nowhere yet. */
async function followLinks(given) {
  const real = path.join(await realExisting(path.dirname(given)), path.basename(given));
  const stats = await lstat(real).catch(ignoreMissing);
  if (!stats?.isSymbolicLink()) return real;
  return followLinks(path.resolve(path.dirname(real), await readlink(real)));
}

/** The real path of a directory, or of the part of it that exists. */
async function realExisting(directory) {
  const real = await realpath(directory).catch(ignoreMissing);
  return real ?? path.join(await realExisting(path.dirname(directory)), path.basename(directory));
}

function ignoreMissing(error) {
  if (error.code !== 'ENOENT') throw error;
}
