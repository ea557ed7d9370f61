import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { readAnswer } from '../../src/dialects/answers.js';
import { dialects, eventWords } from '../../src/dialects/dialects.js';
import { theirInput } from '../../src/dialects/inputs.js';
import { receive, reply } from '../../src/dialects/reverse.js';
import type { Received, ReplyVerdict } from '../../src/protocol/received.js';
import { ourToolName, theirToolNames, toolOutputText } from '../../src/dialects/translate.js';
import { events, type EventDefinition } from '../../src/protocol/events.js';
import { isBlocking } from '../../src/protocol/hookOutput.js';
import {
  HookEventName,
  NotificationType,
  PreCompressTrigger,
  SessionEndReason,
  SessionStartSource,
  type DialectName,
  type HookInput,
  type HookPayload,
  type Moment,
} from '../../src/protocol/types.js';
import { isRecord } from '../../src/util/records.js';
import { commonInput } from '../helpers/hooks.js';
import * as any from './arbitraries.js';

const { BeforeTool, AfterTool, BeforeAgent, AfterAgent, PreCompress } = HookEventName;
const { SessionStart, SessionEnd, Notification } = HookEventName;
const CWD = '/project';

type Fields = Readonly<Record<string, unknown>>;
const recordOf = (value: unknown): Fields => (isRecord(value) ? value : {});

const text = fc.string({ minLength: 1 });
const path = fc.constantFrom('/project/a', '/project/b/c');

/** Arguments as our tools have them; paths are absolute, as hooks of some agents read no others. */
const args = fc.dictionary(
  fc.constantFrom('file_path', 'path', 'include', 'directory', 'command', 'content', 'limit'),
  fc.oneof(path, fc.integer()),
);

const toolsOf = (name: DialectName) =>
  fc.constantFrom('odd_tool', 'mcp__git__log', ...dialects[name].tools.map(({ ours }) => ours));

function callOf(name: DialectName) {
  return fc.record({ toolName: toolsOf(name), toolInput: args, callId: text });
}

/** Events as a host of ours fires them, without those facts that an agent has no words for. */
function eventsOf(name: DialectName) {
  const { isCalls, isPrompts } = knownTo(name);
  const call = callOf(name);
  const plain = call.map(({ callId, ...others }) => (isCalls ? { callId, ...others } : others));
  const result = text.map((llmContent) => ({ llmContent, returnDisplay: llmContent }));
  return fc.oneof(
    plain.map((payload) => ({
      event: BeforeTool,
      payload: { ...payload, canAsk: dialects[name].isAttended === undefined },
    })),
    fc.tuple(plain, result).map(([payload, toolResponse]) => ({
      event: AfterTool,
      payload: { ...payload, toolResponse },
    })),
    text.map((prompt) => ({ event: BeforeAgent, payload: { prompt } })),
    fc.tuple(text, fc.boolean()).map(([promptResponse, stopHookActive]) => ({
      event: AfterAgent,
      payload: { prompt: isPrompts ? 'p' : '', promptResponse, stopHookActive },
    })),
    fc.constantFrom(...Object.values(SessionStartSource)).map((source) => ({
      event: SessionStart,
      payload: { source },
    })),
    fc
      .constantFrom(...Object.values(SessionEndReason).filter((reason) => reason !== 'exit'))
      .map((reason) => ({ event: SessionEnd, payload: { reason } })),
    fc.constantFrom(...Object.values(PreCompressTrigger)).map((trigger) => ({
      event: PreCompress,
      payload: { trigger },
    })),
    fc.tuple(fc.constantFrom(...Object.values(NotificationType)), text).map(([type, message]) => ({
      event: Notification,
      payload: { notificationType: type, message },
    })),
  );
}

/** Whether an agent tells its hooks the id of a call, and the prompt once more at the end. */
function knownTo(name: DialectName) {
  const fieldsOf = (event: HookEventName) => eventWords(dialects[name], event)?.fields;
  return {
    isCalls: fieldsOf(BeforeTool)?.includes('tool_use_id') === true,
    isPrompts: fieldsOf(AfterAgent) === undefined,
  };
}

/** What a hook of a dialect reads, as JSON. */
function readBy<E extends HookEventName>(
  name: DialectName,
  event: E,
  payload: HookPayload<E>,
  moment?: Moment,
): Fields {
  const { encode }: EventDefinition<E> = events[event];
  const input: HookInput = { ...commonInput(event, CWD), ...encode(payload) };
  return JSON.parse(
    JSON.stringify(theirInput(dialects[name], event, moment, input, payload)),
  ) as Fields;
}

function receivedBy(name: DialectName, json: Fields): Received {
  const received = receive(name, json);
  if (!received) throw new Error(`${String(json['hook_event_name'])} is no event of ours`);
  return received;
}

