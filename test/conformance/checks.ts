import { isDeepStrictEqual } from 'node:util';
import type { ScriptedAnswer, Seen } from './types.js';

/** What to say of a scenario, where something is not so. */
export function demand(isSo: boolean, otherwise: string): string | undefined {
  return isSo ? undefined : otherwise;
}

/** An answer of the model that calls tools. */
export function calls(
  ...each: { name: string; args: Readonly<Record<string, unknown>> }[]
): ScriptedAnswer {
  return { calls: each };
}

/** Whether a text is anywhere in it. */
export function mentions(where: unknown, text: string): boolean {
  const all = Array.isArray(where) ? where.map(written) : [written(where)];
  return all.some((each) => each?.includes(text));
}

function written(value: unknown): string | undefined {
  if (!(value instanceof Error)) return JSON.stringify(value);
  return value.cause instanceof Error ? `${value.message} ${value.cause.message}` : value.message;
}

/** What the model read of tools, the last time that it was asked. */
export function lastToolText({ sent }: Seen): string {
  const messages = sent.at(-1)?.messages ?? [];
  return messages.flatMap(({ role, text }) => (role === 'tool' ? text : [])).join('\n');
}

export function eventsOf({ read }: Seen, event: string): number {
  return read.filter(({ hook_event_name: name }) => name === event).length;
}

/** The hook of the event ran, once. */
export function fired(seen: Seen, event: string): string | undefined {
  const times = eventsOf(seen, event);
  return demand(times === 1, `${event} hooks ran ${times} times, not once`);
}

export function notRun({ runs }: Seen): string | undefined {
  return demand(runs.length === 0, `the tool ran, with ${JSON.stringify(runs[0]?.args)}`);
}

/** The only tool that ran. */
export function ranWith({ runs }: Seen, args: Record<string, unknown>): string | undefined {
  if (runs.length !== 1) return `tools ran ${runs.length} times, not once`;
  const [given] = runs;
  return demand(
    isDeepStrictEqual(given?.args, args),
    `the tool ran with ${JSON.stringify(given?.args)}`,
  );
}

/** The turn ended after so many requests, and the host learnt why. */
export function ended(seen: Seen, requests: number, reason: string): string | undefined {
  return (
    asked(seen, requests) ??
    demand(seen.stopped?.includes(reason) ?? false, 'the host did not learn why the agent ends')
  );
}

export function asked({ sent }: Seen, times: number): string | undefined {
  return demand(sent.length === times, `the model was asked ${sent.length} times, not ${times}`);
}

/** The turn ended soon after the abort, and no hook is left of it. */
export function endedWithAbort({ endedAfterAbort, hookIsLeft }: Seen): string | undefined {
  return (
    demand(endedAfterAbort !== undefined, 'what was to be aborted did not begin') ??
    demand((endedAfterAbort ?? 0) < 10_000, 'the turn did not end with the abort') ??
    demand(!hookIsLeft, 'a hook has outlived the turn')
  );
}

/** The tool or model at work was told of the abort, and nothing came of what it still gave. */
export function abortedAtWork(seen: Seen, after: 'AfterTool' | 'AfterModel'): string | undefined {
  return (
    endedWithAbort(seen) ??
    asked(seen, 1) ??
    demand(eventsOf(seen, after) === 0, `${after} hooks ran after the abort`) ??
    demand(seen.text === '', `the final text was ${JSON.stringify(seen.text)}`) ??
    demand(seen.wasToldOfAbort, 'what was at work was not told of the abort')
  );
}
