import type { Part } from '@google/genai';
import * as fc from 'fast-check';
import { marked } from '../../helpers/marked.js';
import { oddText } from '../arbitraries.js';

/** What only tools and the model say, so that whoever has read it has read a result or an answer of theirs. */
export const SECRET = 'hunter2';

/** Stands for the secret in what a hook says that has read it. */
export const READ = '$READ';

/** What hooks of the user put in its place. */
export const GONE = '[gone]';

/** Words that guards look for. A person says no to `never`. */
const WORDS = ['rm', 'curl', 'ls', 'sudo', 'never'] as const;

/** Names of tools that exist, that differ in case, or that no tool has. */
export const TOOLS = ['run_shell_command', 'write_file', 'read_file', 'mcp__files__search', 'odd'];
const NAMES = [...TOOLS, 'Run_Shell_Command', 'ODD', 'Bash', '', '__proto__'];

interface Line {
  readonly stdout?: string;
  readonly stderr?: string;
  readonly exitCode?: number;
  /** Blanks before what it says: it is as long as that in the process alone. */
  readonly blanks?: number;
}

/** What a hook of the user does, as a function of what it reads; see `hook.mjs`. */
export interface OfUser {
  readonly fail?: readonly string[];
  readonly stop?: readonly string[];
  readonly deny?: readonly string[];
  readonly ask?: readonly string[];
  readonly clean?: readonly string[];
  readonly drop?: string;
  readonly permit?: { readonly allow?: readonly string[]; readonly deny?: readonly string[] };
  readonly results?: string;
  readonly mask?: boolean;
  readonly answers?: string;
  readonly tools?: Readonly<Record<string, unknown>>;
}

/** What a hook of the project, or of an extension of it, answers, by event. */
export type OfOthers = Readonly<Record<string, readonly Line[]>>;

export interface ModelCallOf {
  readonly id?: string;
  readonly name: string;
  readonly args: Readonly<Record<string, unknown>>;
}

/** All that is said in one run. */
export interface HostileSet {
  readonly user: readonly OfUser[];
  readonly others: readonly OfOthers[];
  readonly call: ModelCallOf;
  /** What the tool gives. */
  readonly result: { readonly text: string; readonly isFailure: boolean; readonly isList: boolean };
  readonly messages: readonly string[];
  readonly answer: { readonly pieces: readonly Part[][]; readonly calls: readonly ModelCallOf[] };
  /** How often the model says its calls. */
  readonly times: number;
  /** What is wrong with what a server answers before a tool, and after it. */
  readonly faults: readonly [before: Fault, after: Fault];
}

/** What a server says to a question, which none of these answers. */
export const FAULTS = {
  'no mark': (said: object) => said,
  'a mark that is none': (said: object) => ({ ...said, hookstack: true }),
  'another question': (said: object) => marked('another', said),
  'another version': (said: object, id: string) => marked(id, said, { version: 2 }),
  'hooks that have failed': (said: object, id: string) => marked(id, said, { success: false }),
  'its own health': () => ({ status: 'ok', success: true }),
  'another engine': () => ({ result: { allow: true }, Decision: 'allow' }),
  'a list': (said: object, id: string) => [marked(id, said)],
  nothing: () => '',
  half: (said: object, id: string) => JSON.stringify(marked(id, said)).slice(0, -1),
  'a refusal': (said: object, id: string) => marked(id, said),
};
export type Fault = keyof typeof FAULTS | 'none';

const partial = <T>(fields: { [K in keyof T]: fc.Arbitrary<T[K]> }) =>
  fc.record(fields, { requiredKeys: [] }) as fc.Arbitrary<Partial<T>>;

const seldom = <T>(arbitrary: fc.Arbitrary<T>, weight = 1) =>
  fc.option(arbitrary, { nil: undefined, freq: weight });

const word = fc.constantFrom(...WORDS);
const words = fc.uniqueArray(word, { minLength: 1, maxLength: 2 });
const sentence = (...others: readonly string[]) =>
  fc
    .array(fc.oneof({ weight: 4, arbitrary: word }, fc.constantFrom('a', ...others)), {
      minLength: 1,
      maxLength: 3,
    })
    .map((all) => all.join(' '));
