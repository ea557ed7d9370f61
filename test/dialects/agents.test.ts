import { describe, expect, it } from 'vitest';
import { readAnswer } from '../../src/dialects/answers.js';
import type { EventWords } from '../../src/dialects/dialect.js';
import { dialects, eventWords } from '../../src/dialects/dialects.js';
import { theirInput } from '../../src/dialects/inputs.js';
import { receive, reply } from '../../src/dialects/reverse.js';
import type { Received, ReplyVerdict } from '../../src/protocol/received.js';
import { events, type CallFacts, type EventDefinition } from '../../src/protocol/events.js';
import { isBlocking, textInPlace } from '../../src/protocol/hookOutput.js';
import {
  DIALECT_NAMES,
  HookEventName,
  type DialectName,
  type HookInput,
  type HookPayload,
} from '../../src/protocol/types.js';
import { commonInput } from '../helpers/hooks.js';

const { BeforeTool, AfterTool, BeforeAgent, AfterAgent } = HookEventName;
const ENDS = new Set([AfterAgent, HookEventName.SubagentStop]);
const CWD = '/project';

const ARGUMENTS: Readonly<Record<string, Record<string, unknown>>> = {
  run_shell_command: { command: 'git push' },
  write_file: { file_path: '/project/a', content: 'one\ntwo' },
  replace: { file_path: '/project/a', old_string: 'one', new_string: 'two\nthree' },
  read_file: { file_path: '/project/.env' },
};

const TOOLS = [...Object.keys(ARGUMENTS), 'odd_tool', 'mcp__git__log'];

/** What happens, with all that any agent tells of it. */
function payloadOf(event: HookEventName, toolName: string): HookPayload<HookEventName> {
  const toolResponse = { llmContent: 'said', returnDisplay: 'said' };
  const call = { toolName, toolInput: ARGUMENTS[toolName] ?? { a: 1 } };
  const payloads = {
    BeforeTool: { ...call, callId: 'c1' },
    AfterTool: { ...call, toolResponse },
    BeforeModel: { llmRequest: { model: 'm', contents: [] } },
    AfterModel: {
      llmRequest: { model: 'm', contents: [] },
      llmResponse: { candidates: [{ content: { parts: [{ text: 'said' }] } }] },
    },
    BeforeToolSelection: { llmRequest: { model: 'm', contents: [] } },
    BeforeAgent: { prompt: 'Go.' },
    AfterAgent: { prompt: 'Go.', promptResponse: 'Done.', stopHookActive: false },
    SessionStart: { source: 'startup' },
    SessionEnd: { reason: 'other' },
    PreCompress: { trigger: 'auto' },
    Notification: { notificationType: 'Other', message: 'Look.' },
    SubagentStart: { agentId: 'a1', agentType: 'explore', prompt: 'Go.' },
    SubagentStop: { agentId: 'a1', agentType: 'explore', prompt: 'Go.', promptResponse: 'Done.' },
    PostCompress: { trigger: 'auto', summary: 'Short.' },
    ModelError: { llmRequest: { model: 'm', contents: [] }, error: { message: 'no' }, attempt: 1 },
    ToolBatchEnd: { toolCalls: [] },
  };
  return payloads[event] as unknown as HookPayload<HookEventName>;
}

function sentBy(name: DialectName, { event, moment }: EventWords, payload: unknown) {
  const { encode } = events[event] as unknown as EventDefinition<HookEventName>;
  const input = { ...commonInput(event, CWD), ...encode(payload as never) } as HookInput;
  const given = payload as CallFacts;
  return JSON.parse(
    JSON.stringify(theirInput(dialects[name], event, moment, input, given)),
  ) as Record<string, unknown>;
}

/** Each event of an agent that its hooks here have, as it sends it, for each tool that it is about. */
function casesOf(name: DialectName): [string, EventWords, string][] {
  return dialects[name].events
    .filter(({ moment }) => moment === undefined)
    .flatMap((words): [string, EventWords, string][] => {
      const hasTool = words.event === BeforeTool || words.event === AfterTool;
      const tools = TOOLS.filter(
        (tool) => eventWords(dialects[name], words.event, undefined, tool) === words,
      );
      return hasTool
        ? tools.map((tool) => [`${words.name} of ${tool}`, words, tool])
        : [[words.name, words, '']];
    });
}

function receivedFrom(name: DialectName, words: EventWords, tool: string): Received {
  const received = receive(name, sentBy(name, words, payloadOf(words.event, tool)));
  if (!received) throw new Error(`${words.name} is none of ours`);
  return received;
}

