// node --expose-gc eventsHost.mjs EVENTS: fires events at hooks that behave badly, and prints as JSON what is left
// of it all in this process and around it. Started by launchHost.mjs.
import { readdirSync } from 'node:fs';
import { Config, executeToolWithHooks } from '../../dist/index.js';
import { CountingLogger } from './countingLogger.mjs';
import { atMost, exactly } from './figures.mjs';
import { findZombiesOf, listRunning, readPids, waitUntil } from './processes.mjs';

/** Events in flight at a time. */
const CONCURRENCY = 16;
/** Events that load what is loaded lazily, before anything is measured. */
const WARM_UP_EVENTS = 32;
/** What hooks leave behind gets 2 s to end by itself; the rest is for a busy machine. */
const LEFTOVERS_END_WITHIN_MS = 5_000;
const MEBIBYTE = 1024 * 1024;

const CHECKED = `printf '{"hookSpecificOutput":{"tool_input":{"checked":true}}}'`;

/** Each hook has a tool of its own, named after what it does; `expected` is what the model then sees of the tool. */
const hooks = [
  {
    toolName: 'leaves_grandchildren',
    // One ends when it is asked to, one has to be killed, and one has left the process group. All hold the pipes.
    command: `sleep 300 & echo $! >>"$PIDS"
      (trap '' TERM; exec sleep 300) & echo $! >>"$PIDS"
      setsid sleep 300 & echo $! >>"$PIDS"
      ${CHECKED}`,
    expected: 'checked',
  },
  { toolName: 'times_out', command: 'sleep 300 & sleep 300', timeout: 300, expected: 'unchecked' },
  {
    toolName: 'floods_stdout',
    command: `yes | head -c ${4 * MEBIBYTE}; echo flooded >&2; exit 2`,
    expected: 'flooded',
  },
  { toolName: 'answers', command: CHECKED, expected: 'checked' },
];
const GRANDCHILDREN = 3;

const runId = process.env.HOOKSTACK_RUN_ID;
const pidFile = process.env.PIDS;
const debugLogger = new CountingLogger();
const config = new Config({
  enableHooks: true,
  debugLogger,
  hooks: {
    BeforeTool: hooks.map(({ toolName, command, timeout }) => ({
      matcher: `^${toolName}$`,
      hooks: [{ type: 'command', command, ...(timeout && { timeout }) }],
    })),
  },
});

console.log(JSON.stringify(await measure(Number(process.argv[2]))));

async function measure(events) {
  const atStart = takeStock();
  await fireEvents(WARM_UP_EVENTS);
  await leftoversEnd();
  const before = takeStock();

  const startedAt = performance.now();
  const asExpected = await fireEvents(events);
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  // Shells that wait for the next event are meant to be there, until the host has no use for hooks any more.
  await config.getHookSystem().dispose();
  const waitedMs = await leftoversEnd();
  const after = takeStock();

  const perHook = events / hooks.length;
  const grandchildren = after.pids.length - before.pids.length;
  const grownMiB = Number(((after.heapBytes - before.heapBytes) / MEBIBYTE).toFixed(2));
  return [
    exactly('Events with the verdict of their hook', events, asExpected, `${seconds} s`),
    exactly('Warnings of a failed hook: one a timeout', perHook, after.failures - before.failures),
    exactly('Grandchildren that were left', GRANDCHILDREN * perHook, grandchildren),
    exactly('Processes left', 0, listLeftovers().length, `${waitedMs} ms after the last answer`),
    exactly('Zombies', 0, findZombiesOf(process.pid).length),
    atMost(
      'Descriptors, difference to the start',
      2,
      Math.abs(after.descriptors - atStart.descriptors),
      `${atStart.descriptors} → ${after.descriptors}`,
    ),
    atMost('Heap and buffers after gc, growth in MiB', 5, grownMiB),
  ];
}

/** Fires events, a quarter of them at each hook, and says how many had the effect that they must have. */
async function fireEvents(count) {
  const queue = Array.from({ length: count }, (_, index) => hooks[index % hooks.length]).values();
  let asExpected = 0;
  const work = async () => {
    for (const { toolName, expected } of queue) {
      const { llmContent } = await executeToolWithHooks(config, toolName, {}, reportCheck);
      if (llmContent === expected) asExpected += 1;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return asExpected;
}

/** The tool: says whether its hook has changed its input. */
async function reportCheck({ checked }) {
  return { llmContent: checked ? 'checked' : 'unchecked', returnDisplay: '' };
}

function leftoversEnd() {
  return waitUntil(hasNothingLeft, LEFTOVERS_END_WITHIN_MS);
}

function hasNothingLeft() {
  return listLeftovers().length === 0 && findZombiesOf(process.pid).length === 0;
}

function listLeftovers() {
  return listRunning(runId, pidFile);
}

function takeStock() {
  // The first collection only hands buffers to the threads that free them, and the second waits for those.
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  return {
    heapBytes: heapUsed + external,
    descriptors: readdirSync('/proc/self/fd').length,
    failures: debugLogger.failures,
    pids: readPids(pidFile),
  };
}
