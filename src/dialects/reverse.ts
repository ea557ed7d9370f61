import { formatPath, type AnyCheck } from '../util/checks.js';
import { isRecord } from '../util/records.js';
import { DIALECT_NAMES, HookEventName, type DialectName } from '../protocol/types.js';
import { events } from '../protocol/events.js';
import { llmRequest, llmResponse } from '../protocol/modelChecks.js';
import { DEFAULT_BLOCK_REASON, DEFAULT_STOP_REASON } from '../protocol/hookOutput.js';
import { textOf } from './answers.js';
import type { AnswerWords, Dialect, Fields } from './dialect.js';
import { dialects, sentEvent } from './dialects.js';
import { readPayload, theirField } from './inputs.js';
import type { Received, ReceivedIdentity, Reply, ReplyVerdict } from './received.js';
import { receivedArguments, replacementOf } from './translate.js';

/** The events that an agent can send and that are one of ours, by its names. */
export function receivableEvents(name: DialectName): readonly string[] {
  return dialects[name].events.map((words) => words.name);
}

/** Thrown for what is no event, or lacks a field that its hooks must have read. */
export class UnreadableEvent extends Error {
  override readonly name = 'UnreadableEvent';

  constructor(
    message: string,
    /** The event, where that could be read. */
    readonly event?: HookEventName,
    /** The event without a payload, so that it can at least be refused. */
    readonly unread?: Received,
  ) {
    super(message);
  }
}

/**
 * Reads what an agent tells one of its hooks.
 *
 * @returns `undefined` for an event of the agent that is none of ours
 * @throws UnreadableEvent
 * @throws TypeError for a dialect that does not exist
 */
export function receive(name: DialectName, json: unknown): Received | undefined {
  if (!DIALECT_NAMES.includes(name)) {
    const known = DIALECT_NAMES.map((each) => JSON.stringify(each)).join(', ');
    throw new TypeError(`There is no dialect ${JSON.stringify(name)}; the dialects are: ${known}`);
  }
  const spoken = dialects[name];
  const { agent } = spoken;
  if (!isRecord(json)) throw new UnreadableEvent(`${agent} sent no JSON object`);
  const nameField = theirField(spoken.common, 'hook_event_name');
  const theirEvent = json[nameField];
  if (typeof theirEvent !== 'string') throw new UnreadableEvent(`${agent} sent no "${nameField}"`);
  const words = sentEvent(spoken, theirEvent);
  if (!words) {
    if (spoken.otherEvents.includes(theirEvent)) return undefined;
    throw new UnreadableEvent(`${agent} sent an event that is not known here`);
  }
  const { event } = words;
  const payload = attempt(() => readPayload(spoken, words, json), json);
  const received = { dialect: name, theirEvent, event, fields: json };
  if (typeof payload === 'string') {
    const nothing = { toolName: '' } as Received['payload'];
    const unread = { ...received, payload: nothing, identity: {} };
    throw new UnreadableEvent(`${agent} sent ${theirEvent} without ${payload}`, event, unread);
  }
  return { ...received, payload, identity: identityOf(spoken, json) };
}

/** A request or an answer may have any shape. */
function attempt(
  read: () => ReturnType<typeof readPayload>,
  json: Fields,
): ReturnType<typeof readPayload> {
  try {
    return read();
  } catch {
    for (const [name, check] of Object.entries(SHAPES)) {
      const [error] = name in json ? check.validate(json[name]) : [];
      const [failure] = error?.failures() ?? [];
      if (!failure) continue;
      const at = formatPath([name, ...(failure.path as string[])]);
      return `a form of "${name}" that can be read (at ${at}: ${failure.message})`;
    }
    return 'what its hooks read, in a form that can be read';
  }
}

const SHAPES: Readonly<Record<string, AnyCheck>> = {
  llm_request: llmRequest,
  llm_response: llmResponse,
};

function identityOf({ common }: Dialect, fields: Fields): ReceivedIdentity {
  const valueOf = (name: string) => textOf(fields[theirField(common, name)]);
  const identity = {
    sessionId: valueOf('session_id'),
    cwd: valueOf('cwd'),
    transcriptPath: valueOf('transcript_path'),
    callId: valueOf('tool_use_id'),
    agent: valueOf('agent_type') || valueOf('agent_id'),
  };
  return Object.fromEntries(Object.entries(identity).filter(([, value]) => value !== ''));
}

/** What is answered in place of hooks that have not: a block, or where that comes too late, that something is withheld. */
export function refusedVerdict({ event }: Received, reason: string): ReplyVerdict {
  const withheld = events[event].withhold?.(`What was given here is withheld. ${reason}`);
  return {
    kind: withheld ? 'none' : 'block',
    reason,
    output: withheld?.foreign?.toolOutput,
    changes: withheld?.hookSpecificOutput,
  };
}

