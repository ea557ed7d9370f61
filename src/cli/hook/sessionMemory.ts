import { createHash } from 'node:crypto';
import { lstatSync, rmSync } from 'node:fs';
import path from 'node:path';
import { recordOf } from '../../dialects/answers.js';
import { dialects } from '../../dialects/dialects.js';
import type { Received, ReceivedIdentity, ReplyVerdict } from '../../protocol/received.js';
import { theirToolNames } from '../../dialects/translate.js';
import { DEFAULT_STOP_REASON } from '../../protocol/hookOutput.js';
import { HookEventName, type HookPayload } from '../../protocol/types.js';
import { errorMessage } from '../../util/errorMessage.js';
import { readGuardedFile } from '../../util/guardedFile.js';
import { findHome } from '../../util/homeDirectory.js';
import { writeAtomically } from '../../util/writeAtomically.js';
import { makePrivate, ownFolder, removeOld } from '../shared/privateFolder.js';
import { HostLogger } from './tellPerson.js';

const { BeforeTool, BeforeToolSelection, BeforeAgent, AfterAgent, SessionStart, SessionEnd } =
  HookEventName;
const { SubagentStart, SubagentStop, ModelError } = HookEventName;

/** What one event of a session leaves for the next ones, of which each has a process of its own. */
interface Memory {
  /** Why the session is to end. */
  readonly stop?: string | undefined;
  /** Whether that was said when it began, so that it counts for the first prompt as well. */
  readonly isOfStart?: boolean | undefined;
  /** The only tools, by the agent's names, that the model may call. */
  readonly tools?: readonly string[] | undefined;
}

/**
 * Some agents cannot be ended at the event at which hooks want that, or not in all versions; some run tools that they were
 * told not to offer. So that is remembered: such tools are refused, and the agent is ended wherever it can be, until the
 * user says something new, or hooks answer otherwise. Where there is nothing to remember, nothing is written.
 *
 * @param add to the verdict of an agent that is not to end
 */
export async function withMemory(
  received: Received,
  decide: () => Promise<ReplyVerdict>,
  add: (verdict: ReplyVerdict) => ReplyVerdict = (verdict) => verdict,
): Promise<ReplyVerdict> {
  const { event } = received;
  const file = fileOf(received.dialect, received.identity.sessionId);
  if (file === undefined) return add(await decide());
  const before = await recall(file);
  if (event === BeforeTool) {
    const refusal = refusalOf(received, before) ?? (await refusalOfHelper(received));
    if (refusal) return refusal;
  }
  const kept = isAnew(received, before) ? {} : before;
  const verdict = await decide();
  await keep(file, before, { ...kept, ...memoryOf(received, verdict) });
  // Whoever starts a session that was stopped before is about to say something new.
  if (kept.stop === undefined) return add(verdict);
  if (verdict.kind === 'stop' || event === SessionStart) return verdict;
  // Nobody sends back to work what is to end.
  return event === AfterAgent || event === SubagentStop
    ? { ...verdict, kind: 'none' }
    : { ...verdict, kind: 'stop', reason: kept.stop };
}

/** Whether the user has the word again; after a stop at its start, a session has to start again. */
function isAnew({ event, identity }: Received, { isOfStart = false }: Memory): boolean {
  // The prompt of a sub-agent is none of the user.
  if (identity.agentId !== undefined) return false;
  return event === SessionEnd || event === (isOfStart ? SessionStart : BeforeAgent);
}

function refusalOf(received: Received, { stop, tools }: Memory): ReplyVerdict | undefined {
  if (stop !== undefined) return { kind: 'stop', reason: stop };
  const { toolName } = received.payload as HookPayload<HookEventName.BeforeTool>;
  const [name] = theirToolNames(dialects[received.dialect], toolName);
  if (!tools || tools.includes(name)) return undefined;
  const offered = tools.length > 0 ? tools.join(', ') : 'no tool';
  return {
    kind: 'block',
    reason: `Hooks keep ${name} from the model, which may call ${offered} now.`,
  };
}

