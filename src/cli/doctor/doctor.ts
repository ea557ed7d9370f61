import { executeHook } from '../../../middleware/runner.js';
import { toHookInput } from '../../../middleware/translator.js';
import type { Config } from '../../config/config.js';
import type { SettingsOrigins } from '../../config/settings/settings.js';
import { defaultTimeoutOf } from '../../dialects/dialects.js';
import type { HookRegistry } from '../../hooks/hookRegistry.js';
import type { HookRegistryEntry } from '../../protocol/entry.js';
import { normalizeTimeout } from '../../process/normalizeTimeout.js';
import { commandLine, hookIdentity } from '../../protocol/identity.js';
import type { HookEventName, HookPayload } from '../../protocol/types.js';
import { buildHookEnvironment, prepareInput } from '../../run/preparedInput.js';
import type { HookRun } from '../../run/hookRun.js';
import { DebugLogger } from '../../util/debugLogger.js';
import { explainStderr } from '../../run/exception.js';
import { loaderSeverities } from '../../validate/rules.js';
import type { Finding as SettingsFinding } from '../../validate/types.js';
import { checkSettings, formatFinding } from '../shared/checkSettings.js';
import { findReason } from '../shared/hookColumns.js';
import { watchInterruption } from '../shared/interruption.js';
import type { WorkspaceOptions } from '../shared/options.js';
import { findObstacles, whyOff } from '../shared/obstacles.js';
import { mapWithProgress } from '../shared/progress.js';
import {
  paint,
  plural,
  printJson,
  printLine,
  toOneLine,
  toVisible,
  withoutBreaks,
} from '../shared/terminal.js';
import { isTrustedRun, openRegistry, openWorkspace } from '../shared/workspace.js';
import { describeEnding, diagnose, type Finding, type ObservedRun } from './diagnosis.js';
import { sampleFor } from './sampleEvent.js';
import { inScratchProject } from './scratchProject.js';

type Examination = Awaited<ReturnType<typeof examine>>;

/** @returns the exit code: 0 nothing is wrong, 1 something is */
export async function doctor({ json, ...options }: WorkspaceOptions): Promise<number> {
  const workspace = await openWorkspace(options, { forceHooks: true });
  const { config, origins } = workspace;
  const registry = await openRegistry(config);
  const { signal, dispose } = watchInterruption();
  const examinations = await mapWithProgress(
    registry.getAllHooks(),
    ({ eventName, config: hook }) => `${eventName} ${hookIdentity(hook)}`,
    (entry) => examine(entry, { registry, config, origins, signal }),
    json ? undefined : (examination) => printLine(formatExamination(examination)),
  ).finally(dispose);
  const wrong = examinations.filter(({ status }) => status === 'error').length;
  const names = options.settings === undefined ? [] : [options.settings];
  const cwd = config.getWorkingDir();
  const { findings: settings } = await checkSettings(names, cwd, isTrustedRun(options));
  const isFaulty = wrong > 0 || settings.some(({ severity }) => severity === 'error');
  const isAlone = options.settings !== undefined;
  const { off, notAllowed } = isAlone
    ? { off: whyOff(workspace), notAllowed: undefined }
    : await findObstacles(cwd, options.cwd);
  const ran = examinations.some(({ status }) => status !== 'not run');
  const healthy = !isFaulty && ran && off === undefined;
  const obstacles = [off, notAllowed].filter((each) => each !== undefined);
  if (json) printJson({ healthy, hooks: examinations, settings, obstacles });
  else {
    printLine(formatSummary(examinations, wrong, settings));
    for (const obstacle of obstacles) printLine(paint('yellow', obstacle));
  }
  return healthy ? 0 : 1;
}

interface Surroundings {
  readonly registry: HookRegistry;
  readonly config: Config;
  readonly origins: SettingsOrigins;
  readonly signal: AbortSignal;
}

async function examine(entry: HookRegistryEntry, surroundings: Surroundings) {
  surroundings.signal.throwIfAborted();
  const { config: hook, eventName: event } = entry;
  const { timeoutMs } = normalizeTimeout(hook.timeout, defaultTimeoutOf(hook, event));
  const { payload, tool, isAccepted } = sampleFor(entry, surroundings.registry);
  const reason = findReason(entry, true, surroundings.origins);
  const observed = reason === null ? await runOnce(entry, payload, surroundings) : undefined;
  const run = observed && { ...observed, timeoutMs };
  const findings = run ? [...diagnose(run), ...(isAccepted ? [] : [unmatched(entry)])] : [];
  const worst = (['error', 'warning'] as const).find((each) =>
    findings.some(({ severity }) => severity === each),
  );
  return {
    event,
    hook: hookIdentity(hook),
    command: commandLine(hook),
    /** Of the sample event. */
    tool,
    timeoutMs,
    status: run ? (worst ?? 'ok') : 'not run',
    ending: run ? describeEnding(run) : (reason ?? 'it could not be asked'),
    exitCode: run?.outcome.exitCode ?? null,
    signal: run?.outcome.signal ?? null,
    durationMs: run?.outcome.durationMs ?? 0,
    findings,
  } as const;
}

