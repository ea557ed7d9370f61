import assert from 'node:assert/strict';
import { realpathSync } from 'node:fs';
import path from 'node:path';
import { setTimeout } from 'node:timers/promises';
import { fileURLToPath } from 'node:url';
import { builtEntry, CHECKOUT } from './builds.mjs';
import { PYTHON } from './python.mjs';
import { OF_COMMANDS, OF_EXPRESSIONS, OF_PATHS, ruleScenario, THOUSAND } from './ruleSets.mjs';

/**
 * What is fired, with which hooks, and what must come of it. The same on both sides.
 *
 * @typedef {object} Scenario
 * @property {object} hooks as under the `hooks` key of settings.json
 * @property {string} [policies] the same for `subjects/cedar.mjs`
 * @property {boolean} [enableHooks] of the package alone
 * @property {number} [inProcess] functions around a tool call that run in the host itself
 * @property {(subject: import('./subjects/hookstack.mjs').Subject) => Promise<unknown>} fire fires one event
 *   or several, and may say how many ms of that are to count, as `spentMs`
 * @property {(fired: unknown, subject: import('./subjects/hookstack.mjs').Subject) => void} check
 *   throws when the hooks did not do their work in the last event
 * @property {object} [floor] the same work for `scripts/floor.py`
 */

const TOOL_INPUT = { file_path: 'src/index.ts', offset: 0, limit: 2000 };
const TOOL_RESULT = { llmContent: 'The file is empty.', returnDisplay: '' };
const EVENT = JSON.stringify({
  hook_event_name: 'BeforeTool',
  tool_name: 'read_file',
  tool_input: TOOL_INPUT,
});
const REQUEST = {
  model: 'gemini-2.5-pro',
  contents: [{ role: 'user', parts: [{ text: 'Look at src/index.ts.' }] }],
  config: {},
};
const RESPONSE = {
  candidates: [
    { index: 0, finishReason: 'STOP', content: { role: 'model', parts: [{ text: 'Yes.' }] } },
  ],
};
const TOOL = {
  name: 'read_file',
  declaration: { name: 'read_file', parametersJsonSchema: { type: 'object' } },
  execute: async () => TOOL_RESULT,
};
const MODELS = { generateContentStream: async () => streamResponse() };
const TURN = ['BeforeToolSelection', 'BeforeModel', 'AfterModel', 'BeforeTool', 'AfterTool'];
/** Events that a persistent hook is given at once. */
const MANY = 1000;
const MESSAGES = 200;
const MESSAGE_BYTES = 50 * 1024;

const SCRIPTS = fileURLToPath(new URL('scripts', import.meta.url));

/**
 * @param {string} [checkout] whose build hooks import
 * @returns {Record<string, Scenario>}
 */
