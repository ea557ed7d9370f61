import assert from 'node:assert/strict';
import path from 'node:path';

/**
 * What is fired, with which hooks, and what must come of it. The same on both sides.
 *
 * @typedef {object} Scenario
 * @property {object} hooks as under the `hooks` key of settings.json
 * @property {number} [inProcess] functions around a tool call that run in the host itself
 * @property {(subject: import('./subjects/hookstack.mjs').Subject) => Promise<unknown>} fire fires one event
 * @property {(fired: unknown, subject: import('./subjects/hookstack.mjs').Subject) => void} check
 *   throws when the hooks did not do their work in the last event
 */

const TOOL_INPUT = { file_path: 'src/index.ts', offset: 0, limit: 2000 };
const TOOL_RESULT = { llmContent: 'The file is empty.', returnDisplay: '' };
const MESSAGES = 200;
const MESSAGE_BYTES = 50 * 1024;

/**
 * @param {string} scripts the directory of the hook scripts
 * @returns {Record<string, Scenario>}
 */
export function listScenarios(scripts) {
  const checkTool = quote(path.join(scripts, 'checkTool.sh'));
  const countBytes = quote(path.join(scripts, 'countBytes.sh'));
  const checkInNode = `${quote(process.execPath)} ${quote(path.join(scripts, 'checkTool.mjs'))}`;
  const inShell = `read -r input || true; case $input in *read_file*) printf '{"decision":"allow","reason":"hook 1"}';; esac`;
  return {
    noneConfigured: { hooks: {}, fire: fireBeforeTool, check: ranNothing },
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
    },
    oneShellSnippet: {
      hooks: { BeforeTool: [group([inShell])] },
      fire: fireBeforeTool,
      check: allAnswered(1),
    },
    tenParallel: {
      hooks: { BeforeTool: [group(ten((n) => `${checkTool} ${n}`))] },
      fire: fireBeforeTool,
      check: allAnswered(10),
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
    },
    nodeScript: {
      hooks: { BeforeTool: [group([`${checkInNode} 1`])] },
      fire: fireBeforeTool,
      check: allAnswered(1),
    },
    nodeScriptPrestarted: {
      hooks: { BeforeTool: [group([`${checkInNode} 1`], {}, { prestart: true })] },
      fire: fireBeforeTool,
      check: allAnswered(1),
    },
    inProcess1: { hooks: {}, inProcess: 1, fire: runTool, check: allLookedOn(1) },
    inProcess10: { hooks: {}, inProcess: 10, fire: runTool, check: allLookedOn(10) },
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
    largeResults: {
      hooks: { AfterTool: [group([`${countBytes} 1`])] },
      fire: fireLargeResult(),
      check: allCounted(1, 1_000_000),
    },
  };
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

function fireBeforeTool({ handler }) {
  return handler.fireBeforeToolEvent('read_file', TOOL_INPUT);
}

function fireTrigger({ fireBeforeToolTrigger }) {
  return fireBeforeToolTrigger('read_file', TOOL_INPUT);
}

function runTool(subject) {
  return subject.runTool('read_file', TOOL_INPUT, async () => TOOL_RESULT);
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

function saidNothing(output) {
  assert.equal(output, undefined);
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
