import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { foreignSettings } from '../shared/foreignSettings.js';
import type { DialectName } from '../../protocol/types.js';
import { readJsonFile } from '../../util/guardedFile.js';
import { carryOver, mayBlock } from './carryOver.js';

/** Of each folder in which plugins lie. */
const MAX_PLUGINS = 1000;

export interface PluginHooks {
  readonly file: string;
  /** Whether something in it may stop what is not stopped here. */
  readonly mayStop: boolean;
}

/** Hooks that plugins or extensions in a project have, or that it has as one itself. */
export async function findPlugins(project: string, from: DialectName): Promise<PluginHooks[]> {
  const { pluginFiles } = foreignSettings[from];
  const files = await Promise.all(pluginFiles.map((pattern) => findFiles(project, pattern)));
  const found = await Promise.all(files.flat().map((file) => readPlugin(file, from)));
  return found.filter((plugin) => plugin !== undefined);
}

async function findFiles(project: string, pattern: string): Promise<string[]> {
  const [folder = '', rest] = pattern.split('/*/');
  if (rest === undefined) return [join(project, pattern)];
  const parent = join(project, folder);
  const names: string[] = await readdir(parent).catch(() => []);
  return names
    .toSorted()
    .slice(0, MAX_PLUGINS)
    .map((name) => join(parent, name, rest));
}

async function readPlugin(file: string, from: DialectName): Promise<PluginHooks | undefined> {
  const reading = await readJsonFile(file, { groupMayWrite: true });
  if (reading.status === 'missing') return undefined;
  // What cannot be read may be a guard.
  if (reading.status !== 'read') return { file, mayStop: true };
  const { hooks } = reading.value;
  const carried = carryOver({ hooks }, from);
  if (carried.groups.length + carried.remarks.length === 0) return undefined;
  const hasLost = carried.remarks.some(({ kind }) => kind === 'lost');
  return { file, mayStop: hasLost || mayBlock(carried, from) };
}
