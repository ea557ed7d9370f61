import { isRecord } from '../util/records.js';
import { DIALECT_NAMES, HookEventName, type DialectName } from '../protocol/types.js';
import { misfitOf } from '../protocol/modelChecks.js';
import { DEFAULT_BLOCK_REASON, DEFAULT_STOP_REASON, readInPlace } from '../protocol/hookOutput.js';
import { placed, textOf } from './answers.js';
import type { AnswerWords, CommonField, Dialect, Fields } from './dialect.js';
import { dialects, sentEvent } from './dialects.js';
import { fieldOf, givenInput, readPayloads, theirField } from './inputs.js';
import type { Received, ReceivedIdentity, Reply, ReplyVerdict } from '../protocol/received.js';
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
  const theirEvent =
    spoken.eventName?.(json) ??
    commonValue(spoken, json, 'hook_event_name') ??
    json[spoken.otherEventField ?? ''];
  if (typeof theirEvent !== 'string') {
    const field = theirField(spoken.common, 'hook_event_name');
    throw new UnreadableEvent(`${agent} sent no "${field}"`);
  }
  const words = sentEvent(spoken, theirEvent);
  if (!words) {
    if (spoken.otherEvents.includes(theirEvent)) return undefined;
    throw new UnreadableEvent(`${agent} sent an event that is not known here`);
  }
  const { event } = words;
  if (words.isOther?.(json)) return undefined;
  const payloads = attempt(() => readPayloads(spoken, words, json), json);
  const received = { dialect: name, theirEvent, event, fields: json };
  if (typeof payloads === 'string') {
    const nothing = { toolName: '' } as Received['payload'];
    const unread = { ...received, payload: nothing, identity: identityOf(spoken, json) };
    throw new UnreadableEvent(`${agent} sent ${theirEvent} without ${payloads}`, event, unread);
  }
  const [payload, ...others] = payloads as [Received['payload'], ...Received['payload'][]];
  const more = others.length > 0 && { others };
  return { ...received, payload, ...more, identity: identityOf(spoken, json) };
}

/** A request or an answer may have any shape. */
function attempt(
  read: () => ReturnType<typeof readPayloads>,
  json: Fields,
): ReturnType<typeof readPayloads> {
  try {
    return read();
  } catch {
    return misfitOf(json) ?? 'what its hooks read, in a form that can be read';
  }
}

function commonValue({ common }: Dialect, fields: Fields, name: string): unknown {
  return fieldOf(fields, common, name);
}

function identityOf(spoken: Dialect, fields: Fields): ReceivedIdentity {
  const valueOf = (name: string) => textOf(commonValue(spoken, fields, name));
  const identity = {
    sessionId: valueOf('session_id'),
    cwd: valueOf('cwd'),
    transcriptPath: valueOf('transcript_path'),
    callId: valueOf('tool_use_id'),
    agent: valueOf('agent_type') || valueOf('agent_id'),
    ...((spoken.isHelper?.(fields) ?? true) && {
      agentId: valueOf('agent_id'),
      agentType: valueOf('agent_type'),
      parentSessionId: valueOf('parent_session_id'),
    }),
  };
  return Object.fromEntries(Object.entries(identity).filter(([, value]) => value !== ''));
}

/** Puts a verdict into the format of the agent that sent the event. */
export function reply(received: Received, given: ReplyVerdict): Reply {
  // Nothing else has a result that could be replaced, and a host's own verdict may hold any field.
  const hasResult = received.event === HookEventName.AfterTool;
  const verdict = hasResult ? given : { ...given, output: undefined };
  const spoken = dialects[received.dialect];
  const { answer, exitCode } = sentEvent(spoken, received.theirEvent) ?? {};
  if (exitCode) return replyByExitCode(exitCode, verdict, received);
  const { json, stops, lost } = answer
    ? writeAnswer(spoken, answer, verdict, received)
    : { json: {}, stops: undefined, lost: unheardOf(verdict) };
  const { forUser = [], isHidden = false, unheard } = verdict;
  const takes = (field: CommonField) => !isRefused(spoken, answer, field);
  const isTold = forUser.length > 0 && takes('systemMessage');
  return {
    json: {
      ...json,
      ...(isTold && { systemMessage: forUser.join('\n') }),
      ...(isHidden && takes('suppressOutput') && { suppressOutput: true }),
    },
    ...(stops !== undefined && { stops }),
    lost: [
      ...(unheard === undefined ? [] : [`a hook blocks, which blocks nothing here: ${unheard}`]),
      ...lost,
      ...(isTold ? [] : forUser),
      ...(isHidden ? [HIDES_LESS] : []),
    ],
  };
}

