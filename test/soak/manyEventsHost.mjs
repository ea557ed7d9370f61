// node --expose-gc manyEventsHost.mjs EVENTS: fires events at one hook that the spawner runs, then as many at one that is
// kept, and prints as JSON how memory and descriptors of all processes have changed. Started by launchHost.mjs.
import { readdirSync, readFileSync } from 'node:fs';
import { Config, executeToolWithHooks } from '../../dist/index.js';
import { atMost, exactly } from './figures.mjs';
import { findMarked, waitUntil } from './processes.mjs';

/** Events in flight at a time. */
const CONCURRENCY = 8;
/** So many events come before anything is measured: until then memory is filled for the first time. */
const WARM_UP = 2_000;

/** Shells are made ready once a burst of events is over; after so many looks without a new one, all are there. */
const SETTLED_LOOKS = 20;
/** Its stdin, stdout and stderr, and the pipe through which it is told its command. */
const DESCRIPTORS_OF_SHELL = 4;

const KEPT = `
  process.stdout.write('{"hookstack":1}\\n');
  let text = '';
  process.stdin.on('data', (chunk) => {
    text += chunk;
    for (let end; (end = text.indexOf('\\n')) >= 0; text = text.slice(end + 1)) {
      const { id, input } = JSON.parse(text.slice(0, end));
      const hookSpecificOutput = { tool_input: { checked: input.tool_input.number } };
      process.stdout.write(JSON.stringify({ id, output: { hookSpecificOutput } }) + '\\n');
    }
  });`;

const runId = process.env.HOOKSTACK_RUN_ID;
const hooks = [
  { matcher: '^spawned$', hooks: [{ type: 'command', command: 'true' }] },
  {
    matcher: '^kept$',
    hooks: [
      {
        type: 'command',
        command: process.execPath,
        // What it grows by for a while, and not for ever, is its young generation.
        args: ['--max-semi-space-size=1', '-e', KEPT],
        persistent: true,
      },
    ],
  },
];
const config = new Config({ enableHooks: true, hooks: { BeforeTool: hooks } });
const events = Number(process.argv[2]);

const figures = [];
for (const toolName of ['spawned', 'kept']) figures.push(...(await measure(toolName)));
await config.getHookSystem().dispose();
await waitUntil(() => findMarked(runId).length === 0, 5_000);
figures.push(exactly('Processes left after many events', 0, findMarked(runId).length));
console.log(JSON.stringify(figures));

async function measure(toolName) {
  await fireEvents(toolName, WARM_UP);
  const before = await takeStock();
  const startedAt = performance.now();
  const asExpected = await fireEvents(toolName, events);
  const seconds = Math.round((performance.now() - startedAt) / 1000);
  const after = await takeStock();
  return [
    exactly(`Events with their own answer, ${toolName}`, events, asExpected, `${seconds} s`),
    atMost(
      `Resident memory of helpers, growth in MiB, ${toolName}`,
      4,
      after.othersMiB - before.othersMiB,
      `${before.othersMiB} → ${after.othersMiB}`,
    ),
    atMost(
      `Heap and buffers of the host, growth in MiB, ${toolName}`,
      3,
      after.heapMiB - before.heapMiB,
    ),
    atMost(
      `Descriptors of all, growth, ${toolName}`,
      2,
      after.descriptors - before.descriptors,
      `${before.descriptors} → ${after.descriptors}`,
    ),
  ];
}

async function fireEvents(toolName, count) {
  const numbers = Array.from({ length: count }, (_, number) => number).values();
  let asExpected = 0;
  const work = async () => {
    for (const number of numbers) {
      const seen = await executeToolWithHooks(config, toolName, { number }, async (input) => ({
        llmContent: String(input.checked ?? input.number),
        returnDisplay: '',
      }));
      if (seen.llmContent === String(number)) asExpected += 1;
    }
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return asExpected;
}

/** Shells that wait come and go with the events, so what counts is what stays: programs of Node. */
async function takeStock() {
  let looks = 0;
  let shells = 0;
  const isSettled = () => {
    const waiting = findShells().length;
    looks = waiting === shells ? looks + 1 : 0;
    shells = waiting;
    return looks >= SETTLED_LOOKS && othersOfNode().length > 0;
  };
  await waitUntil(isSettled, 5_000);
  globalThis.gc();
  globalThis.gc();
  const { heapUsed, external } = process.memoryUsage();
  const others = othersOfNode();
  const kilobytes = others.map((pid) =>
    Number(/VmRSS:\s+(\d+)/u.exec(readProc(pid, 'status'))?.[1]),
  );
  const descriptors = [process.pid, ...others].map((pid) => readdirSync(`/proc/${pid}/fd`).length);
  return {
    heapMiB: Math.round((heapUsed + external) / 2 ** 20),
    othersMiB: Math.round(sum(kilobytes) / 1024),
    descriptors: sum(descriptors) - shells * DESCRIPTORS_OF_SHELL,
  };
}

function othersOfNode() {
  return findMarked(runId).filter((pid) => pid !== process.pid && isNode(pid));
}

function findShells() {
  return findMarked(runId).filter((pid) => !isNode(pid));
}

function isNode(pid) {
  return readProc(pid, 'cmdline').startsWith(process.execPath);
}

function readProc(pid, file) {
  return readFileSync(`/proc/${pid}/${file}`, 'utf8');
}

function sum(numbers) {
  return numbers.reduce((total, number) => total + number, 0);
}
