import { toBreaks } from './toBreaks.mjs';

const ANSWERS = 'src/protocol/readHookOutput.ts';
const EVENTS = 'src/protocol/events.ts';
const EVENT_TABLE = 'src/protocol/eventTable.ts';
const FIELDS = 'src/protocol/hookAnswer.ts';
const MESSAGES = 'src/protocol/messages.ts';
const OUTPUT = 'src/protocol/hookOutput.ts';
const TRANSLATOR = 'src/protocol/hookTranslator.ts';

const OF_ANSWERS = 'test/protocol/readHookOutput.test.ts';
const OF_CODES = ['test/hooks/hookRunner.test.ts', 'the table of exit codes '];
const OF_EFFECTS = 'test/core/eventEffects.test.ts';
const OF_ENVELOPES = 'test/hooks/envelopes.test.ts';
const OF_HANDLER = 'test/hooks/hookEventHandler.test.ts';
const OF_OUTPUT = 'test/protocol/hookOutput.test.ts';
const OF_TOOLS = 'test/core/coreToolHookTriggers.test.ts';
const OF_TRANSLATOR = 'test/protocol/hookTranslator.test.ts';

/** The test of an exit code, and what came with it. */
const code = (row) => [OF_CODES[0], `${OF_CODES[1]}'${row}'`];

