import { errorMessage } from '../util/errorMessage.js';
import { isRecord } from '../util/records.js';
import {
  rankOf,
  withToolInput,
  type DefaultHookOutput,
  type ProcessedHookResult,
  areHealthy,
} from '../protocol/hookOutput.js';
import { asSystemNote } from '../protocol/llmContent.js';
import { HookEventName, type DialectName, type HookPayload } from '../protocol/types.js';
import { canPrevent, events } from '../protocol/events.js';
import { claudeReverse } from './claudeReverse.js';
import type { Fields } from './dialect.js';
import { foreignMoment, theirEventName } from './dialects.js';
import { geminiReverse } from './geminiReverse.js';
import { recordOf } from './answers.js';
import { findReverseClash } from './reverseArguments.js';
import { readPayload, textField } from './reversePayloads.js';
import type {
  Received,
  ReceivedIdentity,
  Reply,
  ReplyVerdict,
  ReverseDialect,
} from './reverseTypes.js';

export type { Received, Reply, ReplyVerdict } from './reverseTypes.js';

const reverseDialects: Readonly<Record<DialectName, ReverseDialect>> = {
  claude: claudeReverse,
  gemini: geminiReverse,
};

/** The events that an agent can send and that are one of ours, by its names. */
export function receivableEvents(name: DialectName): readonly string[] {
  return Object.keys(reverseDialects[name].writers);
}

/** Thrown for what is no event, or lacks a field that its hooks must have read. */
export class UnreadableEvent extends Error {
  override readonly name = 'UnreadableEvent';

