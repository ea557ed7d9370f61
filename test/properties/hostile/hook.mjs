// node hook.mjs SLOT [DIALECT]: a hook that stays, and does with each event what the set says of its slot: the path of the
// transcript is the set, as JSON, or a file with it. `user` makes it a function of what it reads, as hooks of the user are; `says` are lines
// that it answers by event, whatever it reads: the first time the first one, and the last one from then on.
import { readFileSync } from 'node:fs';

const [slot, dialect = 'own'] = process.argv.slice(2);

/** By the names of Claude Code. */
const EVENTS = {
  PreToolUse: 'BeforeTool',
  PermissionRequest: 'asked',
  PostToolUse: 'AfterTool',
  PostToolUseFailure: 'failed',
  UserPromptSubmit: 'BeforeAgent',
};

const has = (value, words = []) => words.some((word) => JSON.stringify(value ?? '').includes(word));
const mask = (text, word, by) => text.replaceAll(word, by);
const stop = { continue: false, stopReason: 'enough' };
const specific = (fields) => ({ hookSpecificOutput: fields });

/** What is done about what it reads, where anything is: the strictest first. */
function judge(user, value, decide) {
  if (has(value, user.fail)) return { exitCode: 1, stderr: 'broke' };
  if (has(value, user.stop)) return { output: stop };
  if (has(value, user.deny)) return { output: decide('deny') };
  return has(value, user.ask) && { output: decide('ask') };
}

const plain = (decision) => ({ decision, reason: `${decision} by ${slot}` });
const permission = (permissionDecision) =>
  specific({ permissionDecision, permissionDecisionReason: `${permissionDecision} by ${slot}` });

function cleaned({ clean = [], drop }, input) {
  const entries = Object.entries(input).map(([name, value]) => [
    name,
    typeof value === 'string' ? clean.reduce((text, word) => mask(text, word, '-'), value) : value,
  ]);
  return Object.fromEntries(entries.filter(([name]) => dialect !== 'claude' || name !== drop));
}

function change(user, input) {
  const after = cleaned(user, input);
  if (JSON.stringify(after) === JSON.stringify(input)) return undefined;
  if (dialect === 'claude') return specific({ updatedInput: after });
  const changed = Object.entries(after).filter(([name, value]) => value !== input[name]);
  return specific({ tool_input: Object.fromEntries(changed) });
}

function replace(kind, gone) {
  if (kind === 'fail') return { exitCode: 1, stderr: 'broke' };
  if (kind === 'stop') return { output: stop };
  if (kind === 'hide') return { output: { suppressOutput: true } };
  if (dialect === 'claude') return { output: specific({ updatedToolOutput: gone }) };
  if (dialect === 'own') return { output: specific({ tool_response: gone }) };
  const isDenial = kind === 'deny';
  return {
    output: isDenial ? { decision: 'deny', reason: gone } : specific({ tool_output: gone }),
  };
}

/** Each event, as a function of what it reads. */
const functions = {
  BeforeTool: (user, { tool_input: input }) =>
    judge(user, input, dialect === 'claude' ? permission : plain) || {
      output: change(user, input) ?? {},
    },
  asked: ({ permit = {} }, { tool_input: input }) => {
    const behavior = has(input, permit.deny) ? 'deny' : has(input, permit.allow) && 'allow';
    return behavior && { output: specific({ decision: { behavior } }) };
  },
  AfterTool: (user, { tool_response: response }, { secret, gone }) =>
    user.results && has(response, [secret]) && replace(user.results, gone),
  failed: (user, input, { secret }) =>
    user.results === 'stop' && has(input.error, [secret]) && { output: stop },
  BeforeModel: (user, { llm_request: { messages } }, { secret, gone }) => {
    const judged = judge(user, messages, plain);
    if (judged || !user.mask || !has(messages, [secret])) return judged;
    const masked = messages.map((each) => ({ ...each, content: mask(each.content, secret, gone) }));
    return { output: specific({ llm_request: { messages: masked } }) };
  },
  AfterModel: (user, { llm_response: { candidates, text } }, { secret, gone }) => {
    if (!user.answers || !has([candidates, text], [secret])) return undefined;
    if (user.answers !== 'redact') return replace(user.answers);
    const after = candidates.map((each) => ({
      ...each,
      content: {
        ...each.content,
        parts: each.content.parts.map((part) => mask(part, secret, gone)),
      },
    }));
    return { output: specific({ llm_response: { candidates: after } }) };
  },
  BeforeToolSelection: ({ tools }) => tools && { output: specific({ toolConfig: tools }) },
  BeforeAgent: (user, { prompt }) => judge(user, prompt, plain),
};

/** How often it was asked, by set and event; of the last sets. */
const asked = new Map();

function count(key) {
  const times = asked.get(key) ?? 0;
  asked.delete(key);
  asked.set(key, times + 1);
  if (asked.size > 500) asked.delete(asked.keys().next().value);
  return times;
}

function answer(input) {
  const { transcript_path: path = '' } = input;
  const set = JSON.parse((path.startsWith('/') ? readFileSync(path, 'utf8') : path) || '{}');
  const { user, says } = set.slots?.[slot] ?? {};
  const event = EVENTS[input.hook_event_name] ?? input.hook_event_name;
  if (user) return functions[event]?.(user, input, set) || {};
  const lines = says?.[event] ?? [];
  if (lines.length === 0) return {};
  const times = count(`${set.run} ${event}`);
  const { blanks = 0, stdout = '', ...line } = lines[Math.min(times, lines.length - 1)];
  const known = has(input.tool_response ?? input.llm_response, [set.secret]) ? set.secret : 'it';
  return { ...line, stdout: ' '.repeat(blanks) + mask(stdout, set.read, known) };
}

process.stdout.write('{"hookstack":1}\n');
let rest = '';
process.stdin.setEncoding('utf8').on('data', (chunk) => {
  const lines = (rest + chunk).split('\n');
  rest = lines.pop();
  for (const line of lines) {
    const { id, input } = JSON.parse(line);
    process.stdout.write(`${JSON.stringify({ id, ...answer(input) })}\n`);
  }
});
