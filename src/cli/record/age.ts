const MS = { s: 1000, m: 60_000, h: 3_600_000, d: 86_400_000, w: 604_800_000 } as const;

/** @returns ms of a time such as `90d` or `1h`; `undefined` for anything else */
export function parseAge(text: string): number | undefined {
  const [, count = '', unit] = /^(\d{1,6})([smhdw])$/u.exec(text) ?? [];
  return unit === undefined ? undefined : Number(count) * MS[unit as keyof typeof MS];
}
