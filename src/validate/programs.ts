import { closeSync, constants, fstatSync, openSync, readSync, statSync } from 'node:fs';
import path from 'node:path';
import { PROJECT_NAMES, expandWord } from '../shell/expandCommand.js';
import { findProgram, isExecutable } from '../process/findProgram.js';
import { NOT_PROGRAMS } from '../shell/shellWords.js';
import { readPrograms, type Word } from './commandWords.js';
import type { Checked, HookSite } from './types.js';

/** A program that a hook's command starts. */
export interface Program {
  /** As it is written. */
  readonly name: string;
  /** Absolute path of a program that is not looked up on the PATH. */
  readonly path?: string;
  /** Absolute path of the script that it is given to interpret. */
  readonly script?: string;
}

/** Opening a pipe waits for its other end otherwise. Windows has no such flag. */
const NONBLOCK = process.platform === 'win32' ? 0 : constants.O_NONBLOCK;

/** Programs that are given a script, and no filter or sub-command. */
const INTERPRETERS = new Set(
  'bash bun dash deno node perl php python python3 pwsh ruby sh tsx uv zsh'.split(' '),
);

/** Options of interpreters after which there is no script, or only after a value. */
const SCRIPTLESS = /^-(?:[cdeEmpr]|-(?:eval|print|import|require|loader|test|command|with))/u;

/** The programs that a hook's command starts, as far as they can be told without a shell. */
export function findPrograms({ hook, file }: HookSite, { workingDir }: Checked): Program[] {
  const { extensionPath } = file;
  const known = new Map(PROJECT_NAMES.split('|').map((name) => [name, workingDir]));
  if (extensionPath !== undefined) {
    known.set('extensionPath', extensionPath).set('workspacePath', workingDir);
  }
  const { args } = hook;
  const command = extensionPath === undefined ? hook.command : hook.command.replaceAll('${/}', '/');
  const scope = extensionPath === undefined ? 'project' : 'extension';
  const expand = (word: string) => expandWord(word, scope, Object.fromEntries(known));
  const programs = args ? [[hook.command, ...args].map(expand)] : readPrograms(command, known);
  return programs.flatMap(([name, ...words]) => {
    if (name === undefined || name.startsWith('-')) return [];
    const program = path.basename(name);
    const script = INTERPRETERS.has(program) ? findScript(program, words) : undefined;
    const isPath = name.includes('/');
    if (!isPath && !args && (NOT_PROGRAMS.has(name) || !/^[\w.+-]+$/u.test(name))) return [];
    return {
      name,
      ...(isPath && { path: path.resolve(workingDir, name) }),
      ...(script !== undefined && { script: path.resolve(workingDir, script) }),
    };
  });
}

/** The files of a hook's command: programs and scripts that are named by their path. */
export function findScripts(site: HookSite, checked: Checked): string[] {
  return findPrograms(site, checked).flatMap((program) =>
    [program.path, program.script].filter((file) => file !== undefined),
  );
}

/** The interpreter of a script, from its first line: `python3` of `#!/usr/bin/env python3`. */
export function readShebang(file: string): string | undefined {
  const line = /^#![ \t]*(?<words>[^\n\r]+)/u.exec(readStart(file, 256))?.groups?.['words'];
  const [interpreter, ...words] = line?.trim().split(/[ \t]+/u) ?? [];
  if (interpreter === undefined || path.basename(interpreter) !== 'env') return interpreter;
  return words.find((word) => !word.startsWith('-') && !word.includes('='));
}

/** Whether a program can be started: a path that is executable, or a name on the PATH. */
export function canStart(program: string, { hook }: HookSite): boolean {
  if (program.includes('/')) return isExecutable(program);
  // Names of programs have extensions of their own there.
  if (process.platform === 'win32') return true;
  return findProgram(program, hook.env?.['PATH']) !== undefined;
}

/** What stands at a path. */
export function kindOf(file: string): 'file' | 'other' | 'missing' {
  const stats = statSync(file, { throwIfNoEntry: false });
  if (!stats) return 'missing';
  return stats.isFile() ? 'file' : 'other';
}

/** The first bytes of a file as text; `''` where it cannot be read, or is none: a pipe has no end. */
export function readStart(file: string, bytes: number): string {
  try {
    const descriptor = openSync(file, constants.O_RDONLY | NONBLOCK);
    try {
      if (!fstatSync(descriptor).isFile()) return '';
      const buffer = Buffer.alloc(bytes);
      return buffer.toString('utf8', 0, readSync(descriptor, buffer));
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return '';
  }
}

/** Whether a name is that of an interpreter, and not of a tool. */
export function isInterpreter(name: string): boolean {
  return INTERPRETERS.has(path.basename(name)) || name === 'jq';
}

function findScript(program: string, words: readonly Word[]): string | undefined {
  const given =
    program === 'uv' || program === 'deno' || program === 'bun' ? skipRun(words) : words;
  for (const word of given) {
    if (word === undefined || SCRIPTLESS.test(word)) return undefined;
    if (word.startsWith('-')) continue;
    return word.includes('/') || /\.\w+$/u.test(word) ? word : undefined;
  }
  return undefined;
}

function skipRun(words: readonly Word[]): readonly Word[] {
  return words[0] === 'run' ? words.slice(1) : [];
}
