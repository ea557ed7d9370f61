// node --expose-gc asyncHost.mjs HOOKS: starts async hooks in sessions of a thousand, has a model read what they say late,
// and prints as JSON what is left of it all in this process and around it. Started by launchHost.mjs.
import { readFileSync, readdirSync } from 'node:fs';
import { Config, callModelWithHooks, executeToolWithHooks } from '../../dist/index.js';
import { atMost, exactly } from './figures.mjs';
import { findMarked, findZombiesOf, waitUntil } from './processes.mjs';

/** Hooks that run, or wait for their turn, at a time: fewer than would be left out. */
const IN_FLIGHT = 40;
const PER_SESSION = 1_000;
/** So many hooks come before anything is measured. */
const WARM_UP = 500;
/** Ms that each hook takes, at least, so that an event that waited for it could be told. */
const HOOK_MS = 40;
const MEBIBYTE = 1024 * 1024;

const SAYS = `read -r input; input=\${input#*'"number":'}; number=\${input%%'}'*}
  sleep ${HOOK_MS / 1000}
  printf '{"hookSpecificOutput":{"additionalContext":"late-%s-"}}' "$number"`;

const runId = process.env.HOOKSTACK_RUN_ID;
const config = new Config({
  enableHooks: true,
  maxAsyncHooks: 16,
  hooks: {
    AfterTool: [
      { matcher: '^says$', hooks: [{ type: 'command', command: SAYS, async: true }] },
      // Its session ends before it does.
      {
        matcher: '^stays$',
        hooks: [{ type: 'command', command: 'sleep 300 & sleep 300', async: true }],
      },
    ],
    SessionEnd: [{ hooks: [{ type: 'command', command: 'cat >/dev/null', async: true }] }],
  },
});
const system = config.getHookSystem();
let sessions = 0;

console.log(JSON.stringify(await measure(Number(process.argv[2]))));

async function measure(count) {
  await runSessions(WARM_UP);
  const before = takeStock();
  const startedAt = performance.now();
  const { once, others, median } = summaryOf(await runSessions(count));
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  await waitUntil(() => findHooks().length === 0, 10_000);
  const after = takeStock();
  await config.dispose();
  await waitUntil(() => findMarked(runId).length === 0, 10_000);
  const grownMiB = Number(((after.heapBytes - before.heapBytes) / MEBIBYTE).toFixed(2));
  return [
    exactly('Async hooks whose answer was read once', count, once, `${seconds} s`),
    exactly('Answers that were read twice, or not said', 0, others),
    atMost(
      'Median of an event that starts one, in ms',
      HOOK_MS / 2,
      Number(median.toFixed(2)),
      `each hook takes ${HOOK_MS} ms or more`,
    ),
    exactly('Async hooks left with their sessions', 0, after.hooks),
    exactly('Processes left after async hooks', 0, findMarked(runId).length),
    exactly('Zombies of async hooks', 0, findZombiesOf(process.pid).length),
    atMost(
      'Descriptors after async hooks, difference',
      2,
      Math.abs(after.descriptors - before.descriptors),
      `${before.descriptors} → ${after.descriptors}`,
    ),
    atMost('Heap and buffers after async hooks, growth in MiB', 5, grownMiB),
  ];
}

/** What was noted of each hook is of this measurement, and must be gone when its memory is looked at. */
function summaryOf({ read, durations }) {
  const once = [...read.values()].filter((times) => times === 1).length;
  const median = durations.toSorted((a, b) => a - b)[Math.floor(durations.length / 2)];
  return { once, others: read.size - once, median };
}

async function runSessions(count) {
  const read = new Map();
  const durations = [];
  for (let done = 0; done < count; done += PER_SESSION) {
    await runSession(done, Math.min(PER_SESSION, count - done), read, durations);
  }
  return { read, durations };
}

/** One session: hooks that speak, all of which are read, and one that would not end. */
async function runSession(first, count, read, durations) {
  const session = { sessionId: `session-${(sessions += 1)}` };
  const left = { unread: 0 };
  const readLate = async () => {
    for (const number of await askModel(session)) {
      read.set(number, (read.get(number) ?? 0) + 1);
      left.unread -= 1;
    }
  };
  for (let number = first; number < first + count; number += 1) {
    while (left.unread >= IN_FLIGHT) await readWhenThere(session, readLate);
    left.unread += 1;
    const startedAt = performance.now();
    await executeToolWithHooks(config, 'says', { number }, runTool, { session });
    durations.push(performance.now() - startedAt);
  }
  while (left.unread > 0) await readWhenThere(session, readLate);
  await executeToolWithHooks(config, 'stays', {}, runTool, { session });
  await system.getEventHandler().fireSessionEndEvent({ reason: 'exit' });
  await system.endSession(session);
}

async function readWhenThere(session, readLate) {
  await waitUntil(() => system.lookForLate(session).isThere, 10_000);
  await readLate();
}

/** A model call, and the numbers of the hooks that the model has read. */
async function askModel(session) {
  let read = '';
  const request = { model: 'm', contents: [{ role: 'user', parts: [{ text: 'hello' }] }] };
  const open = async ({ contents }) => {
    read = JSON.stringify(contents);
    return answer();
  };
  const turn = callModelWithHooks(config, request, open, { session });
  while (!(await turn.next()).done);
  return Array.from(read.matchAll(/late-(\d+)-/gu), ([, number]) => Number(number));
}

async function* answer() {
  yield { candidates: [{ content: { role: 'model', parts: [{ text: 'Fine.' }] } }] };
}

async function runTool() {
  return { llmContent: 'given', returnDisplay: '' };
}

/** What the hooks have started. Shells that wait for the next event are meant to be there. */
function findHooks() {
  return findMarked(runId).filter((pid) => {
    try {
      return readFileSync(`/proc/${pid}/cmdline`, 'utf8').startsWith('sleep');
    } catch {
      return false;
    }
  });
}

function takeStock() {
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return {
    heapBytes: heapUsed + external,
    descriptors: readdirSync('/proc/self/fd').length,
    hooks: findHooks().length,
  };
}