  constructor(
    message: string,
    /** The event, where that could be read. */
    readonly event?: HookEventName,
    /** What can be answered nevertheless. Of what happened, it knows nothing. */
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
 */
export function receive(name: DialectName, json: unknown): Received | undefined {
  const reverse = reverseDialects[name];
  const { agent } = reverse.spoken;
  if (!isRecord(json)) throw new UnreadableEvent(`${agent} sent no JSON object`);
  const theirEvent = json['hook_event_name'];
  if (typeof theirEvent !== 'string') {
    throw new UnreadableEvent(`${agent} sent no "hook_event_name"`);
  }
  const event = eventOf(reverse, theirEvent);
  if (!event) {
    if (reverse.unknownEvents.has(theirEvent)) return undefined;
    throw new UnreadableEvent(`${agent} sent an event that is not known here`);
  }
  const payload = attempt(() => readPayload(reverse, event, theirEvent, json));
  if (typeof payload === 'string') {
    const nothing = { toolName: '' } as Received['payload'];
    throw new UnreadableEvent(`${agent} sent ${theirEvent} without ${payload}`, event, {
      dialect: name,
      theirEvent,
      event,
      payload: nothing,
      identity: {},
      fields: json,
    });
  }
  return { dialect: name, theirEvent, event, payload, identity: identityOf(json), fields: json };
}

/** A request or an answer may have any shape. */
function attempt(read: () => ReturnType<typeof readPayload>): ReturnType<typeof readPayload> {
  try {
    return read();
  } catch (error) {
    return `what its hooks read (${errorMessage(error)})`;
  }
}

function eventOf({ spoken, alsoEvents, writers }: ReverseDialect, theirs: string) {
  if (!Object.hasOwn(writers, theirs)) return undefined;
  return (
    Object.values(HookEventName).find((event) => theirEventName(spoken, event) === theirs) ??
    foreignMoment(spoken, theirs)?.event ??
    Object.values(HookEventName).find((event) => event === alsoEvents[theirs])
  );
}

function identityOf(fields: Fields): ReceivedIdentity {
  const identity = {
    sessionId: textField(fields, 'session_id'),
    cwd: textField(fields, 'cwd'),
    transcriptPath: textField(fields, 'transcript_path'),
    callId: textField(fields, 'tool_use_id'),
    agent: textField(fields, 'agent_type') ?? textField(fields, 'agent_id'),
  };
  const known = Object.entries(identity).filter(([, value]) => value !== undefined);
  return Object.fromEntries(known);
}

/**
 * Why a call must not run that hooks have looked at: they may have read another argument than the tool will.
 *
 * @param changed its arguments as hooks have left them, where they changed any: one of another agent may know an argument
 *   by another name
 */
export function ambiguityOf(
  { dialect, event, payload, fields }: Received,
  changed: Readonly<Record<string, unknown>> = {},
): string | undefined {
  if (event !== HookEventName.BeforeTool) return undefined;
  const { toolName } = payload as HookPayload<HookEventName.BeforeTool>;
  const { spoken } = reverseDialects[dialect];
  const clash =
    findReverseClash(spoken, toolName, recordOf(fields['tool_input'])) ??
    findReverseClash(spoken, toolName, changed);
  if (!clash) return undefined;
  const [theirs, ours] = clash;
  return `The arguments "${theirs}" and "${ours}" are one and the same for hooks, so that they would not see which of them ${spoken.agent} uses: leave "${ours}" out.`;
}

/** What the hooks of a received event decided, as far as that counts for this event. */
export function verdictOf(
  received: Received,
  fired: ProcessedHookResult | undefined,
): ReplyVerdict {
  if (!fired) return { kind: 'none' };
  const { finalOutput: output } = fired.aggregated;
  const hasFailed = !areHealthy(fired.aggregated);
  if (!output) return { kind: 'none', hasFailed };
  const { event } = received;
  const isRefused = fired.shouldStop || output.isBlockingDecision();
  const replacement = event === HookEventName.AfterTool ? output.foreign?.toolOutput : undefined;
  return {
    ...decisionOf(received, fired, output),
    unheard: unheardBlock(received, fired, output),
    input: isRefused ? undefined : changedInput(received, output),
    output: replacement,
    context: [
      output.foreign?.contextOfResult,
      event === HookEventName.BeforeTool ? undefined : output.getAdditionalContext(),
      fired.systemMessage && asSystemNote(fired.systemMessage),
    ].flatMap((text) => text || []),
    isHidden: fired.suppressOutput,
    hasFailed,
    changes: output.hookSpecificOutput,
  };
}

function decisionOf(
  received: Received,
  fired: ProcessedHookResult,
  output: DefaultHookOutput,
): Pick<ReplyVerdict, 'kind' | 'reason'> {
  const { event } = received;
  if (fired.shouldStop) return { kind: 'stop', reason: output.getStopReason() };
  if (output.isBlockingDecision()) {
    const isReplaced = output.getBlockReason() === output.foreign?.toolOutput?.text;
    const isObjection = isHeard(event, output) && !isReplaced;
    return isObjection ? { kind: 'block', reason: output.getBlockReason() } : { kind: 'none' };
  }
  if (output.decision === 'ask' && events[event].canAsk) {
    return { kind: 'ask', reason: output.reason };
  }
  if (event !== HookEventName.BeforeTool) return { kind: 'none' };
  return isAllowedForUser(received, fired, output) ? { kind: 'allow' } : { kind: 'none' };
}

function isHeard(event: HookEventName, output: DefaultHookOutput): boolean {
  return canPrevent(event, output) || event === HookEventName.AfterTool;
}

/** Who blocks by exit code 2 is told of where the hook ends. */
function unheardBlock(
  { event }: Received,
  { aggregated, shouldStop }: ProcessedHookResult,
  output: DefaultHookOutput,
): string | undefined {
  if (shouldStop || !output.isBlockingDecision() || isHeard(event, output)) return undefined;
  const isTold = aggregated.results.some(({ exitCode }) => exitCode === 2);
  return isTold ? undefined : output.getBlockReason();
}

/** Our hooks have no objection where they allow. Those of the agent itself answer for its user. */
function isAllowedForUser(
  { dialect }: Received,
  { aggregated }: ProcessedHookResult,
  { decision }: DefaultHookOutput,
): boolean {
  const allow = rankOf('allow');
  return (
    rankOf(decision) === allow &&
    aggregated.results.some(
      ({ hookConfig, output }) =>
        hookConfig.dialect === dialect && output && rankOf(output.decision) === allow,
    )
  );
}

function changedInput({ event, payload }: Received, output: DefaultHookOutput) {
  if (event !== HookEventName.BeforeTool) return undefined;
  const { toolInput } = payload as HookPayload<HookEventName.BeforeTool>;
  const changed = withToolInput(toolInput, output);
  return changed === toolInput ? undefined : changed;
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
export function reply(received: Received, verdict: ReplyVerdict): Reply {
  const write = reverseDialects[received.dialect].writers[received.theirEvent];
  const { json = {}, lost = [] } = write?.(verdict, received) ?? {};
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

const HIDES_LESS = '"suppressOutput" hides what a hook printed there, and no result';
