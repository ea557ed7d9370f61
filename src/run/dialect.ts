import { withAllowedNames, withToolNames } from '../protocol/renameTools.js';
import { readAnswer, recordOf, valueAt, withoutPlaces } from '../dialects/answers.js';
import type { Dialect, DialectAnswer, Fields } from '../dialects/dialect.js';
import { dialects, eventWords } from '../dialects/dialects.js';
import { withDialectNames, theirInput, toolOf } from '../dialects/inputs.js';
import { changedArguments, findClash, ourToolName, toolOutputText } from '../dialects/translate.js';
import { events, failsClosed } from '../protocol/events.js';
import { asText, DEFAULT_BLOCK_REASON, isBlocking, textInPlace } from '../protocol/hookOutput.js';
import { describeNoise, isBrokenJson, parseAnswer } from '../protocol/readHookOutput.js';
import { sanitizeText } from '../protocol/sanitizeText.js';
import type { HookInput, ToolOutput } from '../protocol/types.js';
import { isRecord, isTooDeep, MAX_ANSWER_NESTING } from '../util/records.js';
import type { HookRun, RawAnswer } from './hookRun.js';
import { AmbiguousInput, writeInput } from './preparedInput.js';

/**
 * Middleware around the process of one hook of another agent: translates its input and its answer. Everything outside
 * of it sees our own format only.
 */
export async function dialect(run: HookRun, next: () => Promise<void>): Promise<void> {
  const spoken = run.hook.dialect && dialects[run.hook.dialect];
  if (!spoken) return next();
  const clash = findArgumentClash(spoken, run);
  const { event, hook, input, facts } = run;
  run.stdin = clash ?? writeInput(() => theirInput(spoken, event, hook.moment, input, facts));
  await next();
  const said = run.said ?? run.outcome;
  // A model is asked in our own words.
  if (said && hook.type !== 'prompt') run.said = fromDialectAnswer(spoken, run, said);
}

/**
 * Refuses a tool call in which two arguments would have the same name for the hook, since it would read only one of
 * them.
 */
function findArgumentClash(spoken: Dialect, { event, input }: HookRun): Error | undefined {
  const tool = events[event].canBlock ? toolOf(input) : undefined;
  const clash = tool && findClash(spoken, tool.name, tool.input);
  return (
    clash &&
    new AmbiguousInput(
      `the arguments "${clash[0]}" and "${clash[1]}" have one name in ${spoken.agent}, so that one would hide the other`,
    )
  );
}

