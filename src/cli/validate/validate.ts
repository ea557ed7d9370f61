import { findHome } from '../util/home.js';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { loadExtensions, type LoadedExtensions } from '../extensions/extensions.js';
import { findSettingsFiles, type SettingsFile } from '../config/settings/settings.js';
import type { Finding } from '../validate/types.js';
import { hookFilesOf, validateFiles } from '../validate/validate.js';
import { paint, printJson, printLine, toVisible } from './terminal.js';
import { UsageError } from './usageError.js';
import { isTrustedRun, resolveWorkingDir, type WorkspaceOptions } from './workspace.js';

/** The options of `hookstack validate`. */
export interface ValidateCommandOptions extends Pick<WorkspaceOptions, 'cwd' | 'trust'> {
  readonly json?: boolean;
}

/**
 * `hookstack validate`: what is wrong with settings files, on stdout. Starts nothing.
 *
 * @param files default: the settings of project, user and system, as far as they exist
 * @returns the exit code: 0 no errors, 1 errors
 * @throws UsageError
 */
export async function validate(
  files: readonly string[],
  options: ValidateCommandOptions,
): Promise<number> {
  const findings: Finding[] = [];
  const jobs = files.length === 0 ? [await findDefaults(options)] : await openEach(files, options);
  for (const { sources, ...project } of jobs) {
    const trustProject = isTrustedRun(options);
    findings.push(...(await validateFiles(sources, { ...project, trustProject })));
  }
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const checked = jobs.flatMap(filesOf);
  const summary = { files: checked, errors, warnings: findings.length - errors };
  if (options.json) printJson({ ...summary, findings });
  else printFindings(findings, summary);
  return errors > 0 ? 1 : 0;
}

/** Files that are checked together, and the project in which their hooks run. */
interface Job {
  readonly sources: readonly SettingsFile[];
  readonly workingDir: string;
  readonly extensions?: LoadedExtensions;
}

function filesOf({ sources, extensions }: Job): string[] {
  return [
    ...sources.map(({ file }) => file),
    ...(extensions?.extensions ?? []).flatMap(hookFilesOf),
  ];
}

async function findDefaults({ cwd }: ValidateCommandOptions): Promise<Job> {
  const workingDir = await resolveWorkingDir(cwd ?? process.cwd());
  const sources = await findSettingsFiles({ workingDir });
  const exists = await Promise.all(sources.map(({ file }) => isThere(file)));
  const extensions = await loadExtensions({ workingDir });
  return { sources: sources.filter((_, index) => exists[index]), workingDir, extensions };
}

/** Each file by itself, as if it had been named with `--settings`. */
function openEach(files: readonly string[], { cwd }: ValidateCommandOptions): Promise<Job[]> {
  return Promise.all(
    files.map(async (name) => {
      const file = path.resolve(name);
      if (!(await isThere(file))) throw new UsageError(`There is no file ${name}; check the path`);
      const workingDir = await resolveWorkingDir(cwd ?? projectOf(file) ?? process.cwd());
      return { sources: [{ scope: 'file', file }], workingDir } as const;
    }),
  );
}

/** The project of a file that stands where the settings of a project do. */
function projectOf(file: string): string | undefined {
  const folder = path.dirname(file);
  const project = path.dirname(folder);
  return path.basename(folder) === '.llxprt' && project !== findHome() ? project : undefined;
}

async function isThere(file: string): Promise<boolean> {
  return stat(file).then(
    () => true,
    (error: NodeJS.ErrnoException) => error.code !== 'ENOENT' && error.code !== 'ENOTDIR',
  );
}

interface Summary {
  readonly files: readonly string[];
  readonly errors: number;
  readonly warnings: number;
}

function printFindings(findings: readonly Finding[], { files, errors, warnings }: Summary): void {
  for (const { file, line, column, severity, rule, path: at, message } of findings) {
    const label = paint(process.stdout, severity === 'error' ? 'red' : 'yellow', `${severity}:`);
    const place = toVisible(`${path.relative('', file)}:${line}:${column}`);
    const where = at === '' ? '' : `${at}: `;
    printLine(`${place}: ${label} ${toVisible(`${where}${message}`)} [${rule}]`);
  }
  const found = `${count(errors, 'error')}, ${count(warnings, 'warning')}`;
  const isIdle = files.length === 0 && findings.length === 0;
  printLine(
    isIdle
      ? 'There are no settings files: nothing to check'
      : `${count(files.length, 'file')}: ${found}`,
  );
}

function count(number: number, what: string): string {
  return `${number} ${what}${number === 1 ? '' : 's'}`;
}
