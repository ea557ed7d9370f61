import { describe } from './checks.js';
import { isRecord } from './records.js';
import { nearestName } from './suggestName.js';

/** The names of all options of a kind; one that is missing does not compile. */
export type OptionNames<T> = Readonly<Record<keyof Required<T>, true>>;

/**
 * Refuses options that do not exist: a host whose guard or switch is misspelt would go on without it. One that is
 * `undefined` counts as absent.
 *
 * @param what whose options they are, as the beginning of the message
 * @throws TypeError with the nearest name, or all names; and where they are no object
 */
export function requireKnown(
  what: string,
  options: object,
  known: Readonly<Record<string, unknown>>,
): void {
  if (!isRecord(options)) {
    throw new TypeError(`${what} takes an object with options, not ${describe(options)}`);
  }
  for (const name in options) {
    if (Object.hasOwn(known, name) || options[name] === undefined) continue;
    const names = Object.keys(known);
    const nearest = nearestName(name, names);
    const advice =
      nearest === undefined ? `its options are ${names.join(', ')}` : `did you mean "${nearest}"?`;
    throw new TypeError(`${what} has no option "${name}": ${advice}`);
  }
}
