import { setTimeout as sleep } from 'node:timers/promises';
import { STARTED_ANEW } from '../../process/persistent/pool.js';
import type { HookRegistryEntry } from '../../hooks/entry.js';
import { PersistentHooks } from '../../process/persistent/persistentHooks.js';
import { inScratch, type Surroundings } from './ask.js';
import { diagnose, diagnoseEnding, type Finding, type ObservedRun } from './diagnosis.js';
import type { HookEventName, HookPayload } from '../../protocol/types.js';

/** How a persistent hook was asked. */
export interface Kept {
  readonly asked: number;
  /** That answered as persistent ones. */
  readonly processes: number;
}

const TIMES = 3;

/** Ms in which a process may write or end unasked, before it is asked again. */
const QUIET_MS = 100;

/** Asks a persistent hook about an event, and about the same one twice again, in one process. */
export async function examineKept(
  entry: HookRegistryEntry,
  payload: HookPayload<HookEventName>,
  surroundings: Surroundings,
  timeoutMs: number,
): Promise<{ run: ObservedRun | undefined; findings: Finding[]; kept: Kept }> {
  const persistent = new PersistentHooks();
  const asking = { ...surroundings, timeoutMs, persistent };
  return inScratch(entry, asking, async (askOnce, remarks) => {
    const runs: ObservedRun[] = [];
    while (runs.length < TIMES && runs.every(hasAnswered)) {
      if (runs.length > 0) await sleep(QUIET_MS);
      const run = await askOnce(payload);
      if (!run) break;
      runs.push(run);
    }
    const findings = diagnoseKept(runs, [...new Set(remarks)]);
    return { run: runs[0], findings, kept: countOf(runs) };
  }).finally(() => persistent.stop());
}

function hasAnswered({ outcome }: ObservedRun): boolean {
  return outcome.ending === 'exit';
}

function countOf(runs: readonly ObservedRun[]): Kept {
  const pids = runs.flatMap(({ outcome: { kept } }) => kept?.pid ?? []);
  return { asked: runs.length, processes: new Set(pids).size };
}

const PAGE = '(see docs: Persistent hooks)';
const ONE_LINE = `answer each event with one line that has its id, write nothing else to stdout, and end when stdin does ${PAGE}`;

/** @param remarks of all runs */
function diagnoseKept(runs: readonly ObservedRun[], remarks: readonly string[]): Finding[] {
  const [first, ...others] = runs;
  if (!first) return [];
  const faults = remarks.filter((remark) => remark.endsWith(STARTED_ANEW));
  const findings = diagnose({
    ...first,
    remarks: remarks.filter((remark) => !faults.includes(remark)),
  }).map((finding) => withAdvice(first, finding));
  findings.push(...others.filter((run) => !hasAnswered(run)).flatMap(diagnoseNext));
  for (const fault of faults) {
    const what = fault.slice(0, -`; ${STARTED_ANEW}`.length);
    findings.push({ severity: 'error', message: `it ${what}: ${ONE_LINE}` });
  }
  return [...findings, ...(findings.some(isError) ? [] : diagnoseStay(runs))];
}

function diagnoseNext(run: ObservedRun): Finding[] {
  return diagnoseEnding(run).map(({ severity, message }) =>
    withAdvice(run, { severity, message: `asked about a further event, ${message}` }),
  );
}

/** What broke the protocol says itself what was wrong, and where it said no hello, also what to do. */
function withAdvice({ outcome }: ObservedRun, { severity, message }: Finding): Finding {
  const isBroken = outcome.ending === 'broken' && severity === 'error' && outcome.kept;
  return { severity, message: isBroken ? `${message}: ${ONE_LINE}` : message };
}

function isError({ severity }: Finding): boolean {
  return severity === 'error';
}

/** Whether a process stayed. */
function diagnoseStay([, other, again]: readonly ObservedRun[]): Finding[] {
  if (!other?.outcome.kept?.isNew && !again?.outcome.kept?.isNew) return [];
  return [
    {
      severity: 'warning',
      message: `its process did not stay for the next event, which started another one, so that "persistent" saves nothing: read the next line of stdin after each answer, without ending, or remove "persistent" ${PAGE}`,
    },
  ];
}
