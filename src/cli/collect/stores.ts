import type { FleetSpan } from '../../fleet/recordSubject.js';
import { parseAge } from '../record/age.js';
import { RecordDatabase } from '../record/database.js';
import { removeDaysBefore } from '../record/days.js';
import { filesIn, rowsOf, type Place } from '../record/forget.js';
import { plural, printNotice, toVisible } from '../shared/terminal.js';
import { orUsageError, UsageError } from '../shared/usageError.js';
import { DayFile } from './dayFile.js';

/** Where the record is written, and for how long it is kept: options of `hookstack collect`. */
export interface StoreOptions {
  /** The directory of the trace files. */
  readonly out?: string;
  /** The file of the database. */
  readonly sqlite?: string;
  /** How many days or weeks are kept, such as `90d` or `2w`. Default: all. */
  readonly keep?: string;
}

/** A span, and when it came, in ms since 1970. */
export interface Received {
  readonly span: FleetSpan;
  readonly received: number;
}

/** Days of which the ids are in memory. */
const MAX_DAYS = 3;
/** A span that says that it is older or younger belongs to the day on which it came, in ms. */
const MAX_LAG_MS = 30 * 24 * 3_600_000;
/** How often is looked for what is too old, in ms. */
const PRUNE_MS = 3_600_000;

/** Where the record is written: files, a database, or both. */
export class Stores {
  readonly #days = new Map<string, DayFile>();
  #prunedAt = -Infinity;

  private constructor(
    private readonly options: StoreOptions,
    private readonly database: RecordDatabase | undefined,
    private readonly keepMs: number | undefined,
  ) {}

  /** @throws UsageError for options that are wrong, and a database that cannot be opened */
  static async open(options: StoreOptions): Promise<Stores> {
    const { sqlite, keep } = options;
    const keepMs = keep !== undefined && /[dw]$/u.test(keep) ? parseAge(keep) : undefined;
    if (keep !== undefined && !keepMs) {
      throw new UsageError(
        `--keep ${toVisible(keep)} is no number of days or weeks, and only whole days are removed; write such as 90d, or 2w`,
      );
    }
    const tell = (detail: string) =>
      `--sqlite ${toVisible(sqlite ?? '')} cannot be used (${detail}); name another file, or mend that`;
    const opening = sqlite === undefined ? undefined : RecordDatabase.open(sqlite);
    return new Stores(options, opening && (await orUsageError(opening, tell)), keepMs);
  }

  get names(): string {
    const { out, sqlite } = this.options;
    return [out, sqlite]
      .flatMap((name) => name ?? [])
      .map(toVisible)
      .join(' and ');
  }

  get places(): Place[] {
    const { out, sqlite = '' } = this.options;
    return [
      ...(out === undefined ? [] : [filesIn(out)]),
      ...(this.database ? [rowsOf(this.database, sqlite)] : []),
    ];
  }

  /**
   * Writes those spans that are not there yet, and waits until they are on disk.
   *
   * @returns those that were missing anywhere
   * @throws the error of the file system or of the database; then some of them may have been written
   */
  async add(batch: readonly Received[]): Promise<readonly FleetSpan[]> {
    const fresh = new Set<FleetSpan>();
    const { out } = this.options;
    for (const [day, spans] of byDay(batch)) {
      const files = out === undefined ? [] : await this.#open(out, day).add(spans);
      const rows = this.database?.add(spans, day) ?? [];
      for (const span of [...files, ...rows]) fresh.add(span);
    }
    return [...fresh];
  }

  /** Removes what is older than is to be kept, now and then. */
  async prune(): Promise<void> {
    const { keepMs, options, database } = this;
    if (keepMs === undefined || performance.now() < this.#prunedAt + PRUNE_MS) return;
    this.#prunedAt = performance.now();
    // The day of that time still holds what is younger.
    const day = dayOf(Date.now() - keepMs);
    const files = options.out === undefined ? 0 : await removeDaysBefore(options.out, day);
    const rows = database?.removeBefore(day) ?? 0;
    const removed = [
      ...(files > 0 ? [plural(files, 'file')] : []),
      ...(rows > 0 ? [plural(rows, 'row')] : []),
    ];
    if (removed.length > 0) {
      printNotice('note', `removed what is older than ${options.keep}: ${removed.join(', ')}`);
    }
  }

  close(): void {
    this.database?.close();
  }

  /** The ids of a day that is opened again are read from its file. */
  #open(directory: string, day: string): DayFile {
    const file = this.#days.get(day) ?? new DayFile(directory, day);
    this.#days.delete(day);
    this.#days.set(day, file);
    for (const oldest of this.#days.keys()) {
      if (this.#days.size > MAX_DAYS) this.#days.delete(oldest);
    }
    return file;
  }
}

function byDay(batch: readonly Received[]): Map<string, FleetSpan[]> {
  const days = new Map<string, FleetSpan[]>();
  for (const { span, received } of batch) {
    const day = dayOf(Math.abs(span.start - received) > MAX_LAG_MS ? received : span.start);
    days.set(day, [...(days.get(day) ?? []), span]);
  }
  return days;
}

function dayOf(time: number): string {
  return new Date(time).toISOString().slice(0, 10);
}
