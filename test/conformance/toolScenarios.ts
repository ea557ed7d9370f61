import { answering, failing, group, waiting } from './scenarioHooks.js';
import {
  abortedAtWork,
  calls,
  demand,
  endedWithAbort,
  eventsOf,
  fired,
  lastToolText,
  mentions,
  notRun,
  ranWith,
  ended,
} from './checks.js';
import { SESSION } from './session.js';
import type { Scenario, Seen, ToolScenarioName } from './types.js';

const WRITE = { name: 'write', args: { path: 'a.txt', text: 'one' } };
const READ = { name: 'read', args: { path: 'secret.txt' } };

/** What hooks do to tools. */
export const toolScenarios: Readonly<Record<ToolScenarioName, Scenario>> = {
  untouched: {
    title: 'a tool without matching hooks runs as it would',
    hooks: { BeforeTool: group(answering({}), { matcher: '^other$' }) },
    answers: [calls(WRITE)],
    check: (seen) =>
      ranWith(seen, WRITE.args) ??
      demand(lastToolText(seen).includes('Wrote a.txt.'), 'the model did not read the result') ??
      demand(seen.text === 'Done.', `the final text was ${JSON.stringify(seen.text)}`),
  },
  rewrite: {
    title: 'changes the arguments of a tool',
    hooks: {
      BeforeTool: group(answering({ hookSpecificOutput: { tool_input: { path: 'b.txt' } } })),
    },
    answers: [calls(WRITE)],
    check: (seen) => ranWith(seen, { ...WRITE.args, path: 'b.txt' }),
  },
  block: {
    title: 'blocks a tool; the model reads why, and goes on',
    hooks: { BeforeTool: group(answering({ decision: 'block', reason: 'Not that file.' })) },
    answers: [calls(WRITE)],
    check: (seen) =>
      notRun(seen) ??
      demand(lastToolText(seen).includes('Not that file.'), 'the model did not read the reason') ??
      demand(seen.text === 'Done.', 'the agent did not go on'),
  },
  stop: {
    title: 'stops the agent before a tool',
    hooks: { BeforeTool: group(answering({ continue: false, stopReason: 'Enough.' })) },
    answers: [calls(WRITE)],
    check: (seen) => notRun(seen) ?? ended(seen, 1, 'Enough.'),
  },
  stopAfterTool: {
    title: 'stops the agent after a tool',
    hooks: { AfterTool: group(answering({ continue: false, stopReason: 'Enough.' })) },
    answers: [calls(WRITE)],
    check: (seen) => ranWith(seen, WRITE.args) ?? ended(seen, 1, 'Enough.'),
  },
  ask: {
    title: 'asks a person, whose no blocks',
    hooks: { BeforeTool: group(answering({ decision: 'ask', reason: 'Sure?' })) },
    person: ['allow', 'deny'],
    answers: [calls(WRITE), calls({ ...WRITE, args: { ...WRITE.args, text: 'two' } })],
    check: (seen) =>
      demand(seen.asked.length === 2, `a person was asked ${seen.asked.length} times, not 2`) ??
      ranWith(seen, WRITE.args) ??
      demand(
        lastToolText(seen).includes('Nope.'),
        'the model did not read that the person said no',
      ),
  },
  annotate: {
    title: 'adds to the result of a tool',
    hooks: {
      AfterTool: group(answering({ hookSpecificOutput: { additionalContext: 'Lint it.' } })),
    },
    answers: [calls(WRITE)],
    check: (seen) =>
      demand(lastToolText(seen).includes('Wrote a.txt.'), 'the result was lost') ??
      demand(lastToolText(seen).includes('Lint it.'), 'the model did not read what was added'),
  },
  result: {
    title: 'replaces the result of a tool',
    hooks: {
      AfterTool: group(
        answering({
          hookSpecificOutput: { hookEventName: 'PostToolUse', updatedToolOutput: '[redacted]' },
        }),
        { dialect: 'claude' },
      ),
    },
    answers: [calls(READ)],
    check: (seen) =>
      demand(lastToolText(seen).includes('[redacted]'), 'the model did not read the new result') ??
      demand(!mentions(seen.sent, 'hunter2'), 'the model read the result that was replaced'),
  },
  failingHook: {
    title: 'a hook that fails lets the tool run',
    hooks: { BeforeTool: group(failing('allow')) },
    answers: [calls(WRITE)],
    check: (seen) =>
      fired(seen, 'BeforeTool') ??
      ranWith(seen, WRITE.args) ??
      demand(seen.text === 'Done.', 'the agent did not go on'),
  },
  failingGuard: {
    title: 'a guard that fails blocks the tool',
    hooks: { BeforeTool: group(failing('deny')) },
    answers: [calls(WRITE)],
    check: (seen) =>
      notRun(seen) ??
      demand(lastToolText(seen).includes('broken'), 'the model did not read which guard failed'),
  },
  toolThrows: {
    title: 'a tool that throws fails as it would without hooks',
    hooks: { BeforeTool: group(answering({})), AfterTool: group(answering({})) },
    answers: [calls(WRITE)],
    toolThrows: true,
    check: (seen) =>
      fired(seen, 'BeforeTool') ??
      demand(seen.runs.length === 1, `the tool ran ${seen.runs.length} times, not once`) ??
      demand(
        mentions([seen.error, ...seen.sent.slice(1)], 'The disk is full.'),
        'neither the model nor the caller learnt what the tool threw',
      ),
  },
  parallel: {
    title: 'calls of one answer have hooks and results of their own',
    hooks: {
      BeforeTool: group(answering({ hookSpecificOutput: { tool_input: { text: 'both' } } })),
      AfterTool: group(answering({})),
    },
    answers: [calls(WRITE, { ...WRITE, args: { path: 'z.txt', text: 'two' } })],
    check: (seen) => {
      const paths = seen.runs.map(({ args }) => JSON.stringify(args['path'])).toSorted();
      return (
        demand(
          paths.join() === '"a.txt","z.txt"',
          `the tools ran with ${JSON.stringify(seen.runs)}`,
        ) ??
        demand(
          seen.runs.every(({ args }) => args['text'] === 'both'),
          'the hook did not change both calls',
        ) ??
        demand(
          mentions(seen.sent, 'Wrote a.txt.') && mentions(seen.sent, 'Wrote z.txt.'),
          'the model did not read both results',
        ) ??
        demand(eventsOf(seen, 'AfterTool') === 2, 'AfterTool did not fire for each call')
      );
    },
  },
  abort: {
    title: 'an abort ends the hooks, and the tool does not run',
    hooks: { BeforeTool: group(waiting()) },
    answers: [calls(WRITE)],
    aborts: 'hook',
    check: (seen) => notRun(seen) ?? endedWithAbort(seen),
  },
  abortDuringTool: {
    title: 'an abort reaches a tool that runs; no AfterTool hook sees what it still gives',
    hooks: {
      BeforeTool: group(answering({ hookSpecificOutput: { tool_input: { path: 'b.txt' } } })),
      AfterTool: group(answering({})),
    },
    answers: [calls(WRITE)],
    aborts: 'tool',
    check: (seen) =>
      ranWith(seen, { ...WRITE.args, path: 'b.txt' }) ?? abortedAtWork(seen, 'AfterTool'),
  },
  identity: {
    title: 'hooks read the session of the call',
    hooks: { BeforeTool: group(answering({})), AfterTool: group(answering({})) },
    answers: [calls(WRITE)],
    check: (seen) => fired(seen, 'BeforeTool') ?? fired(seen, 'AfterTool') ?? sameSession(seen),
  },
};

function sameSession({ read }: Seen): string | undefined {
  const other = read.find(
    ({ session_id: id, agent }) => id !== SESSION.sessionId || agent !== SESSION.agent,
  );
  return (
    other &&
    `${other.hook_event_name} hooks read the session ${other.session_id} and the agent ${other.agent}`
  );
}
