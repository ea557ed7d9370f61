import { setImmediate, setTimeout as sleep } from 'node:timers/promises';
import type { StartOptions } from '../command/execution.js';
import {
  commandKeyOf,
  holdable,
  holdNext,
  waitsAtGate,
  type HoldableCommand,
} from '../command/heldCommands.js';

/** Ms without a start after which a burst of events is over. */
const QUIET_MS = 15;

/** Commands are held for the largest of this many bursts. */
const RECENT_BURSTS = 32;

/** Commands that are told apart in a directory. */
const MAX_COMMANDS = 64;

/** Directories that are known at a time. */
const MAX_PLACES = 32;

/** What so much work leaves in memory is collected while nobody waits, before it makes the process larger. */
const MAX_UNCOLLECTED_BYTES = 1_000_000;
/** What a command leaves, besides its input. */
const BYTES_OF_COMMAND = 20_000;

/** A command that came before. */
interface Known {
  readonly start: Omit<StartOptions, 'cwd' | 'env'>;
  /** How often in this burst, and in each of the latest ones. */
  uses: number;
  recent: readonly number[];
  /** Of a line of shell, which stays one; a script may become another program. */
  line?: HoldableCommand | undefined;
}

/** What is known of the commands that run in one directory. */
interface Place extends Pick<StartOptions, 'cwd' | 'env'> {
  /** How many commands may be held. */
  max: number;
  /** By their keys, those of the latest burst first. */
  commands: Map<string, Known>;
  /** What the next burst will take. */
  next: readonly HoldableCommand[];
}

/**
 * Makes ready what the next burst of events will take, once one is over: events of an agent follow each other without a
 * pause, and a start in between would be waited for.
 */
export class Bursts {
  readonly #places = new Map<string, Place>();
  /** Where commands came in this burst. Elsewhere none that was held has been taken. */
  readonly #used = new Set<Place>();
  #waiting: { readonly cwd: string; readonly work: () => void }[] = [];
  #uses = 0;
  #uncollectedBytes = 0;
  readonly #quiet = setTimeout(() => void this.#makeReady(), QUIET_MS);

  /**
   * Notes that a command was started.
   *
   * @param max how many commands may be held in its directory
   * @param inputBytes what was read for it
   */
  noteUse(
    { cwd, env, command, args, extraEnv }: StartOptions,
    max: number,
    inputBytes: number,
  ): void {
    this.#uses += 1;
    this.#uncollectedBytes += BYTES_OF_COMMAND + inputBytes;
    this.#quiet.refresh();
    if (max === 0) return;
    const there = this.#places.get(cwd);
    const place = there?.env === env ? there : this.#enter({ cwd, env }, there?.commands);
    place.max = max;
    this.#used.add(place);
    const start = { command, args, extraEnv };
    const key = commandKeyOf(start);
    const known = place.commands.get(key) ?? { start, uses: 0, recent: [] };
    known.uses += 1;
    place.commands.set(key, known);
  }

  /** Does something in a directory once the burst is over. */
  later(cwd: string, work: () => void): void {
    this.#waiting.push({ cwd, work });
    this.#quiet.refresh();
  }

  /** Holds no more commands in a directory. */
  forget(cwd: string): void {
    this.#places.delete(cwd);
    this.#waiting = this.#waiting.filter((each) => each.cwd !== cwd);
  }

  /** In the place of one with another environment, whose scripts may be other programs by this one. */
  #enter({ cwd, env }: Pick<Place, 'cwd' | 'env'>, before?: Place['commands']): Place {
    const commands = new Map<string, Known>();
    for (const [key, each] of before ?? []) commands.set(key, { ...each, line: undefined });
    const place = { cwd, env, max: 0, commands, next: [] };
    this.#places.delete(cwd);
    this.#places.set(cwd, place);
    const [oldest = ''] = this.#places.keys();
    if (this.#places.size > MAX_PLACES) this.#places.delete(oldest);
    return place;
  }

  async #makeReady(): Promise<void> {
    const uses = this.#uses;
    // A start makes this process wait, and what has come meanwhile is read after timers are due. It waits anew.
    await setImmediate();
    if (this.#uses !== uses) return;
    for (const { work } of this.#waiting.splice(0)) work();
    const used = [...this.#used];
    this.#used.clear();
    for (const place of used) endBurst(place);
    void this.#fill(used);
    if (this.#uncollectedBytes < MAX_UNCOLLECTED_BYTES) return;
    this.#uncollectedBytes = 0;
    globalThis.gc?.();
  }

  /** One at a time, so that a command that comes meanwhile does not wait for all of them. */
  async #fill(places: readonly Place[]): Promise<void> {
    for (const place of places) {
      let hasMore = place.next.length > 0;
      while (hasMore && this.#places.get(place.cwd) === place) {
        const waits = waitsAtGate(place);
        if (waits === undefined) await sleep(QUIET_MS);
        else {
          hasMore = waits && holdNext(place, place.next);
          await setImmediate();
        }
      }
    }
  }
}

/**
 * Forgets what came in none of the latest bursts, and expects every other command as often as it came in one of them,
 * those of this burst first.
 */
function endBurst(place: Place): void {
  const { cwd, env, max } = place;
  const next: HoldableCommand[] = [];
  const known = [...place.commands].toSorted(
    ([, a], [, b]) => Number(b.uses > 0) - Number(a.uses > 0),
  );
  place.commands.clear();
  for (const [key, each] of known) {
    each.recent = [...each.recent.slice(1 - RECENT_BURSTS), each.uses];
    each.uses = 0;
    const most = Math.max(...each.recent);
    if (most === 0 || place.commands.size === MAX_COMMANDS) continue;
    place.commands.set(key, each);
    const command = each.line ?? holdable({ ...each.start, cwd, env });
    if (command && !command.execution.variables) each.line = command;
    if (command) for (let count = 0; count < most; count++) next.push(command);
  }
  place.next = next.slice(0, max);
}
