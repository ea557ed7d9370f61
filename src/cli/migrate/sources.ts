import { accessSync, constants } from 'node:fs';
import { readdir } from 'node:fs/promises';
import path from 'node:path';
import { dialects } from '../../dialects/dialects.js';
import type { DialectName } from '../../protocol/types.js';
import { formatPath, type Path } from '../../util/checks.js';
import { readGuardedFile, readJsonFile } from '../../util/guardedFile.js';
import type { JsonDocument, Position } from '../../util/jsonDocument.js';
import { asWord } from '../../util/quoteWord.js';
import { explainInvalid } from '../shared/editSettings.js';
import { type ForeignScope, foreignSettingsIn } from '../shared/foreignSettings.js';
import { ownCommandOf } from '../shared/ownHook.js';
import { UsageError } from '../shared/usageError.js';
import { carryOver, type CarriedOver, type RemarkKind } from './carryOver.js';
import { inGroups } from './shapes.js';

/** A file with hooks of another agent. */
export interface Source {
  readonly file: string;
  readonly carried: CarriedOver;
  readonly remarks: readonly Remark[];
}

export interface Remark extends Position {
  readonly file: string;
  readonly path: string;
  readonly message: string;
  readonly kind: RemarkKind;
}

/** @param directory the project, or the home directory */
export async function readSources(
  directory: string,
  from: DialectName,
  scope: ForeignScope,
): Promise<Source[]> {
  const files = foreignSettingsIn(directory, from, scope);
  const { form, userFolder } = dialects[from].settings;
  // Functions are no commands.
  if (form === 'plugin') return [];
  const read = await Promise.all(
    files.map(async (file) => {
      if (form === 'programs') return readPrograms(file, from, scope === 'user' ? '/' : directory);
      const folder = userFolder && scope === 'user' ? path.dirname(file) : undefined;
      return (await readSource(file, from, folder)) ?? [];
    }),
  );
  return [...read.flat(), ...(await findToml(directory, from, scope))];
}

async function readSource(
  file: string,
  from: DialectName,
  folder?: string,
): Promise<Source | undefined> {
  const reading = await readJsonFile(file, { groupMayWrite: true }, 'an object of settings');
  if (reading.status === 'missing') return undefined;
  if (reading.status === 'refused') throw new UsageError(`${file} is not read: ${reading.reason}`);
  if (reading.status === 'invalid' && reading.text.trim() === '') return undefined;
  if (reading.status === 'invalid') throw new UsageError(explainInvalid(file, reading));
  return sourceOf(file, reading, from, folder);
}

interface Reading {
  readonly value: Record<string, unknown>;
  readonly document: Pick<JsonDocument, 'locate'>;
}

/** @param folder where its hooks are started, if that is not the project */
export function sourceOf(
  file: string,
  { value, document }: Reading,
  from: DialectName,
  folder?: string,
): Source {
  const { settings, pathOf, off } = inGroups(value, from, folder);
  const carried = carryOver({ ...settings }, from);
  const told = [
    ...carried.remarks.map(({ path: within, ...others }) => ({
      within: pathOf(within),
      ...others,
    })),
    ...off.map((within) => ({ within, message: OFF, kind: 'changed' as const })),
  ];
  const remarks = told.map(({ within, message, kind }) => {
    const { line, column } = document.locate(within);
    return { file, line, column, path: formatPath(within), message, kind };
  });
  return { file, carried, remarks: remarks.toSorted((a, b) => a.line - b.line) };
}

const OFF = 'the hook is switched off there, and left out';

/** At the beginning of a file. */
export function remarkOn(
  file: string,
  message: string,
  kind: RemarkKind,
  at: Path = ['hooks'],
): Remark {
  return { file, line: 1, column: 1, path: formatPath(at), message, kind };
}

export const NOTHING: CarriedOver = {
  groups: [],
  disabledHooks: [],
  areHooksOn: true,
  remarks: [],
};

/** Hooks that are programs, each with the name of its event. */
async function readPrograms(folder: string, from: DialectName, project: string): Promise<Source[]> {
  const names: string[] = await readdir(folder).catch(() => []);
  const read = names.toSorted().map(async (name): Promise<Source | undefined> => {
    const file = path.join(folder, name);
    const reading = await readGuardedFile(file, { groupMayWrite: true });
    const why = reading.status === 'refused' ? reading.reason : whyNotRun(file);
    if (reading.status === 'read' && ownCommandOf(reading.text) !== undefined) return undefined;
    if (why !== undefined) {
      return { file, carried: NOTHING, remarks: [remarkOn(file, why, 'changed', [name])] };
    }
    const command = path.relative(project, file).split(path.sep).map(asWord).join('/');
    const hook = { type: 'command', command: project === '/' ? `/${command}` : command };
    const value = { hooks: { [name]: [{ hooks: [hook] }] } };
    const carried = carryOver(value, from);
    const remarks = carried.remarks.map(({ message, kind }) =>
      remarkOn(file, message, kind, [name]),
    );
    return { file, carried, remarks };
  });
  return (await Promise.all(read)).filter((source) => source !== undefined);
}

function whyNotRun(file: string): string | undefined {
  try {
    accessSync(file, constants.X_OK);
    return undefined;
  } catch {
    return 'is no program that may be started, and left out; if it is one, run: chmod +x';
  }
}

/** Hooks in TOML, of which nothing but that they are there is seen. */
async function findToml(
  directory: string,
  from: DialectName,
  scope: ForeignScope,
): Promise<Source[]> {
  const { tomlFile, files } = dialects[from].settings;
  if (tomlFile === undefined || scope === 'local') return [];
  const file = path.join(directory, tomlFile);
  const reading = await readGuardedFile(file, { groupMayWrite: true });
  if (reading.status !== 'read' || !/^\s*\[+\s*["']?hooks\b/mu.test(reading.text)) return [];
  const message = `hooks in TOML are not read: write them into ${files[0] ?? ''}, and migrate them from there`;
  return [{ file, carried: NOTHING, remarks: [remarkOn(file, message, 'lost')] }];
}
