import type { Config } from '../../../src/config/config.js';
import { decideReceived } from '../../../src/core/decideReceived.js';
import { receive, reply, UnreadableEvent } from '../../../src/dialects/reverse.js';
import type { DialectName } from '../../../src/protocol/types.js';
import { isRecord } from '../../../src/util/records.js';
import { checkGuards, compare, compareOffers, type Outcome } from './judge.js';
import { type HostileSet, type ModelCallOf } from './sets.js';
import type { World } from './worlds.js';

type Fields = Readonly<Record<string, unknown>>;

const recordOf = (value: unknown): Fields => (isRecord(value) ? value : {});
const REFUSED = { ran: [], read: '', shown: '', isHidden: false, isStopped: false } as const;

/** What an agent that runs our hooks reads for one of its events. */
async function ask(config: Config, dialect: DialectName, event: Fields): Promise<Fields> {
  const json = {
    ...event,
    transcript_path: config.getTranscriptPath(),
    cwd: '/',
    tool_use_id: 'x',
  };
  const received = receive(dialect, json);
  if (!received) throw new Error('There is no such event');
  const verdict = await decideReceived(config, received, { session: received.identity });
  return reply(received, verdict).json;
}

/** What a person says whom an agent asks itself. */
const isWanted = (input: unknown) => !JSON.stringify(input).includes('never');

/** An agent runs no tool for which its hooks could not be asked. */
async function unlessUnreadable(run: () => Promise<Outcome>): Promise<Outcome> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof UnreadableEvent) return REFUSED;
    throw error;
  }
}

const NAMES: Readonly<Record<string, string>> = {
  run_shell_command: 'Bash',
  write_file: 'Write',
  read_file: 'Read',
};

/** Claude Code: what a hook leaves open its own rules allow, and its user is asked where a hook wants that. */
async function runInClaude(
  config: Config,
  set: HostileSet,
  { name, args }: ModelCallOf,
): Promise<Outcome> {
  const call = { tool_name: NAMES[name] ?? name, tool_input: args };
  const before = await ask(config, 'claude', { hook_event_name: 'PreToolUse', ...call });
  const { permissionDecision, updatedInput } = recordOf(before['hookSpecificOutput']);
  const isStopped = before['continue'] === false;
  if (isStopped || permissionDecision === 'deny') return { ...REFUSED, isStopped };
  let input = updatedInput ?? args;
  if (permissionDecision === 'ask') {
    const asked = { hook_event_name: 'PermissionRequest', ...call, tool_input: input };
    const permission = await ask(config, 'claude', asked);
    const { behavior, updatedInput: last } = recordOf(
      recordOf(permission['hookSpecificOutput'])['decision'],
    );
    if (permission['continue'] === false) return { ...REFUSED, isStopped: true };
    const isAllowed = behavior === 'allow' || (behavior !== 'deny' && isWanted(input));
    if (!isAllowed) return REFUSED;
    input = last ?? input;
  }
  const after = { ...call, tool_input: input };
  return { ...(await afterClaude(config, set, after)), ran: [{ name, args: input }] };
}

async function afterClaude(config: Config, set: HostileSet, call: Fields): Promise<Outcome> {
  const { text, isFailure, isList } = set.result;
  const given = isList ? [{ type: 'text', text }] : { stdout: text, stderr: '', file: text };
  const after = isFailure
    ? { hook_event_name: 'PostToolUseFailure', error: text }
    : { hook_event_name: 'PostToolUse', tool_response: given };
  const said = await ask(config, 'claude', { ...call, ...after });
  const { updatedToolOutput, additionalContext } = recordOf(said['hookSpecificOutput']);
  const isStopped = said['continue'] === false;
  const read = [updatedToolOutput ?? after, additionalContext, said['reason']];
  return {
    ran: [],
    read: isStopped ? '' : JSON.stringify(read),
    shown: '',
    isHidden: said['suppressOutput'] === true,
    isStopped,
  };
}

