import { readFile, stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import { walkFiles } from '../../agent/tools/findFiles.js';
import type { Config } from '../../config/config.js';
import { fireHook } from '../../hooks/fireHook.js';
import { removeControls } from '../../protocol/sanitizeText.js';
import type { HookEventName } from '../../protocol/types.js';
import { errorMessage } from '../../util/errorMessage.js';
import { completeFields, decodeFields } from '../shared/eventFields.js';
import { describeFiring } from '../shared/fireReport.js';
import {
  compare,
  HOOK_TEST_SUFFIX,
  parseHookTest,
  type Difference,
} from '../shared/hookTestFile.js';
import type { WorkspaceOptions } from '../shared/options.js';
import { mapWithProgress } from '../shared/progress.js';
import { paint, printJson, printLine, toOneLine, withoutBreaks } from '../shared/terminal.js';
import { orUsageError, UsageError } from '../shared/usageError.js';
import { openWorkspace } from '../shared/workspace.js';

interface TestResult {
  readonly file: string;
  readonly event: HookEventName | null;
  readonly passed: boolean;
  readonly differences: readonly Difference[];
  /** Why the event could not be fired. */
  readonly problems: readonly string[];
}

/** @returns the exit code: 0 all as expected, 1 not all */
export async function test(
  paths: readonly string[],
  { json, ...options }: WorkspaceOptions,
): Promise<number> {
  const { config } = await openWorkspace(options, { forceHooks: true, withMiddleware: true });
  const files = await findTests(paths.length > 0 ? paths : [config.getWorkingDir()]);
  const results = await mapWithProgress(
    files,
    nameOf,
    (file) => runTest(file, config),
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

async function runTest(file: string, config: Config): Promise<TestResult> {
  const failure = { file, event: null, passed: false, differences: [], problems: [] };
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
    return { file, event, passed: differences.length === 0, differences, problems: [] };
  } catch (error) {
    return { ...failure, problems: [`${file}: ${errorMessage(error)}`] };
  }
}

function formatResult({ file, event, passed, differences, problems }: TestResult): string {
  const state = passed ? paint('green', 'ok') : paint('red', 'not ok');
  return [
    `${state} ${nameOf(file)}${event === null ? '' : `: ${event}`}`,
    ...problems.map((problem) => `  ${withoutBreaks(problem)}`),
    ...differences.flatMap(formatDifference),
  ].join('\n');
}

function formatDifference({ at, expected, actual }: Difference): string[] {
  return [
    `  ${toOneLine(at)}`,
    paint('red', formatSide('-', 'expected', expected)),
    paint('green', formatSide('+', 'actual  ', actual)),
  ];
}

function formatSide(sign: string, label: string, value: unknown): string {
  const lines = removeControls(JSON.stringify(value, null, 2)).split('\n');
  return lines
    .map((line, index) => `    ${sign} ${index === 0 ? label : ' '.repeat(label.length)} ${line}`)
    .join('\n');
}
