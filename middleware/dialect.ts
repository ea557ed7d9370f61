import type { Next } from '../src/compose.js';
import type { Dialect, DialectAnswer, Fields } from '../src/dialects/dialect.js';
import { recordOf } from '../src/dialects/answers.js';
import { dialects, theirEventName } from '../src/dialects/dialects.js';
import {
  withAllowedNames,
  withToolNames,
  toolOutputText,
  theirResponse,
  changedArguments,
  theirArguments,
  findClash,
  ourToolName,
  theirToolNames,
} from '../src/dialects/translate.js';
import { events, failsClosed, type CallFacts } from '../src/protocol/events.js';
import { asText, DEFAULT_BLOCK_REASON, isBlocking } from '../src/protocol/hookOutput.js';
import type { HookRun, Said } from '../src/run/hookRun.js';
import { isRecord, isTooDeep, MAX_ANSWER_NESTING } from '../src/util/records.js';
import { AmbiguousInput, writeInput } from '../src/run/preparedInput.js';
import { describeNoise, isBrokenJson, parseAnswer } from '../src/protocol/readHookOutput.js';
import { sanitizeText } from '../src/protocol/sanitizeText.js';
import type { ForeignEffects, HookInput, ToolOutput } from '../src/protocol/types.js';

/**
 * Around the process of one hook: it reads, and answers, in the format of another agent. Whoever stands further out
 * meets our own format only.
 */
export async function dialect(run: HookRun, next: Next): Promise<void> {
  const spoken = run.hook.dialect && dialects[run.hook.dialect];
  if (!spoken) return next();
  const clash = findClashOf(spoken, run);
  run.stdin = clash ?? writeInput(() => toTheirInput(spoken, run));
  await next();
  if (run.said) run.said = toOurAnswer(spoken, run, run.said);
}

/** Before a tool runs, none of its arguments may hide behind another one. */
function findClashOf(spoken: Dialect, { event, input }: HookRun): Error | undefined {
  const tool = events[event].canBlock ? toolOf(input) : undefined;
  const clash = tool && findClash(spoken, tool.name, tool.input);
  return (
    clash &&
    new AmbiguousInput(
      `the arguments "${clash[0]}" and "${clash[1]}" have one name in ${spoken.agent}, so that one would hide the other`,
    )
  );
}

/** What a hook of a dialect reads for an event. */
function toTheirInput(
  spoken: Dialect,
  { event, input, facts, hook: { moment } }: HookRun,
): Record<string, unknown> {
  const ofEvent = (spoken.eventInput[event] ?? ownFields) as (
    input: HookInput,
    facts: CallFacts,
  ) => object;
  const fields = { ...ofEvent(inTheirWords(spoken, input), facts) };
  return {
    ...spoken.commonInput(input),
    hook_event_name: theirEventName(spoken, event, moment),
    ...((moment && spoken.moments[moment]?.input(fields)) ?? fields),
  };
}