/** Gemini CLI: what hooks give is merged over what there is. */
async function runInGemini(
  config: Config,
  set: HostileSet,
  { name, args }: ModelCallOf,
): Promise<Outcome> {
  const call = { tool_name: name, tool_input: args };
  const before = await ask(config, 'gemini', { hook_event_name: 'BeforeTool', ...call });
  if (isRefused(before)) return { ...REFUSED, isStopped: before['continue'] === false };
  const change = recordOf(before['hookSpecificOutput'])['tool_input'];
  const input = { ...args, ...recordOf(change) };
  if (before['decision'] === 'ask' && !isWanted(input)) return REFUSED;
  const { text, isFailure } = set.result;
  const given = { llmContent: text, returnDisplay: text, ...(isFailure && { error: text }) };
  const after = { hook_event_name: 'AfterTool', ...call, tool_input: input, tool_response: given };
  const said = await ask(config, 'gemini', after);
  const { additionalContext } = recordOf(said['hookSpecificOutput']);
  const isReplaced = said['decision'] === 'deny' || said['decision'] === 'block';
  const isStopped = said['continue'] === false;
  const read = isReplaced ? [said['reason']] : [given, additionalContext];
  return {
    ran: [{ name, args: input }],
    read: isStopped ? '' : JSON.stringify(read),
    shown: isReplaced || isStopped ? '' : text,
    isHidden: said['suppressOutput'] === true,
    isStopped,
  };
}

function isRefused({ continue: goesOn, decision }: Fields): boolean {
  return goesOn === false || decision === 'deny' || decision === 'block';
}

function checkIn(run: typeof runInClaude) {
  return async (world: World, set: HostileSet): Promise<void> => {
    const play = (config: Config, call: ModelCallOf) => {
      world.play(config, set);
      return unlessUnreadable(() => run(config, set, call));
    };
    const again = (ran: unknown) => play(world.alone, ran as ModelCallOf);
    const { call } = set;
    const all = await play(world.all, call);
    checkGuards(world.shape, set, all);
    await compare(all, () => again(call), again, world.shape.sequential);
  };
}

/** A call of a tool of Claude Code. */
export const checkClaude = checkIn(runInClaude);
/** A call of a tool of Gemini CLI. */
export const checkGemini = checkIn(runInGemini);

interface GeminiTurn extends Outcome {
  readonly offered: readonly string[] | undefined;
}

async function askGemini(
  world: World,
  config: Config,
  set: HostileSet,
  texts: readonly string[],
): Promise<GeminiTurn> {
  world.play(config, set);
  const messages = texts.map((content) => ({ role: 'user', content }));
  const llm_request = { model: 'm', messages, config: {} };
  const selecting = { hook_event_name: 'BeforeToolSelection', llm_request };
  const selected = recordOf(await ask(config, 'gemini', selecting));
  const { mode, allowedFunctionNames } = recordOf(
    recordOf(selected['hookSpecificOutput'])['toolConfig'],
  );
  const offered = mode === 'NONE' ? [] : (allowedFunctionNames as readonly string[] | undefined);
  const before = await ask(config, 'gemini', { hook_event_name: 'BeforeModel', llm_request });
  if (isRefused(before)) {
    return { ...REFUSED, offered, isStopped: before['continue'] === false };
  }
  const change = recordOf(recordOf(before['hookSpecificOutput'])['llm_request']);
  const sent = { ...llm_request, ...change };
  const parts = set.answer.pieces
    .flat()
    .flatMap(({ text, thought }) => (thought ? [] : (text ?? [])));
  const llm_response = { candidates: [{ content: { role: 'model', parts }, index: 0 }] };
  const after = { hook_event_name: 'AfterModel', llm_request: sent, llm_response };
  const said = await ask(config, 'gemini', after);
  const answered = recordOf(said['hookSpecificOutput'])['llm_response'];
  const isStopped = said['continue'] === false;
  return {
    ran: [sent.messages.map(({ content }) => content)],
    read: isStopped ? '' : JSON.stringify(answered ?? llm_response),
    shown: '',
    isHidden: said['suppressOutput'] === true,
    isStopped,
    offered,
  };
}

/** A request to the model of Gemini CLI. */
export async function checkGeminiModel(world: World, set: HostileSet): Promise<void> {
  const { messages } = set;
  const all = await askGemini(world, world.all, set, messages);
  if (all.ran.length === 0) return;
  const alone = await askGemini(world, world.alone, set, messages);
  const again = (ran: unknown) => askGemini(world, world.alone, set, ran as string[]);
  await compare(all, async () => alone, again);
  compareOffers(all.offered, alone.offered);
}
