// node test/requirements/breaks.mjs [word]: breaks the code in a copy of this repository, one break at a time, and sees
// whether the test that proves the requirement fails. Run by hand: it takes some minutes. With a word, only the breaks
// of which the requirement or the description has it. Code that has changed so much that a break no longer applies is
// a failure as well: write the break anew. There are more of them in breaks/, by room.
import { calls } from './breaks/calls.mjs';
import { hooks } from './breaks/hooks.mjs';
import { host } from './breaks/host.mjs';
import { processes } from './breaks/processes.mjs';
import { protocol } from './breaks/protocol.mjs';
import { stages } from './breaks/stages.mjs';
import { runBreaks } from './runBreaks.mjs';

const DOOR = 'src/hooks/fireHook.ts';
const EFFECTS = 'middleware/callerEffects.ts';
const PLANNER = 'middleware/planner.ts';
const SURFACE = 'test/requirements/surface.test.ts';
const SOURCES = 'test/requirements/sources.test.ts';
const APPROVALS = 'test/approvals/approvals.test.ts';

const RECORD = 'src/hooks/eventRecord.ts';
const TOOL_TRIGGERS = 'src/core/coreToolHookTriggers.ts';
const MODEL_TRIGGERS = 'src/core/geminiChatHookTriggers.ts';
const HANDLER = 'src/hooks/hookEventHandler.ts';
const AGGREGATOR = 'middleware/aggregator.ts';
const EVENTS = 'src/protocol/eventTable.ts';
const OUTPUT = 'src/protocol/hookOutput.ts';
const TRANSLATOR = 'src/protocol/hookTranslator.ts';
const CONFIG = 'src/config/config.ts';

const TEST_OF = {
  tools: 'test/core/coreToolHookTriggers.test.ts',
  scheduler: 'test/core/coreToolScheduler.test.ts',
  effects: 'test/core/eventEffects.test.ts',
  chat: 'test/core/geminiChat.test.ts',
  hosts: 'test/core/hostCalls.test.ts',
  agent: 'test/agent/agent.test.ts',
  config: 'test/config/config.test.ts',
  handler: 'test/hooks/hookEventHandler.test.ts',
  mediated: 'test/hooks/mediatedHooks.test.ts',
  runner: 'test/hooks/hookRunner.test.ts',
  output: 'test/protocol/hookOutput.test.ts',
  translator: 'test/protocol/hookTranslator.test.ts',
  aggregator: 'test/middleware/aggregator.test.ts',
  triggers: 'test/requirements/modelTriggers.test.ts',
  registration: 'test/requirements/registration.test.ts',
};

const SCOPES = 'middleware/scopes.ts';
const HOSTILE = 'test/properties/hostileAnswers.test.ts';

/** The test of hostile answers around something, for hooks of some shape. */
const hostile = (shape, around) => [
  HOSTILE,
  `whatever others say: ${shape} nothing gets past the hooks of the user around ${around}`,
];

/**
 * What is broken (`edits`: file, text that stands there once, text in its place), and the test, by file and title, that
 * must fail.
 */
