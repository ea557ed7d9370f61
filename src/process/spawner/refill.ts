import type { StartOptions } from '../execution.js';
import { holdable, holdNext, keyOf, waitsAtGate, type HoldableCommand } from '../heldCommands.js';

/** Ms without a start after which a burst of events is over. */
const QUIET_MS = 15;

/** Commands are held for the largest of this many bursts. */
const RECENT_BURSTS = 32;

/** Commands that are told apart in a burst. */
const MAX_COMMANDS = 64;

/** Directories that are known at a time. */
const MAX_PLACES = 32;

/** What so much work leaves in memory is collected while nobody waits, before it makes the process larger. */
const MAX_UNCOLLECTED_BYTES = 1_000_000;
/** What a command leaves, besides its input. */
const BYTES_OF_COMMAND = 20_000;

type Surroundings = Pick<StartOptions, 'cwd' | 'env'>;

/** Commands that came without a pause, and how often each. */
type Burst = Map<string, { readonly start: Omit<StartOptions, 'cwd' | 'env'>; count: number }>;

/** What is known of the commands that run in one directory. */
interface Place {
  readonly surroundings: Surroundings;
  /** How many commands may be held. */
  max: number;
  /** Commands of this burst. */
  started: Burst;
  /** Those of earlier ones, the latest last. */
  bursts: Burst[];
  /** What the next burst will take. */
  next: readonly HoldableCommand[];
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

  /**
   * Notes that a command was started.
   *
   * @param max how many commands may be held in its directory
   * @param inputBytes what was read for it
   */
  noteUse({ cwd, env, ...start }: StartOptions, max: number, inputBytes: number): void {
    this.#uses += 1;
    this.#uncollectedBytes += BYTES_OF_COMMAND + inputBytes;
    this.#waitForQuiet();
    if (max === 0) return;
    const { command, args, extraEnv } = start;
    const { started } = this.#placeOf({ cwd, env }, max);
    const key = keyOf(start);
    if (!started.has(key) && started.size >= MAX_COMMANDS) return;
    const known = started.get(key) ?? { start: { command, args, extraEnv }, count: 0 };
    known.count += 1;
    started.set(key, known);
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

  #placeOf(surroundings: Surroundings, max: number): Place {
    const known = this.#places.get(surroundings.cwd);
    if (known?.surroundings.env === surroundings.env) {
      known.max = max;
      return known;
    }
    const place: Place = {
      surroundings,
      max,
      started: new Map(),
      bursts: known?.bursts ?? [],
      next: [],
    };
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
    const used = [...this.#places.values()].filter(({ started }) => started.size > 0);
    for (const place of used) {
      place.bursts = [...place.bursts.slice(1 - RECENT_BURSTS), place.started];
      place.started = new Map();
      place.next = lookAhead(place);
    }
    this.#fill(used);
    if (this.#uncollectedBytes < MAX_UNCOLLECTED_BYTES) return;
    this.#uncollectedBytes = 0;
    globalThis.gc?.();
  }

  /** One at a time, so that a command that comes meanwhile does not wait for all of them. */
  #fill(places: readonly Place[]): void {
    const [place, ...others] = places;
    if (!place) return;
    const { surroundings, next } = place;
    const isKnown = this.#places.get(surroundings.cwd) === place;
    const waits = isKnown && next.length > 0 && waitsAtGate(surroundings);
    if (waits === undefined) return void setTimeout(() => this.#fill(places), QUIET_MS);
    const hasMore = waits && holdNext(surroundings, next);
    setImmediate(() => this.#fill(hasMore ? places : others));
  }
}

/** Expects each command as often as it came in one burst, those of the latest bursts first. */
function lookAhead({ bursts, max, surroundings }: Place): Place['next'] {
  const most = new Map<string, number>();
  const commands = new Map<string, HoldableCommand | undefined>();
  for (const burst of bursts.toReversed()) {
    for (const [key, { start, count }] of burst) {
      if (!commands.has(key)) commands.set(key, holdable({ ...start, ...surroundings }));
      most.set(key, Math.max(most.get(key) ?? 0, count));
    }
  }
  const expected = [...commands].flatMap(([key, command]) =>
    command ? Array.from({ length: most.get(key) ?? 0 }, () => command) : [],
  );
  return expected.slice(0, max);
}
