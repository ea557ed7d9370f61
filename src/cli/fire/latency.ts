/** In ms, with one decimal. */
export interface Latency {
  readonly count: number;
  readonly min: number;
  readonly q1: number;
  readonly median: number;
  readonly q3: number;
  readonly max: number;
}

/** @param durations in ms, at least one */
export function latencyOf(durations: readonly number[]): Latency {
  const sorted = durations.toSorted((a, b) => a - b);
  const at = (fraction: number) => Math.round(quantile(sorted, fraction) * 10) / 10;
  return {
    count: sorted.length,
    min: at(0),
    q1: at(0.25),
    median: at(0.5),
    q3: at(0.75),
    max: at(1),
  };
}

/** Linear interpolation. */
function quantile(sorted: readonly number[], fraction: number): number {
  const position = (sorted.length - 1) * fraction;
  const below = sorted[Math.floor(position)] ?? 0;
  const above = sorted[Math.ceil(position)] ?? 0;
  return below + (above - below) * (position % 1);
}
