/** What one part of a server says of itself. */
export interface ReadyPart {
  readonly isReady: boolean;
  /** As JSON, for whoever has no token: no secret, no name. */
  readonly says: unknown;
}

/** What a server needs before it can answer, by name, looked at each time. */
export type ReadyParts = Readonly<Record<string, () => ReadyPart>>;

/** Whether all parts are ready, and what each of them says. */
export function readinessOf(parts: ReadyParts): { readonly ready: boolean } {
  const told = Object.entries(parts).map(([name, look]) => [name, look()] as const);
  const says = told.map(([name, part]) => [name, part.says] as const);
  return { ready: told.every(([, { isReady }]) => isReady), ...Object.fromEntries(says) };
}
