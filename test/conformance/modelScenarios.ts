import {
  abortedAtWork,
  asked,
  calls,
  demand,
  ended,
  endedWithAbort,
  fired,
  lastToolText,
  mentions,
  notRun,
} from './checks.js';
import { answering, group, waiting } from './scenarioHooks.js';
import { SESSION } from './session.js';
import type { ModelScenarioName, Scenario, Seen } from './types.js';

const WRITE = { name: 'write', args: { path: 'a.txt', text: 'one' } };
const SYNTHETIC = answering({
  decision: 'block',
  reason: 'From the cache.',
  hookSpecificOutput: { llm_response: { text: 'Cached.' } },
});
const REDACTION = answering({ hookSpecificOutput: { llm_response: { text: '[redacted]' } } });
const WATCHING = { BeforeModel: group(answering({})), AfterModel: group(answering({})) };
const ONLY_READ = answering({
  hookSpecificOutput: { toolConfig: { mode: 'AUTO', allowedFunctionNames: ['read'] } },
});

/** What hooks do to model calls. */
export const modelScenarios: Readonly<Record<ModelScenarioName, Scenario>> = {
  synthetic: {
    title: "answers in the model's place",
    hooks: { BeforeModel: group(SYNTHETIC) },
    check: (seen) => asked(seen, 0) ?? finalText(seen, 'Cached.'),
  },
  syntheticStream: {
    title: 'the same where the host streams',
    hooks: { BeforeModel: group(SYNTHETIC) },
    stream: true,
    check: (seen) => asked(seen, 0) ?? finalText(seen, 'Cached.') ?? shownText(seen, 'Cached.'),
  },
  blockModel: {
    title: 'blocks a model call',
    hooks: { BeforeModel: group(answering({ decision: 'block', reason: 'Over budget.' })) },
    check: (seen) =>
      asked(seen, 0) ??
      demand(
        mentions([seen.text, seen.stopped, seen.error], 'Over budget.'),
        'the host did not learn why the model was not asked',
      ),
  },
  stopModel: {
    title: 'stops the agent before a model call',
    hooks: { BeforeModel: group(answering({ continue: false, stopReason: 'Enough.' })) },
    check: (seen) => ended(seen, 0, 'Enough.'),
  },
  stopAfterModel: {
    title: 'stops the agent after a model call; no tool runs',
    hooks: { AfterModel: group(answering({ continue: false, stopReason: 'Enough.' })) },
    answers: [calls(WRITE)],
    check: (seen) => notRun(seen) ?? ended(seen, 1, 'Enough.'),
  },
  request: {
    title: 'changes the request',
    hooks: {
      BeforeModel: group(
        answering({
          hookSpecificOutput: {
            llm_request: {
              messages: [{ role: 'user', content: 'Changed.' }],
              config: { temperature: 0.25 },
            },
          },
        }),
      ),
    },
    check: ({ sent: [request] }) => {
      const texts = request?.messages.flatMap(({ role, text }) => (role === 'user' ? text : []));
      return (
        demand(texts?.join() === 'Changed.', `the model was sent ${JSON.stringify(texts)}`) ??
        demand(
          request?.messages[0]?.text.includes('You are an agent.') ?? false,
          'the system instruction was lost',
        ) ??
        demand(request?.temperature === 0.25, `the temperature was ${request?.temperature}`)
      );
    },
  },
  redact: {
    title: "changes the model's answer",
    hooks: { AfterModel: group(REDACTION) },
    answers: ['The password is hunter2.'],
    check: (seen) => finalText(seen, '[redacted]'),
  },
  redactHeld: {
    title: 'the same where the host streams, held back until hooks have seen it',
    hooks: { AfterModel: group(REDACTION) },
    answers: [['The password ', 'is hunter2.']],
    stream: true,
    hold: true,
    check: (seen) => finalText(seen, '[redacted]') ?? shownText(seen, '[redacted]'),
  },
  redactShown: {
    title: 'the same where nothing is held back: it was shown as it came, and is kept as changed',
    hooks: { AfterModel: group(REDACTION) },
    answers: [['The password ', 'is hunter2.']],
    stream: true,
    check: (seen) => shownText(seen, 'The password is hunter2.') ?? finalText(seen, '[redacted]'),
  },
  stream: {
    title: 'a stream passes as it comes; AfterModel hooks see all of it in the end',
    hooks: { AfterModel: group(answering({})) },
    answers: [['One ', 'two ', 'three.']],
    stream: true,
    check: (seen) => {
      const after = seen.read.find(({ hook_event_name: name }) => name === 'AfterModel');
      return (
        shownText(seen, 'One two three.') ??
        demand(seen.shown.length >= 2, 'the answer came in one piece') ??
        fired(seen, 'AfterModel') ??
        demand(mentions(after, 'One two three.'), 'AfterModel hooks did not read all of it') ??
        demand(
          (seen.shownAt ?? Infinity) <= Date.parse(after?.timestamp ?? ''),
          'the answer was held back until the hooks had seen it',
        )
      );
    },
  },
  restrict: {
    title: 'restricts the tools that the model is offered',
    hooks: { BeforeToolSelection: group(ONLY_READ) },
    check: ({ sent: [request] }) =>
      demand(
        request?.tools.join() === 'read',
        `the model was offered ${JSON.stringify(request?.tools)}`,
      ),
  },
  restrictCalls: {
    title: 'refuses a call of a tool that is not offered',
    hooks: { BeforeToolSelection: group(ONLY_READ) },
    answers: [calls(WRITE)],
    check: (seen) =>
      notRun(seen) ??
      asked(seen, 2) ??
      demand(
        /may be called|allowed/.test(lastToolText(seen)),
        'the model did not read why it was refused',
      ),
  },
  abortModel: {
    title: 'an abort ends the hooks, and the model is not asked',
    hooks: { BeforeModel: group(waiting()) },
    aborts: 'hook',
    check: (seen) => asked(seen, 0) ?? endedWithAbort(seen),
  },
  abortDuringModel: {
    title: 'an abort reaches a model that is asked; no AfterModel hook sees what it still gives',
    hooks: WATCHING,
    answers: ['The password is hunter2.'],
    aborts: 'model',
    check: (seen) => fired(seen, 'BeforeModel') ?? abortedAtWork(seen, 'AfterModel'),
  },
  abortDuringStream: {
    title: 'the same where the model streams; nothing more is shown',
    hooks: WATCHING,
    answers: [['One ', 'two ', 'three.']],
    stream: true,
    aborts: 'stream',
    check: (seen) =>
      fired(seen, 'BeforeModel') ?? shownText(seen, 'One ') ?? abortedAtWork(seen, 'AfterModel'),
  },
  modelReads: {
    title: 'hooks read prompt, system instruction, tools and session',
    hooks: WATCHING,
    check: (seen) => {
      const before = seen.read.find(({ hook_event_name: name }) => name === 'BeforeModel');
      return (
        fired(seen, 'BeforeModel') ??
        fired(seen, 'AfterModel') ??
        demand(mentions(before?.['llm_request'], 'Go.'), 'they did not read the prompt') ??
        demand(
          mentions(before?.['llm_request'], 'You are an agent.'),
          'they did not read the system instruction',
        ) ??
        demand(
          mentions(before?.['llm_request'], '"name":"write"'),
          'they did not read the tools',
        ) ??
        demand(
          seen.read.every(({ session_id: id }) => id === SESSION.sessionId),
          'they did not read the session',
        )
      );
    },
  },
};

function finalText({ text }: Seen, wanted: string): string | undefined {
  return demand(text === wanted, `the final text was ${JSON.stringify(text)}`);
}

function shownText({ shown }: Seen, wanted: string): string | undefined {
  const text = shown.join('');
  return demand(text === wanted, `the text that was shown was ${JSON.stringify(text)}`);
}
