import { readFile, stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { walkFiles } from '../../agent/tools/findFiles.js';
import { fireHook } from '../../hooks/fireHook.js';
import { removeControls } from '../../protocol/sanitizeText.js';
import type { HookEventName, HookPayload } from '../../protocol/types.js';
import { errorMessage } from '../../util/errorMessage.js';
import { suggestName } from '../../util/suggestName.js';
import { completeFields, decodeFields } from '../shared/eventFields.js';
import { describeFiring } from '../shared/fireReport.js';
import {
  compare,
  HOOK_TEST_SUFFIX,
  parseHookTest,
  type Difference,
  type HookExpectations,
} from '../shared/hookTestFile.js';
import { findNotRun } from '../shared/nothingRan.js';
import type { WorkspaceOptions } from '../shared/options.js';
import { mapWithProgress } from '../shared/progress.js';
import {
  paint,
  printJson,
  printLine,
  toOneLine,
  toVisible,
  withoutBreaks,
} from '../shared/terminal.js';
import { orUsageError, UsageError } from '../shared/usageError.js';
import { openWorkspace, type Workspace } from '../shared/workspace.js';

interface TestResult {
  readonly file: string;
  readonly event: HookEventName | null;
  readonly passed: boolean;
  readonly differences: readonly Difference[];
  /** Hooks of the event that did not run, where it is not as expected. */
  readonly notRun: readonly { readonly hook: string; readonly reason: string }[];
  /** Why the event could not be fired. */
  readonly problems: readonly string[];
}

/** @returns the exit code: 0 all as expected, 1 not all */
export async function test(
  paths: readonly string[],
  { json, ...options }: WorkspaceOptions,
): Promise<number> {
  const workspace = await openWorkspace(options, { forceHooks: true, withMiddleware: true });
  const { config } = workspace;
  const files = await findTests(paths.length > 0 ? paths : [config.getWorkingDir()]);
  const results = await mapWithProgress(
    files,
    nameOf,
    (file) => runTest(file, workspace),
    json ? undefined : (result) => printLine(formatResult(result)),
  );
  const failed = results.filter(({ passed }) => !passed).length;
  const passed = results.length - failed;
  if (json) printJson({ passed, failed, tests: results });
  else printLine(`\n${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
}

function nameOf(file: string): string {
  return withoutBreaks(relative(process.cwd(), file));
}

async function findTests(paths: readonly string[]): Promise<string[]> {
  const found = await Promise.all(paths.map(findTestsAt));
  const files = [...new Set(found.flat())].toSorted();
  if (files.length > 0) return files;
  throw new UsageError(
    `There is no *${HOOK_TEST_SUFFIX} in ${paths.join(', ')}; record one with hookstack fire … --record FILE`,
  );
}

async function findTestsAt(path: string): Promise<string[]> {
  const stats = await orUsageError(stat(path), (detail) => `${path} cannot be read (${detail})`);
  if (!stats.isDirectory()) return [resolve(path)];
  const tests: string[] = [];
  for await (const files of walkFiles(path)) {
    for (const file of files) {
      if (file.endsWith(HOOK_TEST_SUFFIX)) tests.push(resolve(join(path, file)));
    }
  }
  return tests;
}

async function runTest(file: string, workspace: Workspace): Promise<TestResult> {
  const { config } = workspace;
  const failure = {
    file,
    event: null,
    passed: false,
    differences: [],
    notRun: [],
    problems: [],
  };
  try {
    const parsed = parseHookTest(await readFile(file, 'utf8'));
    if ('problems' in parsed) {
      return { ...failure, problems: parsed.problems.map((problem) => `${file}:${problem}`) };
    }
    const { event, input = {}, expect } = parsed.test;
    const payload = decodeFields(event, completeFields(event, input));
    // A hook that failed in one test must not be switched off in the next.
    await config.getHookSystem()?.reload();
    const fired = await fireHook(config, event, payload);
    const report = describeFiring(event, fired);
    const fault = report.results.length === 0 ? fired?.aggregated.errors[0] : undefined;
    if (fault) return { ...failure, event, problems: [fault.message] };
    const differences = compare(expect, report);
    const passed = differences.length === 0;
    const notRun = passed ? [] : await whyNotRun(workspace, event, payload, expect);
    return { file, event, passed, differences, notRun, problems: [] };
  } catch (error) {
    return { ...failure, problems: [`${file}: ${errorMessage(error)}`] };
  }
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

function formatResult(result: TestResult): string {
  const { file, event, passed, differences, notRun, problems } = result;
  const state = passed ? paint('green', 'ok') : paint('red', 'not ok');
  return [
    `${state} ${nameOf(file)}${event === null ? '' : `: ${event}`}`,
    ...problems.map((problem) => `  ${withoutBreaks(problem)}`),
    ...differences.flatMap(formatDifference),
    ...notRun.map(({ hook, reason }) => `  ${toVisible(hook)} did not run: ${toVisible(reason)}`),
  ].join('\n');
}

function formatDifference({ at, expected, actual }: Difference): string[] {
  return [
    `  ${toOneLine(at)}`,
    paint('red', formatSide('-', 'expected', at, expected)),
    paint('green', formatSide('+', 'actual  ', at, actual)),
  ];
}

function formatSide(sign: string, label: string, at: string, value: unknown): string {
  const text = value === null ? wordForNothing(at) : JSON.stringify(value, null, 2);
  const lines = removeControls(text).split('\n');
  return lines
    .map((line, index) => `    ${sign} ${index === 0 ? label : ' '.repeat(label.length)} ${line}`)
    .join('\n');
}

/** In place of `null`, which only the file means something with. */
function wordForNothing(at: string): string {
  return at.startsWith('exit.') ? 'did not run' : 'nothing';
}
