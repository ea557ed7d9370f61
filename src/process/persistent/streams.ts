import { PassThrough, type Readable } from 'node:stream';

/** Settles when nothing more can come of a stream. */
export function closed(stream: Readable): Promise<unknown> {
  if (stream.readableEnded || stream.closed) return Promise.resolve();
  return new Promise((resolve) => {
    for (const event of ['end', 'close']) stream.once(event, resolve);
  });
}

/** A stream from its beginning, of which some was read already. Who destroys it destroys what it comes from. */
export function continued(stream: Readable, read: readonly Buffer[]): Readable {
  const whole = new PassThrough();
  for (const chunk of read) whole.write(chunk);
  whole.once('close', () => stream.destroy());
  if (stream.readableEnded || stream.destroyed) whole.end();
  else stream.pipe(whole);
  return whole;
}
