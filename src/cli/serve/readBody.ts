import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';

/** Why there is no body. */
export type NoBody = 'too_large' | 'no_room' | 'broken' | 'no_text';

type Body = { readonly text: string } | { readonly why: NoBody };

/** Reads bodies, whose bytes are limited for each and for all that are read at a time. */
export class BodyReader {
  #held = 0;

  /**
   * @param maxBytes of one body
   * @param maxHeld of all together
   */
  constructor(
    private readonly maxBytes: number,
    private readonly maxHeld: number,
  ) {}

  /** @returns `{ text }`; or why it was not read to its end, and nobody should read on */
  read(request: IncomingMessage): Promise<Body> {
    const announced = Number(request.headers['content-length'] ?? 0);
    if (announced > this.maxBytes) return Promise.resolve({ why: 'too_large' });
    const chunks: Buffer[] = [];
    let size = 0;
    return new Promise((resolve) => {
      const end = (result: Body) => {
        this.#held -= size;
        size = 0;
        chunks.length = 0;
        request.off('data', take);
        resolve(result);
      };
      const take = (chunk: Buffer) => {
        size += chunk.length;
        this.#held += chunk.length;
        chunks.push(chunk);
        if (size > this.maxBytes) end({ why: 'too_large' });
        else if (this.#held > this.maxHeld) end({ why: 'no_room' });
      };
      request.on('data', take);
      request.once('end', () => end(textOf(chunks)));
      // Also after the end, where it has no effect any more.
      request.once('close', () => end({ why: 'broken' }));
    });
  }
}

/** Another text would be put to hooks than the tool gets, where bytes that are none were replaced. */
function textOf(chunks: readonly Buffer[]): Body {
  const [first = Buffer.alloc(0), ...more] = chunks;
  const bytes = more.length === 0 ? first : Buffer.concat(chunks);
  return isUtf8(bytes) ? { text: bytes.toString() } : { why: 'no_text' };
}