describe.each(DIALECT_NAMES)('%s', (name) => {
  it.each(casesOf(name))('tells %s, and it is read as that', (_title, words, tool) => {
    const { event } = words;
    const received = receivedFrom(name, words, tool);
    expect(received).toMatchObject({ event, theirEvent: words.sentAs ?? words.name });
    if (tool !== '') {
      const toolInput = ARGUMENTS[tool] ?? { a: 1 };
      const toolName = tool === 'write_file' && words.about?.test('replace') ? 'replace' : tool;
      expect(received.payload).toMatchObject({ toolName });
      const { toolInput: read } = received.payload as HookPayload<typeof BeforeTool>;
      expect(read).toMatchObject(
        words.about
          ? Object.fromEntries(Object.entries(toolInput).filter(([key]) => key in read))
          : toolInput,
      );
      expect(Object.keys(read).length).toBeGreaterThan(0);
    }
    if (event === BeforeAgent) expect(received.payload).toMatchObject({ prompt: 'Go.' });
  });

  it.each(casesOf(name).filter(([, { event }]) => events[event].canBlock && !ENDS.has(event)))(
    'is told a refusal at %s as one, whatever the reason to refuse',
    (_title, words, tool) => {
      const received = receivedFrom(name, words, tool);
      for (const kind of ['block', 'stop', 'ask'] as const) {
        const { json, refusal } = reply(received, { kind, reason: 'Not this.' });
        if (refusal !== undefined) {
          expect(refusal).toBe('Not this.');
          continue;
        }
        const { output } = words.read?.(json, undefined, {}) ?? readAnswer(json, words.answer);
        const isRefused = isBlocking(output['decision']) || output['continue'] === false;
        const isAsked = kind === 'ask' && output['decision'] === 'ask';
        const isSilent = words.answer === undefined || words.answer.words === undefined;
        expect(isRefused || isAsked || isSilent, JSON.stringify({ kind, json })).toBe(true);
        expect(JSON.stringify(json)).toContain(isSilent ? '' : 'Not this.');
      }
    },
  );
});

/** Why an agent would take an answer for none, or for another one, as far as that is known; of PreToolUse, unless it says so. */
const REFUSED: Partial<
  Record<DialectName, (json: Record<string, unknown>, event: string) => string | undefined>
> = {
  codex(json, event) {
    const own = (json['hookSpecificOutput'] ?? {}) as Record<string, unknown>;
    const unknown =
      json['suppressOutput'] === undefined ? otherField(json, CLAUDE_FIELDS) : 'suppressOutput';
    if (unknown !== undefined) return `the field ${unknown}`;
    if (Object.keys(own).length > 0 && own['hookEventName'] !== event) return 'another event';
    if (event === 'PostToolUse' && own['updatedToolOutput'] !== undefined) return 'no effect';
    if (event !== 'PreToolUse' && event !== 'PermissionRequest') return undefined;
    if (json['continue'] !== undefined || json['stopReason'] !== undefined) return 'a stop';
    const { permissionDecision: decision, permissionDecisionReason: reason } = own;
    const { updatedInput, additionalContext } = own;
    if (decision === 'ask') return 'ask';
    if (decision === 'deny' && !reason) return 'no reason';
    if (decision === 'deny' && updatedInput !== undefined) return 'arguments beside a denial';
    if (decision === 'allow' && updatedInput === undefined && event === 'PreToolUse')
      return 'allow alone';
    if (decision === 'allow' && additionalContext !== undefined) return 'context beside allow';
    if (updatedInput !== undefined && decision !== 'allow') return 'arguments without allow';
    return decision === undefined && reason !== undefined ? 'a reason alone' : undefined;
  },
  qwen(json, event) {
    const own = (json['hookSpecificOutput'] ?? {}) as Record<string, unknown>;
    if (event === 'PreToolUse' && own['updatedInput'] !== undefined) return 'arguments';
    return event === 'PreToolUse' && own['additionalContext'] !== undefined ? 'context' : undefined;
  },
  copilot(json, event) {
    const own = (json['hookSpecificOutput'] ?? {}) as Record<string, unknown>;
    if (json['continue'] !== undefined) return 'a stop';
    if (event === 'PreToolUse') return json['decision'] === undefined ? undefined : 'a decision';
    return Object.keys(own).length > 0 ? 'what stands within' : undefined;
  },
  claude: (json, event) => otherField(json, CLAUDE_FIELDS) ?? otherEvent(json, event),
  vscode: (json, event) => otherField(json, CLAUDE_FIELDS) ?? otherEvent(json, event),
  droid: (json, event) =>
    otherField(json, CLAUDE_FIELDS) ?? otherEvent(json, event) ?? outputIn(json),
  devin: (json, event) =>
    otherField(json, CLAUDE_FIELDS) ?? otherEvent(json, event) ?? outputIn(json),
  gemini(json, event) {
    const { decision } = json;
    if (decision === 'ask') return 'a question that nobody may answer';
    if (decision !== undefined && decision !== 'deny' && decision !== 'block') return 'a word';
    return otherField(json, CLAUDE_FIELDS) ?? otherEvent(json, event);
  },
  cursor(json, event) {
    const { permission, continue: goesOn } = json;
    if (permission !== undefined && !WORDS.has(permission)) return 'a word';
    if (goesOn !== undefined && event !== 'beforeSubmitPrompt') return 'continue';
    return otherField(json, CURSOR_FIELDS);
  },
  antigravity(json, event) {
    const { decision } = json;
    const isKnown = event === 'Stop' ? decision === 'continue' : WORDS.has(decision);
    if (decision !== undefined && !isKnown) return 'a word';
    return otherField(json, event === 'PostToolUse' ? [] : ['decision', 'reason']);
  },
  // Its hooks fail on a decision that is no text, and "continue" is a block there, also of the end.
  openhands(json) {
    const { decision } = json;
    if (decision !== undefined && decision !== 'deny') return 'a word';
    return otherField(json, ['decision', 'reason', 'additionalContext']);
  },
  windsurf: (json) => otherField(json, []),
  kiro: (json) => otherField(json, []),
  goose: (json) => otherField(json, ['decision', 'reason']),
  cline(json) {
    const { cancel } = json;
    if (cancel !== undefined && cancel !== true) return 'a word';
    return otherField(json, ['cancel', 'errorMessage', 'contextModification', 'overrideInput']);
  },
  // Our own plugin reads them.
  opencode: (json) => otherField(json, CLAUDE_FIELDS),
};

