import { isIPv6 } from 'node:net';

/** What to count somebody by: of IPv6 the network of 64 bits, as one machine has all of its addresses. */
export function networkOf(address: string): string {
  // One with dots is of IPv4.
  if (!isIPv6(address) || address.includes('.')) return address;
  const [before = [], after = []] = address.split('::').map((part) => part.split(':'));
  const zeros = Array<string>(Math.max(0, 8 - before.length - after.length)).fill('0');
  return [...before, ...zeros, ...after].slice(0, 4).join(':');
}

/** A limited amount, of which one who asks gets a part, so that others are answered whatever it does. */
export class Quota {
  #taken = 0;
  readonly #takenBy = new Map<string, number>();

  /**
   * @param all together
   * @param ofOne of what all may take; default half
   */
  constructor(
    private readonly all: number,
    private readonly ofOne = Math.max(1, Math.floor(all / 2)),
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

export const MINUTE_MS = 60_000;

/** What somebody did within the last minute. */
export class LastMinute {
  #done: { readonly from: string; readonly at: number }[] = [];

  add(from: string): void {
    this.#done.push({ from, at: performance.now() });
  }

  /**
   * @param from default: of all
   * @returns how often, and the seconds until that is once less
   */
  count(from?: string): { readonly times: number; readonly lessInS: number } {
    const since = performance.now() - MINUTE_MS;
    this.#done = this.#done.filter(({ at }) => at > since);
    const own = from === undefined ? this.#done : this.#done.filter((each) => each.from === from);
    const lessInS = Math.max(1, Math.ceil(((own[0]?.at ?? since) - since) / 1000));
    return { times: own.length, lessInS };
  }
}