function inTheirWords(spoken: Dialect, input: HookInput): HookInput {
  const theirs = (name: string) => theirToolNames(spoken, name)[0];
  if ('llm_request' in input) {
    return { ...input, llm_request: withToolNames(input.llm_request, theirs) } as HookInput;
  }
  const tool = toolOf(input);
  if (!tool) return input;
  const tool_input = theirArguments(spoken, tool.name, tool.input, input.cwd);
  const response: unknown = 'tool_response' in input ? input.tool_response : undefined;
  return {
    ...input,
    tool_name: theirs(tool.name),
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
  if (said.ending !== 'exit' || said.exitCode === null) return said;
  const stderr = said.stderr.trim();
  const text = said.stdout.trim() || (spoken.readsStderr ? stderr : '');
  const parsed = parseAnswer(text);
  // What is nested too deeply is refused when the answer is read.
  if (parsed && isTooDeep(parsed, MAX_ANSWER_NESTING + 1)) return { ...said, stdout: text };
  const words = spoken.readsStderr ? text : stderr;
  if (spoken.denies(said.exitCode) && (said.exitCode === 2 || words !== '')) {
    return readAnswer(
      spoken,
      run,
      said,
      asDenial(parsed, parsed && spoken.readsStderr ? '' : words),
    );
  }
  if (parsed) return readAnswer(spoken, run, said, parsed);
  return said.exitCode === 0 && text !== '' ? readPlainText(spoken, run, said, text) : said;
}

/** An answer that denies, for the reason that it gives for a denial itself, else for this one. */
function asDenial(parsed: Fields = {}, otherwise: string): Fields {
  const { permissionDecision, permissionDecisionReason } = recordOf(parsed['hookSpecificOutput']);
  const own = isBlocking(parsed['decision'])
    ? parsed['reason']
    : isBlocking(permissionDecision) && permissionDecisionReason;
  return {
    ...parsed,
    decision: 'deny',
    reason: asText(own) ?? (otherwise || DEFAULT_BLOCK_REASON),
  };
}

function readPlainText(spoken: Dialect, run: HookRun, said: Said, text: string): Said {
  const isBroken = isBrokenJson(text);
  // Prose is no answer, but of a guard that tried to give one nothing is known.
  if (failsClosed(run.hook, run.event) && isBroken) return { ...said, stdout: text };
  if (describeNoise(text).length > 0) run.warnOnce(NOISE);
  const meaning = spoken.plainText[run.event] ?? spoken.plainText.otherwise;
  if (meaning === 'context' && !text.startsWith('{')) {
    const output = { hookSpecificOutput: { additionalContext: text } };
    return { ...said, stdout: JSON.stringify(output) };
  }
  if (meaning === 'user') tellUser(run, text);
  return { ...said, stdout: '' };
}

const NOISE =
  'printed JSON with other text around it, or a part of it, so that its decision does not count: print one JSON object, and nothing else';

function readAnswer(spoken: Dialect, run: HookRun, said: Said, parsed: Fields): Said {
  const theirInput = inTheirWords(spoken, run.input);
  const { moment } = run.hook;
  const reader =
    (moment && spoken.moments[moment]?.answer) ??
    spoken.answers[run.event] ??
    spoken.answers.otherwise;
  const fields = withoutUnsupported(spoken, run, parsed);
  const answer = reader(fields, toolOf(theirInput)?.name, run.facts);
  for (const message of answer.forUser ?? []) {
    if (typeof message === 'string' && message.trim() !== '') tellUser(run, message);
  }
  for (const remark of answer.remarks ?? []) run.warnOnce(remark);
  const { hookSpecificOutput: specific, ...common } = answer.output;
  const tool = toolOf(run.input);
  const returned = isRecord(specific) ? specific['tool_input'] : undefined;
  const changed =
    tool && isRecord(returned)
      ? changedArguments(spoken, tool.name, tool.input, run.input.cwd, returned)
      : { change: returned, dropped: [] };
  const translated = {
    ...common,
    hookSpecificOutput: isRecord(specific)
      ? { ...withOurWords(spoken, specific), tool_input: unlessEmpty(changed.change) }
      : specific,
  };
  return {
    ...said,
    exitCode: 0,
    stdout: JSON.stringify(translated),
    foreign: foreignEffects(spoken, run.input, theirInput, answer, changed.dropped),
    theirNames: answer.theirNames,
  };
}

/** What has a meaning there and none here is told once, and is not read. */
function withoutUnsupported(spoken: Dialect, run: HookRun, parsed: Fields): Fields {
  const specific = parsed['hookSpecificOutput'];
  const supported = (fields: Fields, at: string) =>
    Object.entries(fields).filter(([key, value]) => {
      const path = `${at}${key}`;
      if (!Object.hasOwn(spoken.unsupported, path)) return true;
      const instead = spoken.unsupported[path];
      if (instead && value) run.warnOnce(`answered "${key}", which has no effect here: ${instead}`);
      return false;
    });
  return {
    ...Object.fromEntries(supported(parsed, '')),
    ...(isRecord(specific) && {
      hookSpecificOutput: Object.fromEntries(supported(specific, 'hookSpecificOutput.')),
    }),
  };
}

function foreignEffects(
  spoken: Dialect,
  input: HookInput,
  theirInput: HookInput,
  { toolOutput, contextOfResult: context, prevents }: DialectAnswer,
  dropped: readonly string[],
): ForeignEffects | undefined {
  const contextOfResult =
    typeof context === 'string' && context.trim() !== '' ? sanitizeText(context) : undefined;
  const replacement = toolOutput && replacementOf(spoken, input, theirInput, toolOutput);
  const droppedArguments = dropped.length > 0 ? dropped : undefined;
  const effects = { droppedArguments, toolOutput: replacement, contextOfResult, prevents };
  return Object.values(effects).some(Boolean) ? effects : undefined;
}

function replacementOf(
  spoken: Dialect,
  input: HookInput,
  theirInput: HookInput,
  { value, isDenial }: NonNullable<DialectAnswer['toolOutput']>,
): ToolOutput | undefined {
  if (isDenial) {
    return {
      text: asText(asText(value) && sanitizeText(String(value)))?.trim() ?? DEFAULT_BLOCK_REASON,
      isDenial,
    };
  }
  const response: unknown = 'tool_response' in theirInput ? theirInput.tool_response : undefined;
  const sent = isRecord(response) ? response : {};
  const text = toolOutputText(spoken, toolOf(input)?.name ?? '', sent, value);
  // It is a result, and as long as that has to be.
  return text === undefined ? undefined : { text: sanitizeText(text, Infinity), isDenial };
}

function withOurWords(spoken: Dialect, specific: Fields): Record<string, unknown> {
  const ours = (name: string) => ourToolName(spoken, name);
  const { toolConfig, llm_request: request, ...others } = specific;
  return {
    ...others,
    toolConfig: isRecord(toolConfig) ? withAllowedNames(toolConfig, ours) : toolConfig,
    llm_request: withToolNames(request, ours),
  };
}

function unlessEmpty(change: unknown): unknown {
  return isRecord(change) && Object.keys(change).length === 0 ? undefined : change;
}

function tellUser(run: HookRun, message: string): void {
  run.warn(`says: ${sanitizeText(message)}`);
}