function unmatched({ eventName: event, matcher = '' }: HookRegistryEntry): Finding {
  return {
    severity: 'warning',
    message: `no event was found that its matcher ${JSON.stringify(matcher)} accepts, so it was asked about another one; see whether it ever runs: hookstack explain ${event}`,
  };
}

async function runOnce(
  { config: hook, eventName: event }: HookRegistryEntry,
  payload: HookPayload<HookEventName>,
  { registry, config, signal }: Surroundings,
): Promise<Omit<ObservedRun, 'timeoutMs'> | undefined> {
  const logger = new RemarkCollector('llxprt:core:hooks:doctor');
  const environment = config.getHookEnvironment();
  const project = config.getWorkingDir();
  const env = buildHookEnvironment(environment, project);
  const words = [hook.command, ...(hook.args ?? [])].join(' ');
  let run: HookRun | undefined;
  await inScratchProject(project, words, (scratch) =>
    executeHook(
      hook,
      event,
      { ...prepareInput(sampleInput(event, payload, config, scratch), { environment }), env },
      {
        logger,
        environment,
        maxParallelHooks: 1,
        warmShells: 0,
        signal,
        findObjection: (started) => registry.findObjection(started),
        probe: async (seen, next) => {
          run = seen;
          if (!(seen.stdin instanceof Error)) {
            const { stdin } = seen;
            seen.stdin = Buffer.concat([stdin.subarray(0, 1), PADDING, stdin.subarray(1)]);
          }
          await next();
        },
      },
    ),
  );
  signal.throwIfAborted();
  if (!run?.outcome) return undefined;
  const { outcome, said = outcome } = run;
  const why = explainStderr(outcome, environment);
  return { hook, event, outcome, said, why, remarks: logger.remarks };
}

/** More than a pipe holds, so that it is taken only where somebody reads. JSON allows spaces behind its first brace. */
const PADDING = Buffer.alloc(256 * 1024, ' ');

function sampleInput(
  event: HookEventName,
  payload: HookPayload<HookEventName>,
  config: Config,
  cwd: string,
) {
  return toHookInput(event, payload, {
    getSessionId: () => config.getSessionId(),
    getWorkingDir: () => cwd,
  });
}

/** Keeps the runner's warnings, without the hook's name. Failures are reported otherwise. */
class RemarkCollector extends DebugLogger {
  readonly remarks: string[] = [];

  override warn(message: string): void {
    const [, remark] = /^Hook ".*?"(?: \(\w+\))?: (.*)$/s.exec(message) ?? [];
    if (remark !== undefined) this.remarks.push(remark);
  }
}

const STYLES = { ok: 'green', warning: 'yellow', error: 'red', 'not run': 'yellow' } as const;

function formatExamination(examination: Examination): string {
  const { event, hook, status, tool, ending, durationMs, timeoutMs, findings } = examination;
  const sample = tool === null ? event : `${event} of ${tool}`;
  const time = status === 'not run' ? '' : `; ${durationMs} ms of ${timeoutMs} ms`;
  return [
    `${toVisible(hook)} [${paint(STYLES[status], status)}]`,
    `  ${toOneLine(sample)}: ${toOneLine(ending)}${time}`,
    ...findings.map(
      ({ severity, message }) =>
        `  ${paint(STYLES[severity], `${severity}:`)} ${withoutBreaks(message)}`,
    ),
  ].join('\n');
}

function formatSummary(
  examinations: readonly Examination[],
  wrong: number,
  settings: readonly SettingsFinding[],
): string {
  // The others were told when the settings were read.
  const untold = settings.filter(({ rule }) => rule !== 'file' && !(rule in loaderSeverities));
  return [
    ...(untold.length > 0 ? ['\nSettings:', ...untold.map(formatFinding)] : []),
    `${formatCount(examinations, wrong)}${formatCounts(settings)}`,
  ].join('\n');
}

function formatCount(examinations: readonly Examination[], wrong: number): string {
  const count = examinations.length;
  if (count === 0) {
    return '\nNo hook is configured, so nothing was examined; make one with: hookstack init';
  }
  const ran = examinations.filter(({ status }) => status !== 'not run').length;
  if (ran > 0) return `\n${ran} of ${count} hooks run, ${wrong} with something wrong`;
  return `\n0 of ${count} hooks run, so nothing was examined: see above why`;
}

function formatCounts(settings: readonly SettingsFinding[]): string {
  const errors = settings.filter(({ severity }) => severity === 'error').length;
  const warnings = settings.length - errors;
  if (settings.length === 0) return '';
  return `; settings: ${plural(errors, 'error')}, ${plural(warnings, 'warning')}`;
}
