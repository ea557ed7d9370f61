import { text as readText } from 'node:stream/consumers';
import { AgentError, runAgent } from '../../agent/agent.js';
import { referenceTools } from '../../agent/tools/referenceTools.js';
import { connectModel } from './connectModel.js';
import { watchInterruption } from '../shared/interruption.js';
import { runOutputs, type OutputFormat } from './runOutput.js';
import { withTrace } from '../shared/withTrace.js';
import { placeTranscript } from './transcriptFile.js';
import { UsageError } from '../shared/usageError.js';
import type { WorkspaceOptions } from '../shared/options.js';
import { openWorkspace, type Asking, type Workspace } from '../shared/workspace.js';
import { standardError, standardInput } from '../shared/streams.js';

interface RunOptions extends Omit<WorkspaceOptions, 'json'> {
  readonly model: string;
  /** A file of recorded model calls, to be used instead of Gemini. */
  readonly responses?: string;
  readonly maxTurns?: number;
  readonly outputFormat: OutputFormat;
  readonly trace?: string;
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
    const workspace = await openWorkspace(options, { withMiddleware: true, asking });
    const models = await connectModel(options.responses);
    const text = prompt ?? (await readPrompt());
    const recording = { trace: options.trace, fleet: workspace.settings.fleet };
    return await withTrace(recording, workspace.config, () =>
      work(text, workspace, models, options),
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

async function readPrompt(): Promise<string> {
  const prompt = standardInput().isTTY ? '' : await readText(standardInput());
  if (prompt.trim() !== '') return prompt;
  throw new UsageError(
    'There is no prompt: write it behind the command, as in hookstack run "What is in this folder?", or pipe it in',
  );
}

async function work(
  prompt: string,
  { config, settings }: Workspace,
  models: Awaited<ReturnType<typeof connectModel>>,
  { model, maxTurns, outputFormat, transcript }: RunOptions,
): Promise<number> {
  const output = runOutputs[outputFormat]();
  // Until this is read, signals end the process, however long it takes. The first event reports a failure.
  await config
    .getHookSystem()
    ?.initialize()
    .catch(() => undefined);
  placeTranscript(config, transcript);
  const { signal, dispose } = watchInterruption();
  try {
    const result = await runAgent({
      config,
      models,
      model,
      prompt,
      tools: referenceTools,
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
