import type { StartOptions } from '../command/execution.js';
import {
  holdable,
  holdNext,
  commandKeyOf,
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
  readonly key: string;
  readonly start: Omit<StartOptions, 'cwd' | 'env'>;
  /** How often in this burst, in each of the latest ones, and at most in one of those. */
  uses: number;
  recent: readonly number[];
  most: number;
  /** Of a line of shell, which stays one; a script may become another program. */
  line?: HoldableCommand | undefined;
}

/** What is known of the commands that run in one directory. */
interface Place extends Pick<StartOptions, 'cwd' | 'env'> {
  /** How many commands may be held. */
  max: number;
  /** Those of the latest burst first. */
  commands: Known[];
  /** Whether any came in this burst. Else none that was held has been taken. */
  isUsed: boolean;
  /** What the next burst will take. */
  next: readonly HoldableCommand[];
}

/**
 * Makes ready what the next burst of events will take, once one is over: events of an agent follow each other without a
 * pause, and a start in between would be waited for.
 */
export class Bursts {
  readonly #places = new Map<string, Place>();
  #waiting: { readonly cwd: string; readonly work: () => void }[] = [];
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
    const place = this.#placeOf(cwd, env, max);
    place.isUsed = true;
    const key = commandKeyOf(start);
    const known = place.commands.find((each) => each.key === key);
    const { command, args, extraEnv } = start;
    if (known) known.uses += 1;
    else
      place.commands.push({
        key,
        start: { command, args, extraEnv },
        uses: 1,
        recent: [],
        most: 0,
      });
  }

  /** Does something in a directory once the burst is over. */
  later(cwd: string, work: () => void): void {
    this.#waiting.push({ cwd, work });
    this.#waitForQuiet();
  }

  /** Holds no more commands in a directory. */
  forget(cwd: string): void {
    this.#places.delete(cwd);
    this.#waiting = this.#waiting.filter((each) => each.cwd !== cwd);
  }

  #placeOf(cwd: string, env: StartOptions['env'], max: number): Place {
    const known = this.#places.get(cwd);
    if (known?.env === env) return Object.assign(known, { max });
    const commands = (known?.commands ?? []).map((each) => ({ ...each, line: undefined }));
    const place = { cwd, env, max, commands, isUsed: true, next: [] };
    this.#places.delete(cwd);
    this.#places.set(cwd, place);
    const [oldest = ''] = this.#places.keys();
    if (this.#places.size > MAX_PLACES) this.#places.delete(oldest);
    return place;
  }

  #waitForQuiet(): void {
    this.#quiet ??= setTimeout(() => this.#prepareNextBursts(), QUIET_MS);
    this.#quiet.refresh();
  }

  /** A start makes this process wait, and what has come meanwhile is read after timers are due. */
  #prepareNextBursts(): void {
    const uses = this.#uses;
    setImmediate(() => {
      if (this.#uses === uses) this.#makeReady();
      else this.#waitForQuiet();
    });
  }

  #makeReady(): void {
    for (const { work } of this.#waiting.splice(0)) work();
    const used = [...this.#places.values()].filter(({ isUsed }) => isUsed);
    for (const place of used) endBurst(place);
    this.#fill(used);
    if (this.#uncollectedBytes < MAX_UNCOLLECTED_BYTES) return;
    this.#uncollectedBytes = 0;
    globalThis.gc?.();
  }

  /** One at a time, so that a command that comes meanwhile does not wait for all of them. */
  #fill([place, ...others]: readonly Place[]): void {
    if (!place) return;
    const isKnown = this.#places.get(place.cwd) === place;
    const waits = isKnown && place.next.length > 0 && waitsAtGate(place);
    if (waits === undefined) return void setTimeout(() => this.#fill([place, ...others]), QUIET_MS);
    const hasMore = waits && holdNext(place, place.next);
    setImmediate(() => this.#fill(hasMore ? [place, ...others] : others));
  }
}

/** Forgets what came in none of the latest bursts. */
function endBurst(place: Place): void {
  const [used, others]: [Known[], Known[]] = [[], []];
  for (const known of place.commands) {
    (known.uses > 0 ? used : others).push(known);
    known.recent = [...known.recent.slice(1 - RECENT_BURSTS), known.uses];
    known.most = Math.max(...known.recent);
    known.uses = 0;
  }
  place.commands = [...used, ...others].filter(({ most }) => most > 0).slice(0, MAX_COMMANDS);
  place.isUsed = false;
  place.next = expectedCommands(place);
}

/** Expects each command as often as it came in one burst, those of the latest bursts first. */
function expectedCommands({ commands, max, cwd, env }: Place): HoldableCommand[] {
  const next: HoldableCommand[] = [];
  for (const known of commands) {
    const command = known.line ?? holdable({ ...known.start, cwd, env });
    if (!command) continue;
    if (!command.execution.variables) known.line = command;
    for (let count = 0; count < known.most; count++) next.push(command);
  }
  return next.slice(0, max);
}
