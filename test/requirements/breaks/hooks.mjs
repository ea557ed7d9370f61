import { toBreaks } from './toBreaks.mjs';

const DOOR = 'src/hooks/fireHook.ts';
const ENVELOPES = 'src/hooks/envelopes.ts';
const HANDLER = 'src/hooks/hookEventHandler.ts';
const MEDIATED = 'src/hooks/mediatedHooks.ts';
const RECORD = 'src/hooks/eventRecord.ts';
const REGISTRY = 'src/hooks/hookRegistry.ts';
const SYSTEM = 'src/hooks/hookSystem.ts';

const OF_HANDLER = 'test/hooks/hookEventHandler.test.ts';
const OF_SYSTEM = 'test/hooks/hookSystem.test.ts';
const OF_BUS = 'test/hooks/mediatedHooks.test.ts';
const OF_SETTINGS = 'test/hooks/hookSettings.test.ts';

/** Breaks of the hook system: its life cycle, its settings, and how events are fired. */
export const hooks = toBreaks([
  [
    'HOOK-004',
    'a second initialize() reads the hooks again',
    [
      SYSTEM,
      'if (this.#registry.isSettled()) return;',
      'if (this.#registry.isSettled()) return this.#registry.reload();',
    ],
    [OF_SYSTEM, 'initialize initialize called once'],
  ],
  ...[
    ['getRegistry', 'this.#registry'],
    ['getEventHandler', 'this.#eventHandler'],
  ].map(([method, part]) => [
    'HOOK-005',
    `${method}() gives the part before it is initialized`,
    [
      SYSTEM,
      `if (!this.isInitialized()) throw new HookSystemNotInitializedError();\n    return ${part};`,
      `return ${part};`,
    ],
    [OF_SYSTEM, `before initialization ${method} throws`],
  ]),
  [
    'HOOK-009',
    'hooks that are switched off are not counted',
    [
      SYSTEM,
      'this.#registry.getAllHooks().length',
      'this.#registry.getAllHooks().filter(({ enabled }) => enabled).length',
    ],
    [
      OF_SYSTEM,
      'the parts of a hook system count hooks of all events and sources, also those that are switched off',
    ],
  ],
  [
    'HOOK-013',
    'that there is nothing to do is said by a promise',
    [
      DOOR,
      'if (!engine) return undefined;\n    const plan',
      'if (!engine) return Promise.resolve() as never;\n    const plan',
    ],
    [OF_HANDLER, 'fireHook with nothing to do is synchronous while hooks are off'],
  ],
  [
    'HOOK-081',
    'an event out of scope has no hooks',
    [
      REGISTRY,
      'return Object.values(HookEventName).flatMap((eventName) =>',
      "return Object.values(HookEventName).filter((name) => name !== 'PreCompress').flatMap((eventName) =>",
    ],
    [OF_HANDLER, 'each event PreCompress reaches its script'],
  ],
  ...['matcher: { struct: text, vital: true },', 'sequential: { struct: flag },'].map((field) => [
    'HOOK-082',
    `a group may not have ${field}`,
    ['src/hooks/hookFields.ts', field, ''],
    [OF_SETTINGS, 'parseHookDefinitions keeps valid definitions as they are'],
  ]),
  [
    'HOOK-085',
    'hooks of the configuration are tagged as those of the user',
    [
      REGISTRY,
      "'hooks', this.config.getHooks(), ConfigSource.Project",
      "'hooks', this.config.getHooks(), ConfigSource.User",
    ],
    [
      'test/requirements/registration.test.ts',
      'the registry tags the hooks of the configuration as Project, those of extensions as Extensions, in this order',
    ],
  ],
  [
    'HOOK-086',
    'hooks of extensions run before those of the project',
    [REGISTRY, '[ConfigSource.Project]: 1,', '[ConfigSource.Project]: 5,'],
    [
      'test/middleware/planner.test.ts',
      'a plan has the hooks of the project before those of extensions',
    ],
  ],
  [
    'HOOK-113',
    'an error of the hook system reaches the caller',
    [DOOR, 'return onFault(toFault(engine, ctx, error, stage), engine.logger);', 'throw error;'],
    [OF_HANDLER, 'fireHook fails open, and says so, when the hooks cannot be read'],
  ],
  [
    'HOOK-115',
    'what goes wrong before an event is planned reaches the caller',
    [
      DOOR,
      'const fail = () => processCommonHookOutputFields(failBeforeStack(host, event, error));',
      'throw error;',
    ],
    [
      'test/core/coreToolHookTriggers.test.ts',
      'the triggers return undefined whatever else goes wrong',
    ],
  ],
  [
    'HOOK-145',
    'an event without a plan has an error in its result',
    [
      HANDLER,
      'if (plan === null) return skip(this.#engine, event, session);',
      "if (plan === null) return { ...skip(this.#engine, event, session), errors: [new Error('no plan')] };",
    ],
    [OF_HANDLER, 'HookEventHandler answers with a fresh empty result when nothing matches'],
  ],
  [
    'HOOK-146',
    'the log does not say how long an event took, nor whether it succeeded',
    [RECORD, 'logger.debug(`${event}: finished`, {', 'logger.debug(`${event}: finished`); void ({'],
    [OF_HANDLER, 'HookEventHandler logs every hook, and a summary of the event'],
  ],
  [
    'HOOK-148',
    'the error of a hook system that is not initialized has no name of its own',
    [
      'src/hooks/errors.ts',
      "override readonly name = 'HookSystemNotInitializedError';",
      "override readonly name = 'Error';",
    ],
    [OF_SYSTEM, 'before initialization throws an error with a name, the same from both modules'],
  ],
  [
    'HOOK-191',
    'hooks of a wrong shape are left out without a word',
    [REGISTRY, 'for (const problem of problems) this.#logger.warn(formatGiven(at, problem));', ''],
    [OF_SYSTEM, 'initialize leaves out entries of a wrong shape, and says where they are'],
  ],
  ...[
    ['fireBeforeAgentEvent(prompt: string) {', 'BeforeAgent'],
    ['promptResponse: string, stopHookActive = false) {', 'AfterAgent'],
    ['fireSessionStartEvent(context: { source: SessionStartSource }) {', 'SessionStart'],
    ['fireSessionEndEvent(context: { reason: SessionEndReason }) {', 'SessionEnd'],
    ['firePreCompressEvent(context: { trigger: PreCompressTrigger }) {', 'PreCompress'],
  ].map(([method, event]) => [
    'HOOK-203',
    `hooks of ${event} do not run`,
    [HANDLER, method, `${method} if (this) return Promise.resolve(makeEmptySuccessResult());`],
    [OF_HANDLER, `each event ${event} reaches its script`],
  ]),
  [
    'DELTA-HSYS-001',
    'the hook system does not pass its logger on',
    [SYSTEM, "this.logger.extend('events'),", 'undefined,'],
    [
      'test/confirmation-bus/records.test.ts',
      'the log of a mediated event has one record a hook, one summary, and one diagnosis a failure',
    ],
  ],
  [
    'DELTA-HSYS-002',
    'hooks cannot be switched off',
    [
      SYSTEM,
      'this.getRegistry().setHookEnabled(id, enabled);',
      'this.getRegistry().setHookEnabled(id, true);',
    ],
    [OF_SYSTEM, 'setHookEnabled switches every hook of a name off and on again, and counts them'],
  ],
  [
    'DELTA-HEVT-001',
    'a request fires another event than the one that it asks for',
    [
      MEDIATED,
      'this.process(event, readPayload(',
      'this.process(HookEventName.AfterTool, readPayload(',
    ],
    [OF_BUS, 'a request for BeforeTool gives a script the same bytes as a direct call'],
  ],
  [
    'DELTA-HEVT-002',
    'a response says that the hooks were healthy, whatever they were',
    [MEDIATED, 'success: output.success, output }', 'success: true, output }'],
    [OF_BUS, 'a request with a hook that blocks by exit code has no error'],
  ],
  [
    'DELTA-HEVT-003',
    'a request for an unknown event is not refused by its name',
    [
      MEDIATED,
      'if (isHookEventName(name)) return name;',
      'if (name) return name as HookEventName;',
    ],
    [
      'test/confirmation-bus/badRequests.test.ts',
      'a bad request with an unknown event is refused, by the name of the field',
    ],
  ],
  [
    'DELTA-HEVT-004',
    'dispose() leaves the subscription',
    [MEDIATED, 'await unsubscribe?.();', ''],
    [OF_BUS, 'dispose ends the subscription, and may be called again'],
  ],
  [
    'DELTA-HPAY-004',
    'a translation that fails is taken for a failed execution',
    [DOOR, "if (!input) return 'translation';", "if (!input) return 'execution';"],
    [
      'test/confirmation-bus/failingStages.test.ts',
      "when 'translation' fails the response says so",
    ],
  ],
  [
    'DELTA-HPAY-006',
    'SessionStart takes any text for its source',
    [
      HANDLER,
      'fireSessionStartEvent(context: { source: SessionStartSource }) {',
      'fireSessionStartEvent(context: { source: any }) {',
    ],
    ['test/types/hooks.test-d.ts', 'the classes take the reasons of a session as enums'],
  ],
  [
    'DELTA-HBUS-002',
    'the event handler needs a bus',
    [
      HANDLER,
      'const safe = DebugLogger.safe(logger);',
      "const safe = DebugLogger.safe(logger); if (!messageBus) throw new TypeError('no bus');",
    ],
    [OF_HANDLER, 'each event BeforeTool reaches its script'],
  ],
  [
    'DELTA-HBUS-003',
    'a request without an id gets none',
    [MEDIATED, "given !== '' ? given : randomUUID();", "given !== '' ? given : '';"],
    [
      'test/confirmation-bus/badRequests.test.ts',
      'a bad request with the correlationId undefined gets one',
    ],
  ],
  [
    'DELTA-HTEL-003',
    'a failure is told twice',
    ['src/run/hookFailure.ts', 'reported.add(result);', ''],
    [
      'test/confirmation-bus/records.test.ts',
      'the log of a direct event has one record a hook, one summary, and one diagnosis a failure',
    ],
  ],
  [
    'DELTA-HAPP-001',
    'the system message is not read where all common fields are',
    [
      DOOR,
      'return processCommonHookOutputFields(aggregated);\n}',
      'return { ...processCommonHookOutputFields(aggregated), systemMessage: undefined };\n}',
    ],
    [OF_HANDLER, 'fireHook reads what is common to all events in one place'],
  ],
  [
    'DELTA-HFAIL-001',
    'an internal error gives an empty success',
    [ENVELOPES, 'success: false,\n    ...decisionBesides(fault),', '...decisionBesides(fault),'],
    [
      'test/hooks/envelopes.test.ts',
      'buildFailureEnvelope reports an error of the stage execution under its code',
    ],
  ],
  ...['planning', 'execution', 'aggregation'].map((stage) => [
    'DELTA-HFAIL-002',
    `a response does not say that the ${stage} failed`,
    [
      HANDLER,
      'return processEvent(this.#engine, createHookContext(event, payload), refuse);',
      'return processEvent(this.#engine, createHookContext(event, payload), makeEmptySuccessResult);',
    ],
    ['test/confirmation-bus/failingStages.test.ts', `when '${stage}' fails the response says so`],
  ]),
]);