function fromDialectAnswer(spoken: Dialect, run: HookRun, said: RawAnswer): RawAnswer {
  if (said.ending !== 'exit' || said.exitCode === null) return said;
  const stderr = said.stderr.trim();
  const text = said.stdout.trim() || (spoken.readsStderr ? stderr : '');
  const parsed = parseAnswer(text);
  // What is nested too deeply is refused when the answer is read.
  if (parsed && isTooDeep(parsed, MAX_ANSWER_NESTING + 1)) return { ...said, stdout: text };
  const words = spoken.readsStderr ? text : stderr;
  if (spoken.denies(said.exitCode) && (said.exitCode === 2 || words !== '')) {
    const reason = parsed && spoken.readsStderr ? '' : words;
    return readSaid(spoken, run, said, asDenial(parsed, reason));
  }
  if (parsed) return readSaid(spoken, run, said, parsed);
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

function readPlainText(spoken: Dialect, run: HookRun, said: RawAnswer, text: string): RawAnswer {
  const isBroken = isBrokenJson(text);
  // Plain text is no answer. A guard that printed broken JSON has failed, since its decision is not known.
  if (failsClosed(run.hook, run.event) && isBroken) return { ...said, stdout: text };
  if (describeNoise(text).length > 0) run.warnOnce(NOISE);
  const meaning = spoken.plainText[run.event] ?? spoken.plainText.otherwise;
  if (meaning === 'context' && !text.startsWith('{')) {
    const output = { hookSpecificOutput: { additionalContext: text } };
    return { ...said, stdout: JSON.stringify(output) };
  }
  if (meaning === 'user') warnUser(run, text);
  return { ...said, stdout: '' };
}

const NOISE =
  'printed JSON with other text around it, or a part of it, so that its decision does not count: print one JSON object, and nothing else';

function readSaid(spoken: Dialect, run: HookRun, said: RawAnswer, parsed: Fields): RawAnswer {
  const { event, hook, input } = run;
  const read = withDialectNames(spoken, input);
  const fields = withoutUnsupported(spoken, run, parsed);
  const words = eventWords(spoken, event, hook.moment);
  const answer =
    words?.read?.(fields, toolOf(read)?.name, run.facts) ?? readAnswer(fields, words?.answer);
  for (const message of answer.forUser ?? []) if (asText(message)) warnUser(run, String(message));
  for (const remark of answer.remarks ?? []) run.warnOnce(remark);
  const { output, droppedArguments } = inOurWords(spoken, input, answer.output);
  const effects = {
    droppedArguments,
    toolOutput: answer.toolOutput && replacementOf(spoken, input, read, answer.toolOutput),
    contextOfResult:
      asText(answer.contextOfResult) && sanitizeText(String(answer.contextOfResult), run.textBound),
    prevents: answer.prevents,
  };
  return {
    ...said,
    exitCode: 0,
    stdout: JSON.stringify(output),
    foreign: Object.values(effects).some(Boolean) ? effects : undefined,
    theirNames: answer.theirNames,
  };
}

/** Removes fields that have a meaning for the other agent and none here, with one warning for each. */
function withoutUnsupported(spoken: Dialect, run: HookRun, parsed: Fields): Fields {
  for (const [place, instead] of Object.entries(spoken.unsupported)) {
    if (!instead || !valueAt(parsed, place)) continue;
    const name = place.split('.').at(-1);
    run.warnOnce(`answered "${name}", which has no effect here: ${instead}`);
  }
  return withoutPlaces(parsed, Object.keys(spoken.unsupported));
}

/** An answer with our names of tools, and with what it changes of a tool's arguments. */
function inOurWords(spoken: Dialect, input: HookInput, output: Fields) {
  const { hookSpecificOutput: specific } = output;
  if (!isRecord(specific)) return { output };
  const ours = (name: string) => ourToolName(spoken, name);
  const tool = toolOf(input);
  const { tool_input: returned, toolConfig, llm_request: request } = specific;
  const { change, dropped } =
    tool && isRecord(returned)
      ? changedArguments(spoken, tool.name, tool.input, input.cwd, returned)
      : { change: returned, dropped: [] };
  const isUnchanged = isRecord(change) && Object.keys(change).length === 0;
  const hookSpecificOutput = {
    ...specific,
    toolConfig: isRecord(toolConfig) ? withAllowedNames(toolConfig, ours) : toolConfig,
    llm_request: withToolNames(request, ours),
    tool_input: isUnchanged ? undefined : change,
  };
  return {
    output: { ...output, hookSpecificOutput },
    droppedArguments: dropped.length > 0 ? dropped : undefined,
  };
}

function replacementOf(
  spoken: Dialect,
  input: HookInput,
  read: HookInput,
  { value, isDenial }: NonNullable<DialectAnswer['toolOutput']>,
): ToolOutput | undefined {
  if (isDenial) {
    const reason = asText(value) && asText(sanitizeText(String(value)));
    return textInPlace(reason?.trim() ?? DEFAULT_BLOCK_REASON, isDenial);
  }
  const sent = 'tool_response' in read ? recordOf(read.tool_response) : {};
  const text = toolOutputText(spoken, toolOf(input)?.name ?? '', sent, value);
  // A result is not cut, as a message of a hook would be.
  return text === undefined ? undefined : textInPlace(sanitizeText(text, Infinity));
}

function warnUser(run: HookRun, message: string): void {
  run.warn(`says: ${sanitizeText(message)}`);
}
