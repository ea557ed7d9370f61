import { toBreaks } from './toBreaks.mjs';

const AGENT = 'src/agent/agent.ts';
const CONFIG = 'src/config/config.ts';
const STAGES = 'src/protocol/stages.ts';

/** Breaks of what stands around the hooks: configuration, agent, tools, the message bus, and what is exported. */
export const host = toBreaks([
  [
    'HOOK-002',
    'there is a hook system while hooks are off',
    [CONFIG, 'if (!this.getEnableHooks() && !this.hasChanged()) return undefined;', ''],
    ['test/config/config.test.ts', 'getHookSystem enableHooks false returns undefined'],
  ],
  [
    'HOOK-014',
    'BeforeTool hooks are asked once the tool has run',
    [STAGES, "['beforeTool', 'afterTool', 'execute']", "['afterTool', 'execute', 'beforeTool']"],
    [
      'test/agent/agent.test.ts',
      'the loop asks BeforeTool hooks right before a tool runs, and AfterTool hooks right after it',
    ],
  ],
  ...['BeforeTool', 'AfterTool'].map((event) => [
    event === 'BeforeTool' ? 'HOOK-020' : 'HOOK-028',
    `the agent goes on although a hook of ${event} has stopped it`,
    [AGENT, 'this.#stopped = stopped ?? this.#stoppedBelow', 'this.#stopped = this.#stoppedBelow'],
    [
      'test/agent/agent.test.ts',
      `an end before the end a stop of ${event} ends the loop with its reason, and the session ends`,
    ],
  ]),
  ...['BeforeTool', 'AfterTool'].map((event) => [
    event === 'BeforeTool' ? 'HOOK-020' : 'HOOK-028',
    `the user does not learn why a hook of ${event} has stopped the agent`,
    [AGENT, "if (this.#stopped) this.#tell({ type: 'stopped', ...this.#stopped });", ''],
    [
      'test/agent/agent.test.ts',
      `an end before the end a stop of ${event} ends the loop with its reason, and the session ends`,
    ],
  ]),
  ...['BeforeModel', 'BeforeToolSelection'].map((event) => [
    event === 'BeforeModel' ? 'HOOK-040' : 'HOOK-058',
    `the agent goes on although a hook of ${event} has stopped it`,
    [
      AGENT,
      "decisionOf(turn.verdict, 'stop') ?? null;\n    // An id for each",
      'null;\n    // An id for each',
    ],
    [
      'test/agent/agent.test.ts',
      `an end before the end a stop of ${event} ends the loop with its reason, and the session ends`,
    ],
  ]),
  [
    'HOOK-033, HOOK-053',
    'BeforeModel hooks read the request before BeforeToolSelection hooks have changed it',
    [
      STAGES,
      "['beforeToolSelection', 'beforeModel', 'afterModel', 'openStream']",
      "['beforeModel', 'beforeToolSelection', 'afterModel', 'openStream']",
    ],
    [
      'test/core/geminiChat.test.ts',
      'the way of a call passes BeforeToolSelection, BeforeModel, the model and AfterModel, in this order',
    ],
  ],
  [
    'HOOK-080',
    'the hooks of settings files are not read',
    [
      'src/config/settings/settings.ts',
      'hooks: joinHookDefinitions(layers.map(({ hooks }) => hooks)),',
      'hooks: {},',
    ],
    [
      'test/config/settings/settings.test.ts',
      'loadSettings orders hooks project, user, system, each group with its origin',
    ],
  ],
  [
    'HOOK-149',
    'the result of a tool has no suppressDisplay',
    ['src/tools/tools.ts', 'suppressDisplay?: boolean;', ''],
    [
      'test/types/toolCall.test-d.ts',
      'ToolResult has what the model sees, what the user sees, and four optional fields',
    ],
  ],
  [
    'HOOK-175',
    'the index of the hooks exports no event handler',
    ['src/hooks/index.ts', "export { HookEventHandler } from './hookEventHandler.js';", ''],
    [
      'test/requirements/surface.test.ts',
      'the index of the hooks exports the hook system and its event handler',
    ],
  ],
  [
    'HOOK-195',
    'there is a type of hooks for plugins',
    ['src/protocol/names.ts', "Command = 'command',", "Command = 'command', Plugin = 'plugin',"],
    ['test/requirements/surface.test.ts', 'HookType knows commands only'],
  ],
  [
    'DELTA-HBUS-001',
    'requests have another type than that of the contract',
    [
      'src/confirmation-bus/types.ts',
      "HOOK_EXECUTION_REQUEST = 'hook-execution-request'",
      "HOOK_EXECUTION_REQUEST = 'hook-request'",
    ],
    ['test/confirmation-bus/messageBus.test.ts', 'has the message types of the contract'],
  ],
  [
    'DELTA-HBUS-001',
    'a request has any text for its event',
    ['src/confirmation-bus/types.ts', 'eventName: HookEventName;', 'eventName: string;'],
    [
      'test/requirements/sources.test.ts',
      'the types of the messages on the bus are those of the contract',
    ],
  ],
]);
