import type {
  Content,
  FunctionDeclaration,
  GenerateContentParameters,
  GenerateContentResponse,
  Part,
} from '@google/genai';
import { runAgent, AgentError } from '../../../src/agent/agent.js';
import type { Config } from '../../../src/config/config.js';
import { executeToolWithHooks } from '../../../src/core/coreToolHookTriggers.js';
import { callModelWithHooks } from '../../../src/core/modelCall.js';
import { allowedNames } from '../../../src/protocol/allowedTools.js';
import { answerText, createResponse, functionCallsOf } from '../../../src/protocol/response.js';
import type { ToolResult } from '../../../src/tools/tools.js';
import { checkGuards, compare, compareOffers, violation, type Outcome } from './judge.js';
import { SECRET, TOOLS, type HostileSet, type ModelCallOf } from './sets.js';
import type { World } from './worlds.js';

type Args = Readonly<Record<string, unknown>>;

/** What the tool of a set gives. */
export function resultOf({ result: { text, isFailure, isList } }: HostileSet): ToolResult {
  return {
    llmContent: isList ? [{ text: 'first' }, { text }] : text,
    returnDisplay: text,
    metadata: { stdout: text, exitCode: 0 },
    ...(isFailure && { error: { message: text } }),
  };
}

export async function callTool(
  world: World,
  config: Config,
  set: HostileSet,
  { name, args }: ModelCallOf,
): Promise<Outcome> {
  world.play(config, set);
  const ran: unknown[] = [];
  const execute = async (input: Args) => {
    ran.push({ name, args: input });
    return resultOf(set);
  };
  const { llmContent, returnDisplay, suppressDisplay, stopReason, error } =
    await executeToolWithHooks(config, name, { ...args }, execute, { callId: 'call' });
  return {
    ran,
    read: JSON.stringify([llmContent, error]),
    shown: suppressDisplay ? '' : returnDisplay,
    isHidden: suppressDisplay === true,
    isStopped: stopReason !== undefined,
  };
}

/** One call of a tool, as any host makes it. */
export async function checkTool(world: World, set: HostileSet): Promise<void> {
  const { call } = set;
  const all = await callTool(world, world.all, set, call);
  checkGuards(world.shape, set, all);
  const again = (ran: unknown) => callTool(world, world.alone, set, ran as ModelCallOf);
  await compare(all, () => again(call), again, world.shape.sequential);
}

const DECLARED: FunctionDeclaration[] = TOOLS.map((name) => ({ name, description: name }));

export function requestOf({ messages }: Pick<HostileSet, 'messages'>): GenerateContentParameters {
  const contents = messages.map((text, index): Content => {
    return { role: index % 2 === 0 ? 'user' : 'model', parts: [{ text }] };
  });
  return { model: 'm', contents, config: { tools: [{ functionDeclarations: DECLARED }] } };
}

/** The chunks of an answer, and its calls in the last one. */
function* chunksOf(pieces: readonly Part[][], calls: readonly ModelCallOf[]) {
  const last = calls.map((functionCall) => ({ functionCall: { ...functionCall } }));
  for (const parts of [...pieces, last]) {
    yield createResponse({ candidates: [{ index: 0, content: { role: 'model', parts } }] });
  }
}

interface ModelOutcome extends Outcome {
  readonly offered: readonly string[] | undefined;
  readonly calls: readonly unknown[];
}

/** The texts of a request. */
const textsOf = ({ contents }: GenerateContentParameters) =>
  (contents as Content[]).map(({ parts = [] }) => parts.map(({ text }) => text ?? ''));

export async function callModel(
  world: World,
  config: Config,
  set: HostileSet,
  request: GenerateContentParameters,
): Promise<ModelOutcome> {
  world.play(config, set);
  const ran: unknown[] = [];
  const { pieces, calls } = set.answer;
  const open = async (sent: GenerateContentParameters) => {
    ran.push(textsOf(sent));
    return toStream(chunksOf(pieces, calls));
  };
  const turn = callModelWithHooks(config, request, open);
  let shown = '';
  let step = await turn.next();
  for (; !step.done; step = await turn.next()) shown += answerText(step.value);
  const { response, verdict, suppressDisplay, request: sent } = step.value;
  return {
    ran,
    read: answerText(response),
    shown,
    isHidden: suppressDisplay,
    isStopped: verdict.kind === 'stop',
    offered: allowedNames(sent),
    calls: functionCallsOf(response),
  };
}

async function* toStream(chunks: Iterable<GenerateContentResponse>) {
  yield* chunks;
}

