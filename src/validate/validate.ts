import { formatPath } from '../config/hookSettings.js';
import { readJsonFile } from '../config/jsonFile.js';
import { mergeLayers, type FileProblem, type SettingsFile } from '../config/settings.js';
import { readLayer, refusedLayer } from '../config/settingsLayer.js';
import { loaderSeverities, rules } from './rules.js';
import { findGroups, findHooks } from './sites.js';
import type { Checked, CheckedFile, Finding } from './types.js';

/** What `validateFiles` takes. */
export interface ValidateOptions {
  /** Absolute path of the project, in which hooks run. */
  readonly workingDir: string;
  /** Whether everything in the project's own file counts. */
  readonly trustProject: boolean;
}

/**
 * Checks settings files together, the one with the highest priority first. Nothing is run.
 *
 * @returns the findings, by file and place
 */
export async function validateFiles(
  sources: readonly SettingsFile[],
  { workingDir, trustProject }: ValidateOptions,
): Promise<Finding[]> {
  const layers = await Promise.all(
    sources.map((source) =>
      readLayer(source, source.scope === 'project' ? trustProject : undefined),
    ),
  );
  const { problems, settings } = mergeLayers(
    layers.map((layer) =>
      layer.status === 'missing' && layer.source.scope === 'file'
        ? refusedLayer(layer.source, 'there is no such file; check the path')
        : layer,
    ),
  );
  const files = (await Promise.all(sources.map(openFile))).flatMap((file) => file ?? []);
  const checked: Checked = {
    files,
    groups: files.flatMap(findGroups),
    hooks: files.flatMap(findHooks),
    settings,
    workingDir,
  };
  const order = new Map(sources.map(({ file }, index) => [file, index]));
  return [...problems.map(toFinding), ...(await applyRules(checked))].toSorted(
    (a, b) =>
      (order.get(a.file) ?? 0) - (order.get(b.file) ?? 0) || a.line - b.line || a.column - b.column,
  );
}

async function openFile(source: SettingsFile): Promise<CheckedFile | undefined> {
  const reading = await readJsonFile(source, 'an object');
  return reading.status === 'read' ? { source, ...reading } : undefined;
}

async function applyRules(checked: Checked): Promise<Finding[]> {
  const found = await Promise.all(
    Object.entries(rules).map(async ([rule, { severity, check }]) =>
      (await check(checked)).map(({ file, at, message }) => ({
        file: file.source.file,
        ...file.document.locate(at),
        severity,
        rule,
        path: formatPath(at),
        message,
      })),
    ),
  );
  return found.flat();
}

function toFinding({ file, line, column, path, message, kind }: FileProblem): Finding {
  const severity = kind === undefined ? 'error' : loaderSeverities[kind];
  return { file, line, column, severity, rule: kind ?? 'file', path, message };
}