/** What an event adds to it. */
function memoryOf({ event, dialect }: Received, verdict: ReplyVerdict): Memory {
  const { kind, reason = DEFAULT_STOP_REASON, changes } = verdict;
  const spoken = dialects[dialect];
  const isOffer = event === BeforeToolSelection && spoken.runsWhatIsNotOffered === true;
  const { mode, allowedFunctionNames: names } = recordOf(changes?.['toolConfig']);
  const tools = mode === 'NONE' ? [] : names;
  return {
    ...(kind === 'stop' && stopAt(event, reason)),
    ...(isOffer && {
      tools: isTexts(tools) ? tools.map((name) => theirToolNames(spoken, name)[0]) : undefined,
    }),
  };
}

/** A sub-agent that was not to start, of an agent that starts it all the same: it may do nothing. */
async function refusalOfHelper({ dialect, identity }: Received): Promise<ReplyVerdict | undefined> {
  const file = identity.agentId && helperFile(dialect, identity);
  const { stop } = file ? await recall(file) : {};
  return stop === undefined ? undefined : { kind: 'block', reason: stop };
}

/** Events at whose end there is nothing left to stop. */
const ENDS: ReadonlySet<HookEventName> = new Set([
  AfterAgent,
  SessionEnd,
  SubagentStop,
  ModelError,
]);

function stopAt(event: HookEventName, stop: string): Memory {
  if (ENDS.has(event)) return {};
  return { stop, isOfStart: event === SessionStart };
}

function isTexts(value: unknown): value is string[] {
  return Array.isArray(value) && value.every((each) => typeof each === 'string');
}

/** Within `.llxprt` of the home directory. */
const FOLDER = 'sessions';

/** Remembers that a session is to end, or what a sub-agent may not do, as its agent cannot be told what hooks decided. */
export async function keepStop(
  { dialect, event, identity }: Received,
  reason: string,
): Promise<void> {
  const isOfHelper = event === SubagentStart && identity.agentId !== undefined;
  const file = isOfHelper ? helperFile(dialect, identity) : fileOf(dialect, identity.sessionId);
  if (file === undefined) return;
  const before = await recall(file);
  await keep(file, before, { ...stopAt(event, reason), ...before });
}

/** What is known of a sub-agent, by the session that has started it. */
function helperFile(dialect: string, { sessionId, parentSessionId, agentId }: ReceivedIdentity) {
  return fileOf(dialect, parentSessionId ?? sessionId, agentId);
}

function fileOf(dialect: string, sessionId?: string, helper?: string): string | undefined {
  if (sessionId === undefined) return undefined;
  const whose = [dialect, sessionId, ...(helper === undefined ? [] : [helper])].join('\n');
  const name = createHash('sha256').update(whose).digest('hex');
  const home = findHome();
  return home && path.join(home, '.llxprt', FOLDER, name);
}

/** What cannot be read may be a stop. */
async function recall(file: string): Promise<Memory> {
  if (lstatSync(file, { throwIfNoEntry: false }) === undefined) return {};
  const reading = await readGuardedFile(file, { groupMayWrite: false });
  if (reading.status === 'missing') return {};
  if (reading.status === 'refused') return { stop: `${file}: ${reading.reason}` };
  try {
    return JSON.parse(reading.text) as Memory;
  } catch (error) {
    return { stop: `${file}: ${errorMessage(error)}` };
  }
}

/** Events of a session may come side by side, so that nothing is written that was so before. */
async function keep(file: string, before: Memory, after: Memory): Promise<void> {
  const text = JSON.stringify(after);
  if (text === JSON.stringify(before)) return;
  try {
    if (text === '{}') return rmSync(file, { force: true });
    const folder = ownFolder(FOLDER);
    makePrivate(folder);
    removeOld(folder, /^[\da-f]{64}/);
    await writeAtomically(path.join(folder, path.basename(file)), text, 0o600);
  } catch (error) {
    const logger = new HostLogger('llxprt:core:hooks');
    logger.warn(`what hooks decided counts for this event alone: ${errorMessage(error)}`);
  }
}
