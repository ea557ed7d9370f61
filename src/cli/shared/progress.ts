import { toOneLine } from './terminal.js';

/** Shows how far long work has come: one line of stderr that is written over, and nothing but on a terminal. */
export class Progress {
  #done = 0;

  constructor(private readonly total: number) {}

  /** Tells what is done next. */
  next(what: string): void {
    this.#done += 1;
    this.#write(`${this.#done}/${this.total} ${toOneLine(what).slice(0, 60)}`);
  }

  /** Removes the line, before something else is written. */
  clear(): void {
    this.#write('');
  }

  #write(line: string): void {
    if (process.stderr.isTTY) process.stderr.write(`\r\u001b[K${line}`);
  }
}
