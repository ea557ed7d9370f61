import { inspect } from 'node:util';

const MAX_DISTANCE = 3;

/**
 * Helps with a name that is not one of `known`: `did you mean 'BeforeTool'?`, or, when none of them is
 * near, `known are …`. Case counts as no difference.
 */
export function suggestName(name: string, known: readonly string[]): string {
  const nearest = nearestName(name, known);
  return nearest === undefined
    ? `known are ${known.join(', ')}`
    : `did you mean ${inspect(nearest)}?`;
}

export function nearestName(name: string, known: readonly string[]): string | undefined {
  return known
    .map((candidate) => ({ candidate, distance: distanceBetween(name, candidate) }))
    .filter(({ distance, candidate }) => distance <= Math.min(MAX_DISTANCE, candidate.length / 2))
    .toSorted((a, b) => a.distance - b.distance)[0]?.candidate;
}

function distanceBetween(name: string, candidate: string): number {
  // Names come from files, and may be a megabyte long.
  if (Math.abs(name.length - candidate.length) > MAX_DISTANCE) return Infinity;
  return levenshtein(name.toLowerCase(), candidate.toLowerCase());
}

// Not the package fastest-levenshtein: every host would load it, for a rare message.
function levenshtein(a: string, b: string): number {
  let above = Array.from({ length: b.length + 1 }, (_, column) => column);
  for (let row = 1; row <= a.length; row++) {
    const current = [row];
    for (let column = 1; column <= b.length; column++) {
      const substitution = a[row - 1] === b[column - 1] ? 0 : 1;
      current.push(
        Math.min(
          (above[column] ?? 0) + 1,
          (current[column - 1] ?? 0) + 1,
          (above[column - 1] ?? 0) + substitution,
        ),
      );
    }
    above = current;
  }
  return above[b.length] ?? 0;
}
