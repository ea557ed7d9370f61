import assert from 'node:assert/strict';
import type {
  Content,
  GenerateContentConfig,
  GenerateContentParameters,
  GenerateContentResponse,
  Part,
} from '@google/genai';
import * as fc from 'fast-check';
import { describe, it } from 'vitest';
import { HookRunner } from '../../middleware/runner.js';
import { Config } from '../../src/config/config.js';
import { InProcessMessageBus } from '../../src/confirmation-bus/messageBus.js';
import { executeToolWithHooks } from '../../src/core/coreToolHookTriggers.js';
import {
  CoreToolScheduler,
  toFunctionResponse,
  type CompletedToolCall,
} from '../../src/core/coreToolScheduler.js';
import { GeminiChat, type ModelTurn } from '../../src/core/geminiChat.js';
import { findClash } from '../../src/dialects/translate.js';
import { dialects } from '../../src/dialects/dialects.js';
import type { HookExecutionResponse } from '../../src/confirmation-bus/types.js';
import type { HookRun } from '../../src/run/hookRun.js';
import {
  HookEventName,
  type HookDefinitions,
  type HookExecutionResult,
} from '../../src/protocol/types.js';
import type { ToolResult } from '../../src/tools/tools.js';
import { createRequest, HOOK_EXECUTION_RESPONSE } from '../confirmation-bus/helpers.js';
import { stream } from '../core/helpers/modelAnswers.js';
import { useSandbox } from '../core/helpers/sandbox.js';
import { hook } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import * as any from './arbitraries.js';

const { BeforeTool, AfterTool, BeforeModel, AfterModel, BeforeToolSelection } = HookEventName;
const LONG = 900_000;

/** What hooks print that say nothing, in every format. */
const SILENCES = [
  '',
  '\n',
  '{}',
  ' {"continue":true}',
  '{"decision":null,"hookSpecificOutput":{}}',
];

/** Hooks for all events, in every format. */
function hooksOf(commands: readonly string[]): HookDefinitions {
  const groups = ([undefined, 'claude', 'gemini'] as const).map((dialect) => ({
    ...(dialect && { dialect }),
    hooks: commands.map((command) => hook(command)),
  }));
  return Object.fromEntries(Object.values(HookEventName).map((event) => [event, groups]));
}

const ENDED = {
  ending: 'exit',
  exitCode: 0,
  signal: null,
  stdout: '',
  stderr: '',
  inputTaken: true,
  bytesRead: 0,
  truncated: false,
  stdoutTruncated: false,
  stragglers: false,
  stdoutHeld: false,
  durationMs: 0,
} as const;

/** A host with silent hooks for all events. They start no process, and what those of our own format read is kept. */
class SilentHost {
  readonly bus = new InProcessMessageBus();
  readonly logger = new RecordingLogger();
  readonly config: Config;
  #read: Record<string, unknown>[] = [];
  #answers = 0;

  constructor() {
    const options = { environment: {}, maxParallelHooks: 16, warmShells: 0, logger: this.logger };
    const results = new WeakMap<object, HookExecutionResult[]>();
    this.config = new Config({
      enableHooks: true,
      hooks: hooksOf(['silent']),
      debugLogger: this.logger,
      messageBus: this.bus,
      hooksRunner: { warmShells: 0 },
    })
      .use(
        'hook',
        async (ctx, next) => {
          const { plan, input, event } = ctx;
          assert(plan && input);
          const probe = async (run: HookRun) => this.#answer(run);
          const runner = new HookRunner(this.logger, { ...options, probe });
          const ended = await runner.executeHooksParallel(plan.hookConfigs, event, input);
          results.set(ctx, ended);
          ctx.plan = { ...plan, hookConfigs: [] };
          await next();
        },
        { before: 'runner', name: 'silent hooks' },
      )
      .use(
        'hook',
        async (ctx, next) => {
          ctx.results = results.get(ctx);
          await next();
        },
        { before: 'aggregator', name: 'their answers' },
      );
  }

