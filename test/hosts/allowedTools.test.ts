import { Agent, run, RunContext, RunState, tool } from '@openai/agents';
import * as ai7 from 'ai';
import { MockLanguageModelV4 } from 'ai/test';
import * as ai6 from 'ai6';
import { MockLanguageModelV3 } from 'ai6/test';
import { Config, type ModelCall } from 'hookstack';
import { aiHooks } from 'hookstack/ai';
import { withHooks } from 'hookstack/openai';
import { describe, expect, it } from 'vitest';
import { z } from 'zod';
import { mockModel, toGenerated } from './allowedToolsModels.js';

const VERSIONS = [
  { version: 7, sdk: ai7, Model: MockLanguageModelV4 },
  {
    version: 6,
    sdk: ai6 as unknown as typeof ai7,
    Model: MockLanguageModelV3 as unknown as typeof MockLanguageModelV4,
  },
];

const LOOK = { mode: 'ANY', allowedFunctionNames: ['look'] };

/** A `Config` whose hook restricts the tools of requests with this text to these. */
function restricting(toolConfig: object = LOOK, text = '') {
  const command = `if grep -q "$TEXT"; then printf '%s' "$ANSWER"; fi`;
  const ANSWER = JSON.stringify({ hookSpecificOutput: { toolConfig } });
  const hook = { type: 'command' as const, command, env: { TEXT: text, ANSWER } };
  return new Config({ enableHooks: true, hooks: { BeforeToolSelection: [{ hooks: [hook] }] } });
}

/** Of middleware, which is to replace the request, and may change parts of it all the same. */
const IN_PLACE: readonly [string, (request: ModelCall['request']) => void][] = [
  [
    'its configuration',
    (request) => {
      (request.config ??= {}).toolConfig = { functionCallingConfig: LOOK as never };
    },
  ],
  [
    'what that holds',
    ({ config }) => void Object.assign(config?.toolConfig?.functionCallingConfig ?? {}, LOOK),
  ],
];

function changingInPlace(change: (request: ModelCall['request']) => void) {
  const config = new Config();
  const policy = (call: ModelCall, next: () => Promise<void>) => {
    change(call.request);
    return next();
  };
  config.use('model', policy, { policy: true });
  return config;
}

const one = (id: string, name = 'del') => ({ id, name, args: {} });

const many = (length: number, name: string) =>
  Array.from({ length }, (_, position) => ({ id: `call_${position}`, name, args: {} }));

