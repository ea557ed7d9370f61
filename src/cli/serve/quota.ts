/** A limited amount, of which one who asks gets a part, so that others are answered whatever it does. */
export class Quota {
  #taken = 0;
  readonly #takenBy = new Map<string, number>();

  /**
   * @param all together
   * @param ofOne of what all may take
   */
  constructor(
    private readonly all: number,
    private readonly ofOne = all,
  ) {}

  get taken(): number {
    return this.#taken;
  }

  /** @param from who asks, where that is known */
  takenBy(from: string | undefined): number {
    return (from !== undefined && this.#takenBy.get(from)) || 0;
  }

  /** @returns whether there was room for it */
  take(from: string | undefined, amount = 1): boolean {
    const isFree = this.#taken + amount <= this.all;
    if (!isFree || this.takenBy(from) + (from === undefined ? 0 : amount) > this.ofOne)
      return false;
    this.#add(from, amount);
    return true;
  }

  give(from: string | undefined, amount = 1): void {
    this.#add(from, -amount);
  }

  #add(from: string | undefined, amount: number): void {
    this.#taken += amount;
    if (from === undefined) return;
    const own = this.takenBy(from) + amount;
    if (own > 0) this.#takenBy.set(from, own);
    else this.#takenBy.delete(from);
  }
}
