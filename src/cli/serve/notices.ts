import { printNotice, toOneLine, type NoticeLabel } from '../shared/terminal.js';

/** Between two lines of one kind, in ms. */
const PAUSE_MS = 10_000;
/** In characters. */
const MAX_LINE = 500;

interface Told {
  readonly at: number;
  untold: number;
}

/** Lines for whoever runs a server: one of a kind in ten seconds, however often it happens. */
export class Notices {
  readonly #told = new Map<string, Told>();

  constructor(private readonly write: (label: NoticeLabel, text: string) => void = printNotice) {}

  /** @param kind one of few words of the program: nothing that somebody sent */
  tell(label: NoticeLabel, kind: string, text: string): void {
    const now = performance.now();
    const last = this.#told.get(kind);
    if (last && now - last.at < PAUSE_MS) {
      last.untold++;
      return;
    }
    this.#told.set(kind, { at: now, untold: 0 });
    const more = last?.untold ? ` (and ${last.untold} more before)` : '';
    this.write(label, `${toOneLine(text, MAX_LINE)}${more}`);
  }
}
