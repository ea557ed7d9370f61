import { readFile, replace, writeFile } from './fileTools.js';
import { runShellCommand } from './runShellCommand.js';
import { glob, listDirectory, searchFileContent } from './searchTools.js';
import type { Tool } from '../../tools/tools.js';

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
