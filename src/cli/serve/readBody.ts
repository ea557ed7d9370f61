import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';

/** Why there is no body. */
export type NoBody = 'too_large' | 'no_room' | 'broken' | 'no_text';

type Body = { readonly text: string } | { readonly why: NoBody };

/**
 * Reads bodies, whose bytes are limited for each and for all that are read at a time. Of these one sender gets no more
 * than half, so that others are heard whatever it sends, and however slowly.
 */
export class BodyReader {
  #held = 0;
  readonly #heldOf = new Map<string, number>();

  /**
   * @param maxBytes of one body
   * @param maxHeld of all together
   */
  constructor(
    private readonly maxBytes: number,
    private readonly maxHeld: number,
  ) {}

  /**
   * @param from who sends it, where that is known
   * @returns `{ text }`; or why it was not read to its end, and nobody should read on
   */
  read(request: IncomingMessage, from: string | undefined): Promise<Body> {
    const announced = Number(request.headers['content-length'] ?? 0);
    if (announced > this.maxBytes) return Promise.resolve({ why: 'too_large' });
    const chunks: Buffer[] = [];
    let size = 0;
    return new Promise((resolve) => {
      const end = (result: Body) => {
        this.#hold(-size, from);
        size = 0;
        chunks.length = 0;
        request.off('data', take);
        resolve(result);
      };
      const take = (chunk: Buffer) => {
        size += chunk.length;
        this.#hold(chunk.length, from);
        chunks.push(chunk);
        if (size > this.maxBytes) end({ why: 'too_large' });
        else if (this.#isOver(from)) end({ why: 'no_room' });
      };
      request.on('data', take);
      request.once('end', () => end(textOf(chunks)));
      // Also after the end, where it has no effect any more.
      request.once('close', () => end({ why: 'broken' }));
    });
  }

  #hold(bytes: number, from: string | undefined): void {
    this.#held += bytes;
    if (from === undefined) return;
    const own = (this.#heldOf.get(from) ?? 0) + bytes;
    if (own > 0) this.#heldOf.set(from, own);
    else this.#heldOf.delete(from);
  }

  #isOver(from: string | undefined): boolean {
    const own = (from !== undefined && this.#heldOf.get(from)) || 0;
    return this.#held > this.maxHeld || own > this.maxHeld / 2;
  }
}

/** Another text would be put to hooks than the tool gets, where bytes that are none were replaced. */
function textOf(chunks: readonly Buffer[]): Body {
  const [first = Buffer.alloc(0), ...more] = chunks;
  const bytes = more.length === 0 ? first : Buffer.concat(chunks);
  return isUtf8(bytes) ? { text: bytes.toString() } : { why: 'no_text' };
}
