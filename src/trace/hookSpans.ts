import { isDeepStrictEqual } from 'node:util';
import { resolveOutput } from '../protocol/events.js';
import { isBlocking, withToolInput } from '../protocol/hookOutput.js';
import { commandLine, hookIdentity } from '../protocol/identity.js';
import { lastLine } from '../run/explainStderr.js';
import { isRecord, mergeRecords } from '../util/records.js';
import type {
  CommandHookConfig,
  HookEventName,
  HookExecutionResult,
  HookInput,
  HookOutput,
} from '../protocol/types.js';
import { traced, type SpanChange, type SpanOutcome } from './span.js';

/** What a hook reads: as an object, and as the JSON that was made of it, or why it could not be made. */
interface Reading {
  readonly input: HookInput;
  readonly stdin: Uint8Array | Error;
}

/** Runs one hook, as a span where anybody listens. */
export function traceHook(
  hook: CommandHookConfig,
  event: HookEventName,
  reading: Reading,
  run: () => Promise<HookExecutionResult>,
): Promise<HookExecutionResult> {
  const { input } = reading;
  return traced(
    'hook',
    {
      facts: () => ({
        name: hookIdentity(hook),
        event,
        command: commandLine(hook),
        input,
        session: input.session_id,
        agent: input.agent,
      }),
      outcome: (result) => describeResult(result, reading),
    },
    run,
  );
}

function describeResult(result: HookExecutionResult, reading: Reading): SpanOutcome {
  const { output, stderr, exitCode, signal, error, eventName, policy, process: age } = result;
  const { input } = reading;
  // A rule prints nothing: in its place stands what it is about.
  const stdout = result.stdout ?? result.matched;
  const counts = result.success || isBlocking(output?.decision);
  const said = counts
    ? withWhy(describeOutput(eventName, output, input), result)
    : { verdict: 'fail' as const, reason: error?.message ?? endingOf(result) };
  // What is spread comes last: V8 takes long for what is set behind that.
  return {
    output: stdout,
    stderr,
    exitCode,
    signal,
    error,
    sizes: {
      stdin: result.hookConfig.type === 'rule' ? 0 : sizeOf(reading.stdin),
      stdout: Buffer.byteLength(stdout ?? ''),
      stderr: Buffer.byteLength(stderr ?? ''),
    },
    process: age,
    ...said,
    ...(policy !== undefined && { policy }),
  };
}

function sizeOf(stdin: Reading['stdin']): number {
  return stdin instanceof Error ? 0 : stdin.byteLength;
}

/** A block by accident (exit code 2 of a program that failed) has the failure as its reason. */
function withWhy(
  outcome: Pick<SpanOutcome, 'verdict' | 'reason' | 'changes'>,
  { exitCode, why }: HookExecutionResult,
) {
  const { reason } = outcome;
  return { ...outcome, reason: exitCode === 2 ? (why ?? reason) : (reason ?? why) };
}

function endingOf({ exitCode, signal, why, stderr = '' }: HookExecutionResult): string {
  const ending = signal === undefined ? `exited with code ${exitCode}` : `was ended by ${signal}`;
  const detail = why ?? lastLine(stderr);
  return detail === '' ? ending : `${ending}: ${detail}`;
}

/**
 * What hooks want, in one word, and why, and what it would replace.
 *
 * @param input what they have read
 */
export function describeOutput(
  event: HookEventName,
  output: HookOutput | undefined,
  input: unknown,
): Pick<SpanOutcome, 'verdict' | 'reason' | 'changes'> {
  if (!output) return { verdict: 'allow' };
  const said = resolveOutput(event, output);
  const changes = changesBy(said, isRecord(input) ? input : {});
  if (said.continue === false) return { verdict: 'stop', reason: said.stopReason, changes };
  if (isBlocking(said.decision)) return { verdict: 'block', reason: said.reason, changes };
  if (said.decision === 'ask') return { verdict: 'ask', reason: said.reason, changes };
  const isChanged = changes.length > 0 || said.suppressOutput === true;
  return { verdict: isChanged ? 'change' : 'allow', reason: said.reason, changes };
}

/** Fields that say what the hook is, and change nothing. */
const WORDS = new Set(['hookEventName']);

function changesBy(
  { systemMessage, hookSpecificOutput = {}, foreign }: HookOutput,
  input: Record<string, unknown>,
): SpanChange[] {
  const fields = Object.entries({
    ...(foreign?.droppedArguments && { tool_input: {} }),
    ...hookSpecificOutput,
  }).filter(([field]) => !WORDS.has(field));
  const { llmContent, returnDisplay } = foreign?.toolOutput ?? {};
  const given = llmContent === returnDisplay ? llmContent : { llmContent, returnDisplay };
  const replaced = given !== undefined && [['tool_response', given] as const];
  return [...fields, ['systemMessage', systemMessage] as const, ...(replaced || [])]
    .map(([what, wanted]): SpanChange => {
      const before = input[what] ?? fieldOfRequest(input, what);
      if (!isRecord(before) || !isRecord(wanted)) return { what, before, after: wanted };
      const isInput = what === 'tool_input';
      const output = { hookSpecificOutput, foreign };
      return {
        what,
        before,
        after: isInput ? withToolInput(before, output) : mergeRecords(before, wanted),
      };
    })
    .filter(({ before, after }) => !isDeepStrictEqual(before, after));
}

/** The tool configuration is a part of the request. */
function fieldOfRequest({ llm_request: request }: Record<string, unknown>, what: string): unknown {
  return isRecord(request) ? request[what] : undefined;
}