const phrase = sentence();
/** What is said in a conversation. */
const saying = sentence(SECRET);

/** Keys that tools and dialects have names for, and keys that mean something to JavaScript. */
const key = fc.oneof(
  { weight: 6, arbitrary: fc.constantFrom('command', 'file_path', 'content', 'path', 'extra') },
  fc.constantFrom('__proto__', 'constructor', 'toString', 'absolute_path', 'dir_path', ''),
);
const value = fc.oneof(
  { weight: 6, arbitrary: phrase },
  fc.constantFrom(null, 1, true, []),
  phrase.map((inner) => ({ nested: [inner] })),
);
const args: fc.Arbitrary<Record<string, unknown>> = fc
  .tuple(phrase, fc.array(fc.tuple(key, value), { maxLength: 3 }))
  .map(([command, others]) => Object.fromEntries([['command', command], ...others]));

const names = fc.uniqueArray(fc.constantFrom(...NAMES, ...TOOLS), { maxLength: 3 });
const toolConfig = partial({
  mode: fc.constantFrom('AUTO', 'ANY', 'NONE'),
  allowedFunctionNames: names,
});

const ofUser: fc.Arbitrary<OfUser> = partial<OfUser>({
  fail: seldom(words),
  stop: seldom(words),
  deny: words,
  ask: seldom(words, 2),
  clean: words,
  drop: seldom(key, 2),
  permit: partial({ allow: words, deny: words }),
  results: fc.constantFrom('redact', 'deny', 'fail', 'stop', 'hide'),
  mask: fc.boolean(),
  answers: fc.constantFrom('redact', 'fail', 'stop', 'hide'),
  tools: toolConfig,
});

/** Where others refuse, there is little left to be seen. */
const decision = fc.oneof(
  { weight: 5, arbitrary: fc.constantFrom('allow', 'allow', 'approve', 'ask', 'DENY', null, 1) },
  { weight: 1, arbitrary: fc.constantFrom('block', 'deny') },
);
/** What models and people read of a hook, beside what it changes. What a project says itself is nobody's to stop. */
const note = fc.oneof(fc.constantFrom('fine', 'the project says so'), oddText);
/** What takes the place of what somebody else has said: also that itself. */
const replacement = fc.oneof(note, fc.constant(READ));
const messages = fc.array(
  fc.record({ role: fc.constantFrom('user', 'model', 'system'), content: saying }),
  { maxLength: 3 },
);

/** What JSON a hook may print: in our format, in those of other agents, in all of them at once, or none. */
const answer = partial({
  decision,
  reason: note,
  continue: fc.oneof({ weight: 19, arbitrary: fc.constantFrom(true, 'false') }, fc.constant(false)),
  stopReason: note,
  suppressOutput: fc.boolean(),
  systemMessage: note,
  foreign: partial({
    droppedArguments: fc.array(key, { maxLength: 2 }),
    toolOutput: fc.record(
      { llmContent: note, returnDisplay: note, isDenial: fc.boolean() },
      { requiredKeys: ['isDenial'] },
    ),
    withheld: note,
  }),
  hookSpecificOutput: partial({
    hookEventName: fc.constantFrom('PreToolUse', 'AfterTool', 'x'),
    additionalContext: note,
    permissionDecision: fc.oneof(decision, fc.constant('defer')),
    permissionDecisionReason: note,
    tool_input: args,
    updatedInput: args,
    decision: partial({
      behavior: fc.constantFrom('allow', 'allow', 'deny', 'ask'),
      updatedInput: args,
      interrupt: fc.boolean(),
    }),
    updatedToolOutput: fc.oneof(replacement, fc.record({ stdout: replacement })),
    updatedMCPToolOutput: replacement,
    tool_output: replacement,
    tool_response: fc.oneof(replacement, fc.record({ llmContent: replacement })),
    toolConfig,
    llm_request: partial({ messages, toolConfig, model: note, tools: fc.constant([]) }),
    llm_response: partial({
      text: replacement,
      candidates: fc.array(
        fc.record({ content: fc.record({ parts: fc.array(replacement, { maxLength: 2 }) }) }),
        { maxLength: 2 },
      ),
    }),
  }),
});

