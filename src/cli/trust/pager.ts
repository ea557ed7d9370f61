import { stripVTControlCharacters } from 'node:util';
import { printLine } from '../shared/terminal.js';

/** What a row begins with that goes on with the line above. */
const GOES_ON = '  > ';

/**
 * Shows a screen at a time, counted in the rows of the terminal: a long line must not push what stands above it out of
 * sight.
 */
export class Pager {
  #left = heightOf();

  /** @param ask returns the answer */
  constructor(private readonly ask: (question: string) => Promise<string>) {}

  /** What was shown up to now has been seen. */
  begin(): void {
    this.#left = heightOf();
  }

  async show(lines: readonly string[]): Promise<void> {
    const rows = lines.flatMap((line) => toRows(line, process.stdout.columns || 200));
    for (let at = 0; at < rows.length;) {
      if (this.#left === 0) {
        const answer = await this.ask(
          `${rows.length - at} more lines: (Enter) shows them, (s)kip: `,
        );
        if (answer.trim() !== '') return;
        this.begin();
      }
      const part = rows.slice(at, at + this.#left);
      printLine(part.join('\n'));
      at += part.length;
      this.#left -= part.length;
    }
  }
}

function heightOf(): number {
  return Math.max(5, (process.stdout.rows || 100) - 2);
}

function toRows(line: string, columns: number): string[] {
  const text = stripVTControlCharacters(line);
  if (widthOf(text) <= columns) return [line];
  const rows: string[] = [];
  let [row, width] = ['', 0];
  for (const character of text) {
    if (width + widthOf(character) > columns) {
      rows.push(row);
      [row, width] = [GOES_ON, GOES_ON.length];
    }
    row += character;
    width += widthOf(character);
  }
  return [...rows, row];
}

/** In columns, rather too many: other letters than those of ASCII may take two. */
function widthOf(text: string): number {
  return text.replaceAll(/[^\0-\u007f]/gu, '  ').length;
}
