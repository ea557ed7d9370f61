import type { HookPlaces } from '../../dialects/dialect.js';
import { dialects } from '../../dialects/dialects.js';
import type { DialectName } from '../../protocol/types.js';
import type { Path } from '../../util/checks.js';
import { quoteWord } from '../../util/quoteWord.js';
import { isRecord } from '../../util/records.js';
import { type Handler, handlersIn, rootOf } from '../shared/handlers.js';

type Settings = Readonly<Record<string, unknown>>;

/** Settings in the shape of those of Claude Code. */
interface Grouped {
  readonly settings: Settings;
  /** Where in the file that is which a path in these settings leads to. */
  readonly pathOf: (path: Path) => Path;
  /** Hooks that are switched off, in the file. */
  readonly off: readonly Path[];
}

/**
 * The settings of an agent as if its hooks stood in groups under their events, as those of Claude Code do.
 *
 * @param folder where its hooks are started, if that is not the project
 */
export function inGroups(settings: Settings, from: DialectName, folder?: string): Grouped {
  const { settings: place, events } = dialects[from];
  const isPlain = !place.isFlat && place.form === undefined && place.at === undefined;
  if (isPlain) return { settings, pathOf: (path) => path, off: [] };
  const roots = place.isNamed ? Object.keys(settings).map((name) => [name]) : [rootOf(place)];
  const hooks: Record<string, object[]> = {};
  const places = new Map<string, Path>();
  const off: Path[] = [];
  for (const root of roots) {
    const [name = ''] = root;
    const handlers = handlersIn(settings, place, root);
    const set = place.isNamed ? settings[name] : undefined;
    const isSetOff = isRecord(set) && set['enabled'] === false;
    if (isSetOff) off.push([...root, 'enabled']);
    for (const handler of isSetOff ? [] : handlers) {
      const { group, path, hook } = handler;
      const event = place.eventNames?.[handler.event] ?? handler.event;
      if (group['enabled'] === false) {
        off.push([...handler.groupPath, 'enabled']);
        continue;
      }
      const isNamed = place.isNamed && handlers.length === 1 && hook['name'] === undefined;
      const named = isNamed && { name };
      const groups = (hooks[event] ??= []);
      places.set(`${event}\n${groups.length}`, path);
      const about = events.find((each) => each.name === event)?.about?.source;
      const { matcher = about, hooks: _hooks, ...rest } = group;
      groups.push({
        ...(path === handler.groupPath || place.form === 'triggers' ? {} : rest),
        ...(matcher !== undefined && { matcher }),
        hooks: [{ type: 'command', ...named, ...asHook(handler, place, folder) }],
      });
    }
  }
  const { head = {} } = place;
  const [root] = place.isNamed ? [] : rootOf(place);
  const others = root === undefined ? [] : Object.entries(settings);
  const kept = others.filter(([key]) => key !== root && !Object.hasOwn(head, key));
  return {
    settings: { ...Object.fromEntries(kept), hooks },
    pathOf: ([first, event, index, ...rest]) => {
      const path = first === 'hooks' && places.get(`${String(event)}\n${String(index)}`);
      if (path) return [...path, ...rest.slice(2)];
      return [first, event, index, ...rest].filter((step) => step !== undefined);
    },
    off,
  };
}

/** Keys of a hook with our names. */
function asHook({ hook, group }: Handler, place: HookPlaces, folder: string | undefined) {
  const { trigger: _trigger, action: _action, ...outer } = place.form === 'triggers' ? group : {};
  const all = { ...outer, ...hook };
  const { matcher: _matcher, enabled: _enabled, timeout, failClosed, on_failure, ...keys } = all;
  const { [place.timeoutKey ?? 'timeout']: limit = timeout, bash, exec, command, ...rest } = keys;
  const { cwd, working_directory: directory = cwd ?? folder, ...others } = rest;
  const program = command ?? bash ?? exec;
  const isIn = typeof directory === 'string' && typeof program === 'string' && !others['args'];
  return {
    ...others,
    ...(program !== undefined && {
      command: isIn ? `cd ${quoteWord(directory)} && ${program}` : program,
    }),
    ...(!isIn && cwd !== undefined && { cwd }),
    ...(limit !== undefined && { timeout: limit }),
    ...((failClosed === true || on_failure === 'block') && { onFailure: 'deny' }),
  };
}
