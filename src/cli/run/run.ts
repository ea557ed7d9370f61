import { lstatSync, readdirSync, rmdirSync, unlinkSync } from 'node:fs';
import path from 'node:path';
import { text as readText } from 'node:stream/consumers';
import { AgentError, runAgent } from '../../agent/agent.js';
import { readRecordedModel } from '../../agent/recordedModel.js';
import { referenceSubagents } from '../../agent/subagents.js';
import { referenceTools } from '../../agent/tools/referenceTools.js';
import type { Config } from '../../config/config.js';
import { errorMessage } from '../../util/errorMessage.js';
import { isInside, realPathOf } from '../../util/paths.js';
import { hostEnvironment } from '../../util/requester.js';
import { watchInterruption } from '../shared/interruption.js';
import type { WorkspaceOptions } from '../shared/options.js';
import { makePrivate, ownFolder } from '../shared/privateFolder.js';
import { standardError, standardInput } from '../shared/streams.js';
import { printNotice, toVisible } from '../shared/terminal.js';
import { UsageError, orUsageError } from '../shared/usageError.js';
import { withOtlp } from '../shared/withOtlp.js';
import { withTrace } from '../shared/withTrace.js';
import { type Asking, type Workspace, openWorkspace } from '../shared/workspace.js';
import { type OutputFormat, runOutputs } from './runOutput.js';

interface RunOptions extends Omit<WorkspaceOptions, 'json'> {
  readonly model: string;
  /** A file of recorded model calls, to be used instead of Gemini. */
  readonly responses?: string;
  readonly maxTurns?: number;
  readonly outputFormat: OutputFormat;
  readonly trace?: string;
  readonly otlp?: string;
  /** Decides all questions of this run. */
  readonly ask?: 'allow' | 'deny';
  /** Where answers come from. Default: the terminal, where there is one. */
  readonly approvals?: 'stdin';
  /** `false` for none. */
  readonly transcript?: string | false;
}

/** @returns the exit code: 0 done, or stopped by a hook; 1 failed */
export async function run(prompt: string | undefined, options: RunOptions): Promise<number> {
  const { dispose = () => undefined, ...asking } = await chooseApprover(prompt, options);
  try {
    const workspace = await openWorkspace(options, {
      withMiddleware: true,
      longHookTexts: 'file',
      asking,
    });
    const models = await connectModel(options.responses);
    const text = prompt ?? (await readPrompt());
    const recording = { trace: options.trace, fleet: workspace.settings.fleet };
    return await withOtlp(options.otlp, workspace.config, () =>
      withTrace(recording, workspace.config, () => work(text, workspace, models, options)),
    );
  } finally {
    dispose();
  }
}

/** Nobody is asked where a terminal could not show the question, or could not answer it. */
async function chooseApprover(
  prompt: string | undefined,
  { ask, approvals, outputFormat }: RunOptions,
): Promise<Asking & { readonly dispose?: () => void }> {
  if (ask !== undefined) return { whenNobody: ask };
  if (approvals === 'stdin') {
    if (outputFormat !== 'stream-json') {
      throw new UsageError(
        '--approvals stdin needs --output-format stream-json, which says what is asked',
      );
    }
    if (prompt === undefined) {
      throw new UsageError(
        '--approvals stdin takes stdin for answers: write the prompt behind the command',
      );
    }
    return (await import('./stdinApprover.js')).stdinApprover();
  }
  if (!standardInput().isTTY || !standardError().isTTY) return {};
  return { approver: (await import('./terminalApprover.js')).terminalApprover() };
}

/** Whether the tools of the run can write a file: such a one counts as it was at the start. */
function canWrite(config: Config, file: string): boolean {
  const here = path.resolve(file);
  const entry = path.join(realPathOf(path.dirname(here)) ?? '/', path.basename(here));
  const places = [here, entry, realPathOf(here) ?? here];
  return places.some((each) => isInside(each, config.getWorkingDir()));
}

async function readPrompt(): Promise<string> {
  const prompt = standardInput().isTTY ? '' : await readText(standardInput());
  if (prompt.trim() !== '') return prompt;
  throw new UsageError(
    'There is no prompt: write it behind the command, as in hookstack run "What is in this folder?", or pipe it in',
  );
}

