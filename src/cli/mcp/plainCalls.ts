import type { Id } from './rpc.js';

/** Calls that nobody looks at: their lines pass like those of any other request. */
export class PlainCalls {
  readonly #open = new Set<Id>();
  #tellSettled: (() => void) | undefined;

  add(id: Id): void {
    this.#open.add(id);
  }

  end(id: Id): void {
    if (this.#open.delete(id) && this.#open.size === 0) this.#tellSettled?.();
  }

  /** Waits until none is on its way. To be asked once, when no more will come. */
  settled(): Promise<void> {
    return new Promise((resolve) => {
      this.#tellSettled = resolve;
      if (this.#open.size === 0) resolve();
    });
  }
}
