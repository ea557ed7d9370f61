import { printNotice, toOneLine, type NoticeLabel } from '../shared/terminal.js';

/** Between two lines of one kind, in ms. */
const PAUSE_MS = 10_000;
/** In characters. */
const MAX_LINE = 500;

interface Told {
  untold: number;
  /** What is told at the end of the pause, as it may say that all is well again. */
  latest?: { readonly label: NoticeLabel; readonly text: string };
}

/** Lines for whoever runs a server: one of a kind in ten seconds, however often it happens, and always the last. */
export class Notices {
  readonly #told = new Map<string, Told>();

  constructor(
    private readonly write: (label: NoticeLabel, text: string, kind: string) => void = printNotice,
    private readonly pauseMs = PAUSE_MS,
  ) {}

  /** @param kind one of few words of the program: nothing that somebody sent */
  tell(label: NoticeLabel, kind: string, text: string): void {
    const last = this.#told.get(kind);
    if (last) {
      last.untold++;
      last.latest = { label, text };
      return;
    }
    this.#write(label, kind, text, 0);
  }

  #write(label: NoticeLabel, kind: string, text: string, before: number): void {
    const told: Told = { untold: 0 };
    this.#told.set(kind, told);
    setTimeout(() => {
      this.#told.delete(kind);
      const { latest, untold } = told;
      if (latest) this.#write(latest.label, kind, latest.text, untold - 1);
    }, this.pauseMs).unref();
    const more = before > 0 ? ` (and ${before} more before)` : '';
    this.write(label, `${toOneLine(text, MAX_LINE)}${more}`, kind);
  }
}
