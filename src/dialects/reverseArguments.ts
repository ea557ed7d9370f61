import { isDeepStrictEqual } from 'node:util';
import type { Dialect } from './dialect.js';
import { theirArguments } from './translate.js';

type Arguments = Readonly<Record<string, unknown>>;

/** A tool's arguments by our names. An argument is renamed unless that would hide another one. */
export function ourArguments(
  dialect: Dialect,
  tool: string,
  theirInput: Arguments,
): Record<string, unknown> {
  const ofTheirs = new Map(renamed(dialect, tool));
  const pairs = Object.entries(theirInput).map(([theirs, value]) => {
    const ours = ofTheirs.get(theirs);
    return [ours === undefined || Object.hasOwn(theirInput, ours) ? theirs : ours, value] as const;
  });
  return Object.fromEntries(pairs);
}

/** Two arguments that are one: our hooks would read the one, and the agent's tool the other. */
export function findReverseClash(
  dialect: Dialect,
  tool: string,
  theirInput: Arguments,
): readonly [theirs: string, ours: string] | undefined {
  return renamed(dialect, tool).find((names) =>
    names.every((name) => Object.hasOwn(theirInput, name)),
  );
}

function renamed(dialect: Dialect, tool: string): (readonly [theirs: string, ours: string])[] {
  const words = dialect.tools.find(({ ours }) => ours === tool);
  return (words?.own ?? []).flatMap((ours) => {
    const theirs = words?.arguments?.[ours];
    return theirs === undefined ? [] : [[theirs, ours] as const];
  });
}

/** What an agent is to run its tool with, by its names; what nobody changed stays as it came. */
export function changedTheirArguments(
  dialect: Dialect,
  tool: string,
  theirInput: Arguments,
  changed: Arguments,
  cwd: string,
): {
  /** All arguments. */
  readonly all: Record<string, unknown>;
  /** Those that have another value than before. */
  readonly changed: Record<string, unknown>;
  readonly dropped: readonly string[];
} {
  const given = ourArguments(dialect, tool, theirInput);
  const before = theirArguments(dialect, tool, given, cwd);
  const all = Object.entries(theirArguments(dialect, tool, changed, cwd)).map(([name, value]) => {
    const isSame = Object.hasOwn(theirInput, name) && isDeepStrictEqual(before[name], value);
    return [name, isSame ? theirInput[name] : value] as const;
  });
  const isChanged = ([name, value]: readonly [string, unknown]) =>
    !Object.hasOwn(theirInput, name) || !isDeepStrictEqual(theirInput[name], value);
  const names = new Set(all.map(([name]) => name));
  return {
    all: Object.fromEntries(all),
    changed: Object.fromEntries(all.filter(isChanged)),
    dropped: Object.keys(theirInput).filter((name) => !names.has(name)),
  };
}
