import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import type { Config } from 'hookstack';
import type { Harness, ModelAnswer, SentRequest } from '../conformance/conformance.js';
import { describe } from 'vitest';
import { callModel, callTool, requestOf, resultOf } from '../properties/hostile/engine.js';
import { testShapes, type Host } from '../properties/hostile/hosts.js';
import { compareOffers, violation } from '../properties/hostile/judge.js';
import {
  MODEL_EVENTS,
  SECRET,
  TOOL_EVENTS,
  TOOLS,
  type HostileSet,
  type ModelCallOf,
} from '../properties/hostile/sets.js';
import { FORMATS, SCOPES, type World } from '../properties/hostile/worlds.js';
import { tables } from './harnesses.js';

/** What has come of a turn in a host. */
interface Seen {
  readonly sent: readonly SentRequest[];
  readonly ran: readonly ModelCallOf[];
  readonly shown: string;
}

/** In some hosts, no hooks are asked about the model and its tools. */
const hasModelEvents = ({ differences }: Harness) => differences?.redact === undefined;

/** Hosts check arguments against a schema before anybody has seen them. */
function callsOf({ answer, user, times }: HostileSet, canRefuse: boolean) {
  const calls = answer.calls.map(({ id = 'one', name, args: { command } }) => {
    return { id, name, args: { command: String(command) } };
  });
  const isNone = canRefuse && user.some(({ tools }) => tools?.['mode'] === 'NONE');
  if (!isNone || times === 1) return calls;
  return Array.from({ length: times }, (_, index) =>
    calls.map((call) => ({ ...call, id: `${call.id} ${index}` })),
  ).flat();
}

const piecesOf = ({ answer }: HostileSet) =>
  answer.pieces.flat().flatMap(({ text, thought }) => (thought || !text ? [] : text));

async function* toChunks(pieces: readonly string[]) {
  yield* pieces;
}

function saysIn(set: HostileSet, turn: number, canRefuse: boolean): ModelAnswer {
  const calls = turn === 1 ? callsOf(set, canRefuse) : [];
  const pieces = calls.length > 0 || turn > 2 ? ['Done.'] : piecesOf(set);
  return { text: pieces.join(''), chunks: toChunks(pieces), calls };
}

async function runTurn(
  harness: Harness,
  world: World,
  config: Config,
  set: HostileSet,
): Promise<Seen> {
  world.play(config, set);
  const workingDir = config.getWorkingDir();
  const file = path.join(workingDir, 'transcript.jsonl');
  await writeFile(file, config.getTranscriptPath() ?? '');
  const sent: SentRequest[] = [];
  const ran: ModelCallOf[] = [];
  const closing: (() => Promise<void> | void)[] = [];
  let shown = '';
  const { llmContent } = resultOf(set);
  const tools = TOOLS.map((name) => ({
    name,
    description: name,
    parameters: {
      type: 'object',
      properties: { command: { type: 'string' } },
      required: ['command'],
      additionalProperties: false,
    } as const,
    execute: async (args: Record<string, unknown>) => {
      ran.push({ name, args: { ...args } });
      return JSON.stringify(llmContent);
    },
  }));
  const turn = {
    config,
    settings: { enableHooks: true, hooks: {}, afterModelDisplay: 'stream' },
    workingDir,
    tools,
    prompt: set.messages.join(' '),
    systemInstruction: 'Be brief.',
    stream: set.result.isList,
    signal: new AbortController().signal,
    // Hosts have sessions of their own.
    session: { transcriptPath: config.getTranscriptPath() },
    approver: async ({ input }: { input?: unknown }) => {
      return { decision: JSON.stringify(input).includes('never') ? 'deny' : 'allow' } as const;
    },
    model: async (request: SentRequest) => {
      sent.push(request);
      return saysIn(set, sent.length, hasModelEvents(harness));
    },
    show: (text: string) => void (shown += text),
    onEnd: (close: () => Promise<void> | void) => void closing.push(close),
  } as const;
  try {
    shown += (await harness.run(turn)).text;
  } catch {
    // Some hosts refuse calls that are none.
  } finally {
    for (const close of closing) await close();
  }
  return { sent, ran, shown };
}