export function listScenarios(checkout = CHECKOUT) {
  const checkTool = quote(script('checkTool.sh'));
  const countBytes = quote(script('countBytes.sh'));
  const checkInNode = `${quote(process.execPath)} ${quote(script('checkTool.mjs'))}`;
  const answerInNode = [process.execPath, script('answer.mjs')];
  const author = quote(builtEntry(checkout, 'author.js'));
  const answerDefined = (event) =>
    `${quote(process.execPath)} ${quote(script('defined.mjs'))} ${event} ${author}`;
  const answerInLine = `cat >/dev/null; printf '{"decision":"allow","reason":"hook 1"}'`;
  const refuse = (definition) => group(['exit 2'], definition);
  const inShell = `read -r input || true; case $input in *read_file*) printf '{"decision":"allow","reason":"hook 1"}';; esac`;
  const withPipes = `jq -r .tool_name | grep -qx read_file && printf '{"decision":"allow","reason":"hook 1"}'`;
  return {
    noneConfigured: { hooks: {}, fire: fireBeforeTool, check: ranNothing },
    askedForPath: { hooks: {}, fire: askForPath(), check: ranNothing },
    noneConfiguredTrigger: { hooks: {}, fire: fireTrigger, check: saidNothing },
    noneMatches: {
      hooks: {
        BeforeTool: ten((n) => group([`${checkTool} ${n}`], { matcher: `edit|write_${n}` })),
      },
      fire: fireBeforeTool,
      check: ranNothing,
    },
    oneCommand: {
      hooks: { BeforeTool: [group([`${checkTool} 1`])] },
      fire: fireBeforeTool,
      check: allAnswered(1),
      floor: run([[script('checkTool.sh'), '1']]),
    },
    oneShellSnippet: {
      hooks: { BeforeTool: [group([inShell])] },
      fire: fireBeforeTool,
      check: allAnswered(1),
      floor: run([['bash', '-c', inShell]]),
    },
    oneLineWithPipes: {
      hooks: { BeforeTool: [group([withPipes])] },
      fire: fireBeforeTool,
      check: allAnswered(1),
      floor: run([['bash', '-c', withPipes]]),
    },
    tenParallel: {
      hooks: { BeforeTool: [group(ten((n) => `${checkTool} ${n}`))] },
      fire: fireBeforeTool,
      check: allAnswered(10),
      floor: { ...run(ten((n) => [script('checkTool.sh'), `${n}`])), request: 'runTogether' },
    },
    tenSequential: {
      hooks: {
        BeforeTool: [
          group(
            ten((n) => `${checkTool} ${n}`),
            { sequential: true },
          ),
        ],
      },
      fire: fireBeforeTool,
      check: allAnswered(10),
      floor: run(ten((n) => [script('checkTool.sh'), `${n}`])),
    },
    nodeScript: {
      hooks: { BeforeTool: [group([`${checkInNode} 1`])] },
      fire: fireBeforeTool,
      check: allAnswered(1),
    },
    turnOfLines: {
      ...turn(['bash', '-c', answerInLine]),
      hooks: eachOfTurn(() => group([answerInLine])),
    },
    turnOfSh: turn([script('answerInSh.sh')]),
    turnOfShell: turn(['bash', script('answer.sh')]),
    turnOfShellWithPauses: turn(['bash', script('answer.sh')], { pauseMs: 50 }),
    turnOfNode: turn(answerInNode),
    turnOfNodePrestarted: turn(answerInNode, { entry: { prestart: true } }),
    turnOfNodePersistent: {
      ...turn(answerInNode),
      hooks: eachOfTurn((event) => group([answerDefined(event)], {}, { persistent: true })),
      floor: echo(TURN.length, 1),
    },
    persistentNode: {
      hooks: { BeforeTool: [group([answerDefined('BeforeTool')], {}, { persistent: true })] },
      fire: fireBeforeTool,
      check: allAnswered(1),
      floor: echo(1, 1),
    },
    persistentPython: {
      hooks: {
        BeforeTool: [
          group([`${quote(PYTHON)} ${quote(script('persistent.py'))}`], {}, { persistent: true }),
        ],
      },
      fire: fireBeforeTool,
      check: allAnswered(1),
      floor: echo(1, 1),
    },
    manyAtOnce: {
      hooks: {
        BeforeTool: [group([answerDefined('BeforeTool')], {}, { persistent: { processes: 4 } })],
      },
      fire: fireManyAtOnce,
      check: ({ results }) => results.forEach(allAnswered(1)),
      floor: { ...echo(MANY, 4), count: MANY },
    },
    nodeScriptPrestarted: {
      hooks: { BeforeTool: [group([`${checkInNode} 1`], {}, { prestart: true })] },
      fire: fireBeforeTool,
      check: allAnswered(1),
    },
    inProcess1: { hooks: {}, inProcess: 1, fire: runTool, check: allLookedOn(1) },
    inProcess10: { hooks: {}, inProcess: 10, fire: runTool, check: allLookedOn(10) },
    toolHooksOff: {
      enableHooks: false,
      hooks: { BeforeTool: [refuse()] },
      fire: fireToolCall(),
      check: ranTool,
    },
    toolNoneConfigured: { hooks: {}, fire: fireToolCall(), check: ranTool },
    toolNoneMatches: {
      hooks: {
        BeforeTool: ten((n) => refuse({ matcher: `edit|write_${n}` })),
        AfterTool: ten((n) => refuse({ matcher: `edit|write_${n}` })),
      },
      fire: fireToolCall(),
      check: ranTool,
    },
    toolMiddleware: {
      enableHooks: false,
      hooks: {},
      inProcess: 1,
      fire: fireToolCall(),
      check: allLookedOn(1),
    },
    chat: { hooks: {}, fire: fireChat, check: modelAnswered },
    modelHooks: {
      hooks: { BeforeModel: [group(ten((n) => `${countBytes} ${n}`).slice(0, 5))] },
      fire: fireGrowingConversation(),
      check: allCounted(5, MESSAGES * MESSAGE_BYTES),
    },
    noModelHook: {
      hooks: { BeforeTool: [group([`${checkTool} 1`])] },
      fire: fireSameConversation(),
      check: ranNothing,
    },
    rulesOfOthers: {
      ...ruleScenario(OF_COMMANDS),
      fire: fireBeforeTool,
      check: ranNothing,
    },
    rulesOfCommands: {
      ...ruleScenario(OF_COMMANDS),
      fire: fireCommand('npm run build -- --watch'),
      check: ranNothing,
    },
    rulesOfPaths: {
      ...ruleScenario(OF_PATHS),
      fire: fireBeforeTool,
      check: ranNothing,
    },
    rulesOfExpressions: {
      ...ruleScenario(OF_EXPRESSIONS),
      fire: fireCommand('npm run build -- --watch'),
      check: ranNothing,
    },
    ruleDenies: {
      ...ruleScenario(OF_COMMANDS),
      fire: fireCommand('git push origin main --force'),
      check: denied,
    },
    thousandRules: {
      ...ruleScenario(THOUSAND),
      fire: fireCommand('npm run build -- --watch'),
      check: ranNothing,
    },
    largeResults: {
      hooks: { AfterTool: [group([`${countBytes} 1`])] },
      fire: fireLargeResult(),
      check: allCounted(1, 1_000_000),
    },
  };
}