const line: fc.Arbitrary<Line> = fc.oneof(
  { weight: 14, arbitrary: answer.map((said) => ({ stdout: JSON.stringify(said) })) },
  { weight: 1, arbitrary: note.map((said) => ({ stdout: `{"decision":"allow"} ${said}` })) },
  {
    weight: 1,
    arbitrary: fc
      .constantFrom(
        '',
        '[1]',
        '"{}"',
        '{"__proto__":{"decision":"allow"},"hookSpecificOutput":{"__proto__":{"toolConfig":{}}}}',
        '{"decision":',
      )
      .map((stdout) => ({ stdout })),
  },
  {
    weight: 1,
    arbitrary: fc.record({ exitCode: fc.constantFrom(1, 2, 3), stderr: note, stdout: note }),
  },
  {
    weight: 1,
    arbitrary: answer.map((said) => ({ stdout: JSON.stringify(said), blanks: 100_000 })),
  },
);

export const TOOL_EVENTS = ['BeforeTool', 'asked', 'AfterTool', 'failed'] as const;
export const MODEL_EVENTS = ['BeforeModel', 'AfterModel', 'BeforeToolSelection'] as const;
export const AGENT_EVENTS = ['BeforeAgent', ...MODEL_EVENTS, ...TOOL_EVENTS] as const;

function ofOthers(events: readonly string[]): fc.Arbitrary<OfOthers> {
  const lines = fc.array(line, { minLength: 1, maxLength: 2 });
  return partial(Object.fromEntries(events.map((event) => [event, lines]))) as never;
}

const id = fc.oneof(
  { weight: 2, arbitrary: fc.constant('same') },
  fc.constantFrom('', '1', '__proto__'),
);
const call: fc.Arbitrary<ModelCallOf> = fc.record(
  { id, name: fc.constantFrom(...TOOLS, ...TOOLS, ...NAMES), args },
  { requiredKeys: ['name', 'args'] },
);

const part: fc.Arbitrary<Part> = fc.oneof(
  phrase.map((said) => ({ text: said })),
  fc.constant({ text: `the password is ${SECRET}` }),
  fc.constant({ text: `I think of ${SECRET}`, thought: true }),
);

const fault = fc.oneof(
  { weight: 1, arbitrary: fc.constant('none' as const) },
  { weight: 1, arbitrary: fc.constantFrom(...(Object.keys(FAULTS) as Fault[])) },
);

/** Of several that clean the same arguments at once one counts, whoever else is there: so one does it. */
function ofUsers(count: number): fc.Arbitrary<OfUser[]> {
  const all = fc.tuple(...Array.from({ length: count }, () => ofUser));
  return fc.tuple(all, fc.nat({ max: count - 1 })).map(([users, cleaner]) =>
    users.map((each, index) => {
      const { clean: _words, drop: _key, ...others } = each;
      return index === cleaner ? each : others;
    }),
  );
}

/** Any set for so many hooks of the user, and of others, at these events. */
export function hostileSet(
  users: number,
  others: number,
  events: readonly string[],
): fc.Arbitrary<HostileSet> {
  return fc.record({
    user: ofUsers(users),
    others: fc.tuple(...Array.from({ length: others }, () => ofOthers(events))),
    call,
    result: fc.record({
      text: fc.oneof(fc.constant(`the password is ${SECRET}`), phrase),
      isFailure: fc.oneof({ weight: 4, arbitrary: fc.constant(false) }, fc.constant(true)),
      isList: fc.boolean(),
    }),
    messages: fc.array(saying, { minLength: 1, maxLength: 3 }),
    answer: fc.record({
      pieces: fc.array(fc.array(part, { minLength: 1, maxLength: 2 }), { maxLength: 3 }),
      calls: fc.array(call, { maxLength: 3 }),
    }),
    faults: fc.tuple(fault, fault),
    times: fc.oneof({ weight: 60, arbitrary: fc.constant(1) }, fc.constant(1001)),
  });
}
