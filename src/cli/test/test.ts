import { mkdir, writeFile } from 'node:fs/promises';
import { dirname, relative, resolve } from 'node:path';
import { removeControls } from '../../protocol/sanitizeText.js';
import { CliLogger } from '../shared/cliLogger.js';
import type { Difference } from '../shared/hookTestFile.js';
import { isInside } from '../../util/paths.js';
import type { WorkspaceOptions } from '../shared/options.js';
import { requireInside } from '../shared/projectFile.js';
import { mapWithProgress } from '../shared/progress.js';
import {
  paint,
  plural,
  printJson,
  printLine,
  printNotice,
  toOneLine,
  toVisible,
  withoutBreaks,
} from '../shared/terminal.js';
import { tellOrdinary } from '../shared/fireReport.js';
import { tellWaiting } from '../shared/waitingHooks.js';
import { orUsageError } from '../shared/usageError.js';
import { openWorkspace, type Workspace } from '../shared/workspace.js';
import { findTests } from './findTests.js';
import { hookLines, runTest, type TestResult } from './runTest.js';

interface TestOptions extends WorkspaceOptions {
  readonly update?: boolean;
  readonly watch?: boolean;
  /** A file to write as JUnit XML. */
  readonly junit?: string;
}

/** @returns the exit code: 0 all as expected, 1 not all */
export async function test(paths: readonly string[], options: TestOptions): Promise<number> {
  const open = () =>
    openWorkspace(options, {
      forceHooks: true,
      withMiddleware: true,
      // What a test expects must not depend on the tests before it.
      startsEachHook: true,
      asyncHooks: 'wait',
      logger: new CliLogger('llxprt:core:hooks', new Set()),
    });
  const run = (workspace: Workspace) => runTests(paths, workspace, options);
  if (!options.watch) return run(await open());
  const { watchTests } = await import('./watchTests.js');
  return watchTests(paths, options, async (onOpen) => {
    const workspace = await open();
    onOpen(workspace);
    try {
      await run(workspace);
    } finally {
      await workspace.config.dispose();
    }
  });
}

async function runTests(
  paths: readonly string[],
  workspace: Workspace,
  { json, update = false, junit }: TestOptions,
): Promise<number> {
  const files = await findTests(paths.length > 0 ? paths : [workspace.config.getWorkingDir()]);
  const told = new Set<string>();
  const onResult = json ? undefined : (result: TestResult) => printLine(formatResult(result, told));
  const results = await tellWaiting(workspace.config, json === true, () =>
    mapWithProgress(files, nameOf, (file) => runTest(file, workspace, update), onResult),
  );
  const failed = results.filter(({ passed }) => !passed).length;
  const updated = results.filter((result) => result.updated).length;
  const passed = results.length - failed;
  if (json) printJson({ passed, failed, updated, tests: results });
  else {
    printLine(`\n${passed} passed${update ? ` (${updated} updated)` : ''}, ${failed} failed`);
    tellUntried(workspace);
  }
  if (junit !== undefined) await writeJunit(junit, results, workspace.config.getWorkingDir());
  return failed === 0 ? 0 : 1;
}

function tellUntried({ config }: Workspace): void {
  const system = config.getHookSystem();
  const hooks = system?.isInitialized() ? system.getAllHooks() : [];
  tellOrdinary(hooks.filter(({ enabled }) => enabled).map((entry) => entry.config));
  // Whoever changes a hook takes back that it is allowed: so the tests would fail after each change.
  const left = hooks.filter(({ review = { status: 'allowed' } }) => review.status !== 'allowed');
  if (left.length === 0) return;
  printNotice(
    'warning',
    `${plural(left.length, 'hook')} of this project ${left.length === 1 ? 'is' : 'are'} not tested, as you have not allowed what is there now, and each change of a hook takes that back; to test hooks as they are while you work on them, add --trust`,
  );
}

/** @param project links in it must not lead out of it, to files that are not the project's */
async function writeJunit(
  file: string,
  results: readonly TestResult[],
  project: string,
): Promise<void> {
  if (isInside(resolve(file), project)) await requireInside(project, resolve(file));
  const { toJunit } = await import('./junit.js');
  const write = async () => {
    await mkdir(dirname(file), { recursive: true });
    await writeFile(
      file,
      toJunit(results.map((result) => ({ ...result, name: nameOf(result.file) }))),
    );
  };
  await orUsageError(write(), (detail) => `--junit ${file} cannot be written (${detail})`);
}

function nameOf(file: string): string {
  return withoutBreaks(relative(process.cwd(), file));
}

/** @param told what has been told of hooks in these tests: it is not said again */
function formatResult(result: TestResult, told: Set<string>): string {
  const { file, event, differences, problems } = result;
  return [
    `${formatState(result)} ${nameOf(file)}${event === null ? '' : `: ${event}`}`,
    ...problems.map((problem) => `  ${withoutBreaks(problem)}`),
    ...differences.flatMap(formatDifference),
    ...hookLines(shorten(result, told)).map((line) => `  ${toVisible(line)}`),
  ].join('\n');
}

function shorten(result: TestResult, told: Set<string>): TestResult {
  const once = (text: string) => {
    const isTold = told.has(text);
    told.add(text);
    return isTold ? 'as above' : text;
  };
  return {
    ...result,
    notRun: result.notRun.map(({ hook, reason }) => ({ hook, reason: once(reason) })),
    faults: result.faults.map(({ hook, why }) => ({ hook, why: once(why) })),
  };
}

function formatState({ passed, updated }: TestResult): string {
  if (updated) return paint('yellow', 'updated');
  return passed ? paint('green', 'ok') : paint('red', 'not ok');
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
