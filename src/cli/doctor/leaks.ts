import { isDeepStrictEqual } from 'node:util';
import { toOneLine } from '../shared/terminal.js';
import type { Finding, ObservedRun } from './diagnosis.js';

/** @param words of the events, each of its own; a run that names that of another one has kept it */
export function findLeak(
  runs: readonly ObservedRun[],
  words: readonly string[],
): Finding | undefined {
  for (const [index, { outcome }] of runs.entries()) {
    for (const word of words.filter((each) => each !== words[index])) {
      const place = (['stdout', 'stderr'] as const).find((name) => outcome[name].includes(word));
      if (place === undefined) continue;
      return {
        severity: 'warning',
        message: `state leaks from one event to another: its ${place} names ${word}, which an event before was about${quote(outcome[place], word)}: ${FORGET}`,
      };
    }
  }
  return undefined;
}

const FORGET =
  'keep nothing of an event in global variables, caches or open files, or set it anew at the start of each event; if it has to stay, remove "persistent"';

/**
 * Compares two answers of one process to the same event.
 *
 * @param askNew asks a new process about it
 */
export async function findMemory(
  first: ObservedRun,
  again: ObservedRun,
  askNew: () => Promise<ObservedRun | undefined>,
): Promise<Finding[]> {
  const [before, after] = [answerOf(first), answerOf(again)];
  if (isDeepStrictEqual(before, after)) return [];
  const fresh = await askNew();
  const what = `it answered the same event otherwise the second time (${describe(before)}, then ${describe(after)})`;
  const isOwnState = fresh !== undefined && isDeepStrictEqual(answerOf(fresh), before);
  const why = isOwnState
    ? `, and a new process as the first time, so that state leaks from one event to another: ${FORGET}`
    : `, and so did a new process: if it does not depend on the time, on chance or on a file, state leaks from one event to another: ${FORGET}`;
  return [{ severity: 'warning', message: what + why }];
}

interface Answer {
  readonly exitCode: number | null;
  readonly said: unknown;
}

/** What counts of it: stdout with exit code 0, else stderr. The order of keys does not. */
function answerOf({ outcome: { exitCode, stdout, stderr } }: ObservedRun): Answer {
  if (exitCode !== 0) return { exitCode, said: stderr.trim() };
  try {
    return { exitCode, said: JSON.parse(stdout) as unknown };
  } catch {
    return { exitCode, said: stdout.trim() };
  }
}

const MAX_QUOTE = 60;

function describe({ exitCode, said }: Answer): string {
  const text = typeof said === 'string' ? said : JSON.stringify(said);
  const words = text === '' ? 'nothing' : toOneLine(text).slice(0, MAX_QUOTE);
  return exitCode === 0 ? words : `exit code ${exitCode} with ${words}`;
}

/** What stands around the word. */
function quote(text: string, word: string): string {
  const from = Math.max(0, text.indexOf(word) - MAX_QUOTE / 2);
  return ` (${toOneLine(text.slice(from)).slice(0, MAX_QUOTE + word.length)})`;
}
