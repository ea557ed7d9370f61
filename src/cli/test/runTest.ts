import type { Config } from '../../config/config.js';
import { replaceFile } from '../shared/editSettings.js';
import { fireHook } from '../../hooks/fireHook.js';
import type { HookEventName, HookPayload } from '../../protocol/types.js';
import { maskSecrets } from '../../run/hookEnvironment.js';
import { errorMessage } from '../../util/errorMessage.js';
import { readText } from '../../util/guardedRead.js';
import { suggestName } from '../../util/suggestName.js';
import { completeFields, decodeFields } from '../shared/eventFields.js';
import { describeFiring, whyOf, type FireReport } from '../shared/fireReport.js';
import {
  compare,
  parseHookTest,
  updateExpectations,
  type Difference,
  type HookExpectations,
} from '../shared/hookTestFile.js';
import { findNotRun } from '../shared/explanation.js';
import type { Workspace } from '../shared/workspace.js';

export interface TestResult {
  readonly file: string;
  readonly event: HookEventName | null;
  readonly passed: boolean;
  /** Whether the file expects now what was seen; then it has passed. */
  readonly updated: boolean;
  readonly durationMs: number;
  readonly differences: readonly Difference[];
  /** Hooks of the event that did not run, where it is not as expected. */
  readonly notRun: readonly { readonly hook: string; readonly reason: string }[];
  /** What went wrong with hooks that ran, where it is not as expected. */
  readonly faults: readonly { readonly hook: string; readonly why: string }[];
  /** Why the event could not be fired. */
  readonly problems: readonly string[];
}

/** What a test that failed says of its hooks, one sentence each. */
export function hookLines({ notRun, faults }: TestResult): string[] {
  return [
    ...faults.map(({ hook, why }) => `${hook}: ${why}`),
    ...notRun.map(({ hook, reason }) => `${hook} did not run: ${reason}`),
  ];
}

/** @param update whether to write what differs into the file */
export async function runTest(
  file: string,
  workspace: Workspace,
  update: boolean,
): Promise<TestResult> {
  const startedAt = performance.now();
  const outcome = await tryTest(file, workspace, update).catch((error: unknown): Outcome => ({
    problems: [`${file}: ${errorMessage(error)}`],
  }));
  const { event = null, updated = false, differences = [] } = outcome;
  const { notRun = [], faults = [], problems = [] } = outcome;
  const passed = problems.length === 0 && (updated || differences.length === 0);
  const durationMs = Math.round(performance.now() - startedAt);
  return { file, event, passed, updated, durationMs, differences, notRun, faults, problems };
}

type Outcome = Partial<
  Pick<TestResult, 'event' | 'updated' | 'differences' | 'notRun' | 'faults' | 'problems'>
>;

async function tryTest(file: string, workspace: Workspace, update: boolean): Promise<Outcome> {
  const { config } = workspace;
  const source = await readText(file);
  const parsed = parseHookTest(source);
  if ('problems' in parsed) {
    return { problems: parsed.problems.map((problem) => `${file}:${problem}`) };
  }
  const { event, input = {}, expect } = parsed.test;
  const payload = decodeFields(event, completeFields(event, input));
  await switchFailingHooksOn(config);
  const fired = await fireHook(config, event, payload);
  const report = describeFiring(event, fired);
  const fault = report.results.length === 0 ? fired?.aggregated.errors[0] : undefined;
  if (fault) return { event, problems: [fault.message] };
  const differences = compare(expect, report);
  if (differences.length === 0) return { event };
  if (!update) {
    const notRun = await whyNotRun(workspace, event, payload, expect);
    const isLeft = (name: string) => notRun.some(({ hook }) => hook === name);
    // A guard that was not started denies for the reason for which it did not run.
    const results = report.results.filter(({ hook, stdout }) => stdout !== null || !isLeft(hook));
    return { event, differences, notRun, faults: faultsOf(results, config) };
  }
  await replaceFile(file, updatedText(source, differences, report));
  return { event, differences, updated: true };
}

/** A hook that failed in one test must not be switched off in the next. */
async function switchFailingHooksOn(config: Config): Promise<void> {
  const system = config.getHookSystem();
  if (!system?.isInitialized()) return;
  // Reading all hooks for each test would say its warnings each time.
  if (system.getAllHooks().some(({ skipped }) => skipped === 'failing')) await system.reload();
}

/** Secrets are masked: servers of CI keep reports. */
function faultsOf(results: FireReport['results'], config: Config): TestResult['faults'] {
  return results.flatMap((result) => {
    const why = whyOf(result);
    if (why === undefined) return [];
    return [{ hook: result.hook, why: maskSecrets(why, config.getHookEnvironment()) }];
  });
}

/** Hooks that did not run, and those that a test names and the event does not have. */
async function whyNotRun<E extends HookEventName>(
  workspace: Workspace,
  event: E,
  payload: HookPayload<E>,
  { exit = {} }: HookExpectations,
) {
  const { hooks, notRun } = await findNotRun(workspace, event, payload);
  const missing = Object.keys(exit).filter((name) => exit[name] !== null && !hooks.includes(name));
  return [
    ...notRun.map(({ hook, reason }) => ({ hook, reason })),
    ...missing.map((hook) => {
      const hint = hooks.length === 0 ? '' : `; ${suggestName(hook, hooks)}`;
      return { hook, reason: `no hook of ${event} has this name${hint}` };
    }),
  ];
}

function updatedText(
  source: string,
  differences: readonly Difference[],
  report: FireReport,
): string {
  const text = updateExpectations(source, differences);
  const parsed = parseHookTest(text);
  if ('test' in parsed && compare(parsed.test.expect, report).length === 0) return text;
  throw new Error('not updated: a key is written twice, and only the last one counts; remove one');
}
