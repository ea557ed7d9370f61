import { isConcerned } from '../../middleware/planner.js';
import { executeHook } from '../../middleware/runner.js';
import { toHookInput } from '../../middleware/translator.js';
import type { Config } from '../config/config.js';
import { DebugLogger } from '../util/debugLogger.js';
import { defaultTimeoutOf } from '../dialects/words.js';
import { events } from '../protocol/events.js';
import { buildHookEnvironment } from '../run/hookEnvironment.js';
import type { HookRegistry, HookRegistryEntry } from '../hooks/hookRegistry.js';
import type { HookRun } from '../run/hookRun.js';
import { commandLine, hookIdentity } from '../protocol/identity.js';
import { prepareInput } from '../run/preparedInput.js';
import { removeControls } from '../protocol/sanitizeText.js';
import type { HookEventName } from '../protocol/types.js';
import { normalizeTimeout } from '../process/normalizeTimeout.js';
import { referenceTools } from '../agent/tools/referenceTools.js';
import { CliLogger } from './cliLogger.js';
import { DEFAULT_TOOL } from './defaults.js';
import { describeEnding, diagnose, type Finding, type ObservedRun } from './diagnosis.js';
import { completeFields, decodeFields } from './firePayload.js';
import { findReason, openRegistry } from './hookEntries.js';
import { watchInterruption } from './interruption.js';
import { Progress } from './progress.js';
import { ScratchProject } from './scratchProject.js';
import { paint, printJson, printLine, toOneLine, toVisible, type TextStyle } from './terminal.js';
import { openWorkspace, type WorkspaceOptions } from './workspace.js';

/** The options of `hookstack doctor`. */
export interface DoctorOptions extends WorkspaceOptions {
  readonly json?: boolean;
}

/** What was seen of one hook, as `doctor --json` writes it. */
interface Examination {
  readonly event: HookEventName;
  readonly hook: string;
  readonly command: string;
  readonly status: 'ok' | 'warning' | 'error' | 'not run';
  /** The tool of the sample event. */
  readonly tool: string | null;
  /** How it ended and what that means, or why it was not run. */
  readonly ending: string;
  readonly exitCode: number | null;
  readonly signal: string | null;
  readonly durationMs: number;
  readonly timeoutMs: number;
  readonly findings: readonly Finding[];
}

/**
 * `hookstack doctor`: each hook once, with a sample event and in a scratch directory, and what was seen on stdout.
 *
 * @returns the exit code: 0 nothing is wrong, 1 something is
 * @throws UsageError
 */
export async function doctor(options: DoctorOptions): Promise<number> {
  const { config } = await openWorkspace(options, { forceHooks: true });
  const registry = await openRegistry(config);
  const entries = registry.getAllHooks();
  const progress = new Progress(entries.length);
  const interruption = watchInterruption();
  const examinations: Examination[] = [];
  try {
    for (const entry of entries) {
      interruption.signal.throwIfAborted();
      progress.next(`${entry.eventName} ${hookIdentity(entry.config)}`);
      const examination = await examine(entry, registry, config, interruption.signal);
      progress.clear();
      examinations.push(examination);
      if (!options.json) printLine(formatExamination(examination));
    }
  } finally {
    interruption.dispose();
  }
  const wrong = examinations.filter(({ status }) => status === 'error').length;
  if (options.json) printJson({ healthy: wrong === 0, hooks: examinations });
  else printLine(formatSummary(examinations, wrong));
  return wrong === 0 ? 0 : 1;
}

/** More than a pipe holds, so that it is taken only where somebody reads. JSON may have it behind its first brace. */
const PADDING = Buffer.alloc(256 * 1024, ' ');

async function examine(
  entry: HookRegistryEntry,
  registry: HookRegistry,
  config: Config,
  signal: AbortSignal,
): Promise<Examination> {
  const { config: hook, eventName: event } = entry;
  const { timeoutMs } = normalizeTimeout(hook.timeout, defaultTimeoutOf(hook, event));
  const tool = events[event].matchOn ? findTool(entry, registry) : null;
  const about = { event, hook: hookIdentity(hook), command: commandLine(hook), tool, timeoutMs };
  const reason = findReason(entry, true);
  const observed =
    reason === null ? await runOnce(entry, tool, registry, config, signal) : undefined;
  if (!observed) {
    const ending = reason ?? 'it could not be asked';
    const nothing = { exitCode: null, signal: null, durationMs: 0, findings: [] };
    return { ...about, ...nothing, status: 'not run', ending };
  }
  const run = { ...observed, timeoutMs };
  const { outcome } = run;
  const findings = diagnose(run);
  const worst = ['error', 'warning'] as const;
  return {
    ...about,
    status: worst.find((each) => findings.some(({ severity }) => severity === each)) ?? 'ok',
    ending: describeEnding(run),
    exitCode: outcome.exitCode,
    signal: outcome.signal,
    durationMs: outcome.durationMs,
    findings,
  };
}

