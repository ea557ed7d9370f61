import path from 'node:path';
import { REFERENCE } from '../shell/expandCommand.js';
import { readShebang } from '../shell/shebang.js';
import { statsOf } from '../util/paths.js';
import { readStart } from '../util/guardedRead.js';
import { NOT_PROGRAMS } from '../shell/shellWords.js';
import { findProgram, isExecutable } from '../process/command/findProgram.js';
import { readHook, type CommandReading } from './readCommand.js';
import type { Checked, HookSite } from './types.js';

export interface Program {
  /** As it is written. */
  readonly name: string;
  /** Absolute path of a program that is not looked up on the PATH. */
  readonly path?: string;
  /** Absolute path of the script that it is given to interpret. */
  readonly script?: string;
}

/** Bytes of a script that are searched, at most. */
const MAX_SCRIPT_BYTES = 65_536;

/** Programs that are given a script, and no filter or sub-command. */
const INTERPRETERS = new Set(
  'bash bun dash deno node perl php python python3 pwsh ruby sh tsx uv zsh'.split(' '),
);

/** Those of them whose script may stand behind the word `run`. */
const RUNNERS = new Set(['uv', 'deno', 'bun']);

/** Options of interpreters after which there is no script, or only after a value. */
const SCRIPTLESS = /^-(?:[cdeEmpr]|-(?:eval|print|import|require|loader|test|command|with))/u;

export function readingOf({ hook, file }: HookSite, { workingDir }: Checked): CommandReading {
  return readHook(hook, { project: workingDir, extension: file.extensionPath });
}

/** The programs that a hook's command starts, as far as they can be told without a shell. */
export function findPrograms(site: HookSite, checked: Checked): Program[] {
  const { workingDir } = checked;
  const { programs } = readingOf(site, checked);
  return programs.map(withoutPrefixes).flatMap(([name, ...words]) => {
    // In single quotes, a reference is hardly meant as it is written, which another rule reports.
    if (name === undefined || name.startsWith('-') || REFERENCES.test(name)) return [];
    const program = path.basename(name);
    const script = INTERPRETERS.has(program) ? findScript(program, words) : undefined;
    const isPath = name.includes('/');
    const isName = /^[\w.+-]+$/u.test(name) && !NOT_PROGRAMS.has(name);
    if (!isPath && !isName && !site.hook.args) return [];
    return {
      name,
      ...(isPath && { path: path.resolve(workingDir, name) }),
      ...(script !== undefined && { script: path.resolve(workingDir, script) }),
    };
  });
}

const REFERENCES = new RegExp(REFERENCE, 'u');

/** Leaves out `exec`, `env` and assignments. */
function withoutPrefixes(words: readonly (string | undefined)[]) {
  const start = words.findIndex(
    (word) => word === undefined || !/^(?:\w+=|exec$|env$)/u.test(word),
  );
  return start < 0 ? [] : words.slice(start);
}

/** The files of a hook's command: programs and scripts that are named by their path. */
export function findScripts(site: HookSite, checked: Checked): string[] {
  return findPrograms(site, checked).flatMap((program) =>
    [program.path, program.script].filter((file) => file !== undefined),
  );
}

/** The interpreter of a script, from its first line: `python3` of `#!/usr/bin/env python3`. */
export function interpreterOf(file: string): string | undefined {
  if (!statsOf(file)?.isFile()) return undefined;
  try {
    const [program, ...words] =
      readShebang(file)?.flatMap((word) => word.trim().split(/\s+/u)) ?? [];
    if (program === undefined || path.basename(program) !== 'env') return program;
    return words.find((word) => !word.startsWith('-') && !word.includes('='));
  } catch {
    return undefined;
  }
}

/** Whether a program can be started: a path that is executable, or a name on the PATH. */
export function canStart(program: string, { hook }: HookSite): boolean {
  if (program.includes('/')) return isExecutable(program);
  // Names of programs have extensions of their own there.
  if (process.platform === 'win32') return true;
  return findProgram(program, hook.env?.['PATH']) !== undefined;
}

/** The beginning of a script; `''` where it cannot be read, or is not a file. */
export function readScript(file: string): string {
  try {
    return readStart(file, MAX_SCRIPT_BYTES).toString('utf8');
  } catch {
    return '';
  }
}

export function isInterpreter(name: string): boolean {
  return INTERPRETERS.has(path.basename(name)) || name === 'jq';
}

function findScript(program: string, words: readonly (string | undefined)[]): string | undefined {
  const given = RUNNERS.has(program) && words[0] === 'run' ? words.slice(1) : words;
  const script = given.find((word) => !word?.startsWith('-') || SCRIPTLESS.test(word));
  if (script === undefined || SCRIPTLESS.test(script) || REFERENCES.test(script)) return undefined;
  return script.includes('/') || /\.\w+$/u.test(script) ? script : undefined;
}
