import type { HookPlaces } from '../../dialects/dialect.js';
import type { JsonEdit } from '../shared/editJson.js';
import { handlersIn, rootOf, type Handler } from '../shared/handlers.js';
import { isOwnHook, readOwnCommand, type OwnCommand } from '../shared/ownHook.js';

/** The hook that runs all others, of one event. */
export interface OwnEntry {
  readonly name?: string;
  readonly command: string;
  /** Its time limits, by their keys, in the unit of the agent. Several agents may read one file. */
  readonly limits: Readonly<Record<string, number>>;
}

type Settings = Readonly<Record<string, unknown>>;
type EntryOf = (event: string) => OwnEntry;

/** Adds the entry to each event that lacks it, and renews what it starts. What users have added to it stays. */
export function additions(
  settings: Settings,
  place: HookPlaces,
  events: readonly string[],
  entryOf: EntryOf,
): JsonEdit[] {
  const handlers = ownHandlers(settings, place);
  const head = Object.entries(place.head ?? {}).filter(([key]) => settings[key] === undefined);
  const edits = events.flatMap((event): JsonEdit[] => {
    const entry = entryOf(event);
    const found = handlers.filter((each) => each.event === event);
    const renewals = found.flatMap(({ hook, path, own, ...outer }) => {
      const isOuter = place.form === 'triggers';
      const limited = isOuter ? outer.group : hook;
      const limits = Object.entries(entry.limits).filter(([key]) => limited[key] === undefined);
      const [given] = Object.keys(entry.limits).flatMap((key) => limited[key] ?? []);
      return [
        ...renewal([...path, 'command'], hook['command'], renew(own, entry)),
        ...limits.map(([key, value]) => ({
          path: [...(isOuter ? outer.groupPath : path), key],
          value: given ?? value,
        })),
      ];
    });
    if (found.some(countsForAll)) return renewals;
    return [...renewals, { ...addition(place, event, entry), isInsertion: true }];
  });
  return [...head.map(([key, value]) => ({ path: [key], value })), ...edits];
}

function renewal(path: JsonEdit['path'], before: unknown, value: unknown): JsonEdit[] {
  return before === value ? [] : [{ path, value }];
}

/** A new entry in the form of the agent. */
function addition(place: HookPlaces, event: string, { limits, ...entry }: OwnEntry) {
  const root = rootOf(place);
  if (place.form === 'triggers') {
    const { command } = entry;
    const action = { type: 'command', command };
    return {
      path: [...root, -1],
      value: { name: `hookstack ${event}`, trigger: event, action, ...limits },
    };
  }
  const hook = { type: 'command', ...entry, ...limits };
  return { path: [...root, event, -1], value: place.isFlat ? hook : { hooks: [hook] } };
}

function renew({ variables, rest }: OwnCommand, { command }: OwnEntry): string {
  const [start = '', end] = command.split(' || ');
  return `${variables}${start}${rest}${end === undefined || rest.includes('||') ? '' : ` || ${end}`}`;
}

/** Events whose hooks run for a part of them only, such as for one tool. */
export function partialEvents(
  settings: Settings,
  place: HookPlaces,
  events: readonly string[],
): string[] {
  const handlers = ownHandlers(settings, place);
  return events.filter((event) => {
    const found = handlers.filter((each) => each.event === event);
    return found.length > 0 && !found.some(countsForAll);
  });
}

/** Commands that start ours, and something else as well: nobody but the user knows what they are for. */
export function mixedCommands(settings: Settings, place: HookPlaces): string[] {
  const commands = handlersIn(settings, place).flatMap(({ hook }) => {
    const { command } = hook;
    const isMixed = typeof command === 'string' && MENTION.test(command) && !isOwnHook(hook);
    return isMixed ? [command] : [];
  });
  return [...new Set(commands)];
}

const MENTION = /\b(?:hookstack|cli\.c?js)["']?\s+hook\b/;

/** Takes the entry out of all events, and what is empty then. From the end, as each edit moves what comes after it. */
export function removals(settings: Settings, place: HookPlaces): JsonEdit[] {
  const all = handlersIn(settings, place);
  if (all.length > 0 && isOwn(all)) {
    const root = rootOf(place);
    // What the file began with was written with it.
    const head = Object.keys(place.head ?? {}).filter((key) => settings[key] === place.head?.[key]);
    const isAlone = Object.keys(settings).length === head.length + 1;
    const others = isAlone ? head.map((key) => ({ path: [key], value: undefined })) : [];
    return [...(root.length > 0 ? [{ path: root, value: undefined }] : eachEvent(all)), ...others];
  }
  // They are in one list.
  if (place.form === 'triggers') {
    const own = all.filter(({ hook }) => isOwnHook(hook)).toReversed();
    return own.map(({ groupPath: path }) => ({ path, value: undefined }));
  }
  const events = [...new Set(all.map(({ event }) => event))];
  return events.flatMap((event) => {
    const inEvent = all.filter((each) => each.event === event);
    if (isOwn(inEvent)) return eachEvent(inEvent.slice(0, 1));
    return inEvent
      .filter(({ hook }) => isOwnHook(hook))
      .toReversed()
      .flatMap(({ path, groupPath }) => {
        const inGroup = inEvent.filter((each) => each.groupPath.join() === groupPath.join());
        const isFirst = inGroup[0]?.path.join() === path.join();
        if (!isOwn(inGroup)) return [{ path, value: undefined }];
        return isFirst ? [{ path: groupPath, value: undefined }] : [];
      });
  });
}

function isOwn(handlers: readonly Handler[]): boolean {
  return handlers.every(({ hook }) => isOwnHook(hook));
}

/** All of the events of these hooks. */
function eachEvent(handlers: readonly Handler[]): JsonEdit[] {
  const paths = new Map(
    handlers.map(({ groupPath }) => [groupPath.join(), groupPath.slice(0, -1)]),
  );
  return [...paths.values()].map((path) => ({ path, value: undefined }));
}

function ownHandlers(settings: Settings, place: HookPlaces) {
  return handlersIn(settings, place).flatMap((handler) => {
    const own = readOwnCommand(handler.hook);
    return own ? [{ ...handler, own }] : [];
  });
}

/** What an agent does not wait for, or runs for some calls only, is no way to ask guards about all of them. */
function countsForAll({ group, hook }: Handler): boolean {
  const { matcher = hook['matcher'] ?? '' } = group;
  const isLess = ['if', 'async', 'asyncRewake', 'once'].some((key) => Boolean(hook[key]));
  const { type = 'command', enabled = true } = { ...group, ...hook };
  return !isLess && enabled !== false && type === 'command' && (matcher === '' || matcher === '*');
}
