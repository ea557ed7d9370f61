import type { HookPlaces } from '../../dialects/dialect.js';
import type { Path } from '../../util/checks.js';
import { isRecord } from '../../util/records.js';

type Settings = Readonly<Record<string, unknown>>;

/** A hook in the file of an agent. */
export interface Handler {
  readonly event: string;
  /** What names the command, and its path in the file. */
  readonly hook: Settings;
  readonly path: Path;
  /** What it stands in, with a matcher, and the path of that; the same where hooks stand one by one. */
  readonly group: Settings;
  readonly groupPath: Path;
}

/** All hooks of a file, in whatever form the agent has them. */
export function handlersIn(
  settings: Settings,
  place: HookPlaces,
  root: Path = rootOf(place),
): Handler[] {
  const events = root.reduce<unknown>(
    (value, key) => (isRecord(value) ? value[String(key)] : undefined),
    settings,
  );
  if (place.form === 'triggers') {
    return listOf(events).flatMap((group, at): Handler[] => {
      const hook = isRecord(group) ? group['action'] : undefined;
      if (!isRecord(group) || !isRecord(hook)) return [];
      const groupPath = [...root, at];
      return [
        { event: String(group['trigger']), hook, path: [...groupPath, 'action'], group, groupPath },
      ];
    });
  }
  return Object.entries(isRecord(events) ? events : {}).flatMap(([event, groups]) =>
    listOf(groups).flatMap((group, at): Handler[] => {
      if (!isRecord(group)) return [];
      const groupPath = [...root, event, at];
      if (place.isFlat || !Array.isArray(group['hooks'])) {
        return [{ event, hook: group, path: groupPath, group, groupPath }];
      }
      return group['hooks'].flatMap((hook, inside) =>
        isRecord(hook)
          ? [{ event, hook, path: [...groupPath, 'hooks', inside], group, groupPath }]
          : [],
      );
    }),
  );
}

export function rootOf({ at = 'hooks' }: HookPlaces): string[] {
  return at === '' ? [] : at.split('.');
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}
