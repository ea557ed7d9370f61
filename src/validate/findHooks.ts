import { parseHookDefinitions } from '../hooks/hookSettings.js';
import { isHookEventName } from '../protocol/events.js';
import { commandKey } from '../run/sameCommand.js';
import { isRecord } from '../util/records.js';
import type { CheckedFile, GroupSite, HookSite } from './types.js';

/** The groups of a file that the loader takes, each with its place. */
export function findGroups(file: CheckedFile): GroupSite[] {
  const { hooks } = file.value;
  return Object.entries(isRecord(hooks) ? hooks : {}).flatMap(([key, groups]) =>
    Array.isArray(groups)
      ? groups.flatMap((raw: unknown, index) => readGroup(file, ['hooks', key, index], raw))
      : [],
  );
}

/** The hooks of a group that the loader takes, each with its place. */
export function findHooks({ file, raw, at: groupAt }: GroupSite): HookSite[] {
  const hooks: readonly unknown[] = Array.isArray(raw['hooks']) ? raw['hooks'] : [];
  return hooks.flatMap((one, index) =>
    readGroup(file, [...groupAt, 'hooks', index], { ...raw, hooks: [one] }).flatMap((site) =>
      site.group.hooks.map((hook) => {
        const { dialect, moment } = site.group;
        const key = commandKey({ ...hook, dialect, moment, extensionPath: file.extensionPath });
        return { ...site, hook, key };
      }),
    ),
  );
}

/** Asks the loader about one entry at a time, as it does not say where the entries that it accepts were written. */
function readGroup(file: CheckedFile, at: GroupSite['at'], raw: unknown): GroupSite[] {
  if (!isRecord(raw)) return [];
  const { hooks } = parseHookDefinitions({ [String(at[1])]: [raw] }, file.source);
  return Object.entries(hooks).flatMap(([event, groups]) =>
    isHookEventName(event) ? groups.map((group) => ({ file, event, group, raw, at })) : [],
  );
}