/** One call of the model, as any host makes it. */
export async function checkModel(world: World, set: HostileSet): Promise<void> {
  const request = requestOf(set);
  const all = await callModel(world, world.all, set, request);
  if (all.ran.length === 0 && all.calls.length > 0) throw violation('calls of nobody', all, 0);
  if (all.ran.length === 0) return;
  const alone = await callModel(world, world.alone, set, request);
  const again = (ran: unknown) => callAgain(world, set, ran as string[][]);
  await compare(all, async () => alone, again, world.shape.sequential);
  compareOffers(all.offered, alone.offered);
}

/** What the user's hooks make of a request with these texts. */
function callAgain(world: World, set: HostileSet, texts: readonly string[][]) {
  const contents = texts.map((parts) => ({ role: 'user', parts: parts.map((text) => ({ text })) }));
  return callModel(world, world.alone, set, { ...requestOf(set), contents });
}

interface AgentOutcome {
  readonly sent: readonly GenerateContentParameters[];
  readonly ran: readonly ModelCallOf[];
  readonly shown: string;
  readonly stoppedAt: string | undefined;
}

async function runOnce(world: World, config: Config, set: HostileSet): Promise<AgentOutcome> {
  world.play(config, set);
  const sent: GenerateContentParameters[] = [];
  const ran: ModelCallOf[] = [];
  let shown = '';
  const { pieces, calls } = set.answer;
  // Calls that are refused cost nothing; many of others would only take long.
  const times = set.user.some(({ tools }) => tools?.['mode'] === 'NONE') ? set.times : 1;
  const repeated = Array.from({ length: times }, () => calls).flat();
  const models = {
    generateContentStream: async (request: GenerateContentParameters) => {
      sent.push(request);
      return sent.length === 1
        ? toStream(chunksOf(pieces, repeated))
        : toStream(chunksOf([[{ text: 'done' }]], []));
    },
  };
  const tools = DECLARED.map((declaration) => ({
    name: String(declaration.name),
    declaration,
    execute: async (args: Args) => {
      ran.push({ name: String(declaration.name), args });
      return resultOf(set);
    },
  }));
  const agent = runAgent({
    config,
    models,
    model: 'm',
    prompt: set.messages.join(' '),
    tools,
    transcript: false,
    onEvent: (event) => {
      if (event.type === 'text') shown += event.text;
    },
  });
  const { stopped } = await agent.catch((error: unknown) => {
    if (error instanceof AgentError) return error.result;
    throw error;
  });
  return { sent, ran, shown, stoppedAt: stopped?.event };
}

/** A whole turn of the agent: a prompt, a request, calls of tools, and the request with their results. */
export async function checkAgent(world: World, set: HostileSet): Promise<void> {
  const all = await runOnce(world, world.all, set);
  const alone = await runOnce(world, world.alone, set);
  if (alone.stoppedAt === 'BeforeAgent' && all.sent.length > 0) {
    throw violation('a prompt is sent that the user stops', all, alone);
  }
  const [first] = all.sent;
  if (!first) return;
  for (const request of all.sent) await checkSent(world, set, request, alone);
  const said = await callModel(world, world.alone, set, requestOf({ ...set, messages: ['a'] }));
  compareOffers(
    all.ran.map(({ name }) => name),
    said.offered,
  );
  if (all.shown.includes(SECRET) && !said.shown.includes(SECRET)) {
    throw violation('an answer is shown', all.shown, said.shown);
  }
  let mayRead = false;
  for (const call of all.ran) {
    const reference = await callTool(world, world.alone, set, call);
    const ran = [...alone.ran, ...reference.ran];
    const known = async () => ({ ...reference, ran });
    await compare({ ...reference, ran: [call] }, known, known);
    mayRead ||= reference.read.includes(SECRET);
  }
  if (!mayRead && responsesOf(all.sent).includes(SECRET)) {
    throw violation('a result is read', all.sent, alone.sent);
  }
}

async function checkSent(
  world: World,
  set: HostileSet,
  request: GenerateContentParameters,
  alone: AgentOutcome,
): Promise<void> {
  const texts = textsOf(request);
  const reference = await callModel(world, world.alone, set, request);
  const ran = [...alone.sent.map(textsOf), ...reference.ran];
  const known = async () => ({ ...reference, ran });
  await compare({ ...reference, ran: [texts] }, known, known);
  compareOffers(allowedNames(request), reference.offered);
}

function responsesOf(sent: readonly GenerateContentParameters[]): string {
  const parts = sent.flatMap(({ contents }) =>
    (contents as Content[]).flatMap((each) => each.parts),
  );
  return JSON.stringify(parts.map((part) => part?.functionResponse ?? null));
}
