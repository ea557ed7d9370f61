/** Ms in which a server that hangs is asked nothing. */
export const REST_MS = 3000;

interface Doubt {
  restUntil: number;
  /** Whether it hangs. All wait for the same. */
  trial?: Promise<boolean> | undefined;
}

/** Servers that let a question wait for too long: they have to show that they are there before they are asked another one. */
export class Breaker {
  /** By origin. */
  readonly #doubts = new Map<string, Doubt>();

  doubt({ origin }: URL): void {
    this.#doubts.set(origin, { restUntil: 0 });
  }

  /** @param isSilent tries whether it says anything */
  async isHanging({ origin }: URL, isSilent: () => Promise<boolean>): Promise<boolean> {
    const doubt = this.#doubts.get(origin);
    if (!doubt) return false;
    if (performance.now() < doubt.restUntil) return true;
    const isHanging = await (doubt.trial ??= isSilent());
    doubt.trial = undefined;
    if (isHanging) doubt.restUntil = performance.now() + REST_MS;
    else this.#doubts.delete(origin);
    return isHanging;
  }
}
