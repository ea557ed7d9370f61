import { format, stripVTControlCharacters } from 'node:util';
import createDebug from 'debug';
import { onTestFinished } from 'vitest';

/** What loggers of ours write until the test ends, one text a record, in place of stderr. */
export function keepWritten(): string[] {
  const written: string[] = [];
  const { log } = createDebug;
  createDebug.log = (...args: unknown[]) => {
    written.push(stripVTControlCharacters(format(...args)));
  };
  onTestFinished(() => {
    createDebug.log = log;
  });
  return written;
}
