import type { SettingsOrigins } from '../../config/settings/settings.js';
import type { HookRegistryEntry } from '../../hooks/entry.js';
import { deadlineOf } from '../../run/preparedInput.js';
import { commandLine, hookIdentity } from '../../protocol/identity.js';
import type { DialectName, HookEventName, HookPayload } from '../../protocol/types.js';
import { loaderSeverities } from '../../validate/rules.js';
import type { Finding as SettingsFinding } from '../../validate/types.js';
import { checkSettings, formatFindings } from '../shared/checkSettings.js';
import { findReason } from '../shared/hookColumns.js';
import { watchInterruption } from '../shared/interruption.js';
import type { WorkspaceOptions } from '../shared/options.js';
import { findObstacles, whyOff } from '../shared/obstacles.js';
import { locateHook, type Documents } from '../shared/reviewProject.js';
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
import { formatTimes, timeAgents } from './agents.js';
import { describeEnding, diagnose, type Finding, type ObservedRun } from './diagnosis.js';
import { inScratch, type Surroundings } from './ask.js';
import { examineKept, type Kept } from './keptHook.js';
import { sampleFor } from './sampleEvent.js';

type Examination = Awaited<ReturnType<typeof examine>>;

interface DoctorOptions extends WorkspaceOptions {
  /** The agent in whose own program verdicts are tried, in place of the project's hooks. */
  readonly live?: DialectName;
}

/** @returns the exit code: 0 nothing is wrong, 1 something is */
export async function doctor({ json, live, ...options }: DoctorOptions): Promise<number> {
  if (live) return (await import('./live/live.js')).doctorLive(live, json);
  const workspace = await openWorkspace(options, { forceHooks: true });
  const { config, origins } = workspace;
  const registry = await openRegistry(config);
  const { signal, dispose } = watchInterruption();
  const documents: Documents = new Map();
  const told = new Map<string, string>();
  const examinations = await mapWithProgress(
    registry.getAllHooks(),
    ({ eventName, config: hook }) => `${eventName} ${hookIdentity(hook)}`,
    (entry) => examine(entry, { registry, config, origins, signal, documents }),
    json ? undefined : (examination) => printLine(formatExamination(examination, told)),
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
  const agents = isAlone ? [] : await timeAgents(cwd);
  if (json) printJson({ healthy, hooks: examinations, settings, obstacles, agents });
  else {
    printLine(formatSummary(examinations, wrong, settings));
    for (const obstacle of obstacles) printLine(paint('yellow', obstacle));
    for (const times of agents) printLine(formatTimes(times));
  }
  return healthy ? 0 : 1;
}

interface Examining extends Surroundings {
  readonly origins: SettingsOrigins;
  readonly documents: Documents;
}

async function examine(entry: HookRegistryEntry, surroundings: Examining) {
  surroundings.signal.throwIfAborted();
  const { config: hook, eventName: event } = entry;
  const { timeoutMs } = deadlineOf(hook, event);
  const { payload, tool, isAccepted } = sampleFor(entry, surroundings.registry);
  const reason = findReason(entry, true, surroundings.origins);
  const isStarted = reason === null && hook.type !== 'rule';
  const asked = isStarted ? await ask(entry, payload, surroundings, timeoutMs) : undefined;
  const run = asked?.run;
  const isRule = hook.type === 'rule' && reason === null;
  const findings =
    asked && run ? [...asked.findings, ...(isAccepted ? [] : [unmatched(entry)])] : [];
  if (reason === null) findings.push(...(await unseenTools(entry, surroundings)));
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
    status: run || isRule ? (worst ?? 'ok') : 'not run',
    ending: run ? describeEnding(run) : isRule ? A_RULE : (reason ?? 'it could not be asked'),
    exitCode: run?.outcome.exitCode ?? null,
    signal: run?.outcome.signal ?? null,
    durationMs: run?.outcome.durationMs ?? 0,
    persistent: asked?.kept ? { ...(await placeOf(entry, surroundings)), ...asked.kept } : null,
    findings,
  } as const;
}