async function work(
  prompt: string,
  { config, settings, watch }: Workspace,
  models: Awaited<ReturnType<typeof connectModel>>,
  { model, maxTurns, outputFormat, transcript, settings: named }: RunOptions,
): Promise<number> {
  const output = runOutputs[outputFormat]();
  // Until this is read, signals end the process, however long it takes. The first event reports a failure.
  await config
    .getHookSystem()
    ?.initialize()
    .catch(() => undefined);
  if (named === undefined || !canWrite(config, named)) await watch();
  placeTranscript(config, transcript);
  const { signal, dispose } = watchInterruption();
  try {
    const result = await runAgent({
      config,
      models,
      model,
      prompt,
      tools: referenceTools,
      subagents: referenceSubagents,
      maxTurns,
      maxStopHookRetries: settings.maxStopHookRetries,
      signal,
      onEvent: (event) => output.onEvent(event),
    });
    output.finish(result);
    return 0;
  } catch (error) {
    if (!(error instanceof AgentError)) throw error;
    const { message } = signal.aborted ? (signal.reason as Error) : error;
    output.finish(error.result, unwrapApiError(message));
    return 1;
  } finally {
    dispose();
    await config.dispose();
  }
}

/** The SDK's errors have the API's JSON as their message. */
function unwrapApiError(message: string): string {
  try {
    const { error } = JSON.parse(message) as { error?: { message?: unknown } };
    return typeof error?.message === 'string' ? error.message : message;
  } catch {
    return message;
  }
}

/** @throws UsageError when there is neither a key nor a file, the file is not usable, or the SDK is not installed */
async function connectModel(responses: string | undefined) {
  if (responses !== undefined) {
    const reading = readRecordedModel(responses);
    return (await orUsageError(reading, (detail) => `--responses ${detail}`)).models;
  }
  const apiKey = hostEnvironment()['GEMINI_API_KEY'];
  if (!apiKey) {
    throw new UsageError(
      'There is no model to call: set GEMINI_API_KEY to a key of Google AI Studio, or name a file of recorded calls with --responses',
    );
  }
  const { GoogleGenAI } = await importSdk();
  return new GoogleGenAI({ apiKey, vertexai: false }).models;
}

async function importSdk() {
  try {
    return await import('@google/genai');
  } catch (cause) {
    const isMissing =
      cause instanceof Error && 'code' in cause && cause.code === 'ERR_MODULE_NOT_FOUND';
    if (!isMissing) throw cause;
    throw new UsageError(
      'The Gemini SDK, which calls the model, is not installed: npm install @google/genai, or name a file of recorded calls with --responses',
      { cause },
    );
  }
}

const KEPT_MS = 30 * 24 * 60 * 60 * 1000;
const NAME = 'transcript.jsonl';

/** Also removes old ones. Default: one in the home directory, while there are hooks to read it; `false` for none. */
function placeTranscript(config: Config, transcript: string | false | undefined): void {
  if (transcript === false) return;
  if (transcript !== undefined) return config.setTranscriptPath(path.resolve(transcript));
  const system = config.getHookSystem();
  const hasHooks = system?.isInitialized() && system.getAllHooks().some(({ enabled }) => enabled);
  if (!hasHooks) return;
  try {
    const sessions = openSessions(config.getWorkingDir());
    removeOld(sessions, Date.now() - KEPT_MS);
    const folder = path.join(sessions, config.getSessionId());
    makePrivate(folder);
    config.setTranscriptPath(path.join(folder, NAME));
  } catch (error) {
    const problem = `No transcript is written, and hooks get no path of one: ${errorMessage(error)}`;
    const advice = 'name a file with --transcript FILE, or say --no-transcript';
    printNotice('warning', toVisible(`${problem}; ${advice}`));
  }
}

/** It must be out of reach of what is done in the project. */
function openSessions(project: string): string {
  const sessions = ownFolder('sessions');
  if (isInside(sessions, realPathOf(project) ?? project)) {
    throw new Error(`${sessions} is a part of the project`);
  }
  makePrivate(sessions);
  return sessions;
}

/** Removes only what was made here. The transcript of a running session is younger. */
function removeOld(sessions: string, before: number): void {
  for (const session of readdirSync(sessions)) {
    const folder = path.join(sessions, session);
    try {
      const file = path.join(folder, NAME);
      if (!lstatSync(folder).isDirectory() || lstatSync(file).mtimeMs >= before) continue;
      unlinkSync(file);
      rmdirSync(folder);
    } catch {
      // Another session has removed it, or it holds other files.
    }
  }
}