/** Whether the model reads what is answered to an event as context. */
export function carriesContext({ dialect, theirEvent }: Received): boolean {
  const { answer, exitCode } = sentEvent(dialects[dialect], theirEvent) ?? {};
  if (exitCode) return exitCode === 'context';
  return answer?.context !== undefined && answer.isContextAlone !== true;
}

/** A question that nobody can be asked is no yes, and a stop refuses what it can. */
function replyByExitCode(
  text: 'context' | 'nothing',
  verdict: ReplyVerdict,
  received: Received,
): Reply {
  const { refusal } = valuesOf(dialects[received.dialect], {}, verdict, received);
  const { kind, reason, context = [], forUser = [] } = { ...verdict, ...refusal };
  const isAgainst = kind === 'block' || kind === 'stop' || kind === 'ask';
  const mayRefuse = isAgainst && PREVENTED.has(received.event);
  const objection = isAgainst && !mayRefuse ? [reason ?? DEFAULT_BLOCK_REASON] : [];
  const said = [...objection, ...context];
  return {
    json: {},
    ...(mayRefuse && { refusal: reason ?? DEFAULT_BLOCK_REASON }),
    ...(text === 'context' && said.length > 0 && { text: said.join('\n\n') }),
    ...(refusal?.kind === 'stop' && { stops: refusal.reason }),
    lost: [
      ...forUser,
      ...(said.length > 0 && text === 'nothing' ? [UNREAD, ...objection] : []),
      ...(refusal ? [refusal.reason] : []),
    ],
  };
}

/** Events that happen only if nobody refuses them. */
const PREVENTED: ReadonlySet<HookEventName> = new Set([
  HookEventName.BeforeTool,
  HookEventName.BeforeAgent,
  HookEventName.SubagentStart,
]);
const UNREAD = 'the model reads nothing of hooks at this event';

/** What is said of a block that nothing comes of. */
function unheardOf({ kind, reason = DEFAULT_BLOCK_REASON }: ReplyVerdict): string[] {
  return kind === 'block' ? [`a hook blocks, which blocks nothing here: ${reason}`] : [];
}

