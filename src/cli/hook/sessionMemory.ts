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
import { readTextSync } from '../../util/guardedRead.js';
import { findHome } from '../../util/homeDirectory.js';
import { orUndefined } from '../../util/paths.js';
import { writeAtomically } from '../../util/writeAtomically.js';
import { sessionFolder, SESSIONS } from '../shared/privateFolder.js';
import type { LastStop } from '../shared/watchdog.js';
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
 * @param asksOfHelpers whether a guard decides which sub-agents may start, so that it must be known what it has decided
 * @param add to the verdict of an agent that is not to end
 */
export async function withMemory(
  received: Received,
  asksOfHelpers: () => boolean,
  decide: () => Promise<ReplyVerdict>,
  add: (verdict: ReplyVerdict) => ReplyVerdict = (verdict) => verdict,
): Promise<ReplyVerdict> {
  const { event } = received;
  const file = fileOf(received.dialect, received.identity.sessionId);
  const before = file === undefined ? {} : await recall(file);
  if (event === BeforeTool) {
    const refusal = refusalOf(received, before) ?? (await refusalOfHelper(received, asksOfHelpers));
    if (refusal) return refusal;
  }
  if (file === undefined) return add(await decide());
  const isAgain = isAnew(received, before);
  if (isAgain) forgetHelper(received, UNKNOWN);
  const kept = isAgain ? {} : before;
  const verdict = await decide();
  // The user's next prompt is none for a sub-agent that works on.
  if (event === SubagentStart) {
    if (verdict.kind === 'stop') await keepStop(received, reasonOf(verdict));
    else if (verdict.kind !== 'block') forgetHelper(received);
  }
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
  const { kind, changes } = verdict;
  const spoken = dialects[dialect];
  const isOffer = event === BeforeToolSelection && spoken.runsWhatIsNotOffered === true;
  const { mode, allowedFunctionNames: names } = recordOf(changes?.['toolConfig']);
  const tools = mode === 'NONE' ? [] : names;
  return {
    ...(kind === 'stop' && stopAt(event, reasonOf(verdict))),
    ...(isOffer && {
      tools: isTexts(tools) ? tools.map((name) => theirToolNames(spoken, name)[0]) : undefined,
    }),
  };
}

function reasonOf({ reason = DEFAULT_STOP_REASON }: ReplyVerdict): string {
  return reason;
}

/** A sub-agent that was not to start, of an agent that starts it all the same: it may do nothing. */
async function refusalOfHelper(
  { identity }: Received,
  asksOfHelpers: () => boolean,
): Promise<ReplyVerdict | undefined> {
  if (identity.agentId === undefined) return undefined;
  for (const agentId of [identity.agentId, UNKNOWN]) {
    const file = helperFile({ ...identity, agentId });
    const { stop } = file === undefined ? {} : await recall(file);
    const until =
      agentId === UNKNOWN ? ' It counts for all sub-agents until your next prompt.' : '';
    if (stop !== undefined) return { kind: 'block', reason: `${stop}${until}` };
  }
  if (!asksOfHelpers()) return undefined;
  try {
    await write('probe', 'x');
    return undefined;
  } catch (error) {
    const why = `What is decided of sub-agents cannot be kept in ~/.llxprt/${SESSIONS} (${errorMessage(error)})`;
    const next = 'mend that, and start it again';
    return {
      kind: 'block',
      reason: `${why}, so it is not known whether this sub-agent may work: ${next}.`,
    };
  }
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

/** Remembers that a session is to end, or what a sub-agent may not do, as its agent cannot be told what hooks decided. */
export async function keepStop(received: Received, reason: string): Promise<void> {
  for (const file of filesOfStop(received)) {
    const before = await recall(file).catch(() => ({}));
    await keep(file, before, { ...stopAt(received.event, reason), ...before });
  }
}

/** The same for a process that ends, and can wait for nothing: what it writes. */
export function lastStop(received: Received, reason: string): LastStop[] {
  try {
    const folder = sessionFolder();
    return filesOfStop(received).map((name) => {
      const file = path.join(folder, path.basename(name));
      const before = orUndefined(() => JSON.parse(readTextSync(file)) as Memory) ?? {};
      const kept = isAnew(received, before) ? {} : before;
      return { file, text: JSON.stringify({ ...stopAt(received.event, reason), ...kept }) };
    });
  } catch {
    // Whoever reads it sees that nothing can be kept.
    return [];
  }
}

/** Where it cannot be told which tools are those of a sub-agent, all of the session are. */
function filesOfStop({ dialect, event, identity }: Received): string[] {
  const session = fileOf(dialect, identity.sessionId);
  const helper = event === SubagentStart ? helperFile(identity) : undefined;
  const isTold = identity.agentId !== undefined && dialects[dialect].common.includes('agent_id');
  return [helper && isTold ? undefined : session, helper].filter((file) => file !== undefined);
}

/** In place of the id of a sub-agent: any of the session. */
const UNKNOWN = '';

/** Whoever was refused without an id has ended by the user's next prompt; another one may start by now. */
function forgetHelper({ identity }: Received, agentId = identity.agentId): void {
  const file = helperFile({ ...identity, ...(agentId !== undefined && { agentId }) });
  if (file !== undefined) orUndefined(() => rmSync(file, { force: true }));
}

/** What is known of a sub-agent, by the session that has started it; events of one may come in the words of two agents. */
function helperFile({
  sessionId = '',
  parentSessionId = sessionId,
  agentId = UNKNOWN,
}: ReceivedIdentity): string | undefined {
  return fileNamed(JSON.stringify([parentSessionId, agentId]));
}

function fileOf(dialect: string, sessionId: string | undefined): string | undefined {
  return sessionId === undefined ? undefined : fileNamed([dialect, sessionId].join('\n'));
}

function fileNamed(whose: string): string | undefined {
  const name = createHash('sha256').update(whose).digest('hex');
  const home = findHome();
  return home && path.join(home, '.llxprt', SESSIONS, name);
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
    await write(path.basename(file), text);
  } catch (error) {
    const logger = new HostLogger('llxprt:core:hooks');
    logger.warn(`what hooks decided counts for this event alone: ${errorMessage(error)}`);
  }
}

async function write(name: string, text: string): Promise<void> {
  await writeAtomically(path.join(sessionFolder(), name), text, 0o600);
}
