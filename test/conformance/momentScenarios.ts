import {
  asked,
  calls,
  demand,
  ended,
  eventsOf,
  fired,
  lastToolText,
  mentions,
  notRun,
  ranWith,
} from './checks.js';
import { answering, group, objecting } from './scenarioHooks.js';
import { SESSION } from './session.js';
import type { MomentScenarioName, Scenario, Seen } from './types.js';

const WRITE = { name: 'write', args: { path: 'a.txt', text: 'one' } };
const READ = { name: 'read', args: { path: 'secret.txt' } };
const HELP = { name: 'helper', args: { request: 'Look it up.' } };
const TOLD = answering({ hookSpecificOutput: { additionalContext: 'Run the tests.' } });
const AGAIN = answering({ hookSpecificOutput: { retry: true } });

/** What happens between calls of tools and models. */
export const momentScenarios: Readonly<Record<MomentScenarioName, Scenario>> = {
  batchEnd: {
    title: 'tells hooks once when all tools of an answer are done; the model reads what they add',
    hooks: { ToolBatchEnd: group(TOLD) },
    answers: [calls(WRITE, READ)],
    check: (seen) =>
      fired(seen, 'ToolBatchEnd') ??
      demand(
        isBatch(seen, ['a.txt', 'Wrote a.txt.'], ['secret.txt', 'hunter2']),
        `they read ${JSON.stringify(seen.read[0]?.['tool_calls'])}`,
      ) ??
      asked(seen, 2) ??
      demand(mentions(seen.sent[1], 'Run the tests.'), 'the model did not read what they added') ??
      demand(seen.text === 'Done.', `the final text was ${JSON.stringify(seen.text)}`),
  },
  batchBlocked: {
    title: 'the same where a hook has blocked the tool',
    hooks: {
      BeforeTool: group(answering({ decision: 'block', reason: 'Not that file.' })),
      ToolBatchEnd: group(TOLD),
    },
    answers: [calls(WRITE)],
    check: (seen) =>
      notRun(seen) ??
      fired(seen, 'ToolBatchEnd') ??
      demand(
        mentions(seen.read.at(-1)?.['tool_calls'], 'Not that file.'),
        'they did not read why the tool was blocked',
      ),
  },
  batchStop: {
    title: 'stops the agent then',
    hooks: { ToolBatchEnd: group(answering({ continue: false, stopReason: 'Enough.' })) },
    answers: [calls(WRITE)],
    check: (seen) => ranWith(seen, WRITE.args) ?? ended(seen, 1, 'Enough.'),
  },
  modelError: {
    title: 'tells hooks of a call of the model that fails',
    hooks: { ModelError: group(answering({})) },
    modelFails: 1,
    check: (seen) =>
      failed(seen) ??
      asked(seen, 1) ??
      demand(seen.text !== 'Done.', 'the turn went on as if nothing had failed'),
  },
  modelRetry: {
    title: 'a hook has it made again',
    hooks: { ModelError: group(AGAIN) },
    modelFails: 1,
    check: (seen) => failed(seen) ?? asked(seen, 2) ?? done(seen),
  },
  modelRetryStream: {
    title: 'the same where the host streams',
    hooks: { ModelError: group(AGAIN) },
    modelFails: 1,
    stream: true,
    check: (seen) => failed(seen) ?? asked(seen, 2) ?? done(seen),
  },
  subagent: {
    title: 'tells hooks when a sub-agent begins, and what it has answered',
    hooks: { SubagentStart: group(answering({})), SubagentStop: group(answering({})) },
    subagent: 'helper',
    answers: [calls(HELP), 'Found it.'],
    check: (seen) =>
      fired(seen, 'SubagentStart') ??
      fired(seen, 'SubagentStop') ??
      demand(
        seen.read.every(
          (input) =>
            input.agent_type === 'helper' &&
            input.agent_id === seen.read[0]?.agent_id &&
            input.parent_session_id === SESSION.sessionId &&
            input['prompt'] === 'Look it up.',
        ),
        `they read ${JSON.stringify(seen.read)}`,
      ) ??
      demand(seen.read[1]?.['prompt_response'] === 'Found it.', 'they did not read its answer') ??
      demand(lastToolText(seen).includes('Found it.'), 'the model did not read its answer') ??
      done(seen),
  },
  subagentInside: {
    title: 'hooks of what happens in it read which one it is',
    hooks: { SubagentStart: group(answering({})), BeforeTool: group(answering({})) },
    subagent: 'helper',
    answers: [calls(HELP), calls(READ), 'Found it.'],
    check: (seen) => {
      const start = seen.read.find(({ hook_event_name: name }) => name === 'SubagentStart');
      const inside = seen.read.find((input) => String(input['tool_name']).endsWith('read'));
      return (
        fired(seen, 'SubagentStart') ??
        demand(inside !== undefined, 'no BeforeTool hook ran in it') ??
        demand(
          inside?.agent_id === start?.agent_id && inside?.session_id === start?.session_id,
          `they read ${JSON.stringify([start, inside])}`,
        )
      );
    },
  },
  subagentBlock: {
    title: 'blocks a sub-agent; the model reads why, and goes on',
    hooks: { SubagentStart: group(answering({ decision: 'block', reason: 'No helpers.' })) },
    subagent: 'helper',
    answers: [calls(HELP)],
    check: (seen) =>
      fired(seen, 'SubagentStart') ??
      asked(seen, 2) ??
      demand(lastToolText(seen).includes('No helpers.'), 'the model did not read the reason') ??
      done(seen),
  },
  subagentStop: {
    title: 'stops the agent that starts it',
    hooks: { SubagentStart: group(answering({ continue: false, stopReason: 'Enough.' })) },
    subagent: 'helper',
    answers: [calls(HELP)],
    check: (seen) => ended(seen, 1, 'Enough.'),
  },
  subagentBack: {
    title: 'sends a sub-agent back to work, which reads why',
    hooks: { SubagentStop: group(objecting('Say where.')) },
    subagent: 'helper',
    answers: [calls(HELP), 'Found it.', 'Found it on page 3.'],
    check: (seen) =>
      demand(eventsOf(seen, 'SubagentStop') === 2, 'SubagentStop did not fire for each answer') ??
      asked(seen, 4) ??
      demand(mentions(seen.sent[2], 'Say where.'), 'the sub-agent did not read why') ??
      demand(lastToolText(seen).includes('on page 3'), 'the model did not read the last answer') ??
      done(seen),
  },
};

/** Whether the hooks of the batch have read these texts, each list of one call. */
function isBatch({ read }: Seen, ...wanted: string[][]): boolean {
  const batch = read[0]?.['tool_calls'];
  if (!Array.isArray(batch) || batch.length !== wanted.length) return false;
  return wanted.every((texts, at) => texts.every((text) => mentions(batch[at], text)));
}

function failed(seen: Seen): string | undefined {
  const failure = seen.read.find(({ hook_event_name: name }) => name === 'ModelError');
  return (
    fired(seen, 'ModelError') ??
    demand(
      mentions(failure?.['error'], 'overloaded') && failure?.['attempt'] === 1,
      `they read ${JSON.stringify(failure)}`,
    )
  );
}

function done({ text }: Seen): string | undefined {
  return demand(text === 'Done.', `the final text was ${JSON.stringify(text)}`);
}