// Agents that tell less, or otherwise, are in test/dialects/agents.test.ts.
describe.each(['claude', 'gemini'] as const)('the words of %s, there and back', (name) => {
  it('make of an event what its hooks read, and the same event of that', () => {
    const { subjects } = dialects[name];
    const renamed = new Set(Object.keys(subjects).filter((ours) => subjects[ours] !== ours));
    fc.assert(
      fc.property(eventsOf(name), ({ event, payload }) => {
        const read = readBy(name, event, payload as never);
        const words = Object.values(read).filter((value) => typeof value === 'string');
        expect(words.filter((word) => renamed.has(word))).toEqual([]);
        const received = receivedBy(name, read);
        expect(received.event).toBe(event);
        expect(received.identity).toMatchObject({ sessionId: 'session', cwd: CWD });
        expect(received.payload).toMatchObject(payload);
      }),
      any.runs(1000),
    );
  });

  it('make of each row the event, and the moment, that it stands for', () => {
    for (const { event, name: theirs, moment } of dialects[name].events) {
      const payload = { toolName: 'glob', toolInput: {}, toolResponse: {}, prompt: 'p' };
      const model = { llmRequest: { model: 'm', contents: [] }, llmResponse: {} };
      const failed = { error: { message: 'm' }, toolCalls: [] };
      const json = readBy(name, event, { ...payload, ...model, ...failed }, moment);
      const received = receivedBy(name, { ...json, hook_event_name: theirs });
      expect(received).toMatchObject({ event, theirEvent: theirs });
      expect('isAsked' in received.payload).toBe(moment === 'asked');
    }
  });

  it('name tools and arguments the same way once more', () => {
    fc.assert(
      fc.property(callOf(name), (call) => {
        const theirs = theirToolNames(dialects[name], call.toolName)[0];
        expect(ourToolName(dialects[name], theirs)).toBe(call.toolName);
        const read = readBy(name, BeforeTool, call);
        expect(receivedBy(name, read).payload).toMatchObject({ toolInput: call.toolInput });
      }),
      any.runs(1000),
    );
  });

  it('write the arguments that hooks want as hooks would give them back', () => {
    fc.assert(
      fc.property(callOf(name), args, (call, change) => {
        const received = receivedBy(name, readBy(name, BeforeTool, call));
        const input = { ...call.toolInput, ...change };
        const said = answerTo(received, { kind: 'allow', input });
        const changed = recordOf(said.output['hookSpecificOutput'])['tool_input'];
        const sent = recordOf(received.fields['tool_input']);
        const after = dialects[name].replacesArguments
          ? changed
          : { ...sent, ...recordOf(changed) };
        const wanted = readBy(name, BeforeTool, { ...call, toolInput: input })['tool_input'];
        expect(after ?? sent).toEqual(wanted);
      }),
      any.runs(1000),
    );
  });

  it('say a verdict as a hook would that means the same', () => {
    fc.assert(
      fc.property(eventsOf(name), verdict, ({ event, payload }, decided) => {
        const received = receivedBy(name, readBy(name, event, payload as never));
        const { output, prevents, toolOutput } = answerTo(received, decided);
        const { lost } = reply(received, decided);
        const isSaid = lost.length === 0 && eventWords(dialects[name], event)?.answer !== undefined;
        const { kind, reason, context } = decided;
        const isStopped = output['continue'] === false;
        if (kind === 'stop' && isSaid)
          expect([isStopped, output['stopReason']]).toEqual([true, reason]);
        if (kind !== 'stop') expect(isStopped).toBe(false);
        if (kind === 'none' || kind === 'allow') expect(isBlocking(output['decision'])).toBe(false);
        if (kind === 'block' && isSaid && events[event].canBlock) {
          expect(isBlocking(output['decision'])).toBe(true);
        }
        expect(prevents === true || toolOutput === undefined || kind === 'block').toBe(true);
        if (isSaid && context)
          expect(JSON.stringify(output)).toContain(JSON.stringify(context[0]).slice(1, -1));
      }),
      any.runs(1000),
    );
  });

  it('give a result that was replaced in the form of the tool', () => {
    for (const { ours, output, replacement } of dialects[name].tools) {
      const given = replacement?.('a\nb', { stdout: '' }, { file_path: '/a' });
      if (given === undefined) continue;
      const read = toolOutputText(dialects[name], ours, {}, given);
      const inJson = expect.stringMatching(/"a(\\n|",")b"/u) as string;
      expect(read).toEqual(output ? 'a\nb' : inJson);
    }
  });
});

const verdict: fc.Arbitrary<ReplyVerdict> = fc.record(
  {
    kind: fc.constantFrom('none', 'allow', 'ask', 'block', 'stop'),
    reason: fc.constant('It is for production.'),
    context: fc.tuple(fc.constant('Mind the tests.')),
  },
  { requiredKeys: ['kind', 'reason'] },
);

/** What a verdict means once it is read as the answer of one of the agent's own hooks. */
function answerTo(received: Received, decided: ReplyVerdict) {
  const { answer: words, read } = rowOf(received);
  const { json } = reply(received, decided);
  const said = JSON.parse(JSON.stringify(json)) as Fields;
  return read?.(said, undefined, {}) ?? readAnswer(said, words);
}

function rowOf({ dialect, event }: Received) {
  const words = eventWords(dialects[dialect], event);
  if (!words) throw new Error(`${event} has no words`);
  return words;
}
