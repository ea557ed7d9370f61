import { glob } from './glob.js';
import { listDirectory } from './listDirectory.js';
import { readFile } from './readFile.js';
import { replace } from './replace.js';
import { runShellCommand } from './runShellCommand.js';
import { searchFileContent } from './searchFileContent.js';
import type { Tool } from '../../tools/tools.js';
import { writeFile } from './writeFile.js';

/** The tools of the reference agent. */
export const referenceTools: readonly Tool[] = [
  readFile,
  writeFile,
  replace,
  listDirectory,
  searchFileContent,
  glob,
  runShellCommand,
];