const A_RULE = 'a rule, which starts nothing';

async function unseenTools(
  entry: HookRegistryEntry,
  { registry }: Examining,
): Promise<readonly Finding[]> {
  const { findUnseenTools } = await import('./unseenTools.js');
  const unseen = findUnseenTools(entry, registry);
  return unseen === undefined ? [] : [{ severity: 'warning', message: `it ${unseen}` }];
}

interface Asked {
  readonly run: ObservedRun | undefined;
  readonly findings: readonly Finding[];
  /** Of a persistent hook. */
  readonly kept?: Kept;
}

async function ask(
  entry: HookRegistryEntry,
  payload: HookPayload<HookEventName>,
  surroundings: Surroundings,
  timeoutMs: number,
): Promise<Asked> {
  if (entry.config.persistent) return examineKept(entry, payload, surroundings, timeoutMs);
  const run = await inScratch(entry, { ...surroundings, timeoutMs }, (askOnce) => askOnce(payload));
  return { run, findings: run ? diagnose(run) : [] };
}

async function placeOf(entry: HookRegistryEntry, { documents }: Examining) {
  const { file = null, position } = await locateHook(entry, documents);
  return { file, line: position?.line ?? null };
}

function unmatched({ eventName: event, matcher = '' }: HookRegistryEntry): Finding {
  return {
    severity: 'warning',
    message: `no event was found that its matcher ${JSON.stringify(matcher)} accepts, so it was asked about another one; see whether it ever runs: hookstack explain ${event}`,
  };
}

const STYLES = { ok: 'green', warning: 'yellow', error: 'red', 'not run': 'yellow' } as const;

/** @param told of which hook each sentence has been said: of another one, it is not said again */
function formatExamination(examination: Examination, told: Map<string, string>): string {
  const { event, hook, status, tool, ending, durationMs, timeoutMs, persistent, findings } =
    examination;
  const sample = tool === null ? event : `${event} of ${tool}`;
  const once = (text: string) => {
    const first = told.get(text);
    if (first === undefined) told.set(text, toVisible(hook));
    return first === undefined ? text : `the same as ${first}, above`;
  };
  const end = status === 'not run' ? once(toOneLine(ending)) : toOneLine(ending);
  const isTimed = status !== 'not run' && ending !== A_RULE;
  const time = isTimed ? `; ${durationMs} ms of ${timeoutMs} ms` : '';
  return [
    `${toVisible(hook)} [${paint(STYLES[status], status)}]`,
    `  ${toOneLine(sample)}: ${end}${time}`,
    ...(persistent ? [`  ${formatKept(persistent, status === 'error')}`] : []),
    ...findings.map(
      ({ severity, message }) =>
        `  ${paint(STYLES[severity], `${severity}:`)} ${once(withoutBreaks(message))}`,
    ),
  ].join('\n');
}

function formatKept(
  { file, line, asked, processes }: NonNullable<Examination['persistent']>,
  hasFailed: boolean,
): string {
  const place = file === null ? '' : ` (${[toVisible(file), ...(line ? [line] : [])].join(':')})`;
  const none = hasFailed ? 'by none' : 'as an ordinary hook';
  const by = processes === 0 ? none : `by ${processes} kept process${processes > 1 ? 'es' : ''}`;
  return `persistent${place}: asked ${plural(asked, 'time')}, answered ${by}`;
}

function formatSummary(
  examinations: readonly Examination[],
  wrong: number,
  settings: readonly SettingsFinding[],
): string {
  // The others were told when the settings were read.
  const untold = settings.filter(({ rule }) => rule !== 'file' && !(rule in loaderSeverities));
  return [
    ...(untold.length > 0 ? ['\nSettings:', ...formatFindings(untold)] : []),
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
