import { toBreaks } from './toBreaks.mjs';

const AGGREGATOR = 'middleware/aggregator.ts';
const PLANNER = 'middleware/planner.ts';
const READING = 'middleware/readRun.ts';
const RUNNER = 'middleware/runner.ts';
const SCOPES = 'middleware/scopes.ts';
const TRANSLATOR = 'middleware/translator.ts';
const EVENTS = 'src/protocol/eventTable.ts';

const OF_AGGREGATOR = 'test/middleware/aggregator.test.ts';
const OF_CHAINS = 'test/run/chaining.test.ts';
const OF_HANDLER = 'test/hooks/hookEventHandler.test.ts';
const OF_PLANNER = 'test/middleware/planner.test.ts';
const OF_TRANSLATOR = 'test/middleware/translator.test.ts';

/** Breaks of the stages through which an event passes: planner, translator, runner, aggregator. */
export const stages = toBreaks([
  [
    'HOOK-021',
    'hooks run whatever their matcher says',
    [PLANNER, '.filter((entry) => matcherLetsRun(registry, entry, context, logger, budget))', ''],
    [OF_PLANNER, 'a plan has the hooks of all matching groups, in the order of the settings'],
  ],
  ...[
    ['HOOK-022', 'undefined', 'matchers no matcher'],
    ['HOOK-089', "''", 'matchers an empty one'],
    ['HOOK-089', "'*'", 'matchers a wildcard'],
  ].map(([id, matcher, title]) => [
    id,
    `a hook with the matcher ${matcher} runs for no tool`,
    [
      'src/dialects/dialects.ts',
      "if (matcher === undefined || matcher === '' || matcher === '*') return 'all';",
      `if (matcher === ${matcher}) return { names: [] }; if (!matcher || matcher === '*') return 'all';`,
    ],
    [OF_PLANNER, title],
  ]),
  ...[
    ['HOOK-032', 'AfterTool', 'toolResponse'],
    ['HOOK-162', 'BeforeTool', 'isAsked'],
    ['HOOK-162', 'AfterTool', 'toolResponse'],
  ].map(([id, event, field]) => [
    id,
    `${event} is planned without the name of the tool`,
    [EVENTS, `matchOn: 'toolName',\n    momentOf: ({ ${field} })`, `momentOf: ({ ${field} })`],
    [
      OF_PLANNER,
      `planner hands over the name of the tool at ${event}, where there is one, and no tool elsewhere`,
    ],
  ]),
  ...[
    ['HOOK-041', 'BeforeModel'],
    ['HOOK-051', 'AfterModel'],
    ['HOOK-059', 'BeforeToolSelection'],
  ].map(([id, event]) => [
    id,
    `matchers of ${event} are compared with the name of the model`,
    [
      EVENTS,
      `  ${event}: defineEvent({`,
      `  ${event}: defineEvent({\n    matchOn: ({ llmRequest }) => llmRequest.model,`,
    ],
    [
      'test/requirements/modelCalls.test.ts',
      `a hook of ${event} fires on every call of the model, whatever its matcher says`,
    ],
  ]),
  [
    'HOOK-087',
    'a matcher is no expression',
    [
      PLANNER,
      "return testWithLimit(expression, '', name) ? 'yes' : 'no';",
      "return expression === name ? 'yes' : 'no';",
    ],
    [OF_PLANNER, 'matchers alternatives'],
  ],
  [
    'HOOK-088',
    'an expression that is not valid matches nothing',
    [
      PLANNER,
      "otherwise === 'itself' && expression === name",
      "otherwise !== 'itself' && expression === name",
    ],
    [OF_PLANNER, 'matchers an invalid expression, as literal text'],
  ],
  [
    'HOOK-090',
    'the same command runs twice',
    [PLANNER, '.filter((entry) => substitutes.get(entry) === entry)', ''],
    [OF_PLANNER, 'a plan has each command once: the first, with its own settings'],
  ],
  [
    'HOOK-091',
    'duplicates are told by the timeout as well',
    [
      'src/run/sameCommand.ts',
      ': [wordsOf(hook), variables];',
      ': [(hook as CommandHookConfig).timeout, wordsOf(hook), variables];',
    ],
    [OF_PLANNER, 'a plan has each command once: the first, with its own settings'],
  ],
  [
    'HOOK-091',
    'duplicates are removed before matching',
    [
      PLANNER,
      'registry\n    .getHooksForEvent(event)\n    .filter(',
      'withoutDuplicates(registry, registry.getHooksForEvent(event))\n    .filter(',
    ],
    [
      OF_PLANNER,
      'a plan removes duplicates after matching: one that does not match hides none that does',
    ],
  ],
  [
    'HOOK-109',
    'a plan is sequential only where all groups are',
    [PLANNER, 'sequential === true || !!config.redact', 'sequential === true && !!config.redact'],
    [OF_PLANNER, 'a plan is sequential as soon as one matching group is'],
  ],
  ...[
    ['HOOK-035', 'BeforeModel', 'defaultHookTranslator.toHookLLMRequest(request)', 'request'],
    ['HOOK-045', 'AfterModel', 'defaultHookTranslator.toHookLLMResponse(response)', 'response'],
  ].map(([id, event, from, to]) => [
    id,
    `${event} hooks read what the SDK has`,
    [EVENTS, from, to],
    [OF_TRANSLATOR, `toHookInput writes the fields of ${event}`],
  ]),
  ...[
    [
      'HOOK-062',
      'the time is not in ISO 8601',
      'new Date().toISOString()',
      'new Date().toString()',
    ],
    [
      'HOOK-215',
      'the common fields come last',
      'session_id: factOf(',
      '...events[event].encode(payload),\n    session_id: factOf(',
    ],
  ].map(([id, what, from, to]) => [
    id,
    what,
    [TRANSLATOR, from, to],
    [OF_TRANSLATOR, 'toHookInput puts the common fields first and the time in ISO 8601'],
  ]),
  ...[
    [
      'HOOK-144',
      'the working directory is that of the process',
      'cwd: session.getWorkingDir(),',
      'cwd: process.cwd(),',
    ],
    [
      'HOOK-155',
      'the name of the event has another name',
      'hook_event_name: event,',
      'event_name: event as never,',
    ],
    [
      'HOOK-215',
      'no session is named',
      "session_id: factOf(session, 'getSessionId') ?? '',",
      "session_id: '',",
    ],
  ].map(([id, what, from, to]) => [
    id,
    what,
    [TRANSLATOR, from, to],
    [OF_HANDLER, 'each event BeforeTool reaches its script'],
  ]),
  [
    'HOOK-161',
    'hooks do not learn where the transcript is',
    [
      TRANSLATOR,
      "transcript_path: factOf(session, 'getTranscriptPath') ?? '',",
      "transcript_path: '',",
    ],
    [OF_TRANSLATOR, 'toHookInput takes the path of the transcript from a session that has one'],
  ],
  [
    'HOOK-161',
    'where there is no transcript, its path is none',
    [
      TRANSLATOR,
      "factOf(session, 'getTranscriptPath') ?? '',",
      "factOf(session, 'getTranscriptPath') as string,",
    ],
    [OF_TRANSLATOR, 'toHookInput takes the path of the transcript from a session that has one'],
  ],
  ...[
    ['HOOK-164', true],
    ['HOOK-165', false],
  ].map(([id, sequential]) => [
    id,
    `a plan with sequential ${sequential} goes to the other method`,
    [RUNNER, 'plan.sequential\n', '!plan.sequential\n'],
    [
      'test/middleware/runner.test.ts',
      `runner sequential ${sequential}: delegates, fills results and calls next`,
    ],
  ]),
  [
    'HOOK-103',
    'a chain runs from its end',
    [RUNNER, 'for (const hook of hookConfigs) {', 'for (const hook of hookConfigs.toReversed()) {'],
    [OF_CHAINS, 'a chain runs its hooks in order, one at a time'],
  ],
  [
    'HOOK-103',
    'the hooks of a chain run all at once',
    [
      RUNNER,
      'for (const hook of hookConfigs) {',
      'if (input) return this.executeHooksParallel(hookConfigs, eventName, input, signal);\n    for (const hook of hookConfigs) {',
    ],
    [OF_CHAINS, 'a chain runs its hooks in order, one at a time'],
  ],
  [
    'HOOK-104',
    'what a failed hook changed is what the next one reads',
    [
      [RUNNER, '} else if (success) current =', '} else current ='],
      [
        READING,
        "if (ending !== 'exit' || exitCode !== 0) return",
        "if (ending !== 'exit' || exitCode === 2) return",
      ],
    ],
    [OF_CHAINS, 'a chain passes the input on unchanged after a hook that failed'],
  ],
  ...[
    [
      'HOOK-024',
      [
        OF_CHAINS,
        'a chain of BeforeTool merges changed arguments shallowly over all that came before',
      ],
    ],
    [
      'HOOK-104',
      [
        OF_CHAINS,
        'a chain of BeforeTool merges changed arguments shallowly over all that came before',
      ],
    ],
    [
      'HOOK-106',
      [
        'test/core/coreToolHookTriggers.test.ts',
        'arguments that BeforeTool hooks change BeforeTool sequential chaining passes modified tool_input',
      ],
    ],
  ].map(([id, test]) => [
    id,
    'the next hook of a chain reads the arguments as they were',
    [EVENTS, "withField(input, 'tool_input', withToolInput(input.tool_input, output))", 'input'],
    test,
  ]),
  [
    'HOOK-216',
    'changed arguments replace all that came before',
    [
      'src/protocol/hookOutput.ts',
      'return mergeRecords(dropped.size === 0 ? input : Object.fromEntries(kept), change ?? {});',
      'return mergeRecords({}, change ?? Object.fromEntries(kept));',
    ],
    [
      OF_CHAINS,
      'a chain of BeforeTool merges changed arguments shallowly over all that came before',
    ],
  ],
  [
    'HOOK-105',
    'the next hook of a chain reads the request as it was',
    [EVENTS, 'return { ...input, llm_request: request as LLMRequest };', 'return input;'],
    [OF_CHAINS, 'a chain of BeforeModel merges a changed request, and its config one level deeper'],
  ],
  ...[
    ['a chain ends at a block', 'return verdict.shouldStopExecution();'],
    ['a chain ends at exit code 2', 'return verdict.shouldStopExecution();'],
    ['a chain ends at a stop', 'return verdict.isBlockingDecision();'],
  ].map(([title, to]) => [
    'HOOK-107',
    `not so: ${title}`,
    [RUNNER, 'return verdict.isBlockingDecision() || verdict.shouldStopExecution();', to],
    [OF_CHAINS, title],
  ]),
  [
    'HOOK-211',
    'the prompt of a chain stays as it was',
    [EVENTS, 'return { ...input, prompt: `${input.prompt}\\n\\n${added}` };', 'return input;'],
    [OF_CHAINS, 'a chain of BeforeAgent adds context to the prompt'],
  ],
  ...['AfterModel', 'BeforeToolSelection'].map((event) => [
    'HOOK-211',
    `chains change the input of ${event}`,
    [
      EVENTS,
      `  ${event}: defineEvent({`,
      `  ${event}: defineEvent({\n    chain: (input, output) => ({ ...input, ...output.hookSpecificOutput }),`,
    ],
    [OF_CHAINS, `a chain of any other event ${event} passes the input on unchanged`],
  ]),
  [
    'HOOK-092',
    'an allow undoes a block',
    [AGGREGATOR, 'const rank = Math.max(', 'const rank = Math.min('],
    [OF_AGGREGATOR, 'the merge of BeforeTool lets a block win after an allow'],
  ],
  [
    'HOOK-093',
    'of a block, the reason of one hook counts',
    [
      AGGREGATOR,
      'output.reason = joinLines(...deciding.map(({ said }) => said.reason));',
      'output.reason = deciding[0].said.reason;',
    ],
    [OF_AGGREGATOR, 'the author of a verdict of BeforeTool is everybody who blocked'],
  ],
  [
    'HOOK-094',
    'the later system message replaces the earlier one',
    [
      AGGREGATOR,
      'systemMessage: joinLines(first.systemMessage, second.systemMessage),',
      'systemMessage: second.systemMessage ?? first.systemMessage,',
    ],
    [
      OF_AGGREGATOR,
      'the merge of BeforeTool joins reasons, system messages and contexts line by line',
    ],
  ],
  [
    'HOOK-095',
    'the later context replaces the earlier one',
    [AGGREGATOR, 'additionalContext: joinLines,', ''],
    [
      OF_AGGREGATOR,
      'the merge of AfterTool joins reasons, system messages and contexts line by line',
    ],
  ],
  [
    'HOOK-096',
    'a later suppressOutput: false shows the output',
    [
      AGGREGATOR,
      'suppressOutput: first.suppressOutput || (second.suppressOutput ?? first.suppressOutput),',
      'suppressOutput: second.suppressOutput ?? first.suppressOutput,',
    ],
    [OF_AGGREGATOR, 'the merge of AfterTool lets a suppression win, wherever it stands'],
  ],
  [
    'HOOK-097',
    'a later continue: true takes a stop back',
    [
      AGGREGATOR,
      'spoken.filter(({ said }) => said.continue === false)',
      'spoken.filter(({ said }) => said.continue === undefined)',
    ],
    [OF_AGGREGATOR, 'the merge of BeforeTool lets a stop win, wherever it stands'],
  ],
  ...['BeforeModel', 'AfterModel'].map((event) => [
    'HOOK-098',
    `at ${event} earlier fields override later ones`,
    [
      AGGREGATOR,
      'mergeSpecific(first.hookSpecificOutput, second.hookSpecificOutput),',
      'mergeSpecific(second.hookSpecificOutput, first.hookSpecificOutput),',
    ],
    [OF_AGGREGATOR, `the merge of ${event} lets later fields override earlier ones`],
  ]),
  [
    'HOOK-099',
    'the names of the last hook count alone',
    [AGGREGATOR, 'lists.flat().filter(', '(lists.at(-1) ?? []).filter('],
    [OF_AGGREGATOR, 'the merge of BeforeToolSelection unites the names and sorts them'],
  ],
  [
    'HOOK-100',
    'AUTO wins over ANY',
    [SCOPES, "['NONE', 'ANY', 'AUTO'].find", "['NONE', 'AUTO', 'ANY'].find"],
    [
      OF_AGGREGATOR,
      'the merge of BeforeToolSelection of the modes ["ANY","AUTO"] takes the most restrictive, ANY',
    ],
  ],
  [
    'HOOK-101',
    'NONE leaves the names of other hooks',
    [SCOPES, "if (mode === 'NONE' || !names) return", 'if (!names) return'],
    [
      OF_AGGREGATOR,
      'the merge of BeforeToolSelection leaves no names with mode NONE, whatever the other hooks say',
    ],
  ],
  [
    'HOOK-102',
    'names stand as they come',
    [AGGREGATOR, "typeof name === 'string'))].toSorted();", "typeof name === 'string'))];"],
    [OF_AGGREGATOR, 'the merge of BeforeToolSelection sorts the names of a single hook'],
  ],
  ...[
    [
      'the mode of the last hook counts',
      SCOPES,
      '...(mode && { mode }),',
      "...(mode && { mode: configs.at(-1)?.['mode'] }),",
      'of the modes ["ANY","AUTO"] takes the most restrictive, ANY',
    ],
    [
      'the names of two hooks are those that both have',
      AGGREGATOR,
      'lists.flat().filter(',
      'lists.flat().filter((name) => lists.every((list) => list.includes(name))).filter(',
      'unites the names and sorts them',
    ],
  ].map(([what, file, from, to, title]) => [
    'HOOK-210',
    what,
    [file, from, to],
    [OF_AGGREGATOR, `the merge of BeforeToolSelection ${title}`],
  ]),
  [
    'HOOK-112',
    'what stands behind a hook that failed is lost',
    [
      AGGREGATOR,
      'if (!success && !isBlocking(output.decision)) continue;',
      'if (!success && !isBlocking(output.decision)) break;',
    ],
    [
      OF_AGGREGATOR,
      'the health of the hooks and what they decided keeps what two healthy hooks said when a third one failed',
    ],
  ],
  [
    'HOOK-214',
    'what a failed hook said counts',
    [AGGREGATOR, 'if (!success && !isBlocking(output.decision)) continue;', ''],
    [
      OF_AGGREGATOR,
      'the health of the hooks and what they decided keeps the warning of a failed hook out of the final output, and in the outputs',
    ],
  ],
  [
    'HOOK-160',
    'a hook that blocks is not healthy',
    [
      AGGREGATOR,
      'isHealthy &&= success;',
      'isHealthy &&= success && !isBlocking(output?.decision);',
    ],
    [
      OF_AGGREGATOR,
      'the health of the hooks and what they decided reports a block by a healthy hook as healthy',
    ],
  ],
  [
    'HOOK-213',
    'a block by exit code 2 is healthy',
    [
      AGGREGATOR,
      'isHealthy &&= success;',
      'isHealthy &&= success || isBlocking(output?.decision);',
    ],
    [
      OF_AGGREGATOR,
      'the health of the hooks and what they decided reports a block by exit code 2 as unhealthy and blocking',
    ],
  ],
  [
    'DELTA-HFAIL-004',
    'empty results share a list',
    [
      AGGREGATOR,
      'errors: [],\n    totalDuration: 0,',
      'errors: ((makeEmptySuccessResult as { shared?: Error[] }).shared ??= []),\n    totalDuration: 0,',
    ],
    [
      'test/hooks/envelopes.test.ts',
      'makeEmptySuccessResult is fresh every time, with fresh lists',
    ],
  ],
]);