function script(name) {
  return path.join(SCRIPTS, name);
}

function quote(word) {
  return `'${word.replaceAll("'", String.raw`'\''`)}'`;
}

function ten(make) {
  return Array.from({ length: 10 }, (_, index) => make(index + 1));
}

function group(commands, definition = {}, entry = {}) {
  return {
    ...definition,
    hooks: commands.map((command) => ({ type: 'command', command, ...entry })),
  };
}

/** Raw starts of commands, one after the other. */
function run(commands, pauses) {
  return { request: 'run', commands, pauses, input: EVENT };
}

/** Lines through as many processes that do nothing but give them back. */
function echo(lines, processes) {
  return { request: 'echo', lines, processes, input: EVENT };
}

/** A turn of an agent with one tool call, one hook on each of its events, which it is told. */
function turn(argv, { pauseMs = 0, entry } = {}) {
  const pauses = TURN.map((event) =>
    event === 'BeforeModel' || event === 'BeforeTool' ? pauseMs : 0,
  );
  return {
    hooks: eachOfTurn((event) => group([[...argv, event].map(quote).join(' ')], {}, entry)),
    fire: (subject) => fireTurn(subject, pauses),
    check: ({ results }) => results.forEach(allAnswered(1)),
    floor: run(
      TURN.map((event) => [...argv, event]),
      pauses,
    ),
  };
}

function eachOfTurn(make) {
  return Object.fromEntries(TURN.map((event) => [event, [make(event)]]));
}

/** What the model and the tool take counts for nobody. */
async function fireTurn({ handler }, pauses) {
  const events = [
    () => handler.fireBeforeToolSelectionEvent(REQUEST),
    () => handler.fireBeforeModelEvent(REQUEST),
    () => handler.fireAfterModelEvent(REQUEST, RESPONSE),
    () => handler.fireBeforeToolEvent('read_file', TOOL_INPUT),
    () => handler.fireAfterToolEvent('read_file', TOOL_INPUT, TOOL_RESULT),
  ];
  const results = [];
  let spentMs = 0;
  for (const [index, fire] of events.entries()) {
    const startedAt = performance.now();
    results.push(await fire());
    spentMs += performance.now() - startedAt;
    if (pauses[index] > 0) await setTimeout(pauses[index]);
  }
  return { spentMs, results };
}

/** Ms for each of them. */
async function fireManyAtOnce(subject) {
  const startedAt = performance.now();
  const results = await Promise.all(Array.from({ length: MANY }, () => fireBeforeTool(subject)));
  return { spentMs: (performance.now() - startedAt) / MANY, results };
}

function fireBeforeTool({ handler }) {
  return handler.fireBeforeToolEvent('read_file', TOOL_INPUT);
}