export const BREAKS = [
  {
    id: 'HOOK-001',
    what: 'the hook system is made by the constructor of Config',
    edits: [
      [
        'src/config/config.ts',
        'this.#sessionId = options.sessionId;',
        'this.#sessionId = options.sessionId; if (options.enableHooks) this.#hookSystem = new HookSystem(this);',
      ],
    ],
    test: [
      'test/config/config.test.ts',
      'getHookSystem makes the hook system at its first call, and not before',
    ],
  },
  {
    id: 'HOOK-003',
    what: 'every event reads the hooks again while others wait for them',
    edits: [[DOOR, 'await engine.initialize();', 'await engine.registry.reload();']],
    test: [
      'test/hooks/hookSystem.test.ts',
      'initialize reads the hooks once, however many events come, by whatever way and at once',
    ],
  },
  ...[
    [
      'the hook system',
      'src/hooks/hookSystem.ts',
      'setEngine(this, engineOf(this.#eventHandler));',
    ],
    ['the event handler', 'src/hooks/hookEventHandler.ts', 'setEngine(this, this.#engine);'],
  ].map(([holder, file, text = '']) => ({
    id: 'HOOK-006, HOOK-142',
    what: `${holder} hands out planner, runner and aggregator`,
    edits: [
      [file, text, text.replace(/, (.*)\);$/, ', $1); Object.assign(this, { engine: $1 });')],
    ],
    test: [
      SURFACE,
      'HookSystem hands out its registry and event handler, and neither planner, runner nor aggregator',
    ],
  })),
  {
    id: 'HOOK-005',
    what: 'the registry is handed out by a field before it is initialized',
    edits: [
      [
        'src/hooks/hookSystem.ts',
        'this.#registry = registry;',
        'this.#registry = registry; Object.assign(this, { registry });',
      ],
    ],
    test: [SURFACE, 'HookSystem hands out no part before it is initialized'],
  },
  {
    id: 'HOOK-006',
    what: 'a stack is composed anew for each event',
    edits: [[DOOR, '(this.#opened ??= this.#open())', 'this.#open()']],
    test: [
      'test/hooks/hookSystem.test.ts',
      'the parts of a hook system compose their stack once, however many events come, by whatever way',
    ],
  },
  {
    id: 'HOOK-006',
    what: 'no guard is asked where the hook system is none of ours',
    edits: [[DOOR, '(engines.get(system) ?? refuseSystem())', 'engines.get(system)']],
    test: [
      'test/hooks/otherHost.test.ts',
      'denies for its guards where a host gives what is no hook system of this copy',
    ],
  },
  {
    id: 'HOOK-007',
    what: 'fireHook makes a registry, under another name',
    edits: [
      [
        DOOR,
        "import { notify } from '../util/notify.js';",
        "import { notify } from '../util/notify.js'; import { HookRegistry as Another } from './hookRegistry.js';",
      ],
      [DOOR, 'if (plan !== null) {', 'void new Another(host); if (plan !== null) {'],
    ],
    test: [SOURCES, 'the sources make the parts of the hook system in one place'],
  },
  {
    id: 'HOOK-011',
    what: 'a process is started although no hook is configured',
    edits: [
      [
        DOOR,
        "import { notify } from '../util/notify.js';",
        "import { notify } from '../util/notify.js'; import { execFile } from 'node:child_process';",
      ],
      [
        DOOR,
        'record(engine, event, nothing);',
        "execFile('true'); record(engine, event, nothing);",
      ],
    ],
    test: [
      'test/hooks/hookEventHandler.test.ts',
      'a process is not started when no hook is configured for the event',
    ],
  },
  {
    id: 'HOOK-012',
    what: 'hooks run although their matcher does not match',
    edits: [
      [
        PLANNER,
        "if (!names || reading === 'all') return true;\n  return names.some((name) => matches(",
        'if (names) return true;\n  return names.some((name) => matches(',
      ],
    ],
    test: ['test/hooks/hookEventHandler.test.ts', 'a process is not started when no hook matches'],
  },
  ...[
    ['HOOK-083', 'limits.otherwise) : 5000;'],
    ['HOOK-120', 'limits.otherwise) : 30_000;'],
  ].map(([id, text]) => ({
    id,
    what: `the deadline is that of ${text}`,
    edits: [['src/run/preparedInput.ts', 'limits.otherwise) : DEFAULT_TIMEOUT_MS;', text]],
    test: [
      'test/hooks/hookRunner.test.ts',
      'the deadline of a hook with the timeout undefined is 60000 ms',
    ],
  })),
  ...[
    ['middleware/runner.ts', 'Math.max(1, options.maxParallelHooks)', '2'],
    ['src/config/config.ts', 'this.#options.maxParallelHooks ?? 16', '2'],
  ].map((edit) => ({
    id: 'HOOK-108',
    what: `no more than two hooks run at a time (${edit[0]})`,
    edits: [edit],
    test: [
      'test/middleware/runner.test.ts',
      'hooks that run at once runs sixteen beside each other where nothing else is configured: each waits for all',
    ],
  })),
  {
    id: 'HOOK-084',
    what: 'the order in which settings were merged does not reach the registry',
    edits: [['src/hooks/hookRegistry.ts', 'admitted.toSorted(', 'admitted.toReversed().toSorted(']],
    test: [
      'test/requirements/registration.test.ts',
      'the hooks of the settings files run in the order project, user, system, and those of extensions last',
    ],
  },
  {
    id: 'HOOK-187',
    what: 'extensions come before the settings',
    edits: [
      ['src/hooks/hookRegistry.ts', '[ConfigSource.Extensions]: 4', '[ConfigSource.Extensions]: 0'],
    ],
    test: [
      'test/requirements/registration.test.ts',
      'the hooks of the settings files run in the order project, user, system, and those of extensions last',
    ],
  },
  {
    id: 'HOOK-111, HOOK-116',
    what: 'a fault while reading what hooks said reaches the caller of the model',
    edits: [[EFFECTS, 'return otherwise;', 'throw error;']],
    test: [
      'test/requirements/modelTriggers.test.ts',
      'the triggers go on, and say so, when what the hooks said cannot be read',
    ],
  },
  {
    id: 'HOOK-125',
    what: 'hooks are on where there is a terminal',
    edits: [
      [
        'src/config/config.ts',
        'return this.#options.enableHooks === true;',
        'const { isTTY } = process.stdout; return this.#options.enableHooks === true && !isTTY;',
      ],
    ],
    test: [SOURCES, 'the sources ask for a terminal only where the program talks to a person'],
  },
  {
    id: 'HOOK-134',
    what: 'nobody waits for the hooks of SessionEnd',
    edits: [
      [
        'src/agent/agent.ts',
        'await this.#hooks.fire(HookEventName.SessionEnd',
        'void this.#hooks.fire(HookEventName.SessionEnd',
      ],
    ],
    test: [
      'test/agent/agent.test.ts',
      'the loop waits for the hooks of an event before it goes on, whatever the event',
    ],
  },
  {
    id: 'HOOK-134',
    what: 'what came of an event is dropped behind a catch',
    edits: [
      [
        'src/agent/agent.ts',
        'await this.#hooks.fire(HookEventName.Notification, { notificationType, message, details });',
        'this.#hooks.fire(HookEventName.Notification, { notificationType, message, details }).catch(() => undefined);',
      ],
    ],
    test: [SOURCES, 'the sources fire no event without looking at what came of it'],
  },
  ...[
    [
      'BeforeTool',
      'if (fired.systemMessage) noteForModel(',
      'if (fired.systemMessage && !call) noteForModel(',
    ],
    [
      'BeforeModel',
      'request = said.modifiedRequest;\n    addNote(call, fired);',
      'request = said.modifiedRequest;',
    ],
    [
      'BeforeToolSelection',
      'withinTools(selected, request);\n    }\n    addNote(call, fired);',
      'withinTools(selected, request);\n    }',
    ],
  ].map(([event, from, to]) => ({
    id: 'HOOK-159',
    what: `the system message of ${event} is dropped`,
    edits: [[EFFECTS, from, to]],
    test: [
      'test/core/eventEffects.test.ts',
      `a system message of ${event} reaches the model, and never the user`,
    ],
  })),
  ...['AfterModel', 'BeforeToolSelection'].map((event) => ({
    id: 'HOOK-163',
    what: `${event} is planned with the name of a tool`,
    edits: [
      [
        PLANNER,
        "if (matchOn !== 'toolName') return",
        `if (event === '${event}') return { toolName: 'model' }; if (matchOn !== 'toolName') return`,
      ],
    ],
    test: [
      'test/middleware/planner.test.ts',
      `planner hands over the name of the tool at ${event}, where there is one, and no tool elsewhere`,
    ],
  })),
  {
    id: 'DELTA-HPAY-001',
    what: 'the validators accept anything',
    edits: [['src/hooks/hookValidators.ts', 'events[event].check.is(input)', 'event !== input']],
    test: [
      'test/protocol/hookValidators.test.ts',
      'the input of AfterModel has a validator of its own, which takes it and nothing else',
    ],
  },
  {
    id: 'DELTA-HPAY-001',
    what: 'the validator of an event is that of another one',
    edits: [
      [
        'src/hooks/hookValidators.ts',
        'validateAfterAgentInput = validator(HookEventName.AfterAgent)',
        'validateAfterAgentInput = validator(HookEventName.BeforeAgent)',
      ],
    ],
    test: [
      'test/protocol/hookValidators.test.ts',
      'the input of AfterAgent has a validator of its own, which takes it and nothing else',
    ],
  },
  ...[
    [
      'texts in place of parts are taken for a response of the model',
      ['every(isSdkCandidate)', 'every(Boolean)'],
      'a response of the model as hooks read it',
    ],
    [
      'a text alone is taken for a response of the model',
      ['!response.text ||', 'response.text ||'],
      'a response of the model as hooks write it',
    ],
  ].map(([what = '', edit = '', field = '']) => ({
    id: 'DELTA-HPAY-002',
    what: String(what),
    edits: [['src/protocol/modelChecks.ts', edit[0] ?? '', edit[1] ?? '']],
    test: [
      'test/confirmation-bus/badRequests.test.ts',
      `a bad request with ${String(field)} is refused, by the name of the field`,
    ],
  })),
  ...[
    [
      'DELTA-HTEL-001',
      'the record of a hook says that it took no time',
      [RECORD, 'Math.round(result.duration)', '0'],
      'says of each hook how long it took, and of the event how long all of them did',
    ],
    [
      'DELTA-HTEL-001',
      'nobody measures how long a hook takes',
      ['middleware/runHook.ts', 'exitCode: 0, duration, ', 'exitCode: 0, duration: 0, '],
      'measures how long the process of a hook lives',
    ],
    [
      'DELTA-HTEL-002',
      'the summary of an event says that it took no time',
      [RECORD, 'Math.round(aggregated.totalDuration)', '0'],
      'says of each hook how long it took, and of the event how long all of them did',
    ],
    [
      'DELTA-HTEL-002',
      'the summary counts a block as a failure',
      [RECORD, 'results.filter(hasFailed)', 'results.filter(({ success }) => !success)'],
      'counts a block as the work of its hook, and not as a failure',
    ],
    [
      'DELTA-HTEL-002',
      'the summary says of an event with a block that its hooks have failed',
      [RECORD, 'success: areHealthy(aggregated)', 'success: aggregated.success'],
      'counts a block as the work of its hook, and not as a failure',
    ],
  ].map(([id = '', what = '', edit, title = '']) => ({
    id: String(id),
    what: String(what),
    edits: [edit],
    test: ['test/confirmation-bus/records.test.ts', `the log of a direct event ${String(title)}`],
  })),
  {
    id: 'HOOK-182',
    what: 'nobody is asked',
    edits: [
      [
        'middleware/callerEffects.ts',
        "finalOutput?.decision !== 'ask' ||",
        "finalOutput?.decision !== 'deny' ||",
      ],
    ],
    test: [
      APPROVALS,
      'a hook that asks does not let the tool run where the person says no, and the model reads why',
    ],
  },
  {
    id: 'HOOK-182',
    what: 'a guard that asks lets everything go on where nobody can be asked',
    edits: [
      [
        'src/approvals/approvals.ts',
        "(isGuarded ? 'deny' : 'allow')",
        "(isGuarded ? 'allow' : 'allow')",
      ],
    ],
    test: [
      APPROVALS,
      'where nobody can be asked a guard denies, and so does everything where the settings say so',
    ],
  },
  {
    id: 'HOOK-204',
    what: 'a call that waits for a person says nothing',
    edits: [
      ['src/core/coreToolScheduler.ts', "status: 'awaiting_approval' }", "status: 'executing' }"],
    ],
    test: [APPROVALS, 'the scheduler says that a call waits for a person, while others go on'],
  },
  {
    id: 'DELTA-HFAIL-005',
    what: 'an inner method takes any text for an event',
    edits: [
      [
        'src/hooks/hookEventHandler.ts',
        'hasWork<E extends HookEventName>(event: E,',
        'hasWork<E extends HookEventName>(event: string,',
      ],
    ],
    test: [
      SOURCES,
      'the sources take names of events as the enum, except where they come from outside',
    ],
  },
  ...[
    [
      'no guard is asked again',
      [
        'middleware/runner.ts',
        'if (plan.hookConfigs.length > 1) ctx.results',
        'if (!ctx.results) ctx.results',
      ],
      hostile('own formats', 'a tool'),
    ],
    [
      'the last words of hooks that were asked again are lost',
      [
        'middleware/askAgain.ts',
        'results = withRerunResults(results, rerun);',
        'results = [...results];',
      ],
      hostile('own formats', 'a tool'),
    ],
    [
      'the project is trusted most',
      [SCOPES, 'toSorted(([a], [b]) => b - a)', 'toSorted(([a], [b]) => a - b)'],
      hostile('own formats', 'the model'),
    ],
    [
      'tools are united over scopes',
      [SCOPES, '    ...(toolConfig && { toolConfig }),\n', ''],
      hostile('own formats', 'the model'),
    ],
    [
      'what a more trusted hook has stopped at is brought back',
      [SCOPES, '(scope) => scope.continue === false || scope', '(scope) => scope'],
      hostile('own formats', 'the model'),
    ],
    [
      'tools that hooks took away are given back by BeforeModel',
      [EFFECTS, 'return isSame ? request : withinTools(request, selected);', 'return request;'],
      hostile('own formats', 'the model'),
    ],
    [
      'what a failed guard withholds is read',
      ['src/protocol/events.ts', 'if (!withheld) return output;', 'return output;'],
      hostile('a guard of the user, and Claude of the project', 'a tool'),
    ],
    [
      'a server that marks nothing has answered',
      ['src/fleet/answerMark.ts', 'if (isUnmarked && asking.mayBeUnmarked)', 'if (isUnmarked)'],
      [
        HOSTILE,
        'whatever a server says that is no answer, nothing gets past the guard that asks it',
      ],
    ],
  ].map(([what = '', edit, test]) => ({
    id: 'Scopes, guards, answers',
    what: String(what),
    edits: [edit],
    test,
  })),
  ...[
    [
      'HOOK-133',
      'the tool gets the arguments that the model gave, and not those of the hooks',
      [
        EFFECTS,
        'copied && !copied.refusal ? copied.input : call.input',
        'copied && !copied.refusal ? call.originalInput : call.originalInput',
      ],
      [
        'tools',
        'arguments that BeforeTool hooks change are what the tool is executed with, merged over its own',
      ],
    ],
    [
      'HOOK-133',
      "the tool gets the caller's own object",
      [
        'src/context.ts',
        'const { input, refusal } = copyArguments(toolName, originalInput);',
        'const { refusal } = copyArguments(toolName, originalInput); const input = originalInput;',
      ],
      [
        'tools',
        'arguments that BeforeTool hooks change are not those of the caller where the tool itself changes what it was given',
      ],
    ],
    [
      'HOOK-150',
      'fireBeforeToolHook hands on no arguments',
      [
        TOOL_TRIGGERS,
        'const payload = { toolName, toolInput, callId:',
        'const payload = { toolName, toolInput: {}, callId:',
      ],
      ['tools', 'the triggers show the hooks what they are given'],
    ],
    [
      'HOOK-128, HOOK-151',
      'fireAfterToolHook hands on no response',
      [
        TOOL_TRIGGERS,
        'const payload = { toolName, toolInput, toolResponse, callId:',
        'const payload = { toolName, toolInput, toolResponse: {}, callId:',
      ],
      ['tools', 'the triggers show the hooks what they are given'],
    ],
    [
      'HOOK-217',
      "suppressOutput changes the tool's own result",
      [
        EFFECTS,
        'call.result = { ...(call.result ?? result), suppressDisplay: true };',
        'call.result = Object.assign(call.result ?? result, { suppressDisplay: true });',
      ],
      ['tools', 'AfterTool does not modify the result that the tool returned'],
    ],
    ...['a permission', 'a stop', 'a silent block'].map((said) => [
      'DELTA-HAPP-002, DELTA-HRUN-001',
      `what the bus gives is what the first hook printed: ${said}`,
      [
        HANDLER,
        'return processEvent(this.#engine, createHookContext(event, payload), refuse);',
        'return processEvent(this.#engine, createHookContext(event, payload), refuse).then((all) => ({ ...all, finalOutput: all.allOutputs[0] }));',
      ],
      ['mediated', `a request gets what needs no interpretation after JSON: ${said}`],
    ]),
    [
      'HOOK-010',
      'a hook system is made while hooks are off',
      [
        CONFIG,
        'if (!this.getEnableHooks() && !this.hasChanged()) return undefined;',
        'this.#hookSystem ??= this.#openHookSystem(); if (!this.getEnableHooks() && !this.hasChanged()) return undefined;',
      ],
      ['config', 'getHookSystem makes none while hooks are off'],
    ],
    [
      'DELTA-HRUN-003',
      'suppressOutput: false hides',
      [OUTPUT, 'output?.suppressOutput === true', 'output?.suppressOutput !== undefined'],
      [
        'test/hooks/envelopes.test.ts',
        'processCommonHookOutputFields reads {"systemMessage":"m","suppressOutput":false}',
      ],
    ],
    [
      'HOOK-008',
      'the first event goes on before the hooks are read',
      [DOOR, 'await engine.initialize();', 'void engine.initialize();'],
      ['handler', 'fireHook reads the hooks at the first event, and runs them'],
    ],
    [
      'HOOK-008',
      'the first event reads the hooks past the hook system',
      [DOOR, 'await engine.initialize();', 'await engine.registry.initialize();'],
      [
        'test/hooks/prestart.test.ts',
        'a hook that is started ahead is started by the first event, where nobody has read the hooks before',
      ],
    ],
    [
      'HOOK-206',
      'getHookSystem reads the hooks',
      [
        CONFIG,
        'return (this.#hookSystem ??= this.#openHookSystem());',
        'this.#hookSystem ??= this.#openHookSystem(); this.#hookSystem.initialize().catch(() => undefined); return this.#hookSystem;',
      ],
      ['config', 'getHookSystem reads nothing before the first event'],
    ],
    [
      'HOOK-206',
      'Config reads the hooks where there is a bus',
      [
        CONFIG,
        'if (options.messageBus) this.#hookSystem = this.#openHookSystem();',
        'if (options.messageBus) (this.#hookSystem = this.#openHookSystem()).initialize().catch(() => undefined);',
      ],
      [
        'config',
        'getHookSystem reads nothing before the first event, nor where requests may come over a bus',
      ],
    ],
    [
      'HOOK-025',
      'the result goes to the model before AfterTool hooks have answered',
      [
        EFFECTS,
        'const fired = await firing;\n    if (hasEffect(fired)) applyAfterTool(call, result, fired);',
        'void firing.then((fired) => applyAfterTool(call, result, fired));',
      ],
      ['agent', 'the loop waits for the hooks of an event before it goes on, whatever the event'],
    ],
    [
      'HOOK-025',
      'AfterTool does not fire for a tool that failed',
      [
        EFFECTS,
        'if (!result || call.signal?.aborted',
        'if (!result || result.error || call.signal?.aborted',
      ],
      ['scheduler', 'AfterTool is told of a tool that failed by its result'],
    ],
    ...['llmContent', 'returnDisplay', 'metadata', 'error'].map((field) => [
      'HOOK-026',
      `AfterTool hooks do not read ${field}`,
      [
        EFFECTS,
        'toolResponse = { llmContent, returnDisplay, metadata, error };',
        `toolResponse = { llmContent, returnDisplay, metadata, error, ${field}: undefined };`,
      ],
      ['test/middleware/toolEffects.test.ts', 'after a tool hooks read all that it gave'],
    ]),
    [
      'HOOK-026',
      'AfterTool hooks do not read what the tool was given',
      [
        EFFECTS,
        'const payload = { toolName, toolInput, toolResponse, callId,',
        'const payload = { toolName, toolInput: {}, toolResponse, callId,',
      ],
      ['tools', 'arguments that BeforeTool hooks change are what AfterTool hooks read'],
    ],
    [
      'HOOK-044',
      'AfterModel hooks do not read the request',
      [
        EFFECTS,
        'const payload = { llmRequest: call.request, llmResponse: response };',
        "const payload = { llmRequest: { model: '', contents: [] }, llmResponse: response };",
      ],
      ['chat', 'the way of a call tells AfterModel what was sent, not what was asked for'],
    ],
    [
      'HOOK-044',
      'AfterModel hooks read the first chunk of the answer only',
      [EFFECTS, 'collectResponse(seen);', 'collectResponse(seen.slice(0, 1));'],
      ['chat', 'the way of a call fires AfterModel once, on the whole answer'],
    ],
    [
      'HOOK-047',
      'the answer of a hook is dropped',
      [EFFECTS, 'call.response = response;\n  call.suppressDisplay', 'call.suppressDisplay'],
      ['effects', 'AfterModel can modify the output, also where it is sent back to the model'],
    ],
    [
      'HOOK-047',
      'an answer that says text alone is none',
      [
        'middleware/modelResults.ts',
        'const response = hookResponse\n',
        'const response = hookResponse?.candidates?.length\n',
      ],
      ['effects', 'AfterModel can modify the output, also where it is sent back to the model'],
    ],
    [
      'HOOK-047',
      'an empty answer is none',
      [TRANSLATOR, 'if (text === undefined || text ===', 'if (!text || text ==='],
      ['chat', 'an empty answer is not what an AfterModel hook made empty'],
    ],
    ...[
      [
        'parts that are no text are kept',
        "part !== '' ? { text: part } : []",
        "part !== '' ? { text: part } : part",
      ],
      [
        'what hooks cannot describe is kept',
        '...fromHookCandidate(candidate, position),\n        content: {\n          role',
        '...candidate,\n        content: {\n          role',
      ],
    ].map(([what = '', from, to]) => [
      'HOOK-079',
      what,
      [TRANSLATOR, from, to],
      ['translator', 'fromHookLLMResponse takes over nothing else that a response may carry'],
    ]),
    [
      'HOOK-131',
      'a system message runs into the last of several parts',
      ['src/protocol/llmContent.ts', '{ text: `\\n\\n${text}` }', '{ text }'],
      ['tools', 'AfterTool appends to content that is a list of parts'],
    ],
    [
      'HOOK-139',
      'the stream is opened with the request that the caller made',
      [
        'src/core/modelCall.ts',
        '(changed) => open(changed, signal)',
        '() => open(request, signal)',
      ],
      ['effects', 'BeforeModel can modify the input'],
    ],
    ...['BeforeTool', 'AfterTool', 'BeforeModel', 'AfterModel', 'BeforeToolSelection'].map(
      (event) => [
        'HOOK-143',
        `fire${event}Event fires another event`,
        [
          HANDLER,
          `return this.fire(HookEventName.${event},`,
          'return this.fire(HookEventName.Notification,',
        ],
        ['handler', `each event ${event} reaches its script`],
      ],
    ),
    [
      'HOOK-147',
      'one of the methods throws where no plan can be made',
      [
        HANDLER,
        'return this.fire(HookEventName.Notification,',
        'void this.isIdle(HookEventName.Notification); return this.fire(HookEventName.Notification,',
      ],
      ['handler', 'HookEventHandler never rejects where nothing works: Notification'],
    ],
    [
      'HOOK-147',
      'a fault is not told',
      [
        DOOR,
        'logger.warn(`${fault.message}; ${consequenceOf(fault, failure)}`, { error: fault });',
        '',
      ],
      ['handler', 'HookEventHandler answers with a failure envelope when aggregation fails'],
    ],
    [
      'HOOK-158',
      'null blocks',
      [
        OUTPUT,
        "return decision === 'block' || decision === 'deny';",
        "return decision === 'block' || decision === 'deny' || decision === null;",
      ],
      ['output', 'DefaultHookOutput decision null blocks: false'],
    ],
    [
      'HOOK-158',
      'no decision is one to block',
      ['src/protocol/events.ts', 'decision: decision ?? undefined', "decision: decision ?? 'deny'"],
      ['tools', 'BeforeTool lets the tool run on null'],
    ],
    ...[
      ['the results are merged as those of another event', "ctx.results ?? [], 'BeforeTool'"],
      ['only the last result counts', 'ctx.results?.slice(-1) ?? [], ctx.event'],
    ].map(([what = '', args]) => [
      'HOOK-166',
      what,
      [
        AGGREGATOR,
        'outputs.aggregateResults(ctx.results ?? [], ctx.event)',
        `outputs.aggregateResults(${args})`,
      ],
      [
        'aggregator',
        'aggregator has all results of the event made one, by whatever makes them one',
      ],
    ]),
    [
      'HOOK-188',
      'hooks inherit PATH alone',
      [
        'src/run/hookEnvironment.ts',
        "if (inherit === 'all' && redact.length === 0) return host;",
        "if (inherit === 'all' && redact.length === 0) return { PATH: host['PATH'] };",
      ],
      ['runner', 'executeHook passes on what else the host has in its environment'],
    ],
    [
      'HOOK-188',
      'a command may name the project directory in one way only',
      [
        'src/shell/expandCommand.ts',
        "'LLXPRT_PROJECT_DIR|GEMINI_PROJECT_DIR|CLAUDE_PROJECT_DIR'",
        "'LLXPRT_PROJECT_DIR'",
      ],
      ['runner', 'executeHook finds a script in a project directory with an awkward name'],
    ],
    [
      'HOOK-190',
      'the prompt of the user is merged as requests of the model are',
      [
        EVENTS,
        "fields: { prompt: [text, 'What the user asked.'] },\n    answers: context,",
        "fields: { prompt: [text, 'What the user asked.'] },\n    answers: context,\n    merge: 'replacement',",
      ],
      [
        'registration',
        'the strategies of the merge BeforeAgent: a block wins, and texts are joined',
      ],
    ],
    [
      'HOOK-190',
      'answers of the model are merged as results of tools are',
      [
        EVENTS,
        "merge: 'replacement',\n    Output: AfterModelHookOutput",
        "merge: 'or',\n    Output: AfterModelHookOutput",
      ],
      [
        'registration',
        'the strategies of the merge AfterModel: a block wins, and later texts replace earlier ones',
      ],
    ],
    [
      'HOOK-190',
      'NONE does not win',
      [SCOPES, "['NONE', 'ANY', 'AUTO'].find", "['ANY', 'NONE', 'AUTO'].find"],
      [
        'aggregator',
        'the merge of BeforeToolSelection of the modes ["AUTO","NONE","ANY"] takes the most restrictive, NONE',
      ],
    ],
    [
      'HOOK-199',
      'the permission block does not block',
      [
        OUTPUT,
        "isBlocking(this.hookSpecificOutput?.['permissionDecision'])",
        "this.hookSpecificOutput?.['permissionDecision'] === 'deny'",
      ],
      ['output', 'BeforeToolHookOutput permissionDecision block blocks: true'],
    ],
    [
      'HOOK-199',
      'a permission is no decision',
      [EVENTS, '...(isPermission && { decision: permission as HookDecision }),', ''],
      ['aggregator', 'a permission is a decision by another name: a denial'],
    ],
    [
      'HOOK-205',
      'BeforeToolSelection hooks of a model call read a request without its tools',
      [
        EFFECTS,
        'fire(HookEventName.BeforeToolSelection, { llmRequest: call.request }, call)',
        'fire(HookEventName.BeforeToolSelection, { llmRequest: { ...call.request, config: {} } }, call)',
      ],
      [
        'hosts',
        'hooks of a model call read at BeforeToolSelection which tools there are, and the system instruction',
      ],
    ],
    [
      'HOOK-205',
      'fireBeforeToolSelectionHook hands on a placeholder',
      [
        MODEL_TRIGGERS,
        'HookEventName.BeforeToolSelection, { llmRequest }, options',
        "HookEventName.BeforeToolSelection, { llmRequest: { model: '', contents: [] } }, options",
      ],
      [
        'triggers',
        'the triggers of the model events show their hooks the request that they are given',
      ],
    ],
    ...['BeforeModel', 'AfterModel', 'BeforeToolSelection'].map((event) => [
      'DELTA-HPAY-003',
      `requests are not translated for ${event}, over whichever way`,
      [EVENTS, 'defaultHookTranslator.toHookLLMRequest(request)', 'request'],
      ['handler', `each event ${event} reaches its script`],
    ]),
    [
      'DELTA-HPAY-003',
      'answers are not translated, over whichever way',
      [EVENTS, 'defaultHookTranslator.toHookLLMResponse(response)', 'response'],
      ['handler', 'each event AfterModel reaches its script'],
    ],
    [
      'DELTA-HFAIL-003',
      'an event that nothing matches has failed',
      [
        HANDLER,
        'return skip(this.#engine, event, session);',
        'return { ...skip(this.#engine, event, session), success: false };',
      ],
      ['handler', 'HookEventHandler answers with a fresh empty result when nothing matches'],
    ],
    [
      'DELTA-HFAIL-003',
      'a request that nothing matches has failed',
      [
        DOOR,
        'return skip(engine, ctx.event, ctx.session);',
        'return { ...skip(engine, ctx.event, ctx.session), success: false };',
      ],
      ['mediated', 'a request that matches nothing gets an empty result of its own'],
    ],
  ].map(([id, what, edit, [file, title]]) => ({
    id: String(id),
    what: String(what),
    edits: [edit],
    test: [TEST_OF[file] ?? file, title],
  })),
  {
    id: 'HOOK-010',
    what: 'a process is started while hooks are off',
    edits: [
      [
        DOOR,
        "import { notify } from '../util/notify.js';",
        "import { notify } from '../util/notify.js'; import { execFile } from 'node:child_process';",
      ],
      [
        DOOR,
        'if (!engine) return undefined;',
        "if (!engine) execFile('true'); if (!engine) return undefined;",
      ],
    ],
    test: [TEST_OF.handler, 'a process is not started when hooks are off'],
  },
  ...calls,
  ...hooks,
  ...host,
  ...processes,
  ...protocol,
  ...stages,
];

if (process.argv[1] === import.meta.filename) {
  const [word = ''] = process.argv.slice(2);
  const wanted = BREAKS.filter(({ id, what }) => `${id} ${what}`.includes(word));
  if (wanted.length === 0) throw new Error(`No break has "${word}": leave it out to see them all`);
  if (!(await runBreaks(wanted))) process.exitCode = 1;
}