describe.each(VERSIONS)('a restriction of tools with AI SDK $version', ({ sdk, Model }) => {
  const inputSchema = sdk.jsonSchema<Record<string, unknown>>({ type: 'object', properties: {} });

  function setUp(config = restricting()) {
    const hooks = aiHooks(config);
    const deleted: string[] = [];
    const del = (needsApproval: boolean) =>
      sdk.tool({
        inputSchema,
        needsApproval,
        execute: (_input, { toolCallId }) => {
          deleted.push(toolCallId);
          return 'Deleted.';
        },
      });
    const looked: string[] = [];
    const look = sdk.tool({
      inputSchema,
      execute: (_input, { toolCallId }) => {
        looked.push(toolCallId);
        return 'Seen.';
      },
    });
    const toolsWith = (needsApproval = false) => hooks.wrapTools({ del: del(needsApproval), look });
    const model = (...answers: { id: string; name: string; args: object }[][]) => {
      const left = [...answers];
      const next = () => toGenerated(left.shift() ?? []);
      const mock = new Model({
        doGenerate: async () => next(),
        doStream: async () => {
          const { content, finishReason, usage } = next();
          return {
            stream: ReadableStream.from([
              { type: 'stream-start' as const, warnings: [] },
              ...content,
              { type: 'finish' as const, finishReason, usage },
            ] as never),
          };
        },
      });
      return sdk.wrapLanguageModel({ model: mock, middleware: hooks.middleware });
    };
    return { toolsWith, model, deleted, looked };
  }

  const base = { prompt: 'Go.', maxRetries: 0, stopWhen: sdk.stepCountIs(3) };
  it.each([
    ['the same call id twice', [one('1'), one('1')]],
    [
      'the same call id, of a tool that is allowed and one that is not',
      [one('1', 'look'), one('1')],
    ],
    ['empty ids', [one(''), one('')]],
    ['1,001 calls in one answer', many(1001, 'del')],
  ])('holds for %s', async (_case, calls) => {
    const { toolsWith, model, deleted } = setUp();
    await sdk.generateText({ ...base, model: model(calls), tools: toolsWith() });
    const none = setUp(restricting({ mode: 'NONE' }));
    const tools = none.toolsWith();
    await sdk.streamText({ ...base, model: none.model(calls), tools }).consumeStream();
    expect([deleted, none.deleted]).toEqual([[], []]);
  });

  it.each(IN_PLACE)('holds where middleware changes in place: %s', async (_what, change) => {
    const { toolsWith, model, deleted } = setUp(changingInPlace(change));
    const toolChoice = 'auto';
    await sdk.generateText({ ...base, model: model([one('1')]), tools: toolsWith(), toolChoice });
    expect(deleted).toEqual([]);
  });

  it.each([
    ['', (id: string) => id],
    [', with another id', (id: string) => `${id}-repaired`],
  ])('holds for a name that the host repairs%s', async (_case, toId) => {
    const { toolsWith, model, deleted } = setUp();
    const asked = sdk.generateText({
      ...base,
      model: model([one('1', 'Del')]),
      tools: toolsWith(),
      experimental_repairToolCall: async ({ toolCall }) => ({
        ...toolCall,
        toolCallId: toId(toolCall.toolCallId),
        toolName: toolCall.toolName.toLowerCase(),
      }),
    });
    // The SDK itself fails where an id was changed, after it has run the tools.
    await Promise.allSettled([asked]);
    expect(deleted).toEqual([]);
  });

  it('holds for a call that comes with the id of one in another conversation', async () => {
    const { toolsWith, model, deleted } = setUp(restricting(LOOK, 'Only look'));
    const tools = toolsWith();
    const free = model([one('1', 'look')]);
    const restricted = model([one('1')]);
    await Promise.all([
      sdk.generateText({ ...base, model: restricted, tools, prompt: 'Only look.' }),
      sdk.generateText({ ...base, model: free, tools }),
    ]);
    expect(deleted).toEqual([]);
  });

  it('is over with its answer, also where ids come again', async () => {
    const { toolsWith, model, deleted, looked } = setUp(restricting(LOOK, 'Only look'));
    const tools = toolsWith();
    const prompt = 'Only look.';
    await sdk.generateText({ ...base, model: model([one('1', 'look')]), tools, prompt });
    await sdk.generateText({ ...base, model: model([one('1')], [one('1')]), tools });
    expect({ deleted, looked }).toEqual({ deleted: ['1', '1'], looked: ['1'] });
  });

  it('holds for calls that wait for an approval, in a later request and another process', async () => {
    const first = setUp();
    const asked = await sdk.generateText({
      ...base,
      model: first.model([one('1')]),
      tools: first.toolsWith(true),
    });
    const request = asked.content.find((part) => part.type === 'tool-approval-request');
    expect(request).toBeDefined();
    const stored = JSON.parse(JSON.stringify(asked.response.messages)) as ai7.ModelMessage[];
    const approved = (messages: ai7.ModelMessage[]): ai7.ModelMessage[] => [
      { role: 'user', content: 'Go.' },
      ...messages,
      {
        role: 'tool',
        content: [
          {
            type: 'tool-approval-response',
            approvalId: request?.type === 'tool-approval-request' ? request.approvalId : '',
            approved: true,
          },
        ],
      },
    ];
    const unmarked = stored.map((message) =>
      JSON.parse(JSON.stringify(message), (key, value: unknown) =>
        key === 'providerOptions' ? undefined : value,
      ),
    ) as ai7.ModelMessage[];
    for (const messages of [stored, unmarked]) {
      const later = setUp();
      const { prompt: _prompt, ...options } = base;
      await sdk.generateText({
        ...options,
        model: later.model(),
        tools: later.toolsWith(true),
        messages: approved(messages),
      });
      expect(later.deleted).toEqual([]);
    }
  });

  it('lets an approved call run that its answer may make', async () => {
    const { toolsWith, model, deleted } = setUp(restricting(LOOK, 'Only look'));
    const tools = toolsWith(true);
    const asked = await sdk.generateText({ ...base, model: model([one('1')]), tools });
    const request = asked.content.find((part) => part.type === 'tool-approval-request');
    const { prompt: _prompt, ...options } = base;
    const later = setUp(restricting(LOOK, 'Only look'));
    await sdk.generateText({
      ...options,
      model: later.model(),
      tools: later.toolsWith(true),
      messages: [
        { role: 'user', content: 'Go.' },
        ...asked.response.messages,
        {
          role: 'tool',
          content: [
            {
              type: 'tool-approval-response',
              approvalId: request?.type === 'tool-approval-request' ? request.approvalId : '',
              approved: true,
            },
          ],
        },
      ],
    });
    expect({ deleted, later: later.deleted }).toEqual({ deleted: [], later: ['1'] });
  });
});