const CURSOR_FIELDS =
  'permission user_message agent_message updated_input additional_context continue followup_message'.split(
    ' ',
  );

const WORDS: ReadonlySet<unknown> = new Set(['allow', 'ask', 'deny']);

const CLAUDE_FIELDS =
  'continue stopReason suppressOutput systemMessage decision reason hookSpecificOutput'.split(' ');

function otherField(json: Record<string, unknown>, known: readonly string[]): string | undefined {
  return Object.keys(json).find((key) => !known.includes(key));
}

function ownOf(json: Record<string, unknown>): Record<string, unknown> {
  return (json['hookSpecificOutput'] ?? {}) as Record<string, unknown>;
}

function otherEvent(json: Record<string, unknown>, event: string): string | undefined {
  const { hookEventName = event } = ownOf(json);
  return hookEventName === event ? undefined : 'another event';
}

function outputIn(json: Record<string, unknown>): string | undefined {
  return ownOf(json)['updatedToolOutput'] === undefined ? undefined : 'a result';
}

it('knows of each agent which answers it refuses', () => {
  expect(Object.keys(REFUSED).toSorted()).toEqual([...DIALECT_NAMES].toSorted());
});

const VERDICTS: readonly ReplyVerdict[] = [
  { kind: 'none' },
  { kind: 'none', context: ['Mind it.'] },
  { kind: 'allow', reason: 'Fine.' },
  { kind: 'ask', reason: 'Really?' },
  { kind: 'block', reason: 'No.', context: ['Mind it.'] },
  { kind: 'block' },
  { kind: 'stop', reason: 'Enough.' },
  { kind: 'none', input: { command: 'ls' }, context: ['Mind it.'] },
  { kind: 'ask', reason: 'Really?', input: { command: 'ls' } },
  { kind: 'none', output: textInPlace('***') },
  { kind: 'block', reason: 'No.', output: textInPlace('***') },
  { kind: 'none', isHidden: true, forUser: ['Look.'] },
];

describe.each(Object.keys(REFUSED) as DialectName[])('an answer that %s would refuse', (name) => {
  it.each(casesOf(name))('is never given: %s', (_title, words, tool) => {
    for (const verdict of VERDICTS) {
      const given = words.event === BeforeTool ? verdict : { ...verdict, input: undefined };
      const { json } = reply(receivedFrom(name, words, tool), given);
      const why = REFUSED[name]?.(json, words.name);
      expect(why, JSON.stringify({ verdict, json })).toBeUndefined();
    }
  });
});
