import { isUtf8 } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { Quota } from './quota.js';

/** A body; or the answer of HTTP to one that was not read to its end, and that nobody should read on. */
export type Body =
  | { readonly text: string }
  | { readonly status: 400 | 413 | 503; readonly error: string }
  /** Its sender has gone. */
  | 'broken';

/**
 * Reads bodies, whose bytes are limited for each and for all that are read at a time. Of these one sender gets no more
 * than half, so that others are heard whatever it sends, and however slowly.
 */
export class BodyReader {
  readonly #held: Quota;

  /**
   * @param maxBytes of one body
   * @param atATime bodies of this size that are read
   * @param option of the command line that says how large they may be
   */
  constructor(
    private readonly maxBytes: number,
    atATime: number,
    private readonly option?: string,
  ) {
    this.#held = new Quota(atATime * maxBytes);
  }

  /** @param from who sends it, where that is known */
  read(request: IncomingMessage, from: string | undefined): Promise<Body> {
    const announced = Number(request.headers['content-length'] ?? 0);
    if (announced > this.maxBytes) return Promise.resolve(this.#tooLarge());
    const chunks: Buffer[] = [];
    let [size, held] = [0, 0];
    return new Promise((resolve) => {
      let isOver = false;
      const end = (result: Body) => {
        isOver = true;
        this.#held.give(from, held);
        chunks.length = 0;
        resolve(result);
      };
      const take = (chunk: Buffer) => {
        if (isOver) return;
        size += chunk.length;
        chunks.push(chunk);
        if (size > this.maxBytes) end(this.#tooLarge());
        else if (this.#held.take(from, chunk.length)) held += chunk.length;
        else end(NO_ROOM);
      };
      request.on('data', take);
      request.on('end', () => isOver || end(textOf(chunks)));
      request.on('close', () => isOver || end('broken'));
    });
  }

  #tooLarge(): Body {
    const option = this.option === undefined ? '' : ` (${this.option})`;
    return { status: 413, error: `The body is larger than ${this.maxBytes} bytes${option}` };
  }
}

const NO_ROOM: Body = {
  status: 503,
  error: 'Too many large bodies are on their way: ask again',
};

/** Another text would be put to hooks than the tool gets, where bytes that are none were replaced. */
function textOf(chunks: readonly Buffer[]): Body {
  const [first = Buffer.alloc(0), ...more] = chunks;
  const bytes = more.length === 0 ? first : Buffer.concat(chunks);
  if (isUtf8(bytes)) return { text: bytes.toString() };
  return { status: 400, error: 'The body is not UTF-8' };
}
