import type { Next } from '../src/compose.js';
import type { Dialect, DialectAnswer } from '../src/dialects/dialect.js';
import {
  changedArguments,
  dialects,
  ourToolName,
  theirArguments,
  theirEventName,
  theirResponse,
  theirToolNames,
} from '../src/dialects/words.js';
import { failsClosed } from '../src/hooks/hookFailure.js';
import { DEFAULT_BLOCK_REASON } from '../src/hooks/hookOutput.js';
import type { HookRun, Said } from '../src/hooks/hookRun.js';
import { isRecord, isTooDeep } from '../src/hooks/merge.js';
import { writeInput } from '../src/hooks/preparedInput.js';
import { describeNoise, isBrokenJson, parseAnswer } from '../src/hooks/readHookOutput.js';
import { sanitizeText } from '../src/hooks/sanitizeText.js';
import type { HookEventName, HookInput } from '../src/hooks/types.js';

/**
 * Around the process of one hook: it reads, and answers, in the format of another agent. Whoever stands further out
 * meets our own format only.
 */
export async function dialect(run: HookRun, next: Next): Promise<void> {
  const spoken = run.hook.dialect && dialects[run.hook.dialect];
  if (!spoken) return next();
  run.stdin = writeInput(() => toTheirInput(spoken, run.event, run.input));
  await next();
  if (run.said) run.said = toOurAnswer(spoken, run, run.said);
}

/** What a hook of a dialect reads for an event. */
function toTheirInput(
  spoken: Dialect,
  event: HookEventName,
  input: HookInput,
): Record<string, unknown> {
  const ofEvent = (spoken.eventInput[event] ?? ownFields) as (input: HookInput) => object;
  return {
    ...spoken.commonInput(input),
    hook_event_name: theirEventName(spoken, event),
    ...ofEvent(withTheirTool(spoken, input)),
  };
}

function withTheirTool(spoken: Dialect, input: HookInput): HookInput {
  const tool = toolOf(input);
  if (!tool) return input;
  const tool_input = theirArguments(spoken, tool.name, tool.input, input.cwd);
  const response: unknown = 'tool_response' in input ? input.tool_response : undefined;
  return {
    ...input,
    tool_name: theirToolNames(spoken, tool.name)[0],
    tool_input,
    ...(isRecord(response) && {
      tool_response: theirResponse(spoken, tool.name, response, tool_input),
    }),
  } as HookInput;
}

function toolOf(input: HookInput): { name: string; input: Record<string, unknown> } | undefined {
  if (!('tool_name' in input && 'tool_input' in input)) return undefined;
  const { tool_name: name, tool_input: args } = input;
  return typeof name === 'string' && isRecord(args) ? { name, input: args } : undefined;
}

/** The fields of the event itself. */
function ownFields({
  session_id: _session,
  cwd: _cwd,
  timestamp: _timestamp,
  hook_event_name: _event,
  transcript_path: _transcript,
  ...own
}: HookInput): object {
  return own;
}

function toOurAnswer(spoken: Dialect, run: HookRun, said: Said): Said {
  if (said.ending !== 'exit') return said;
  const reader = spoken.answers[run.event] ?? spoken.answers.otherwise;
  if (said.exitCode === 2) {
    const reason = said.stderr.trim() || DEFAULT_BLOCK_REASON;
    return inOurWords(spoken, run, said, reader({ decision: 'deny', reason }));
  }
  if (said.exitCode !== 0 || said.stdout.trim() === '') return said;
  const parsed = parseAnswer(said.stdout.trim());
  if (!parsed) return readPlainText(spoken, run, said);
  // What is nested too deeply is refused when the answer is read.
  return isTooDeep(parsed) ? said : inOurWords(spoken, run, said, reader(parsed));
}

function readPlainText(spoken: Dialect, run: HookRun, said: Said): Said {
  const text = said.stdout.trim();
  // Prose is no answer, but of a guard that tried to give one nothing is known.
  if (failsClosed(run.hook, run.event) && isBrokenJson(text)) return said;
  const meaning = spoken.plainText[run.event] ?? spoken.plainText.otherwise;
  const noise = describeNoise(text);
  if (meaning === 'context') {
    for (const problem of noise) run.warn(problem);
    const output = { hookSpecificOutput: { additionalContext: text } };
    return { ...said, stdout: JSON.stringify(output) };
  }
  // Somebody meant to decide something here: a guard must not take it for silence.
  if (noise.length > 0) return said;
  if (meaning === 'user') tellUser(run, text);
  return { ...said, stdout: '' };
}

function inOurWords(
  spoken: Dialect,
  run: HookRun,
  said: Said,
  { output, forUser, remarks = [] }: DialectAnswer,
): Said {
  if (typeof forUser === 'string' && forUser.trim() !== '') tellUser(run, forUser);
  for (const remark of remarks) run.warn(remark);
  const { hookSpecificOutput: specific, ...common } = output;
  const translated = {
    ...common,
    hookSpecificOutput: isRecord(specific) ? withOurWords(spoken, run.input, specific) : specific,
  };
  return { ...said, exitCode: 0, stdout: JSON.stringify(translated) };
}

function withOurWords(
  spoken: Dialect,
  input: HookInput,
  specific: Record<string, unknown>,
): Record<string, unknown> {
  const { tool_input: returned, toolConfig, ...others } = specific;
  const tool = toolOf(input);
  const change =
    tool && isRecord(returned)
      ? changedArguments(spoken, tool.name, tool.input, input.cwd, returned)
      : returned;
  return {
    ...others,
    ...(isRecord(change) && Object.keys(change).length === 0 ? {} : { tool_input: change }),
    toolConfig: isRecord(toolConfig) ? withOurTools(spoken, toolConfig) : toolConfig,
  };
}

function withOurTools(spoken: Dialect, toolConfig: Record<string, unknown>) {
  const { allowedFunctionNames: names, ...others } = toolConfig;
  const rename = (name: unknown) => (typeof name === 'string' ? ourToolName(spoken, name) : name);
  return { ...others, allowedFunctionNames: Array.isArray(names) ? names.map(rename) : names };
}

function tellUser(run: HookRun, message: string): void {
  run.warn(`says: ${sanitizeText(message)}`);
}
