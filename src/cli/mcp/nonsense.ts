/** Some servers write their log to stdout; one that says nothing else is broken. */
export const MAX_NONSENSE = 100;
/** What a blank line counts of that: some servers write them for a sign of life. */
const BLANK_LINE = 0.01;

/** Counts what a server writes in a row that is no message. */
export class Nonsense {
  #count = 0;

  /** @param warn says something of the server, once */
  constructor(private readonly warn: (what: string) => void) {}

  get isTooMuch(): boolean {
    return this.#count >= MAX_NONSENSE;
  }

  note(): void {
    const wasWell = this.#count < 1;
    this.#count += 1;
    if (wasWell) {
      this.warn('wrote a line to stdout that is no message; such lines are dropped');
    }
  }

  /** @param line that is no JSON */
  noteLine(line: Buffer): void {
    if (line.toString().trim() === '') this.#count += BLANK_LINE;
    else this.note();
  }

  /** After a message. */
  forget(): void {
    this.#count = 0;
  }
}
