import { writeSync } from 'node:fs';
import { onExit } from 'signal-exit';
import type { Config } from '../../config/config.js';
import { deadlineOf } from '../../run/preparedInput.js';
import { hookIdentity } from '../../protocol/identity.js';
import { channels, type Span } from '../../trace/span.js';
import { CLEAR_LINE } from './progress.js';
import { canRedraw, toOneLine } from './terminal.js';
import { writeError } from './streams.js';

/** Ms after which somebody who looks at the terminal asks what it waits for. */
const PATIENCE_MS = 1000;

/**
 * Does some work, and says meanwhile on a terminal which hook is waited for and how long it may take; and, where a
 * signal ends the command, which hooks that has ended.
 *
 * @param isQuiet whether to say nothing of what is waited for
 */
export async function tellWaiting<T>(
  config: Config,
  isQuiet: boolean,
  work: () => Promise<T>,
): Promise<T> {
  const running = new Set<unknown>();
  const note = (span: unknown) => void running.add(span);
  const drop = (span: unknown) => void running.delete(span);
  const { start, asyncEnd } = channels.hook;
  start.subscribe(note);
  asyncEnd.subscribe(drop);
  const forget = onExit((_, signal) => {
    if (signal !== null) tellEnded([...running] as Span[], signal);
  });
  const show = () => showOldest([...running] as Span[], config);
  const timer = isQuiet || !canRedraw() ? undefined : setInterval(show, PATIENCE_MS);
  try {
    return await work();
  } finally {
    start.unsubscribe(note);
    asyncEnd.unsubscribe(drop);
    forget();
    if (timer) writeError(CLEAR_LINE);
    clearInterval(timer);
  }
}

function showOldest(running: readonly Span[], config: Config): void {
  const span = running.find((each) => waitedMs(each) >= PATIENCE_MS);
  const timeoutMs = span && timeoutOf(span, config);
  const limit = timeoutMs === undefined ? '' : ` of ${toSeconds(timeoutMs)}`;
  const text = span
    ? `waiting for ${toOneLine(span.name).slice(0, 60)}, ${toSeconds(waitedMs(span))}${limit}`
    : '';
  writeError(`${CLEAR_LINE}${text}`);
}

function waitedMs({ start }: Span): number {
  return performance.timeOrigin + performance.now() - start;
}

function toSeconds(ms: number): string {
  return `${Math.round(ms / 1000)} s`;
}

function timeoutOf({ name, event }: Span, config: Config): number | undefined {
  const entry = config
    .getHookSystem()
    ?.getAllHooks()
    .find((each) => each.eventName === event && hookIdentity(each.config) === name);
  return entry && deadlineOf(entry.config, entry.eventName).timeoutMs;
}

/** The process is about to end: what is not written now is never written. */
function tellEnded(running: readonly Span[], signal: string): void {
  if (running.length === 0) return;
  const names = running.map(({ name }) => `"${toOneLine(name).slice(0, 60)}"`).join(', ');
  const what = running.length === 1 ? 'the hook' : 'the hooks';
  const clear = canRedraw() ? CLEAR_LINE : '';
  writeSync(2, `${clear}note: ${signal} has ended ${what} ${names}, before any verdict\n`);
}
