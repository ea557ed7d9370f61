import { readFile, stat } from 'node:fs/promises';
import { join, relative, resolve } from 'node:path';
import type { Config } from '../config/config.js';
import { errorMessage } from '../util/errorMessage.js';
import { fireHook } from '../hooks/hookEventHandler.js';
import { removeControls } from '../protocol/sanitizeText.js';
import type { HookEventName } from '../protocol/types.js';
import { walkFiles } from '../agent/tools/findFiles.js';
import { completeFields, decodeFields } from './firePayload.js';
import { describeFiring, type FireReport } from './fireReport.js';
import { compare, HOOK_TEST_SUFFIX, parseHookTest, type Difference } from './hookTest.js';
import { Progress } from './progress.js';
import { paint, printJson, printLine, toOneLine, withoutBreaks } from './terminal.js';
import { UsageError } from './usageError.js';
import { openWorkspace, type WorkspaceOptions } from './workspace.js';

/** The options of `hookstack test`. */
export interface TestOptions extends WorkspaceOptions {
  readonly json?: boolean;
}

/** What came of one file, as `test --json` writes it. */
interface TestResult {
  readonly file: string;
  readonly event: HookEventName | null;
  readonly passed: boolean;
  readonly differences: readonly Difference[];
  /** Why the event could not be fired. */
  readonly problems: readonly string[];
}

/**
 * `hookstack test`: recorded events through the hooks, and what is not as expected on stdout.
 *
 * @param paths files, and directories that are searched; default the project
 * @returns the exit code: 0 all as expected, 1 not all
 * @throws UsageError
 */
export async function test(paths: readonly string[], options: TestOptions): Promise<number> {
  const { config } = await openWorkspace(options, {
    forceHooks: true,
    withMiddleware: true,
  });
  const files = await findTests(paths.length > 0 ? paths : [config.getWorkingDir()]);
  const progress = new Progress(files.length);
  const results: TestResult[] = [];
  for (const file of files) {
    progress.next(relative(process.cwd(), file));
    const result = await runTest(file, config);
    progress.clear();
    results.push(result);
    if (!options.json) printLine(formatResult(result));
  }
  const failed = results.filter(({ passed }) => !passed).length;
  const passed = results.length - failed;
  if (options.json) printJson({ passed, failed, tests: results });
  else printLine(`\n${passed} passed, ${failed} failed`);
  return failed === 0 ? 0 : 1;
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
  try {
    if (!(await stat(path)).isDirectory()) return [resolve(path)];
  } catch (cause) {
    throw new UsageError(`${path} cannot be read (${errorMessage(cause)})`, { cause });
  }
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
    const report = await fireAlone(config, event, input);
    const fault = report.results.length === 0 ? report.fault : undefined;
    if (fault !== undefined) return { ...failure, event, problems: [fault] };
    const differences = compare(expect, report);
    return { file, event, passed: differences.length === 0, differences, problems: [] };
  } catch (error) {
    return { ...failure, problems: [`${file}: ${errorMessage(error)}`] };
  }
}

/** Hooks that failed in one test are not switched off in the next. */
async function fireAlone(
  config: Config,
  event: HookEventName,
  input: object,
): Promise<FireReport & { readonly fault?: string }> {
  const payload = decodeFields(event, completeFields(event, input));
  await config.getHookSystem()?.reload();
  const fired = await fireHook(config, event, payload);
  return { ...describeFiring(event, fired), fault: fired?.aggregated.errors[0]?.message };
}

function formatResult({ file, event, passed, differences, problems }: TestResult): string {
  const state = passed
    ? paint(process.stdout, 'green', 'ok')
    : paint(process.stdout, 'red', 'not ok');
  const name = withoutBreaks(relative(process.cwd(), file));
  return [
    `${state} ${name}${event === null ? '' : `: ${event}`}`,
    ...problems.map((problem) => `  ${withoutBreaks(problem)}`),
    ...differences.flatMap(formatDifference),
  ].join('\n');
}

function formatDifference({ at, expected, actual }: Difference): string[] {
  return [
    `  ${toOneLine(at)}`,
    paint(process.stdout, 'red', formatSide('-', 'expected', expected)),
    paint(process.stdout, 'green', formatSide('+', 'actual  ', actual)),
  ];
}

function formatSide(sign: string, label: string, value: unknown): string {
  const lines = removeControls(JSON.stringify(value, null, 2)).split('\n');
  return lines
    .map((line, index) => `    ${sign} ${index === 0 ? label : ' '.repeat(label.length)} ${line}`)
    .join('\n');
}
