/** The first `max` lines, and where there are more a last line that says how many were left out. */
export function capLines(lines: readonly string[], max: number): readonly string[] {
  if (lines.length <= max) return lines;
  return [...lines.slice(0, max), `[${lines.length - max} more not shown; narrow the request]`];
}
