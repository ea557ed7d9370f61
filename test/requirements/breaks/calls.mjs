import { toBreaks } from './toBreaks.mjs';

const CONTEXT = 'src/context.ts';
const EFFECTS = 'middleware/callerEffects.ts';
const SCHEDULER = 'src/core/coreToolScheduler.ts';
const TOOL_TRIGGERS = 'src/core/coreToolHookTriggers.ts';
const MODEL_TRIGGERS = 'src/core/geminiChatHookTriggers.ts';
const RESULTS = 'middleware/modelResults.ts';

const OF_EFFECTS = 'test/core/eventEffects.test.ts';
const OF_TOOLS = 'test/core/coreToolHookTriggers.test.ts';
const OF_SCHEDULER = 'test/core/coreToolScheduler.test.ts';
const OF_CHAT = 'test/core/geminiChat.test.ts';
const OF_TRIGGERS = 'test/requirements/modelTriggers.test.ts';
const OF_STAGES = 'test/middleware/callerEffects.test.ts';

/** Breaks of what calls of tools and of the model make of what hooks said. */
export const calls = toBreaks([
  [
    'HOOK-017',
    'the model does not read why a call was blocked',
    [
      CONTEXT,
      'errorResult(ToolErrorType.Blocked, reason);',
      "errorResult(ToolErrorType.Blocked, 'Blocked');",
    ],
    [
      OF_EFFECTS,
      'BeforeTool can block (decision block): the tool does not run and the model reads why',
    ],
  ],
  ...['BeforeTool can modify the input'].flatMap((title) =>
    ['HOOK-019', 'HOOK-063', 'HOOK-156', 'HOOK-177'].map((id) => [
      id,
      'arguments that a hook has changed are dropped',
      [
        EFFECTS,
        'call.input = withToolInput(call.input, output);',
        'call.input = { ...call.input };',
      ],
      [OF_EFFECTS, title],
    ]),
  ),
  ...['HOOK-027', 'HOOK-156'].map((id) => [
    id,
    'what a hook adds to a result is dropped',
    [EFFECTS, 'const context = output?.getAdditionalContext();', 'const context = undefined;'],
    [OF_EFFECTS, 'AfterTool can inject context'],
  ]),
  [
    'HOOK-029',
    'a result that is hidden from the user is hidden from the model as well',
    [
      EFFECTS,
      'call.result = { ...(call.result ?? result), suppressDisplay: true };',
      "call.result = { ...(call.result ?? result), llmContent: '', suppressDisplay: true };",
    ],
    [OF_EFFECTS, 'AfterTool can hide the output from the user, and the model still reads it'],
  ],
  ...[
    [
      'HOOK-029',
      [OF_EFFECTS, 'AfterTool can hide the output from the user, and the model still reads it'],
    ],
    ['HOOK-132', [OF_TOOLS, 'AfterTool hides the result from the user and not from the model']],
  ].map(([id, test]) => [
    id,
    'suppressOutput hides no result',
    [EFFECTS, 'suppressDisplay: true };\n', 'suppressDisplay: false };\n'],
    test,
  ]),
  [
    'HOOK-030',
    'a system message of AfterTool is dropped',
    [EFFECTS, 'if (context || objection || fired.systemMessage) {', 'if (context || objection) {'],
    [
      OF_EFFECTS,
      'AfterTool can add a system message to what the model reads, not to what the user sees',
    ],
  ],
  [
    'HOOK-036',
    'the answer of a hook that blocks is dropped',
    [RESULTS, 'syntheticResponse: output.getSyntheticResponse()', 'syntheticResponse: undefined'],
    [OF_EFFECTS, 'BeforeModel can block with an answer of its own'],
  ],
  ...['HOOK-037', 'HOOK-174', 'HOOK-179'].map((id) => [
    id,
    'the model is called although a hook has blocked the call',
    [
      EFFECTS,
      'applyVerdict(call, fired);\n    const { aggregated } = fired;',
      'const { aggregated } = fired;',
    ],
    [OF_EFFECTS, 'BeforeModel can block (decision block): the model is not called'],
  ]),
  [
    'HOOK-038',
    'a request that a hook has changed is not what is sent',
    [EFFECTS, 'call.request = said.modifiedRequest;', 'call.request = { ...request };'],
    [OF_EFFECTS, 'BeforeModel can modify the input'],
  ],
  [
    'HOOK-043',
    'the agent goes on with an answer that AfterModel hooks have not seen',
    [
      EFFECTS,
      'const fired = await fire(HookEventName.AfterModel, payload, call);',
      'const fired = await Promise.race([fire(HookEventName.AfterModel, payload, call), undefined]);',
    ],
    [
      OF_EFFECTS,
      'AfterModel can stop the agent: the answer becomes the reason, and its tool calls do not run',
    ],
  ],
  ...['HOOK-046', 'HOOK-180'].map((id) => [
    id,
    'an answer that AfterModel hooks have changed stays as it was',
    [RESULTS, '? applyHookLLMResponse(hookResponse, given)', '? given'],
    [OF_EFFECTS, 'AfterModel can modify the output, also where it is sent back to the model'],
  ]),
  [
    'HOOK-049',
    'suppressOutput hides no answer',
    [EFFECTS, 'call.suppressDisplay ||= fired.suppressOutput;', ''],
    [OF_EFFECTS, 'AfterModel can hide the output from the user, and its tool calls still run'],
  ],
  [
    'HOOK-050',
    'AfterModel hooks read the request that was made, and not the one that was sent',
    [
      EFFECTS,
      'llmRequest: call.request, llmResponse: response',
      'llmRequest: call.originalRequest, llmResponse: response',
    ],
    [OF_CHAT, 'the way of a call tells AfterModel what was sent, not what was asked for'],
  ],
  [
    'HOOK-172',
    'AfterModel fires for each chunk',
    [
      EFFECTS,
      'seen.push(chunk);',
      'seen.push(chunk); await fire(HookEventName.AfterModel, { llmRequest: call.request, llmResponse: chunk }, call);',
    ],
    [OF_CHAT, 'the way of a call fires AfterModel once, on the whole answer'],
  ],
  [
    'HOOK-173',
    'what AfterModel hooks have changed is shown once more',
    [
      EFFECTS,
      'if (isHeld && !call.suppressDisplay && !isDropped(call))',
      'if (!call.suppressDisplay && !isDropped(call))',
    ],
    [OF_STAGES, 'afterModel fires once, on the complete response, after the chunks were shown'],
  ],
  ...[
    [
      'HOOK-055',
      [
        OF_EFFECTS,
        'BeforeToolSelection can restrict the tools: definitions stay, and a call outside of the list is refused',
      ],
    ],
    ['HOOK-181', [OF_EFFECTS, 'BeforeToolSelection can set the mode ANY']],
    [
      'HOOK-140',
      [
        OF_STAGES,
        'beforeToolSelection replaces the tool configuration and keeps the rest of the request',
      ],
    ],
  ].map(([id, test]) => [
    id,
    'the tool configuration of a hook is not applied',
    [EFFECTS, 'config: { ...request.config, toolConfig } }', 'config: { ...request.config } }'],
    test,
  ]),
  [
    'HOOK-168',
    'tools are restricted by taking away their definitions',
    [
      EFFECTS,
      'config: { ...request.config, toolConfig } }',
      'config: { ...request.config, toolConfig, tools: [] } }',
    ],
    [
      OF_EFFECTS,
      'BeforeToolSelection can restrict the tools: definitions stay, and a call outside of the list is refused',
    ],
  ],
  [
    'HOOK-057',
    'whatever tool the model calls runs, restricted or not',
    ['src/agent/agent.ts', 'allowedTools: allowedNames(turn.request),', ''],
    [OF_EFFECTS, 'BeforeToolSelection can set the mode NONE'],
  ],
  [
    'HOOK-127',
    'fireBeforeToolHook returns nothing',
    [
      TOOL_TRIGGERS,
      'HookEventName.BeforeTool, payload, options);\n  return fired?.aggregated.finalOutput;',
      'HookEventName.BeforeTool, payload, options);\n  return void fired?.aggregated.finalOutput;',
    ],
    [OF_TOOLS, 'the triggers return what the hooks said'],
  ],
  [
    'HOOK-129',
    'a blocked call is an error, and not idle',
    [SCHEDULER, "!executed ? 'idle'", "!executed ? 'error'"],
    [
      OF_SCHEDULER,
      'BeforeTool blocked BeforeTool stops execution and returns terminal result (decision)',
    ],
  ],
  [
    'HOOK-130',
    'a blocked call is tried again',
    [
      SCHEDULER,
      "if (call.verdict.kind === 'stop') this.#endTurn(turn);",
      "if (call.verdict.kind === 'stop') this.#endTurn(turn); else if (call.verdict.kind === 'block') await runToolCall(config, createToolCall(tool.name, record.originalInput, execute, options));",
    ],
    [
      OF_SCHEDULER,
      'BeforeTool blocked BeforeTool stops execution and returns terminal result (exit code 2)',
    ],
  ],
  [
    'HOOK-135',
    'fireBeforeModelHook does not tell the changed request',
    [RESULTS, 'return { ...decision, modifiedRequest };', 'return { ...decision };'],
    [
      OF_TRIGGERS,
      'fireBeforeModelHook gives a changed request as one of the SDK, and leaves the original',
    ],
  ],
  [
    'HOOK-152',
    'fireBeforeModelHook changes another request than the one that it is given',
    [
      MODEL_TRIGGERS,
      'readBeforeModel(fired, llmRequest)',
      "readBeforeModel(fired, { model: '', contents: [] })",
    ],
    [
      OF_TRIGGERS,
      'fireBeforeModelHook gives a changed request as one of the SDK, and leaves the original',
    ],
  ],
  [
    'HOOK-136',
    'fireAfterModelHook tells the response of the model, whatever hooks say',
    [RESULTS, 'return { response: response ?? given,', 'return { response: given,'],
    [OF_TRIGGERS, 'fireAfterModelHook gives the response of the hook, or that of the model'],
  ],
  [
    'HOOK-153',
    'fireAfterModelHook gives back another response than the one that it is given',
    [
      MODEL_TRIGGERS,
      'readAfterModel(fired, llmResponse)',
      'readAfterModel(fired, { ...llmResponse } as never)',
    ],
    [OF_TRIGGERS, 'fireAfterModelHook gives the response of the hook, or that of the model'],
  ],
  [
    'HOOK-137',
    'fireBeforeToolSelectionHook tells nothing of the tools',
    [RESULTS, 'return { ...(selection !== before && selection),', 'return {'],
    [
      OF_TRIGGERS,
      'fireBeforeToolSelectionHook gives the tool configuration of the hook, and the definitions as they were',
    ],
  ],
  [
    'HOOK-154',
    'fireBeforeToolSelectionHook reads the tools of another request than the one that it is given',
    [
      MODEL_TRIGGERS,
      'readToolSelection(fired, llmRequest)',
      "readToolSelection(fired, { model: '', contents: [] })",
    ],
    [
      OF_TRIGGERS,
      'fireBeforeToolSelectionHook gives the tool configuration of the hook, and the definitions as they were',
    ],
  ],
  [
    'HOOK-138',
    'the answer of a hook that blocks is not given in place of a stream',
    [EFFECTS, 'if (!isHidden) call.stream = streamOf(response);', ''],
    [OF_CHAT, 'a call that a hook blocks gives the answer of the hook as if it were the model'],
  ],
  [
    'HOOK-141',
    "the chat deals in the hooks' own format of requests",
    [
      'src/core/geminiChat.ts',
      "import type { Config } from '../config/config.js';",
      "import type { Config } from '../config/config.js'; import type { LLMRequest } from '../protocol/hookTranslator.js';",
    ],
    [
      'test/requirements/sources.test.ts',
      "the sources keep the hooks' own format of requests and responses from the callers",
    ],
  ],
  ...['AfterModelHookResult', 'BeforeModelHookResult', 'BeforeToolSelectionHookResult'].map(
    (type, _, all) => [
      'HOOK-176',
      `${type} is not exported beside its trigger`,
      [
        MODEL_TRIGGERS,
        `export type {\n  ${all.join(',\n  ')},\n}`,
        `export type { ${all.filter((each) => each !== type).join(', ')} }`,
      ],
      ['test/requirements/sources.test.ts', `the types ${type} is exported beside its trigger`],
    ],
  ),
  [
    'HOOK-177',
    'a block does not keep a tool from running',
    [
      EFFECTS,
      'else if (output?.isBlockingDecision()) call.block(',
      "else if (output?.isBlockingDecision() && !('toolName' in call)) call.block(",
    ],
    [
      OF_EFFECTS,
      'BeforeTool can block (decision deny): the tool does not run and the model reads why',
    ],
  ],
  [
    'HOOK-178',
    'a block of AfterTool replaces the result',
    [
      EFFECTS,
      'if (fired.shouldStop) applyVerdict(call, fired);\n}',
      'applyVerdict(call, fired);\n}',
    ],
    [
      OF_EFFECTS,
      'AfterTool cannot block (decision block): the reason goes to the model with the result',
    ],
  ],
  [
    'HOOK-180',
    'a block of AfterModel drops the answer',
    [
      EFFECTS,
      'if (fired.shouldStop && !isRefused(call)) applyVerdict(call, fired);',
      'if (!isRefused(call)) applyVerdict(call, fired);',
    ],
    [OF_EFFECTS, 'AfterModel cannot block (decision block)'],
  ],
  [
    'HOOK-181',
    'a block of BeforeToolSelection blocks the call',
    [
      EFFECTS,
      'if (fired.shouldStop) applyVerdict(call, fired, {',
      'if (!toolConfig) applyVerdict(call, fired, {',
    ],
    [OF_EFFECTS, 'BeforeToolSelection cannot block (decision block)'],
  ],
  [
    'HOOK-183',
    'the model reads nothing of a call that failed or was blocked',
    [
      CONTEXT,
      'return { llmContent: message, returnDisplay',
      "return { llmContent: '', returnDisplay",
    ],
    [OF_TOOLS, 'BeforeTool by a deny keeps the tool from running, and tells the model why'],
  ],
  [
    'HOOK-184',
    'a stop without a decision is not reported as blocked',
    [
      RESULTS,
      'const blocked = fired.shouldStop || output?.isBlockingDecision() === true;',
      'const blocked = output?.isBlockingDecision() === true;',
    ],
    [OF_TRIGGERS, 'fireBeforeModelHook reports a stop without a decision as blocked'],
  ],
  [
    'HOOK-202',
    'a block without an answer gives one that says something',
    [
      'src/protocol/response.ts',
      'return createResponse({ candidates: [] });',
      "return textResponse('Blocked');",
    ],
    [OF_CHAT, 'a call that a hook blocks without an answer shows and keeps nothing, and says why'],
  ],
  [
    'HOOK-207',
    'AfterModel fires for a stream that breaks',
    [
      [
        EFFECTS,
        'for await (const chunk of chunks) {',
        'for await (const chunk of untilBroken(chunks)) {',
      ],
      [
        EFFECTS,
        'async function* throughAfterModel(',
        'async function* untilBroken<T>(chunks: AsyncIterable<T>) { try { yield* chunks; } catch {} }\nasync function* throughAfterModel(',
      ],
    ],
    [
      OF_CHAT,
      'a call that does not come to its end rejects when the stream breaks, and leaves no trace',
    ],
  ],
  [
    'HOOK-208',
    'suppressOutput counts only where nothing else was said',
    [
      EFFECTS,
      '}\n  if (fired.suppressOutput) call.result',
      '} else if (fired.suppressOutput) call.result',
    ],
    [
      OF_SCHEDULER,
      'AfterTool applies system messages, additional context and suppression together',
    ],
  ],
]);
