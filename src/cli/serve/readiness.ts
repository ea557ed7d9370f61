/** What a server needs before it can answer, by name. What a part says is JSON for whoever has no token. */
export type ReadyParts = Readonly<
  Record<string, () => { readonly isReady: boolean; readonly says: unknown }>
>;

/** Whether all parts are ready, and what each of them says. */
export function readinessOf(parts: ReadyParts) {
  const told = Object.entries(parts).map(([name, look]) => ({ name, ...look() }));
  const ready = told.every(({ isReady }) => isReady);
  return { ready, ...Object.fromEntries(told.map(({ name, says }) => [name, says])) };
}
