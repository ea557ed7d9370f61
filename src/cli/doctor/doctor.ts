import { isConcerned } from '../../../middleware/planner.js';
import { executeHook } from '../../../middleware/runner.js';
import { toHookInput } from '../../../middleware/translator.js';
import { referenceTools } from '../../agent/tools/referenceTools.js';
import type { Config } from '../../config/config.js';
import { defaultTimeoutOf } from '../../dialects/dialects.js';
import type { HookRegistry } from '../../hooks/hookRegistry.js';
import type { HookRegistryEntry } from '../../protocol/entry.js';
import { normalizeTimeout } from '../../process/normalizeTimeout.js';
import { events } from '../../protocol/events.js';
import { commandLine, hookIdentity } from '../../protocol/identity.js';
import type { HookEventName } from '../../protocol/types.js';
import { buildHookEnvironment, prepareInput } from '../../run/preparedInput.js';
import type { HookRun } from '../../run/hookRun.js';
import { DebugLogger } from '../../util/debugLogger.js';
import { CliLogger } from '../shared/cliLogger.js';
import { completeFields, decodeFields } from '../shared/eventFields.js';
import { findReason } from '../shared/hookColumns.js';
import { watchInterruption } from '../shared/interruption.js';
import { DEFAULT_TOOL, type WorkspaceOptions } from '../shared/options.js';
import { mapWithProgress } from '../shared/progress.js';
import {
  paint,
  printJson,
  printLine,
  toOneLine,
  toVisible,
  withoutBreaks,
} from '../shared/terminal.js';
import { openRegistry, openWorkspace } from '../shared/workspace.js';
import { describeEnding, diagnose, type ObservedRun } from './diagnosis.js';
import { inScratchProject } from './scratchProject.js';

type Examination = Awaited<ReturnType<typeof examine>>;

/** @returns the exit code: 0 nothing is wrong, 1 something is */
export async function doctor({ json, ...options }: WorkspaceOptions): Promise<number> {
  const { config } = await openWorkspace(options, { forceHooks: true });
  const registry = await openRegistry(config);
  const { signal, dispose } = watchInterruption();
  const examinations = await mapWithProgress(
    registry.getAllHooks(),
    ({ eventName, config: hook }) => `${eventName} ${hookIdentity(hook)}`,
    (entry) => examine(entry, { registry, config, signal }),
    json ? undefined : (examination) => printLine(formatExamination(examination)),
  ).finally(dispose);
  const wrong = examinations.filter(({ status }) => status === 'error').length;
  if (json) printJson({ healthy: wrong === 0, hooks: examinations });
  else printLine(formatSummary(examinations, wrong));
  return wrong === 0 ? 0 : 1;
}

interface Surroundings {
  readonly registry: HookRegistry;
  readonly config: Config;
  readonly signal: AbortSignal;
}

async function examine(entry: HookRegistryEntry, surroundings: Surroundings) {
  surroundings.signal.throwIfAborted();
  const { config: hook, eventName: event } = entry;
  const { timeoutMs } = normalizeTimeout(hook.timeout, defaultTimeoutOf(hook, event));
  const tool = events[event].matchOn ? findTool(entry, surroundings.registry) : null;
  const reason = findReason(entry, true);
  const observed = reason === null ? await runOnce(entry, tool, surroundings) : undefined;
  const run = observed && { ...observed, timeoutMs };
  const findings = run ? diagnose(run) : [];
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

/** One that the hook matches, if known. */
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
      { ...prepareInput(sampleInput(event, tool, config, scratch), environment), env },
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
  return { hook, event, outcome, said, remarks: logger.remarks };
}

/** More than a pipe holds, so that it is taken only where somebody reads. JSON allows spaces behind its first brace. */
const PADDING = Buffer.alloc(256 * 1024, ' ');

function sampleInput(event: HookEventName, tool: string | null, config: Config, cwd: string) {
  const toolInput = { file_path: 'example.txt', content: 'Hello', command: 'true' };
  const given = tool === null ? {} : { tool_name: tool, tool_input: toolInput };
  return toHookInput(event, decodeFields(event, completeFields(event, given)), {
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

function formatSummary(examinations: readonly Examination[], wrong: number): string {
  if (examinations.length === 0) return 'No hook is configured.';
  const ran = examinations.filter(({ status }) => status !== 'not run').length;
  return `\n${ran} of ${examinations.length} hooks run, ${wrong} with something wrong`;
}