/** Breaks of what scripts read and say. */
export const protocol = toBreaks([
  ...['HOOK-015', 'HOOK-155'].map((id) => [
    id,
    'BeforeTool hooks do not read the name of the tool',
    [EVENT_TABLE, "tool_name: [text, 'The tool.'],", ''],
    [OF_HANDLER, 'each event BeforeTool reaches its script'],
  ]),
  ...[
    ['HOOK-034', 'BeforeModel', "when the request is complete.'"],
    ['HOOK-054', 'BeforeToolSelection', "first: which tools may the model call?'"],
  ].map(([id, event, summary]) => [
    id,
    `${event} hooks read no request`,
    [EVENT_TABLE, `${summary},\n    fields: modelFields,`, `${summary},\n    fields: {},`],
    [OF_HANDLER, `each event ${event} reaches its script`],
  ]),
  ...[
    [
      'HOOK-016a',
      [OF_TOOLS, 'BeforeTool by exit code 2 keeps the tool from running, and tells the model why'],
    ],
    ['HOOK-066', code('2 with a JSON allow, which is not read')],
    ['HOOK-067a', code('2 with stderr')],
    ['HOOK-189', [OF_ANSWERS, 'convertPlainTextToHookOutput exit code 2']],
  ].map(([id, test]) => [
    id,
    'exit code 2 does not block',
    [
      ANSWERS,
      "if (exitCode === 2) return { decision: 'deny',",
      "if (exitCode === 2) return { decision: 'allow',",
    ],
    test,
  ]),
  ...[
    ['HOOK-067a', code('2 with stderr')],
    ['HOOK-189', [OF_ANSWERS, 'convertPlainTextToHookOutput exit code 2']],
  ].map(([id, test]) => [
    id,
    'stderr is not the reason of exit code 2',
    [ANSWERS, 'reason: clean || DEFAULT_BLOCK_REASON };', 'reason: DEFAULT_BLOCK_REASON };'],
    test,
  ]),
  [
    'HOOK-016b',
    'a deny does not block',
    [OUTPUT, "return decision === 'block' || decision === 'deny';", "return decision === 'block';"],
    [OF_TOOLS, 'BeforeTool by a deny keeps the tool from running, and tells the model why'],
  ],
  [
    'HOOK-018',
    'approve blocks',
    [
      OUTPUT,
      "return decision === 'block' || decision === 'deny';",
      "return typeof decision === 'string' && decision !== 'allow' && decision !== 'ask';",
    ],
    [OF_TOOLS, 'BeforeTool lets the tool run on approve'],
  ],
  [
    'HOOK-063',
    'JSON on stdout is taken for plain text',
    [ANSWERS, 'const parsed = parseAnswer(printed);', 'const parsed = undefined;'],
    code('0 with a JSON block'),
  ],
  [
    'HOOK-064',
    'plain text says nothing to the model',
    [
      ANSWERS,
      "return { decision: 'allow', systemMessage: clean };",
      "return { decision: 'allow' };",
    ],
    code('0 with plain text'),
  ],
  [
    'HOOK-065',
    'no output is an empty message',
    [
      ANSWERS,
      "if (printed === '') return { problems: [] };",
      "if (printed === '') return readPlainText(printed, bound);",
    ],
    code('0 with nothing'),
  ],
  [
    'HOOK-114',
    'broken JSON is as no output',
    [
      ANSWERS,
      'if (!parsed) return readPlainText(printed, bound);',
      'if (!parsed) return { problems: describeNoise(printed) };',
    ],
    code('0 with broken JSON'),
  ],
  [
    'HOOK-212',
    'JSON that is no object is as no output',
    [
      ANSWERS,
      'if (!parsed) return readPlainText(printed, bound);',
      'if (!parsed) return parseJson(printed) === undefined ? readPlainText(printed, bound) : { problems: [] };',
    ],
    code('0 with 42, which is not an object'),
  ],
  ...[
    ['HOOK-193', code('0 with double-encoded JSON')],
    ['HOOK-201', [OF_ANSWERS, 'double-encoded JSON is read as the object inside']],
  ].map(([id, test]) => [
    id,
    'JSON in JSON is not read',
    [ANSWERS, "if (typeof value === 'string') value = parseJson(value);", ''],
    test,
  ]),
  [
    'HOOK-209',
    'stderr of a failed hook is not marked as a warning',
    [ANSWERS, 'systemMessage: `Warning: ${clean}`', 'systemMessage: clean'],
    code('1 with a JSON deny and stderr'),
  ],
  ...['stopReason', 'systemMessage'].map((field) => [
    'HOOK-157',
    `an output has no field ${field}`,
    [FIELDS, `  ${field}: [text,`, `  ${field}2: [text,`],
    [OF_ANSWERS, 'readHookOutput reads every known field, without a complaint'],
  ]),
  ...[
    [
      'HOOK-071',
      'a request shows what the SDK has',
      'model: request.model,\n      messages,',
      'model: request.model,\n      messages,\n      ...{ contents: request.contents },',
    ],
    [
      'HOOK-072',
      'a request has no config',
      '...(Object.keys(config).length > 0 && { config }),',
      '',
    ],
  ].map(([id, what, from, to]) => [
    id,
    what,
    [TRANSLATOR, from, to],
    [
      OF_TRANSLATOR,
      'toHookLLMRequest shows model, messages, generation settings and tool configuration',
    ],
  ]),
  ...[
    [
      'HOOK-071',
      'a response shows what the SDK has',
      '...(text && { text }),',
      '...response,\n      ...(text && { text }),',
    ],
    ['HOOK-073', 'a response has no text', '...(text && { text }),', ''],
    [
      'HOOK-077',
      'ratings have all their fields',
      'safetyRatings: candidate.safetyRatings.map((rating) => ({',
      'safetyRatings: candidate.safetyRatings.map((rating) => ({ ...rating,',
    ],
  ].map(([id, what, from, to]) => [
    id,
    what,
    [TRANSLATOR, from, to],
    [OF_TRANSLATOR, 'toHookLLMResponse shows texts, simplified ratings and usage'],
  ]),
  [
    'HOOK-074',
    'a tool configuration has no mode',
    [
      TRANSLATOR,
      '} = toolConfig.functionCallingConfig ?? {};',
      '} = { ...toolConfig.functionCallingConfig, mode: undefined };',
    ],
    [OF_TRANSLATOR, 'the tool configuration survives the way there and back'],
  ],
  ...['AUTO', 'ANY', 'NONE'].map((mode) => [
    'HOOK-056',
    `the mode ${mode} is not applied`,
    [
      TRANSLATOR,
      '...(mode && { mode: mode as',
      `...(mode && mode !== '${mode}' && { mode: mode as`,
    ],
    [OF_EFFECTS, `BeforeToolSelection can set the mode ${mode}`],
  ]),
  ...[
    [
      'HOOK-075',
      'parts that are no text are shown',
      '.filter(isAnswerText);\n  return texts.map((part) => part.text);',
      '.filter((part) => !part.thought);\n  return texts.map((part) => part.text ?? JSON.stringify(part));',
    ],
    [
      'HOOK-076',
      'a message without text is shown',
      "const message = text === '' ? undefined : Object",
      'const message = Object',
    ],
  ].map(([id, what, from, to]) => [
    id,
    what,
    [MESSAGES, from, to],
    [OF_TRANSLATOR, 'toHookLLMRequest drops parts that are no text, and messages of nothing else'],
  ]),
  [
    'HOOK-078',
    'of the config what hooks did not set is lost',
    [TRANSLATOR, '{ ...base, ...changes } : base', 'changes : base'],
    [
      OF_TRANSLATOR,
      'fromHookLLMRequest keeps everything that hooks do not see, and overrides what they set',
    ],
  ],
  [
    'HOOK-039',
    'messages that a hook adds stand before the others',
    [
      MESSAGES,
      'return [...kept, ...surplus.map((message) => withMessage({}, message))];',
      'return [...surplus.map((message) => withMessage({}, message)), ...kept];',
    ],
    [
      OF_TRANSLATOR,
      'the messages that a hook returns are appended where there are more than were sent',
    ],
  ],
  [
    'HOOK-179',
    'messages that a hook adds are dropped',
    [
      MESSAGES,
      'return [...kept, ...surplus.map((message) => withMessage({}, message))];',
      'return [...kept];',
    ],
    [OF_EFFECTS, 'BeforeModel can inject context by adding messages'],
  ],
  [
    'HOOK-048',
    'a stop of AfterModel leaves the response as it was',
    [
      OUTPUT,
      'return this.shouldStopExecution() ? textResponse(this.getEffectiveReason()) : undefined;',
      'return undefined;',
    ],
    [OF_OUTPUT, 'AfterModelHookOutput makes a response of the reason of a stop'],
  ],
  [
    'HOOK-194',
    'BeforeModel makes up a response for a stop',
    [
      OUTPUT,
      'return response && defaultHookTranslator.fromHookLLMResponse(response);',
      'if (!response && this.shouldStopExecution()) return textResponse(this.getStopReason());\n    return response && defaultHookTranslator.fromHookLLMResponse(response);',
    ],
    [OF_OUTPUT, 'BeforeModelHookOutput makes none up for a stop'],
  ],
  [
    'HOOK-167',
    'BeforeToolSelection takes definitions away',
    [OUTPUT, '...target,\n      toolConfig: default', 'tools: [],\n      toolConfig: default'],
    [
      OF_OUTPUT,
      'BeforeToolSelectionHookOutput changes the configuration and leaves the definitions',
    ],
  ],
  ...[
    [
      'HOOK-169',
      'permissionDecision does not block',
      "super.isBlockingDecision() || isBlocking(this.hookSpecificOutput?.['permissionDecision'])",
      'super.isBlockingDecision()',
      'permissionDecision deny blocks: true',
    ],
    [
      'HOOK-170',
      'permissionDecisionReason is no reason',
      'return reason?.trim() ?? super.getBlockReason();',
      'return super.getBlockReason() || String(reason);',
      'prefers permissionDecisionReason to reason',
    ],
    [
      'HOOK-171',
      'decision does not block beside a permission',
      'super.isBlockingDecision() || isBlocking(',
      'isBlocking(',
      'blocks by the decision as well, whatever the permission',
    ],
  ].map(([id, what, from, to, title]) => [
    id,
    what,
    [OUTPUT, from, to],
    [OF_OUTPUT, `BeforeToolHookOutput ${title}`],
  ]),
  [
    'HOOK-200',
    'createHookOutput gives BeforeTool a class of its own',
    [
      EVENTS,
      'if (!isHookEventName(eventName) || eventName === HookEventName.BeforeTool) {',
      'if (!isHookEventName(eventName)) {',
    ],
    [
      OF_OUTPUT,
      'createHookOutput does not look at permissionDecision of BeforeTool, as opposed to the aggregated output',
    ],
  ],
  [
    'DELTA-HRUN-002',
    'the reason of a decision is that of a stop',
    [
      OUTPUT,
      'asText(this.stopReason) ?? asText(this.reason) ?? DEFAULT_STOP_REASON',
      'asText(this.reason) ?? asText(this.stopReason) ?? DEFAULT_STOP_REASON',
    ],
    [
      OF_ENVELOPES,
      'processCommonHookOutputFields reads {"continue":false,"reason":"r","stopReason":"s"}',
    ],
  ],
  [
    'DELTA-HRUN-004',
    'where no hook said anything, shouldStop is no boolean',
    [
      OUTPUT,
      'const shouldStop = output?.continue === false;',
      'const shouldStop = (output && output.continue === false) as boolean;',
    ],
    [OF_ENVELOPES, 'processCommonHookOutputFields reads undefined'],
  ],
  [
    'DELTA-HPAY-005',
    'a validator says only whether a value is right',
    [
      'src/hooks/hookValidators.ts',
      '(input: unknown): input is EventFields<E> =>',
      '(input: unknown): boolean =>',
    ],
    ['test/types/hookValidators.test-d.ts', 'a validator is a type predicate of its event'],
  ],
]);
