/** A call whose middle the host does itself. */
export interface OpenHalf<Given, Done, End> {
  /** What the middle is done with. */
  readonly given: Given;
  readonly finish: (done: Done) => Promise<End>;
  readonly fail: (error: unknown) => Promise<End>;
}

/**
 * Runs a call up to its middle, and gives how to go on. What stands around the middle waits in between. The first of
 * `finish`, `fail` and the abort of the signal ends it; what comes later gives the same end.
 *
 * @returns `ended` where the call has ended without its middle
 */
export function openHalf<Given, Done, End>(
  run: (middle: (given: Given, signal?: AbortSignal) => Promise<Done>) => Promise<End>,
): Promise<OpenHalf<Given, Done, End> | { readonly ended: End }> {
  return new Promise((resolve, reject) => {
    let once: Promise<Done> | undefined;
    // A host does it once: whoever asks for it again gets the same end.
    const middle = (given: Given, signal?: AbortSignal) =>
      (once ??= new Promise<Done>((finish, fail) => {
        const abort = () => fail(signal?.reason);
        const end = (how: () => void) => {
          signal?.removeEventListener('abort', abort);
          how();
          return whole;
        };
        signal?.addEventListener('abort', abort);
        resolve({
          given,
          finish: (done) => end(() => finish(done)),
          fail: (error) => end(() => fail(error)),
        });
      }));
    const whole = run(middle);
    whole.then((ended) => resolve({ ended }), reject);
  });
}

/** For a call of which nobody waits for the end. */
export async function unheeded(end: Promise<unknown>): Promise<void> {
  await end.catch(() => undefined);
}
