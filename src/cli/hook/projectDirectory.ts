import { statSync } from 'node:fs';
import { dirname, isAbsolute } from 'node:path';
import type { DialectName } from '../../protocol/types.js';
import { errorCode } from '../../util/errorMessage.js';
import { isRecord } from '../../util/records.js';
import { hostEnvironment } from '../../util/requester.js';
import type { HookOptions } from './hookArguments.js';
import type { HookInputReading } from './readInput.js';

/** Where agents say which project is open. The agent itself may be in another directory by now. */
const PROJECT_VARIABLES: Readonly<Record<DialectName, string>> = {
  claude: 'CLAUDE_PROJECT_DIR',
  gemini: 'GEMINI_PROJECT_DIR',
};

/**
 * Where the project of an event is looked for.
 *
 * @param current the directory in which the agent has started this
 * @returns what names the directory, where that is no option, in `source`
 */
export function projectDirectory(
  { from, cwd }: HookOptions,
  input: HookInputReading,
  current: string,
): { readonly directory: string; readonly source?: string } {
  if (cwd !== undefined) return { directory: cwd };
  const [named] = namedDirectories(from, input);
  if (named) return { directory: nearestFolder(named.value), source: named.source };
  return { directory: current, source: 'the current directory' };
}

/** What names the project, what counts most first. Nothing of it has been looked at. */
export function namedDirectories(
  from: DialectName,
  input: HookInputReading,
): readonly { readonly value: string; readonly source: string }[] {
  const fields = 'value' in input && isRecord(input.value) ? input.value : {};
  const variable = PROJECT_VARIABLES[from];
  const said = [
    { value: hostEnvironment()[variable], source: variable },
    { value: fields['cwd'], source: 'the "cwd" of the event,' },
  ];
  return said.flatMap(({ value, source }) => (isPath(value) ? [{ value, source }] : []));
}

/** The system has no longer ones, and each folder of it costs a look. */
const MAX_PATH = 4096;

function isPath(value: unknown): value is string {
  return typeof value === 'string' && value.length <= MAX_PATH && isAbsolute(value);
}

/** Agents may go on in a folder that is gone by now, and it was part of the project. */
function nearestFolder(directory: string): string {
  const above = dirname(directory);
  return above === directory || isFolder(directory) ? directory : nearestFolder(above);
}

function isFolder(file: string): boolean {
  try {
    return statSync(file).isDirectory();
  } catch (error) {
    return errorCode(error) === 'EACCES';
  }
}
