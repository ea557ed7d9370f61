import path from 'node:path';
import { findSettingsFiles } from '../../config/settings/settings.js';
import type { SettingsFile } from '../../util/fileProblem.js';
import { loadExtensions, type LoadedExtensions } from '../../extensions/extensions.js';
import { findHome } from '../../util/home.js';
import type { Finding } from '../../validate/types.js';
import { hookFilesOf, validateFiles } from '../../validate/validate.js';
import type { WorkspaceOptions } from '../shared/options.js';
import { isThere } from '../shared/projectRoot.js';
import { paint, plural, printJson, printLine, printNotice, toVisible } from '../shared/terminal.js';
import { UsageError } from '../shared/usageError.js';
import { isTrustedRun, resolveDirectory, resolveWorkingDir } from '../shared/workspace.js';
import { formatForGithub, toSarif } from './findingFormats.js';

interface ValidateCommandOptions extends Omit<WorkspaceOptions, 'settings'> {
  readonly format: 'text' | 'github' | 'sarif';
  /** Default: any number. */
  readonly maxWarnings?: number;
}

/** @returns the exit code: 0 no errors, 1 errors, or more warnings than there may be */
export async function validate(
  names: readonly string[],
  options: ValidateCommandOptions,
): Promise<number> {
  const trustProject = isTrustedRun(options) || undefined;
  const jobs = names.length === 0 ? [await findDefaults(options)] : await openEach(names, options);
  const findings: Finding[] = [];
  for (const { sources, ...project } of jobs) {
    findings.push(...(await validateFiles(sources, { ...project, trustProject })));
  }
  const errors = findings.filter(({ severity }) => severity === 'error').length;
  const warnings = findings.length - errors;
  const files = jobs.flatMap(filesOf);
  if (options.json) printJson({ files, errors, warnings, findings });
  else if (options.format === 'sarif') printJson(toSarif(findings));
  else if (files.length === 0 && findings.length === 0) {
    printLine('There are no settings files: nothing to check');
  } else {
    const format = options.format === 'github' ? formatForGithub : formatFinding;
    const counts = [plural(errors, 'error'), plural(warnings, 'warning')].join(', ');
    printLine([...findings.map(format), `${plural(files.length, 'file')}: ${counts}`].join('\n'));
  }
  const { maxWarnings = Infinity } = options;
  if (warnings > maxWarnings) {
    printNotice(
      'error',
      `${plural(warnings, 'warning')}, and --max-warnings allows ${maxWarnings}: fix them, or allow more`,
    );
  }
  return errors > 0 || warnings > maxWarnings ? 1 : 0;
}

/** Files that are checked together, and their project. */
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
  const workingDir = await resolveWorkingDir(cwd);
  const sources = await findSettingsFiles({ workingDir });
  const exists = await Promise.all(sources.map(({ file }) => isThere(file)));
  const extensions = await loadExtensions({ workingDir });
  return { sources: sources.filter((_, index) => exists[index]), workingDir, extensions };
}

/** Each by itself, as if named with `--settings`. */
function openEach(names: readonly string[], { cwd }: ValidateCommandOptions): Promise<Job[]> {
  let searched: Promise<string> | undefined;
  return Promise.all(
    names.map(async (name) => {
      const file = path.resolve(name);
      if (!(await isThere(file))) throw new UsageError(`There is no file ${name}; check the path`);
      const own = cwd === undefined ? projectOf(file) : undefined;
      const workingDir = await (own === undefined
        ? (searched ??= resolveWorkingDir(cwd))
        : resolveDirectory(own));
      return { sources: [{ scope: 'file', file }], workingDir } as const;
    }),
  );
}

function projectOf(file: string): string | undefined {
  const folder = path.dirname(file);
  const project = path.dirname(folder);
  return path.basename(folder) === '.llxprt' && project !== findHome() ? project : undefined;
}

function formatFinding(finding: Finding): string {
  const { file, line, column, severity, rule, path: at, message } = finding;
  const label = paint(severity === 'error' ? 'red' : 'yellow', `${severity}:`);
  const place = toVisible(`${path.relative('', file)}:${line}:${column}`);
  const where = at === '' ? '' : `${at}: `;
  return `${place}: ${label} ${toVisible(`${where}${message}`)} [${rule}]`;
}
