import { randomUUID } from 'node:crypto';
import type { KV } from '@nats-io/kv';

/** The clock of NATS. Those of machines may be an hour apart: all servers go by this one. */
export class NatsClock {
  /** Ms between it and the clock of this process, which no one sets. */
  #offsetMs = 0;

  /** Reads it, from what a bucket says of an entry that is made for it. */
  async set(kv: KV): Promise<void> {
    const key = `clock.${randomUUID()}`;
    await kv.put(key, '');
    const entry = await kv.get(key);
    if (entry) this.#offsetMs = entry.created.getTime() - performance.now();
    await kv.purge(key);
  }

  /** Takes note of what happens just now, which is no later than now. */
  see(created: Date): void {
    this.#offsetMs = Math.max(this.#offsetMs, created.getTime() - performance.now());
  }

  /** Ms since 1970. */
  now(): number {
    return performance.now() + this.#offsetMs;
  }

  /** Ms that are left of a length that began then. */
  leftOf(created: Date, ms: number): number {
    return created.getTime() + ms - this.now();
  }
}
