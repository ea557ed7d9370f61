/** How a client is to start hookstack. */
export type Program = readonly [command: string, ...args: string[]];

/** What becomes of one server of a client's settings. */
export interface ServerChange {
  /** As the file calls it. */
  readonly server: string;
  /** As hooks call it; absent where it stays as it is. */
  readonly name?: string;
  /** Why it stays as it is. */
  readonly left?: string;
}

export interface Planned extends Omit<ServerChange, 'server'> {
  /** Keys of its settings, in the order in which they are written; `undefined` removes one. */
  readonly written?: Readonly<Record<string, unknown>>;
}

export function isTexts(value: unknown): value is readonly string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}
