import type { StartOptions } from '../startCommand.js';
import { countWarmShells, prepareWarmShell } from '../warmShells.js';

/** Ms without a start after which a burst of events is over. */
const QUIET_MS = 15;

/** Shells are kept for the largest of this many bursts. */
const RECENT_BURSTS = 32;

/** Directories that are known at a time. */
const MAX_PLACES = 32;

/** What so much work leaves in memory is collected while nobody waits, before it makes the process larger. */
const MAX_UNCOLLECTED_BYTES = 1_000_000;
/** What a command leaves, besides its input. */
const BYTES_OF_COMMAND = 20_000;

type Surroundings = Pick<StartOptions, 'cwd' | 'env'>;

/** What is known of the commands that run in one directory. */
interface Place {
  readonly surroundings: Surroundings;
  maxShells: number;
  /** Commands of this burst. */
  started: number;
  /** How many there were in earlier ones, the latest last. */
  bursts: number[];
}

/**
 * Makes ready what the next burst of events will take, once one is over: events of an agent follow each other without a
 * pause, and a start in between would be waited for.
 */
export class Refill {
  readonly #places = new Map<string, Place>();
  #waiting: (() => void)[] = [];
  #uses = 0;
  #uncollectedBytes = 0;
  #quiet: NodeJS.Timeout | undefined;

  /** Makes shells ready now. */
  begin(surroundings: Surroundings, shells: number): void {
    const place = this.#placeOf(surroundings, shells);
    place.bursts.push(shells);
    this.#fill([place]);
  }

  /**
   * Notes that a command was started. Where it could have had a shell, and none is left, one is made ready now.
   *
   * @param inputBytes what was read for it
   */
  noteUse(surroundings: Surroundings, maxShells: number, inputBytes: number): void {
    this.#uses += 1;
    this.#uncollectedBytes += BYTES_OF_COMMAND + inputBytes;
    this.#waitForQuiet();
    if (maxShells === 0) return;
    this.#placeOf(surroundings, maxShells).started += 1;
    if (countWarmShells(surroundings.cwd) === 0) setImmediate(prepareWarmShell, surroundings, 1);
  }

  /** Does something once the burst is over. */
  later(work: () => void): void {
    this.#waiting.push(work);
    this.#waitForQuiet();
  }

  /** Makes nothing ready any more in a directory. */
  forget(cwd: string): void {
    this.#places.delete(cwd);
  }

  #placeOf(surroundings: Surroundings, maxShells: number): Place {
    const known = this.#places.get(surroundings.cwd);
    if (known?.surroundings.env === surroundings.env) {
      known.maxShells = maxShells;
      return known;
    }
    const place = { surroundings, maxShells, started: 0, bursts: known?.bursts ?? [] };
    this.#places.delete(surroundings.cwd);
    this.#places.set(surroundings.cwd, place);
    const [oldest] = this.#places.keys();
    if (oldest !== undefined && this.#places.size > MAX_PLACES) this.#places.delete(oldest);
    return place;
  }

  #waitForQuiet(): void {
    this.#quiet ??= setTimeout(() => this.#lookAround(), QUIET_MS);
    this.#quiet.refresh();
  }

  /** A start makes this process wait, and what has come meanwhile is read after timers are due. */
  #lookAround(): void {
    const uses = this.#uses;
    setImmediate(() => {
      if (this.#uses === uses) this.#makeReady();
      else this.#waitForQuiet();
    });
  }

  #makeReady(): void {
    for (const work of this.#waiting.splice(0)) work();
    // In other directories nobody has taken any.
    const used = [...this.#places.values()].filter(({ started }) => started > 0);
    for (const place of used) {
      place.bursts = [...place.bursts.slice(1 - RECENT_BURSTS), place.started];
      place.started = 0;
    }
    this.#fill(used);
    if (this.#uncollectedBytes < MAX_UNCOLLECTED_BYTES) return;
    this.#uncollectedBytes = 0;
    globalThis.gc?.();
  }

  /** One shell at a time, so that a command that comes meanwhile does not wait for all of them. */
  #fill(places: readonly Place[]): void {
    const [place, ...others] = places;
    if (!place) return;
    const { surroundings, bursts, maxShells } = place;
    const isKnown = this.#places.get(surroundings.cwd) === place;
    const shells = Math.min(Math.max(0, ...bursts), maxShells);
    const hasMore = isKnown && shells > 0 && prepareWarmShell(surroundings, shells);
    setImmediate(() => this.#fill(hasMore ? places : others));
  }
}