/** What is said of a block that the agent has no word for, and which counts for what comes next. */
function insteadOf({ reason = DEFAULT_BLOCK_REASON }: ReplyVerdict): string {
  return `a hook blocks, for which the agent has no word here, so that its tools are denied: ${reason}`;
}

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
  given: ReplyVerdict,
  received: Received,
): Reply {
  const verdict = withWordFor(words, given, received);
  const objection =
    words.blockIsContext && verdict.kind === 'block' ? [reasonOfVerdict(verdict)] : [];
  const context = [...objection, ...(verdict.context ?? [])];
  const replaced = verdict.output && readInPlace(verdict.output);
  const mayEnd = words.cannotStop === undefined && !isRefused(spoken, words, 'continue');
  if (words.replaced && replaced !== undefined) {
    const json = words.replaced([replaced, ...context].join('\n\n'));
    return { json: { ...json, ...(mayEnd && stop(verdict)) }, lost: [] };
  }
  const { input, output, refusal } = valuesOf(spoken, words, verdict, received);
  const said = { ...verdict, context, ...refusal };
  const { kind } = said;
  const { decision = 'decision', reason = 'reason', cannotStop, inputWith } = words;
  const word = words.words?.[kind] ?? (input && inputWith);
  const isDecided = word !== undefined;
  const isWithReason = words.contextWith?.includes(kind) === true;
  const explained = [reasonOfVerdict(said), ...(isWithReason ? context : [])].join('\n\n');
  const allowed = words.explainsAllow ? said.reason : undefined;
  const isAlone = words.isContextAlone && input !== undefined;
  const entries: Parameters<typeof placed>[0] = [
    ...Object.entries(mayEnd ? stop(said) : {}),
    [decision || undefined, word],
    [reason, isDecided ? (kind === 'allow' || kind === 'none' ? allowed : explained) : undefined],
    [words.end, kind === 'stop' || undefined],
    [words.input, input],
    [isAlone ? undefined : words.context, context.length > 0 ? context.join('\n\n') : undefined],
    [words.output, output],
    ...Object.entries(words.more?.(said) ?? {}),
  ];
  const json = placed(entries, received.theirEvent);
  const isUnread = context.length > 0 && (isAlone || !words.context) && !isWithReason;
  const isUnsaid = kind === 'block' && !isDecided && !words.blockIsContext;
  // What is refused, and cannot be, must not go on.
  const mustStop = isUnsaid && PREVENTED.has(received.event);
  const stops = mustStop || refusal?.kind === 'stop' ? reasonOfVerdict(said) : undefined;
  return {
    json,
    ...(stops !== undefined && { stops }),
    lost: [
      ...(isUnsaid ? (mustStop ? [insteadOf(said)] : unheardOf(said)) : []),
      ...(kind === 'stop' && cannotStop !== undefined ? [cannotStop] : []),
      ...(isUnread ? [UNREAD] : []),
      ...(refusal ? [refusal.reason] : []),
    ],
  };
}

function isRefused(
  { refuses = [] }: Dialect,
  words: AnswerWords | undefined,
  field: CommonField,
): boolean {
  return refuses.includes(field) || words?.refuses?.includes(field) === true;
}

/** A question that an agent cannot put to its user must not be a yes. */
function withWordFor(
  { words, asksItself }: AnswerWords,
  said: ReplyVerdict,
  { event, payload }: Received,
): ReplyVerdict {
  if (said.kind !== 'ask' || asksItself) return said;
  if (words?.block === undefined) return PREVENTED.has(event) ? { ...said, kind: 'block' } : said;
  const isAlone = 'canAsk' in payload && payload.canAsk === false;
  if (words.ask !== undefined && !isAlone) return said;
  return {
    ...said,
    kind: 'block',
    reason: isAlone ? `${reasonOfVerdict(said)} ${UNATTENDED}` : said.reason,
  };
}

const UNATTENDED =
  '(A person is to be asked, and none may be there: whoever is sets HOOKSTACK_PERSON=1.)';

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
  const text = given && readInPlace(given);
  const isReplaced = text !== undefined;
  const output = isReplaced && words.output ? replacementOf(spoken, received, text) : undefined;
  if (isReplaced && output === undefined) {
    // What a hook wanted hidden must not be read, so that nothing but an end is left.
    const reason = `A hook replaced the result of a tool, and ${agent} cannot replace the result of this one, so it was stopped.`;
    return { refusal: { kind: 'stop', reason } };
  }
  if (!input || kind === 'block' || kind === 'stop') return { output };
  if (!words.input || received.others) {
    const reason = `A hook changed the arguments, and ${agent} cannot change those of this call, so the tool was not run.`;
    return { refusal: { kind: 'block', reason } };
  }
  const { needsDecision } = words;
  if (needsDecision !== undefined && !words.words?.[kind]) {
    return { refusal: { kind: 'block', reason: needsDecision } };
  }
  const { all, changed, dropped } = receivedArguments(
    spoken,
    received,
    givenInput(received),
    input,
  );
  if (replacesArguments) return { input: all };
  if (dropped.length > 0) {
    const reason = `A hook removed arguments (${dropped.join(', ')}), and ${agent} cannot remove any, so the tool was not run.`;
    return { refusal: { kind: 'block', reason } };
  }
  return { input: Object.keys(changed).length > 0 ? changed : undefined };
}
