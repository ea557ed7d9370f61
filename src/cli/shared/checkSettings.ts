import path from 'node:path';
import { findSettingsFiles } from '../../config/settings/settingsPlaces.js';
import type { SettingsFile } from '../../util/fileProblem.js';
import { loadExtensions, type LoadedExtensions } from '../../extensions/extensions.js';
import { findHome } from '../../util/homeDirectory.js';
import type { Finding } from '../../validate/types.js';
import { hookFilesOf, validateFiles } from '../../validate/validate.js';
import { isThere } from './projectRoot.js';
import { paint, toVisible } from './terminal.js';
import { UsageError } from './usageError.js';
import { resolveDirectory, resolveWorkingDir } from './workspace.js';

interface CheckedSettings {
  readonly files: readonly string[];
  readonly findings: readonly Finding[];
}

/**
 * What `validate` says of settings files: of those that are named, each by itself, else of all that count together.
 *
 * @throws UsageError for a named file that is not there
 */
export async function checkSettings(
  names: readonly string[],
  cwd: string | undefined,
  isTrusted: boolean,
): Promise<CheckedSettings> {
  const jobs = names.length === 0 ? [await findDefaults(cwd)] : await openEach(names, cwd);
  const findings: Finding[] = [];
  // Without trust for this run, what has been allowed counts.
  const trustProject = isTrusted || undefined;
  for (const { sources, ...project } of jobs) {
    findings.push(...(await validateFiles(sources, { ...project, trustProject })));
  }
  return { files: jobs.flatMap(filesOf), findings };
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

async function findDefaults(cwd: string | undefined): Promise<Job> {
  const workingDir = await resolveWorkingDir(cwd);
  const sources = findSettingsFiles({ workingDir });
  const exists = sources.map(({ file }) => isThere(file));
  const extensions = await loadExtensions({ workingDir });
  return { sources: sources.filter((_, index) => exists[index]), workingDir, extensions };
}

/** Each by itself, as if named with `--settings`. */
function openEach(names: readonly string[], cwd: string | undefined): Promise<Job[]> {
  let searched: Promise<string> | undefined;
  return Promise.all(
    names.map(async (name) => {
      const file = path.resolve(name);
      if (!isThere(file)) throw new UsageError(`There is no file ${name}; check the path`);
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

/** One line each; what holds for several places is said at the first of them. */
export function formatFindings(findings: readonly Finding[]): string[] {
  const lines = new Map<string, string>();
  for (const finding of findings) {
    const key = `${finding.rule} ${finding.message}`;
    const line = lines.get(key);
    const also = line?.includes('\n') ? ', ' : '\n  also at ';
    lines.set(key, line ? `${line}${also}${placeOf(finding)}` : formatFinding(finding));
  }
  return [...lines.values()];
}

function formatFinding(finding: Finding): string {
  const { severity, rule, path: at, message } = finding;
  const label = paint(severity === 'error' ? 'red' : 'yellow', `${severity}:`);
  const where = at === '' ? '' : `${at}: `;
  return `${placeOf(finding)}: ${label} ${toVisible(`${where}${message}`)} [${rule}]`;
}

function placeOf({ file, line, column }: Finding): string {
  return toVisible(`${path.relative('', file)}:${line}:${column}`);
}