/** A tool that the hook is for, where one is known. */
function findTool(entry: HookRegistryEntry, registry: HookRegistry): string {
  const logger = new CliLogger('llxprt:core:hooks:planner');
  const known = [DEFAULT_TOOL, ...referenceTools.map(({ name }) => name)];
  return (
    known.find((name) => isConcerned(registry, entry, { toolName: name }, logger)) ?? DEFAULT_TOOL
  );
}

async function runOnce(
  { config: hook, eventName: event }: HookRegistryEntry,
  tool: string | null,
  registry: HookRegistry,
  config: Config,
  signal: AbortSignal,
): Promise<Omit<ObservedRun, 'timeoutMs'> | undefined> {
  const scratch = await ScratchProject.create(config.getWorkingDir());
  try {
    await scratch.linkFilesOf([hook.command, ...(hook.args ?? [])].join(' '));
    const environment = config.getHookEnvironment();
    const prepared = prepareInput(sampleInput(event, tool, config, scratch.path), environment);
    const env = buildHookEnvironment(environment, config.getWorkingDir());
    const logger = new RemarkCollector('llxprt:core:hooks:doctor');
    let run: HookRun | undefined;
    await executeHook(
      hook,
      event,
      { ...prepared, env },
      {
        logger,
        environment,
        maxParallelHooks: 1,
        warmShells: 0,
        signal,
        findObjection: (started) => registry.findObjection(started),
        probe: async (seen, next) => {
          run = seen;
          if (!(seen.stdin instanceof Error)) seen.stdin = padded(seen.stdin);
          await next();
        },
      },
    );
    signal.throwIfAborted();
    if (!run?.outcome) return undefined;
    const { outcome, said = outcome } = run;
    return { hook, event, outcome, said, remarks: logger.remarks };
  } finally {
    await scratch.remove();
  }
}

function padded(json: Uint8Array): Uint8Array {
  return Buffer.concat([json.subarray(0, 1), PADDING, json.subarray(1)]);
}

function sampleInput(event: HookEventName, tool: string | null, config: Config, cwd: string) {
  const toolInput = { file_path: 'example.txt', content: 'Hello', command: 'true' };
  const given = tool === null ? {} : { tool_name: tool, tool_input: toolInput };
  return toHookInput(event, decodeFields(event, completeFields(event, given)), {
    getSessionId: () => config.getSessionId(),
    getWorkingDir: () => cwd,
  });
}

/** Keeps what the runner warns of, without the hook's name. That a hook failed is told otherwise. */
class RemarkCollector extends DebugLogger {
  readonly remarks: string[] = [];

  override warn(message: string): void {
    const [, remark] = /^Hook ".*?"(?: \(\w+\))?: (.*)$/s.exec(message) ?? [];
    if (remark !== undefined) this.remarks.push(remark);
  }
}

const STYLES: Record<Examination['status'], TextStyle> = {
  ok: 'green',
  warning: 'yellow',
  error: 'red',
  'not run': 'yellow',
};

function formatExamination(examination: Examination): string {
  const { event, hook, status, tool, ending, durationMs, timeoutMs, findings } = examination;
  const sample = tool === null ? event : `${event} of ${tool}`;
  const time = status === 'not run' ? '' : `; ${durationMs} ms of ${timeoutMs} ms`;
  return [
    `${toVisible(hook)} [${paint(process.stdout, STYLES[status], status)}]`,
    `  ${toOneLine(sample)}: ${toOneLine(ending)}${time}`,
    ...findings.map(
      ({ severity, message }) =>
        `  ${paint(process.stdout, STYLES[severity], `${severity}:`)} ${withoutBreaks(message)}`,
    ),
  ].join('\n');
}

/** Findings are whole sentences, which are not cut. */
function withoutBreaks(message: string): string {
  return removeControls(message).replaceAll('\n', ' ');
}

function formatSummary(examinations: readonly Examination[], wrong: number): string {
  if (examinations.length === 0) return 'No hook is configured.';
  const ran = examinations.filter(({ status }) => status !== 'not run').length;
  return `\n${ran} of ${examinations.length} hooks run, ${wrong} with something wrong`;
}