/** An agent of OpenAI whose model makes these calls. */
function setUpAgent(
  calls: { id: string; name: string; args: object }[],
  { needsApproval = false, config = restricting() } = {},
) {
  const deleted: string[] = [];
  const parameters = z.object({});
  const del = tool({
    name: 'del',
    description: 'Deletes.',
    parameters,
    needsApproval,
    execute: () => {
      deleted.push('del');
      return 'Deleted.';
    },
  });
  const look = tool({ name: 'look', description: '', parameters, execute: () => 'Seen.' });
  const { model, requests } = mockModel(calls);
  const agent = withHooks(config, new Agent({ name: 'a', model, tools: [del, look] }));
  return { agent, deleted, requests };
}

describe('a restriction of tools with the OpenAI Agents SDK', () => {
  it.each([
    ['the same call id twice', [...many(1, 'look'), ...many(1, 'del')]],
    ['empty ids', [...many(1, 'del'), ...many(1, 'del')].map((call) => ({ ...call, id: '' }))],
  ])('holds for %s', async (_case, calls) => {
    for (const toolConfig of [LOOK, { mode: 'NONE' }]) {
      const { agent, deleted } = setUpAgent(calls, { config: restricting(toolConfig) });
      // The host itself may refuse such ids.
      await Promise.allSettled([run(agent, 'Go.')]);
      expect(deleted).toEqual([]);
    }
  });

  it('holds where middleware changes the configuration in place', async () => {
    const config = changingInPlace((request) => {
      (request.config ??= {}).toolConfig = { functionCallingConfig: LOOK as never };
    });
    const { agent, deleted } = setUpAgent(many(1, 'del'), { config });
    await run(agent, 'Go.');
    expect(deleted).toEqual([]);
  });

  it('holds for 1,001 calls in one answer', async () => {
    const { agent, deleted } = setUpAgent(many(1001, 'del'));
    // As the host does it, which takes half a minute for as many.
    const { model } = agent;
    if (typeof model === 'string') throw new Error('The agent has a model');
    const { output } = await model.getResponse({
      input: 'Go.',
      modelSettings: {},
      tools: [],
      handoffs: [],
      outputType: 'text',
      tracing: false,
    });
    const [del] = agent.tools;
    for (const toolCall of output) {
      if (toolCall.type !== 'function_call' || del?.type !== 'function') continue;
      await del.invoke(new RunContext(), '{}', { toolCall });
    }
    expect({ calls: output.length, deleted }).toEqual({ calls: 1001, deleted: [] });
  });

  it('holds for calls that wait for an approval, in a later run and another process', async () => {
    const first = setUpAgent(many(1, 'del'), { needsApproval: true });
    const { state } = await run(first.agent, 'Go.');
    const later = setUpAgent([], { needsApproval: true });
    const resumed = await RunState.fromString(later.agent, state.toString());
    for (const interruption of resumed.getInterruptions()) resumed.approve(interruption);
    await run(later.agent, resumed);
    expect(later.deleted).toEqual([]);
    expect(JSON.stringify(later.requests.at(-1)?.input)).toContain('was not run');
    // A provider would refuse what it does not know.
    expect(JSON.stringify(later.requests.at(-1)?.input)).not.toContain('hookstack');
  });

  it('lets an approved call run that its answer may make', async () => {
    const config = restricting(LOOK, 'Only look');
    const first = setUpAgent(many(1, 'del'), { needsApproval: true, config });
    const { state } = await run(first.agent, 'Go.');
    const later = setUpAgent([], { needsApproval: true, config });
    const resumed = await RunState.fromString(later.agent, state.toString());
    for (const interruption of resumed.getInterruptions()) resumed.approve(interruption);
    await run(later.agent, resumed);
    expect(later.deleted).toEqual(['del']);
  });
});