/** Compares a turn in a host with one in which the user's hooks are alone, and with what these make of its parts. */
function checkIn(harness: Harness): Host[0] {
  return async (world, set) => {
    const all = await runTurn(harness, world, world.all, set);
    const [first] = all.sent;
    if (!first) return;
    const alone = await runTurn(harness, world, world.alone, set);
    const said = await askAlone(world, set, first);
    const offered = alone.sent[0]?.tools ?? said.offered;
    for (const { tools } of all.sent) compareOffers(tools, offered);
    const names = all.ran.map(({ name }) => name);
    compareOffers(names, offered);
    if (hasModelEvents(harness)) await compareAnswers(harness, world, set, all, alone);
    await compareCalls(world, set, all, alone);
  };
}

/** What the user's hooks make of a request that was sent in a host. */
function askAlone(world: World, set: HostileSet, { messages }: SentRequest) {
  const texts = messages.filter(({ role }) => role !== 'system').map(({ text }) => text);
  return callModel(world, world.alone, set, requestOf({ messages: texts }));
}

/** The answer may come in a turn that the user's hooks alone have ended before: then they are shown it in one without a call. */
async function compareAnswers(
  harness: Harness,
  world: World,
  set: HostileSet,
  all: Seen,
  alone: Seen,
): Promise<void> {
  if (!all.shown.includes(SECRET) || alone.shown.includes(SECRET)) return;
  const quiet = { ...set, messages: ['a'], answer: { ...set.answer, calls: [] } };
  const another = await runTurn(harness, world, world.alone, quiet);
  const said = await callModel(world, world.alone, set, requestOf({ messages: ['a'] }));
  const given = set.result.isList ? said.shown : said.read;
  const mayBeSeen = another.shown.includes(SECRET) || given.includes(SECRET);
  if (!mayBeSeen) throw violation('an answer is shown', all, said);
}

async function compareCalls(world: World, set: HostileSet, all: Seen, alone: Seen): Promise<void> {
  let mayRead = false;
  for (const call of all.ran) {
    const reference = await callTool(world, world.alone, set, call);
    const known = [...alone.ran, ...reference.ran];
    if (!known.some((each) => isDeepStrictEqual(each, call))) {
      throw violation('a tool ran', call, known);
    }
    mayRead ||= reference.read.includes(SECRET);
  }
  const results = all.sent.flatMap(({ messages }) =>
    messages.filter(({ role }) => role === 'tool'),
  );
  const isRead = results.some(({ text }) => text.includes(SECRET));
  if (isRead && !mayRead) throw violation('a result is read', results, alone.sent);
}

/** Sets that are about nothing but the tools that the user's hooks take away, and what the model calls all the same. */
function withoutTools({ call, result, ...set }: HostileSet): HostileSet {
  const others = set.others.map(({ BeforeToolSelection = [], BeforeModel = [] }) => {
    return { BeforeToolSelection, BeforeModel };
  });
  const calls = [call, ...set.answer.calls, call];
  return {
    ...set,
    call,
    result,
    user: set.user.map(({ tools = { mode: 'NONE' } }) => ({ tools })),
    others,
    answer: { ...set.answer, calls },
    times: 1,
  };
}

/** Some hosts compare each call with all others of an answer, and take half a minute for a thousand. */
const manyOf = ({ host }: Harness) => (host.startsWith('OpenAI') ? 101 : 1001);

/** More calls than anybody has room for, each of which the user's hooks refuse. */
function withMany(set: HostileSet, times: number): HostileSet {
  const { call, answer, ...others } = withoutTools(set);
  const user = set.user.map(() => ({ tools: { mode: 'NONE' } }));
  return { ...others, call, user, answer: { ...answer, calls: [call] }, times };
}

describe.each(tables['libraries'] ?? [])('$host', (harness) => {
  testShapes(
    { ...pick(FORMATS, 'own formats'), ...pick(SCOPES, 'system and user') },
    {
      'a turn': [checkIn(harness), [...MODEL_EVENTS, ...TOOL_EVENTS], 60],
      'what the model calls': [
        (world, set) => checkIn(harness)(world, withoutTools(set)),
        ['BeforeToolSelection', 'BeforeModel'],
        30,
      ],
      'many calls': [
        (world, set) => checkIn(harness)(world, withMany(set, manyOf(harness))),
        ['BeforeToolSelection'],
        2,
        true,
      ],
    },
  );
});

function pick<T>(all: Readonly<Record<string, T>>, name: string): Record<string, T> {
  return Object.fromEntries(Object.entries(all).filter(([each]) => each === name));
}