/** Puts a verdict into the format of the agent that sent the event. */
export function reply(received: Received, given: ReplyVerdict): Reply {
  // Nothing else has a result that could be replaced, and a host's own verdict may hold any field.
  const hasResult = received.event === HookEventName.AfterTool;
  const verdict = hasResult ? given : { ...given, output: undefined };
  const spoken = dialects[received.dialect];
  const { answer } = sentEvent(spoken, received.theirEvent) ?? {};
  const { json, lost } = answer ? writeAnswer(spoken, answer, verdict, received) : NOTHING;
  const { forUser = [], isHidden = false, unheard } = verdict;
  return {
    json: {
      ...json,
      ...(forUser.length > 0 && { systemMessage: forUser.join('\n') }),
      ...(isHidden && { suppressOutput: true }),
    },
    lost: [
      ...(unheard === undefined ? [] : [`a hook blocks, which blocks nothing here: ${unheard}`]),
      ...lost,
      ...(isHidden ? [HIDES_LESS] : []),
    ],
  };
}

const NOTHING: Reply = { json: {}, lost: [] };
const HIDES_LESS = '"suppressOutput" hides what a hook printed there, and no result';

/** The end of the agent; nothing for every other verdict. */
function stop({ kind, reason }: ReplyVerdict): Record<string, unknown> {
  return kind === 'stop' ? { continue: false, stopReason: reason ?? DEFAULT_STOP_REASON } : {};
}

export function reasonOfVerdict({ reason = DEFAULT_BLOCK_REASON }: ReplyVerdict): string {
  return reason;
}

/** Puts a verdict where the agent reads it. */
function writeAnswer(
  spoken: Dialect,
  words: AnswerWords,
  verdict: ReplyVerdict,
  received: Received,
): Reply {
  const objection =
    words.blockIsContext && verdict.kind === 'block' ? [reasonOfVerdict(verdict)] : [];
  const context = [...objection, ...(verdict.context ?? [])];
  if (words.replacing && verdict.output) {
    const reason = [verdict.output.text, ...context].join('\n\n');
    return { json: { decision: words.replacing, reason, ...stop(verdict) }, lost: [] };
  }
  const { input, output, refusal } = valuesOf(spoken, words, verdict, received);
  const said = { ...verdict, context, ...refusal };
  const { kind } = said;
  const { decision = 'decision', reason = 'reason', cannotStop } = words;
  const word = words.words?.[kind];
  const isWithReason = words.contextWith?.includes(kind) === true;
  const explained = [reasonOfVerdict(said), ...(isWithReason ? context : [])].join('\n\n');
  const allowed = words.explainsAllow ? said.reason : undefined;
  const json = placed(received.theirEvent, [
    ...Object.entries(cannotStop === undefined ? stop(said) : {}),
    [decision, word],
    [reason, word && (kind === 'allow' ? allowed : explained)],
    [words.end, kind === 'stop' || undefined],
    [words.input, input],
    [words.context, context.length > 0 ? context.join('\n\n') : undefined],
    [words.output, output],
    ...Object.entries(words.more?.(said) ?? {}),
  ]);
  const isUnread = context.length > 0 && words.context === undefined && !isWithReason;
  return {
    json,
    lost: [
      ...(kind === 'stop' && cannotStop !== undefined ? [cannotStop] : []),
      ...(isUnread ? ['the model reads nothing of hooks at this event'] : []),
      ...(refusal ? [refusal.reason] : []),
    ],
  };
}

/** The arguments and the result as the agent takes them, or what has to be said because it does not. */
function valuesOf(
  spoken: Dialect,
  words: AnswerWords,
  { kind, input, output: given }: ReplyVerdict,
  received: Received,
): {
  readonly input?: Fields | undefined;
  readonly output?: unknown;
  readonly refusal?: { readonly kind: 'block' | 'stop'; readonly reason: string };
} {
  const { agent, replacesArguments } = spoken;
  const output = given && words.output && replacementOf(spoken, received, given.text);
  if (given && output === undefined) {
    // What a hook wanted hidden must not be read, so that nothing but an end is left.
    const reason = `A hook replaced the result of a tool, and ${agent} cannot replace the result of this one, so it was stopped.`;
    return { refusal: { kind: 'stop', reason } };
  }
  if (!words.input || !input || kind === 'block' || kind === 'stop') return { output };
  const { needsDecision } = words;
  if (needsDecision !== undefined && !words.words?.[kind]) {
    return { refusal: { kind: 'block', reason: needsDecision } };
  }
  const { all, changed, dropped } = receivedArguments(spoken, received, input);
  if (replacesArguments) return { input: all };
  if (dropped.length > 0) {
    const reason = `A hook removed arguments (${dropped.join(', ')}), and ${agent} cannot remove any, so the tool was not run.`;
    return { refusal: { kind: 'block', reason } };
  }
  return { input: Object.keys(changed).length > 0 ? changed : undefined };
}

function placed(
  hookEventName: string,
  values: readonly (readonly [place: string | undefined, value: unknown])[],
): Record<string, unknown> {
  const json: Record<string, unknown> = {};
  for (const [place, value] of values) {
    if (place === undefined || value === undefined) continue;
    const names = place.split('.');
    const last = names.pop() ?? '';
    let inside = json;
    for (const name of names) {
      const fresh = name === 'hookSpecificOutput' ? { hookEventName } : {};
      inside = (inside[name] ??= fresh) as Record<string, unknown>;
    }
    inside[last] = value;
  }
  return json;
}
