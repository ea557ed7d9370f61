import * as fc from 'fast-check';
import { expect } from 'vitest';
import { readEvent, senderOf } from '../../../src/cli/hook/event.js';
import { dialects } from '../../../src/dialects/dialects.js';
import { events } from '../../../src/protocol/events.js';
import { DIALECT_NAMES, HookEventName, type DialectName } from '../../../src/protocol/types.js';
import { isRecord } from '../../../src/util/records.js';
import type { Cli } from '../../cli/helpers.js';
import { sendAsIs } from '../../cli/hookHelpers.js';
import { PAYLOADS } from '../../dialects/agentPayloads.js';

type Fields = Readonly<Record<string, unknown>>;

const SENT = DIALECT_NAMES.flatMap((name) =>
  Object.values(PAYLOADS[name]).map((fields) => ({ name, fields })),
);
/** Cline says twice what a call is, and the first counts: the other one beside another call says nothing. */
const SAID_TWICE = 'preToolUse';
const ENTRIES = SENT.flatMap(({ fields }) =>
  Object.entries(fields).filter(([name]) => name !== SAID_TWICE),
);
const EVENT_NAMES = Object.values(dialects).flatMap(({ events: rows, otherEvents }) => [
  ...rows.map(({ name, sentAs = name }) => sentAs),
  ...otherEvents,
]);
const EVENT_FIELDS = [
  'hook_event_name',
  'hookEventName',
  'event_type',
  'agent_action_name',
  'event',
];
/** Objects in which agents have what others have beside the event's name. */
const INSIDE = ['tool_call', 'toolCall', 'tool_info', 'tool_input', 'userPromptSubmit'];

const otherNames = [
  (key: string) => key.toUpperCase(),
  (key: string) => key.replaceAll(/_(\w)/g, (_all, letter: string) => letter.toUpperCase()),
  (key: string) => key.replaceAll(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`),
  (key: string) => `${key}2`,
];
/** It may become the session's id, and a session that a guard has ended is not asked at its end. */
const ODD_TEXT = 'odd text';
const odd = fc.constantFrom<unknown>(null, '', 0, true, [], {}, ODD_TEXT, ['a'], {
  a: 1,
});
const index = fc.nat(1000);
const picked = <T>(list: readonly T[], at: number) => list[at % list.length] as T;

/** One fault in what an agent sends: at its top, or within one of its objects. */
const fault = fc.oneof(
  fc.tuple(index, index).map(([at, how]) => (fields: Fields): Fields => {
    const key = picked(Object.keys(fields), at);
    const { [key]: value, ...others } = fields;
    return { ...others, [picked(otherNames, how)(key)]: value };
  }),
  index.map((at) => (fields: Fields): Fields => {
    const { [picked(Object.keys(fields), at)]: _dropped, ...others } = fields;
    return others;
  }),
  fc.tuple(index, odd).map(([at, value]) => (fields: Fields): Fields => ({
    ...fields,
    [picked(Object.keys(fields), at)]: value,
  })),
  index.map((at) => (fields: Fields): Fields => {
    const [key, value] = picked(ENTRIES, at);
    return { ...fields, [key]: value };
  }),
  fc.tuple(index, index).map(([field, name]) => (fields: Fields): Fields => ({
    ...fields,
    [picked(EVENT_FIELDS, field)]: picked(EVENT_NAMES, name),
  })),
);
const faults = fc.array(fc.tuple(fault, fc.option(fc.constantFrom(...INSIDE))), { maxLength: 4 });

type Fault = readonly [change: (fields: Fields) => Fields, inside: string | null];

function withFault(sent: Fields, [change, inside]: Fault): Fields {
  const within = inside === null ? undefined : sent[inside];
  if (inside !== null && isRecord(within) && Object.keys(within).length > 0) {
    return { ...sent, [inside]: change(within) };
  }
  return Object.keys(sent).length > 0 ? change(sent) : sent;
}

/** A payload of an agent with some faults, and whose name the command has. */
export const hostilePayload = hostilePayloadOf(SENT);

function hostilePayloadOf(payloads: typeof SENT) {
  return fc
    .tuple(fc.constantFrom(...payloads), faults, fc.constantFrom('own', 'claude', 'copilot'))
    .map(([{ name, fields }, all, said]) => ({
      from: said === 'own' ? name : (said as DialectName),
      sent: all.reduce<Fields>(withFault, fields),
    }));
}

/** Words by which one agent or another refuses; a guard that was asked says `GUARD`. */
const REFUSAL = /GUARD|"(?:deny|block)"|"cancel":true|"continue":false|"followup_message"/;

/** What asks all guards: it refuses, and says that it was asked. */
export const GUARD = { type: 'command', command: 'echo GUARD >&2; exit 2', onFailure: 'deny' };

/** Commands of a shell, sent with faults in all but the name of the tool, for a guard of shell commands. */
export const hostileCommand = hostilePayloadOf(
  SENT.filter(({ fields }) => /git push/.test(JSON.stringify(fields))),
).filter(({ sent }) => {
  const text = JSON.stringify(sent);
  return /git push/.test(text) && SHELLS.some((name) => text.includes(`"${name}"`));
});

const SHELLS = Object.values(dialects).flatMap(({ tools }) =>
  tools.flatMap(({ ours, theirs }) => (ours === 'run_shell_command' ? theirs : [])),
);

let sessions = 0;

/** Fails where a guard is passed in silence. */
export async function expectNoWayPast(cli: Cli, from: DialectName, sent: Fields): Promise<void> {
  sessions += 1;
  const text = JSON.stringify(sent)
    .replaceAll('"s1"', `"s${sessions}"`)
    .replaceAll(`"${ODD_TEXT}"`, `"${ODD_TEXT} ${sessions}"`)
    .replaceAll('/shop', cli.project);
  const answer = await sendAsIs(cli, from, text);
  if (answer.exitCode === 2 || REFUSAL.test(JSON.stringify(answer.json))) return;
  // Told, by the guard or instead of it, where the agent has no word for a refusal.
  if (/GUARD|hooks could not be asked/u.test(answer.stderr)) return;
  const input = { value: JSON.parse(text) as unknown };
  const reading = readEvent(senderOf({ from }, input), input);
  const event = 'problem' in reading ? reading.event : reading.received?.event;
  const isAsked = 'received' in reading && 'isAsked' in (reading.received?.payload ?? {});
  // One of the agent that is none here, one that nothing can prevent, or the question about a call that guards have seen.
  const isIdle =
    isAsked || (event === undefined ? !('problem' in reading) : !events[event].canBlock);
  expect(isIdle, JSON.stringify({ from, text, answer })).toBe(true);
}

/** The same without a process, which would take most of the time of 10,000 payloads. */
export const RULE = { type: 'rule', decision: 'deny', reason: 'GUARD' };

/** A guard for each event that hooks can prevent. */
export async function haveGuards(
  cli: Cli,
  { guard = GUARD, ...matching }: { guard?: object; matcher?: string } = {},
): Promise<void> {
  const guarded = Object.values(HookEventName).filter((event) => events[event].canBlock);
  // A matcher for tools finds no kind of sub-agent.
  const groupOf = (event: HookEventName) => ({
    hooks: [guard],
    ...(events[event].matchOn !== 'agentType' && matching),
  });
  const groups = guarded.map((event) => [event, [groupOf(event)]] as const);
  await cli.userSettings(Object.fromEntries(groups) as never, { unknownTools: 'deny' });
}