  forget(): void {
    this.#read = [];
  }

  /** What the first hook of an event has read since the last time. */
  take(event: HookEventName): Record<string, unknown> {
    const found = this.#read.find((input) => input['hook_event_name'] === event);
    this.#read = this.#read.filter((input) => input['hook_event_name'] !== event);
    assert(found, `no hook of ${event} has run`);
    return found;
  }

  #answer(run: HookRun): void {
    if (run.stdin instanceof Error) throw run.stdin;
    const input = JSON.parse(Buffer.from(run.stdin).toString()) as Record<string, unknown>;
    if (!run.hook.dialect) this.#read.push(input);
    run.outcome = { ...ENDED, stdout: SILENCES[this.#answers++ % SILENCES.length] ?? '' };
    run.said = run.outcome;
  }
}

/** What is left of a value when it is written as JSON. */
function asJson(value: unknown): unknown {
  return JSON.parse(JSON.stringify(value ?? null));
}

const toolName = fc.constantFrom('look', 'read_file', 'run_shell_command', 'mcp__a__b');
const anyPart = fc.oneof(any.oddText, any.oddPart);

/** What a tool may give. */
const result = fc
  .record(
    {
      llmContent: fc.oneof(any.oddText, any.oddPart, fc.array(anyPart, { maxLength: 4 })),
      returnDisplay: any.oddText,
      metadata: any.oddRecord,
      error: fc.record({ message: any.oddText, type: fc.constantFrom('a', 'tool_failed') }),
      unknown: any.oddValue,
    },
    { requiredKeys: ['llmContent', 'returnDisplay'], noNullPrototype: true },
  )
  .map((given) => any.deepFreeze(given as ToolResult));

/** What a tool should not give, and which is passed on all the same. */
const oddResult = fc
  .record(
    {
      llmContent: fc.oneof(
        fc.constantFrom(undefined, null, 5, [null], [[]], { text: 5 }, [{ text: null }]),
        any.oddValue,
      ),
      returnDisplay: any.oddValue,
    },
    { noNullPrototype: true },
  )
  .map((given) => any.deepFreeze(given as unknown as ToolResult));

/** Of such arguments hooks of another agent would see one in place of another, so that the call is blocked. */
function hides(tool: string, args: Record<string, unknown>): boolean {
  return Object.values(dialects).some((dialect) => findClash(dialect, tool, args));
}

describe('with hooks that say nothing, a tool', () => {
  const call = fc.record({
    tool: toolName,
    args: any.oddRecord,
    given: fc.oneof(result, oddResult),
  });

  it(
    'gets the arguments of the model, and what it gives arrives, through executeToolWithHooks',
    async () => {
      const { config, host } = start();
      await fc.assert(
        fc.asyncProperty(call, async ({ tool, args, given }) => {
          fc.pre(!hides(tool, args));
          host.forget();
          const seen: unknown[] = [];
          const returned = await executeToolWithHooks(config, tool, args, async (input) => {
            seen.push(input);
            return given;
          });
          assert.deepStrictEqual(seen, [args]);
          assert.deepStrictEqual(returned, given);
          assert.deepStrictEqual(host.take(BeforeTool)['tool_input'], asJson(args));
          const { llmContent, returnDisplay, metadata, error } = given;
          const { tool_input, tool_response } = host.take(AfterTool);
          assert.deepStrictEqual(tool_input, asJson(args));
          assert.deepStrictEqual(
            tool_response,
            asJson({ llmContent, returnDisplay, metadata, error }),
          );
        }),
        any.runs(300),
      );
      assert.deepStrictEqual(host.logger.warnings, []);
    },
    LONG,
  );

  it(
    'gets the arguments of the model, and what it gives arrives, through the scheduler',
    async () => {
      const { config, host } = start();
      const anyCalls = fc.array(fc.record({ args: any.oddRecord, given: result }), {
        minLength: 1,
        maxLength: 3,
      });
      await fc.assert(
        fc.asyncProperty(toolName, anyCalls, async (name, calls) => {
          fc.pre(!calls.some(({ args }) => hides(name, args)));
          host.forget();
          const seen: unknown[] = [];
          const execute = async (input: Record<string, unknown>) => {
            seen.push(input);
            return calls[seen.length - 1]?.given as ToolResult;
          };
          const declaration = { name, description: 'For tests.' };
          const scheduler = new CoreToolScheduler({
            config,
            tools: [{ name, declaration, execute }],
          });
          const completed: CompletedToolCall[] = [];
          for (const { args } of calls) {
            completed.push(...(await scheduler.schedule([{ id: 'x', name, args }])));
            assert.deepStrictEqual(host.take(BeforeTool)['tool_input'], asJson(args));
            assert.deepStrictEqual(host.take(AfterTool)['tool_input'], asJson(args));
          }
          assert.deepStrictEqual(
            seen,
            calls.map(({ args }) => args),
          );
          assert.deepStrictEqual(
            completed.map((each) => [each.originalInput, each.input, each.result]),
            calls.map(({ args, given }) => [args, args, given]),
          );
          assert.deepStrictEqual(
            completed.map((each) => toFunctionResponse(each)),
            calls.map(({ given }) => responseOf(name, given)),
          );
        }),
        any.runs(300),
      );
      assert.deepStrictEqual(host.logger.warnings, []);
    },
    LONG,
  );
});

const isText = (part: Part) => part.text !== undefined;

/** What the model is told: texts in one, a line each, and everything else behind them. */
function responseOf(name: string, { llmContent, error }: ToolResult): Part[] {
  const parts = [llmContent]
    .flat()
    .map((each) => (typeof each === 'string' ? { text: each } : each));
  const text = parts
    .filter(isText)
    .map((each) => each.text)
    .join('\n');
  const response = error ? { error: text } : { output: text };
  return [
    { functionResponse: { id: 'x', name, response } },
    ...parts.filter((each) => !isText(each)),
  ];
}

const generationConfig = fc
  .record(
    {
      temperature: fc.double(),
      systemInstruction: any.oddText,
      stopSequences: fc.array(any.oddText),
      toolConfig: any.request.map(({ config }) => config?.toolConfig),
      unknown: any.oddValue,
    },
    { requiredKeys: [] },
  )
  .map((config) => any.deepFreeze(config as GenerateContentConfig));

/** Messages as a host may have stored them, also with what no SDK takes. */
const history = fc
  .array(
    fc.oneof(
      {
        weight: 5,
        arbitrary: fc.record({ role: any.role, parts: fc.array(any.oddPart, { maxLength: 3 }) }),
      },
      {
        weight: 1,
        arbitrary: fc.record({ role: any.role, parts: any.oddValue, unknown: any.oddValue }),
      },
      { weight: 1, arbitrary: fc.constantFrom(null, { role: 'user' }, { parts: [null] }) },
    ),
    { maxLength: 4 },
  )
  .map((contents) => any.deepFreeze(contents as Content[]));

/** The chunks of an answer. */
const answer = fc
  .array(
    fc.record(
      {
        candidates: fc.array(
          fc.record(
            {
              content: fc.record(
                {
                  role: fc.constant('model'),
                  parts: fc.array(any.oddPart, { maxLength: 4 }),
                  unknown: any.oddRecord,
                },
                { requiredKeys: ['role', 'parts'] },
              ),
              finishReason: fc.constantFrom('STOP', 'SAFETY'),
              unknown: any.oddRecord,
            },
            { requiredKeys: ['content'] },
          ),
          { maxLength: 1 },
        ),
        unknown: any.oddRecord,
        usageMetadata: fc.record({ promptTokenCount: fc.nat() }),
      },
      { requiredKeys: [] },
    ),
    { maxLength: 3 },
  )
  .map((chunks) => any.deepFreeze(chunks as unknown as GenerateContentResponse[]));

const isPlain = (part: Part | undefined): part is { text: string } =>
  typeof part?.text === 'string' && Object.keys(part).length === 1;

/** What a model said in chunks, neighbouring plain texts in one. */
function joined(chunks: readonly GenerateContentResponse[]): Content[] {
  const contents = chunks.flatMap(({ candidates = [] }) => candidates[0]?.content ?? []);
  const parts: Part[] = [];
  for (const part of contents.flatMap(({ parts: said = [] }) => said)) {
    const last = parts.at(-1);
    if (isPlain(last) && isPlain(part)) parts[parts.length - 1] = { text: last.text + part.text };
    else parts.push(part);
  }
  return parts.length > 0 ? [{ ...Object.assign({}, ...contents), role: 'model', parts }] : [];
}

describe('with hooks that say nothing, a chat', () => {
  const anyMessages = fc.array(
    fc.record({ said: fc.oneof(any.oddText, fc.array(anyPart, { maxLength: 3 })), answer }),
    { minLength: 1, maxLength: 2 },
  );

  it(
    'sends the request of its host, and its history holds what the model said',
    async () => {
      const { config, host } = start();
      await fc.assert(
        fc.asyncProperty(
          history,
          generationConfig,
          anyMessages,
          async (earlier, settings, messages) => {
            host.forget();
            const requests: GenerateContentParameters[] = [];
            let chunks: readonly GenerateContentResponse[] = [];
            const models = {
              async generateContentStream(request: GenerateContentParameters) {
                requests.push(request);
                return (async function* () {
                  yield* chunks;
                })();
              },
            };
            const chat = new GeminiChat({
              config,
              models,
              model: 'm',
              generationConfig: settings,
              history: earlier,
            });
            let expected: readonly Content[] = earlier;
            for (const message of messages) {
              chunks = message.answer;
              requests.length = 0;
              const turn = await send(chat, message.said as Part[]);
              const parts = [message.said]
                .flat()
                .map((each) => (typeof each === 'string' ? { text: each } : each));
              const contents = [...expected, { role: 'user', parts }];
              assert(requests.length > 0);
              for (const { config: { abortSignal, ...sent } = {}, ...request } of requests) {
                assert(abortSignal);
                assert.deepStrictEqual(request, { model: 'm', contents });
                assert.deepStrictEqual(sent, { ...settings });
              }
              const said = joined(chunks);
              const [given] = turn.response.candidates ?? [];
              assert.deepStrictEqual(given?.content?.parts ?? [], said[0]?.parts ?? []);
              expected = [...contents, ...said];
              assert.deepStrictEqual(chat.getHistory(), expected);
              assert.deepStrictEqual(
                host.take(AfterModel)['llm_request'],
                host.take(BeforeModel)['llm_request'],
              );
              host.take(BeforeToolSelection);
            }
          },
        ),
        any.runs(300),
      );
      assert.deepStrictEqual(host.logger.warnings, []);
    },
    LONG,
  );
});

describe('with hooks that say nothing, a request over the bus', () => {
  const request = fc.record({ model: any.oddText, contents: history, config: any.oddRecord });
  const oddContent = fc.oneof(
    any.oddRecord,
    fc.record({ parts: fc.array(fc.oneof(fc.constant(null), any.oddPart)) }),
    fc.constant(null),
  );
  const event = fc.oneof(
    fc.record({
      eventName: fc.constant(BeforeTool),
      input: fc.record({ tool_name: any.oddText, tool_input: any.oddRecord }),
    }),
    fc.record({
      eventName: fc.constant(AfterTool),
      input: fc.record({
        tool_name: any.oddText,
        tool_input: any.oddRecord,
        tool_response: any.oddRecord,
      }),
    }),
    fc.record({
      eventName: fc.constantFrom(BeforeModel, BeforeToolSelection),
      input: fc.record({ llm_request: request }),
    }),
    fc.record({
      eventName: fc.constant(AfterModel),
      input: fc.record({
        llm_request: request,
        llm_response: fc.record({
          candidates: fc.array(fc.oneof(fc.constant(null), fc.record({ content: oddContent }))),
        }),
      }),
    }),
  );

  it(
    'is put to hooks as it is, and answered with nothing',
    async () => {
      const { host } = start();
      const waiting = new Map<string, (response: HookExecutionResponse) => void>();
      host.bus.subscribe(HOOK_EXECUTION_RESPONSE, (response) =>
        waiting.get(response.correlationId)?.(response),
      );
      await fc.assert(
        fc.asyncProperty(event, async ({ eventName, input }) => {
          host.forget();
          const sent = createRequest({ eventName, input: any.deepFreeze(input) });
          const response = await new Promise<HookExecutionResponse>((resolve) => {
            waiting.set(sent.correlationId, resolve);
            host.bus.publish(sent);
          });
          waiting.delete(sent.correlationId);
          assert.deepStrictEqual([response.success, response.error], [true, undefined]);
          const { finalOutput } = response.output ?? {};
          assert.deepStrictEqual(
            [
              finalOutput?.isBlockingDecision(),
              finalOutput?.shouldStopExecution(),
              finalOutput?.systemMessage,
            ],
            [false, false, undefined],
          );
          const read = host.take(eventName);
          for (const field of ['tool_name', 'tool_input', 'tool_response'] as const) {
            if (field in input)
              assert.deepStrictEqual(
                read[field],
                asJson((input as Record<string, unknown>)[field]),
              );
          }
        }),
        any.runs(300),
      );
      assert.deepStrictEqual(host.logger.warnings, []);
    },
    LONG,
  );
});

/** Sends a message, and reads the answer to its end. */
async function send(chat: GeminiChat, message: string | Part[]): Promise<ModelTurn> {
  for await (const event of chat.sendMessageStream(message)) {
    if (event.type === 'response') return event.turn;
  }
  throw new Error('The chat ended without a response');
}

function start() {
  const host = new SilentHost();
  return { host, config: host.config };
}

describe('with real processes that say nothing', () => {
  const sandbox = useSandbox();
  const plain = fc.oneof(
    any.textPart,
    any.oddText.map((text) => ({ text })),
  );
  const turn = fc.record({
    said: any.oddText,
    answer: fc.array(fc.oneof(plain, any.otherPart), { minLength: 1, maxLength: 3 }),
  });
  const scene = fc.record({
    turns: fc.array(turn, { minLength: 2, maxLength: 2 }),
    args: any.oddRecord,
    given: result,
  });

  it(
    'the SDK, its model and a tool notice no hooks',
    async () => {
      const hooks = hooksOf(['true', 'cat >/dev/null', "echo '{}'"]);
      await fc.assert(
        fc.asyncProperty(scene, async ({ turns, args, given }) => {
          const outcomes = [];
          for (const config of [
            sandbox.createConfig({}, { enableHooks: false }),
            sandbox.createConfig(hooks),
          ]) {
            const answers = turns.map(({ answer: parts }) =>
              stream({
                candidates: [{ content: { role: 'model', parts }, finishReason: 'OTHER' }],
              }),
            );
            const { models, sent } = await sandbox.startModel(...answers);
            const chat = new GeminiChat({ config, models, model: 'm' });
            for (const { said } of turns) await send(chat, said);
            const seen: unknown[] = [];
            const returned = await executeToolWithHooks(config, 'look', args, async (input) => {
              seen.push(input);
              return given;
            });
            assert.deepStrictEqual([seen, returned], [[args], given]);
            outcomes.push({ sent: sent(), history: chat.getHistory() });
            await config.getHookSystem()?.dispose();
          }
          const [without, withHooks] = outcomes;
          assert.deepStrictEqual(withHooks, without);
          assert.deepStrictEqual(
            without?.history.map(({ role }) => role),
            turns.flatMap(() => ['user', 'model']),
          );
        }),
        { numRuns: 6 },
      );
    },
    LONG,
  );
});