/** With the system asked where the path leads, as rules for paths have to do. */
function askForPath() {
  const file = path.resolve(TOOL_INPUT.file_path);
  return (subject) => {
    realpathSync.native(file);
    return fireBeforeTool(subject);
  };
}

function fireCommand(command) {
  return ({ handler }) => handler.fireBeforeToolEvent('run_shell_command', { command });
}

function fireTrigger({ fireBeforeToolTrigger }) {
  return fireBeforeToolTrigger('read_file', TOOL_INPUT);
}

function runTool(subject) {
  return subject.runTool('read_file', TOOL_INPUT, async () => TOOL_RESULT);
}

/** As an agent has a tool called. */
function fireToolCall() {
  let scheduler;
  return async ({ openScheduler }) => {
    scheduler ??= openScheduler([TOOL]);
    const [{ result }] = await scheduler.schedule([{ name: TOOL.name, args: TOOL_INPUT }]);
    return result;
  };
}

async function* streamResponse() {
  yield { ...RESPONSE };
}

/** A chat for each message: the history of one would grow. */
async function fireChat({ openChat }) {
  let last;
  for await (const event of openChat(MODELS).sendMessageStream('Look at src/index.ts.')) {
    last = event;
  }
  return last;
}

/** Between two calls of a model everything stays as it was, but for what was said since. */
function fireGrowingConversation() {
  let contents;
  return ({ handler }) => {
    contents = contents ? [...contents, createMessage(contents.length, 100)] : createConversation();
    return handler.fireBeforeModelEvent(createRequest(contents));
  };
}

function fireSameConversation() {
  let request;
  return ({ handler }) => {
    request ??= createRequest(createConversation());
    return handler.fireBeforeModelEvent(request);
  };
}

function fireLargeResult() {
  let count = 0;
  return ({ handler }) => {
    count += 1;
    const llmContent = createText(count, 1_000_000);
    return handler.fireAfterToolEvent('read_file', TOOL_INPUT, { llmContent, returnDisplay: '' });
  };
}

function createRequest(contents) {
  return { model: 'gemini-2.5-pro', contents, config: { temperature: 0.5 } };
}

function createConversation() {
  return Array.from({ length: MESSAGES }, (_, index) => createMessage(index, MESSAGE_BYTES));
}

function createMessage(index, bytes) {
  return { role: index % 2 ? 'model' : 'user', parts: [{ text: createText(index, bytes) }] };
}

/** Source code, as conversations of agents are full of. Written to a buffer, because V8 keeps a repetition as such. */
function createText(index, bytes) {
  return Buffer.alloc(bytes, `  const line${index} = await read("src/index.ts");\n`).toString(
    'latin1',
  );
}

function ranNothing({ success, allOutputs, errors }) {
  assert.deepEqual({ success, allOutputs, errors }, { success: true, allOutputs: [], errors: [] });
}

function denied({ allOutputs }) {
  assert.deepEqual(
    allOutputs.map(({ decision }) => decision),
    ['deny'],
  );
}

function saidNothing(output) {
  assert.equal(output, undefined);
}

function ranTool({ llmContent }) {
  assert.equal(llmContent, TOOL_RESULT.llmContent);
}

function modelAnswered(last) {
  assert.equal(last.type, 'response');
  assert.equal(last.turn.response.text, 'Yes.');
}

function allAnswered(hooks) {
  return ({ success, allOutputs }) => {
    assert.equal(success, true);
    assert.deepEqual(
      allOutputs.map(({ decision, reason }) => `${decision}: ${reason}`),
      Array.from({ length: hooks }, (_, index) => `allow: hook ${index + 1}`),
    );
  };
}

function allCounted(hooks, bytes) {
  return ({ success, allOutputs }) => {
    assert.equal(success, true);
    assert.equal(allOutputs.length, hooks);
    for (const { reason } of allOutputs) assert.ok(Number(reason) >= bytes, `${reason} bytes`);
  };
}

function allLookedOn(functions) {
  let before = 0;
  return (result, { countLooks }) => {
    assert.equal(result.llmContent, TOOL_RESULT.llmContent);
    const looks = countLooks();
    assert.ok(
      looks > before && looks % functions === 0,
      `${looks} looks of ${functions} functions`,
    );
    before = looks;
  };
}
