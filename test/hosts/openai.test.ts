import { inspect } from 'node:util';
import {
  Agent,
  applyPatchTool,
  computerTool,
  handoff,
  run,
  Runner,
  shellTool,
  tool,
  Usage,
  webSearchTool,
  type Computer,
  type Model,
  type ModelProvider,
  type ModelRequest,
  type ModelResponse,
  type StreamEvent,
} from '@openai/agents';
import { assistantMessage, ScriptedModel } from '@openai/agents/testing';
import { Config, DebugLogger, type ConfigOptions } from 'hookstack';
import { HookDecisionError, withHooks } from 'hookstack/openai';
import { describe, expect, expectTypeOf, it } from 'vitest';
import { z } from 'zod';
import { mockModel } from './openaiHarness.js';

type Hooks = NonNullable<ConfigOptions['hooks']>;

class Warnings extends DebugLogger {
  readonly said: string[] = [];
  override warn(message: string): void {
    this.said.push(message);
  }
}

function makeConfig(hooks: Hooks, options: ConfigOptions = {}) {
  return new Config({ enableHooks: true, hooks, ...options });
}

/** A hook that answers this, of all tools or of those with this name. */
function answering(answer: object, matcher = '') {
  const command = `printf '%s' "$ANSWER"`;
  return [
    {
      matcher,
      hooks: [{ type: 'command' as const, command, env: { ANSWER: JSON.stringify(answer) } }],
    },
  ];
}

const NO = { decision: 'block', reason: 'Not that.' };
const ONLY_ADD = {
  hookSpecificOutput: { toolConfig: { mode: 'ANY', allowedFunctionNames: ['add'] } },
};
const STOP = { continue: false, stopReason: 'Enough.' };

function add(execute: (numbers: { a: number; b: number }) => unknown = ({ a, b }) => a + b) {
  const parameters = z.object({ a: z.number(), b: z.number() });
  return tool({ name: 'add', description: 'Adds.', parameters, errorFunction: null, execute });
}

const ADD = { id: 'call_1', name: 'add', args: { a: 1, b: 2 } };

/** A model that says these one after the other, texts or calls, and in the end `Done.` */
function saying(
  ...answers: (string | (typeof ADD | { id: string; name: string; args: object })[])[]
) {
  const requests: ModelRequest[] = [];
  const model = mockModel((request) => {
    requests.push(request);
    const said = answers.shift() ?? 'Done.';
    if (typeof said === 'string')
      return { text: said, chunks: ReadableStream.from([said]), calls: [] };
    return {
      text: '',
      chunks: ReadableStream.from([]),
      calls: said.map((call) => ({ ...call, args: { ...call.args } })),
    };
  });
  return { model, requests };
}

function outputs({ requests }: { requests: ModelRequest[] }) {
  const items = requests.at(-1)?.input;
  return (typeof items === 'string' ? [] : (items ?? [])).flatMap((item) =>
    item.type === 'function_call_result' ? [item.output] : [],
  );
}

describe('what a tool gives', () => {
  it('is for the model as the tool gave it, where no hook changes it', async () => {
    const image = { type: 'image' as const, image: 'data:image/png;base64,AAAA' };
    const said = saying([ADD]);
    const agent = new Agent({ name: 'a', tools: [add(() => image)], model: said.model });
    const config = makeConfig({ AfterTool: answering({}) });
    await run(withHooks(config, agent), 'Go.');
    expect(outputs(said)).toEqual([[expect.objectContaining({ type: 'input_image' })]]);
  });

  it('keeps its image where a hook adds text', async () => {
    const image = { type: 'image' as const, image: 'data:image/png;base64,AAAA' };
    const said = saying([ADD]);
    const agent = new Agent({ name: 'a', tools: [add(() => image)], model: said.model });
    const added = { hookSpecificOutput: { additionalContext: 'Look at it.' } };
    await run(withHooks(makeConfig({ AfterTool: answering(added) }), agent), 'Go.');
    expect(outputs(said)).toEqual([
      [
        expect.objectContaining({ type: 'input_image' }),
        expect.objectContaining({
          type: 'input_text',
          text: expect.stringContaining('Look at it.'),
        }),
      ],
    ]);
  });

  it('is an error of the run where it throws, as without hooks', async () => {
    const thrown = new Error('The disk is full.');
    const failing = add(() => {
      throw thrown;
    });
    const agent = new Agent({ name: 'a', tools: [failing], model: saying([ADD]).model });
    const without = await run(agent, 'Go.').catch((error: unknown) => error);
    const hooked = withHooks(
      makeConfig({ BeforeTool: answering({}) }),
      agent.clone({ model: saying([ADD]).model }),
    );
    await expect(run(hooked, 'Go.')).rejects.toMatchObject({
      constructor: (without as Error).constructor,
      message: (without as Error).message,
      error: thrown,
    });
    expect((without as Error).constructor.name).toBe('ToolCallError');
  });

  it('is what hooks read, where the host makes a text of what a tool throws', async () => {
    const failing = tool({
      name: 'add',
      description: 'Adds.',
      parameters: z.object({ a: z.number(), b: z.number() }),
      execute: () => {
        throw new Error('The disk is full.');
      },
    });
    const said = saying([ADD]);
    const agent = new Agent({ name: 'a', tools: [failing], model: said.model });
    const added = { hookSpecificOutput: { additionalContext: 'Try later.' } };
    await run(withHooks(makeConfig({ AfterTool: answering(added) }), agent), 'Go.');
    expect(JSON.stringify(outputs(said))).toMatch(/An error occurred.*Try later\./);
  });

  it('does not run with arguments that are no object', async () => {
    let runs = 0;
    const loose = {
      ...add(),
      invoke: async () => `ran ${++runs} times`,
    };
    const hooked = withHooks(
      makeConfig({ BeforeTool: answering(NO) }),
      new Agent({ name: 'a', tools: [loose], model: saying().model }),
    );
    const [first] = hooked.tools;
    if (first?.type !== 'function') throw new Error('It is no function.');
    expect(await first.invoke({} as never, '[1]')).toContain('no JSON object');
    expect(runs).toBe(0);
  });
});

describe('an agent that stops after a tool by itself', () => {
  it.each([
    ['run_llm_again' as const, 'Done.'],
    ['stop_on_first_tool' as const, '3'],
    [{ stopAtToolNames: ['add'] }, '3'],
    [{ stopAtToolNames: ['other'] }, 'Done.'],
    [
      () => ({ isFinalOutput: true as const, isInterrupted: undefined, finalOutput: 'Own.' }),
      'Own.',
    ],
  ])('does so with hooks as well: %o', async (toolUseBehavior, finalOutput) => {
    const { model } = saying([ADD]);
    const agent = new Agent({ name: 'a', tools: [add()], model, toolUseBehavior });
    const result = await run(withHooks(makeConfig({ AfterTool: answering({}) }), agent), 'Go.');
    expect(result.finalOutput).toBe(finalOutput);
  });
});

describe('an agent whose output has a schema', () => {
  it.each([
    ['a tool', { BeforeTool: answering(STOP) }],
    ['a model call', { BeforeModel: answering(STOP) }],
  ])('rejects where hooks stop it before %s', async (_what, hooks: Hooks) => {
    const outputType = z.object({ sum: z.number() });
    const agent = new Agent({ name: 'a', tools: [add()], model: saying([ADD]).model, outputType });
    const error = await run(withHooks(makeConfig(hooks), agent), 'Go.').catch((e: unknown) => e);
    expect(error).toBeInstanceOf(HookDecisionError);
    expect(error).toMatchObject({ kind: 'stop', reason: 'Enough.', code: 'HOOK_DECISION' });
  });
});

describe('agents that hand over to each other', () => {
  it.each([
    ['as they are', (agent: Agent) => agent],
    ['by a Handoff', (agent: Agent) => handoff(agent)],
  ])('have hooks, given %s', async (_how, given) => {
    const said = saying([ADD]);
    const adder: Agent = new Agent({ name: 'adder', tools: [add()], model: said.model });
    const transfer = [{ id: 'call_0', name: 'transfer_to_adder', args: {} }];
    const triage = new Agent({
      name: 'triage',
      model: saying(transfer).model,
      handoffs: [given(adder)],
    });
    adder.handoffs = [triage];
    const result = await run(withHooks(makeConfig({ BeforeTool: answering(NO) }), triage), 'Go.');
    expect(JSON.stringify(outputs(said))).toContain('Not that.');
    expect(result.lastAgent?.name).toBe('adder');
  });

  it('stop where the same answer hands over, once a hook stops a tool of it', async () => {
    const other = saying('On we go.');
    const adder = new Agent({ name: 'adder', model: other.model });
    const transfer = { id: 'call_0', name: 'transfer_to_adder', args: {} };
    const agent = new Agent({
      name: 'triage',
      tools: [add()],
      model: saying([ADD, transfer]).model,
      handoffs: [adder],
    });
    const stopped: string[] = [];
    const hooks = makeConfig({ BeforeTool: answering(STOP, '^add$') });
    const onStop = (reason: string) => void stopped.push(reason);
    const result = await run(withHooks(hooks, agent, { onStop }), 'Go.');
    expect([result.finalOutput, stopped, other.requests]).toEqual(['Enough.', ['Enough.'], []]);
  });

  describe('that hooks keep from the model', () => {
    const transfer = { id: 'call_0', name: 'transfer_to_other', args: {} };

    function setUp(calls: (typeof ADD | typeof transfer)[], outputType?: z.ZodObject) {
      const other = saying('On we go.');
      const said = saying(calls);
      const given = new Agent({
        name: 'triage',
        tools: [add()],
        model: said.model,
        handoffs: [new Agent({ name: 'other', model: other.model })],
        ...(outputType && { outputType }),
      });
      const config = makeConfig({ BeforeToolSelection: answering(ONLY_ADD) });
      return { agent: withHooks(config, given), other, said };
    }

    it('are not gone to, also where it calls them', async () => {
      const { agent, other } = setUp([transfer]);
      const { finalOutput, lastAgent } = await run(agent, 'Go.');
      expect(finalOutput).toMatch(
        /"transfer_to_other" was not run.*only these may be called: add/u,
      );
      expect([lastAgent?.name, other.requests]).toEqual(['triage', []]);
    });

    it('are not gone to beside a tool, whose result says so', async () => {
      const { agent, other, said } = setUp([ADD, transfer]);
      const { finalOutput } = await run(agent, 'Go.');
      expect([finalOutput, other.requests]).toEqual(['Done.', []]);
      expect(JSON.stringify(outputs(said))).toContain('transfer_to_other');
    });

    it('are not gone to where the output has a schema', async () => {
      const { agent, other } = setUp([transfer], z.object({ sum: z.number() }));
      const error = await run(agent, 'Go.').catch((e: unknown) => e);
      expect(error).toMatchObject({ name: 'HookDecisionError', kind: 'block' });
      expect(other.requests).toEqual([]);
    });
  });

  it.each([
    ['hooks do not allow it', { BeforeToolSelection: answering(ONLY_ADD) }],
    ['hooks stop the agent', { AfterModel: answering(STOP) }],
  ])('run no shell where %s', async (_why, hooks: Hooks) => {
    const ran: unknown[] = [];
    const shell = shellTool({
      shell: {
        run: async (action) => {
          ran.push(action);
          return { output: [] };
        },
      },
    });
    const call = {
      type: 'shell_call' as const,
      callId: 'call_0',
      status: 'completed' as const,
      action: { commands: ['rm -r /'] },
    };
    const answers = [[assistantMessage('Now.'), call], [assistantMessage('Done.')]];
    const model = new ScriptedModel(answers);
    const agent = new Agent({ name: 'a', tools: [add(), shell], model });
    const config = makeConfig(hooks, { debugLogger: new Warnings('test') });
    await run(withHooks(config, agent), 'Go.');
    expect(ran).toEqual([]);
  });

  it('have hooks where one is a tool of the other', async () => {
    const said = saying([ADD]);
    const config = makeConfig({ BeforeTool: answering(NO, '^add$') });
    const inner = new Agent({ name: 'inner', tools: [add()], model: said.model });
    const asTool = withHooks(config, inner).asTool({ toolName: 'inner', toolDescription: 'Adds.' });
    const call = [{ id: 'call_0', name: 'inner', args: { input: 'Add.' } }];
    const outer = new Agent({ name: 'outer', tools: [asTool], model: saying(call).model });
    await run(withHooks(config, outer), 'Go.');
    expect(JSON.stringify(outputs(said))).toContain('Not that.');
  });
});

describe('tools that come later', () => {
  it('have hooks in a copy that the host makes of the agent', async () => {
    const said = saying([ADD]);
    const agent = withHooks(
      makeConfig({ BeforeTool: answering(NO) }),
      new Agent({ name: 'a', model: said.model }),
    );
    await run(agent.clone({ tools: [add()] }), 'Go.');
    expect(JSON.stringify(outputs(said))).toContain('Not that.');
  });

  it('have hooks where they are added to the agent', async () => {
    const said = saying([ADD]);
    const agent = withHooks(
      makeConfig({ BeforeTool: answering(NO) }),
      new Agent({ name: 'a', model: said.model }),
    );
    agent.tools.push(add());
    await run(agent, 'Go.');
    expect(JSON.stringify(outputs(said))).toContain('Not that.');
  });

  it.each([false, true])(
    'have hooks where they are of an MCP server, by the name that says so, whatever the model reads (%s)',
    async (includeServerInToolNames) => {
      const called: string[] = [];
      const server = (name: string, toolName: string) => ({
        name,
        cacheToolsList: true,
        connect: async () => {},
        close: async () => {},
        invalidateToolsCache: async () => {},
        listTools: async () => [
          {
            name: toolName,
            inputSchema: {
              type: 'object' as const,
              properties: {},
              required: [],
              additionalProperties: false,
            },
          },
        ],
        callTool: async () => {
          called.push(toolName);
          return [{ type: 'text' as const, text: 'It is written.' }];
        },
      });
      const said = saying([
        { id: 'call_1', name: includeServerInToolNames ? 'mcp_files__read' : 'read', args: {} },
        { id: 'call_2', name: includeServerInToolNames ? 'mcp_disk__write' : 'write', args: {} },
      ]);
      const agent = new Agent({
        name: 'a',
        model: said.model,
        mcpServers: [server('files', 'read'), server('disk', 'write')],
        mcpConfig: { includeServerInToolNames },
      });
      const guarded = makeConfig({ BeforeTool: answering(NO, '^mcp__files__read$') });
      await run(withHooks(guarded, agent), 'Go.');
      expect(called).toEqual(['write']);
      expect(JSON.stringify(outputs(said))).toContain('Not that.');
      const toolConfig = { mode: 'ANY', allowedFunctionNames: ['mcp__disk__write'] };
      const restricting = makeConfig({
        BeforeToolSelection: answering({ hookSpecificOutput: { toolConfig } }),
      });
      const asked = saying();
      await run(withHooks(restricting, agent.clone({ model: asked.model })), 'Go.');
      expect(asked.requests.map(({ tools }) => tools.map(({ name }) => name))).toEqual([
        [includeServerInToolNames ? 'mcp_disk__write' : 'write'],
      ]);
    },
  );
});

function hosted() {
  return [webSearchTool(), shellTool({ shell: { run: async () => ({ output: [] }) } })];
}

const edit = async () => ({ status: 'completed' as const });

/** Tools that run on this machine, and are not functions. */
function local() {
  const editor = { createFile: edit, updateFile: edit, deleteFile: edit };
  return [
    shellTool({ shell: { run: async () => ({ output: [] }) } }),
    applyPatchTool({ editor }),
    computerTool({ computer: async () => ({}) as Computer }),
  ];
}

describe('tools that cannot be covered', () => {
  it('are warned of once', async () => {
    const debugLogger = new Warnings('test');
    const config = makeConfig({ BeforeTool: answering({}) }, { debugLogger });
    const agent = new Agent({ name: 'a', tools: hosted(), model: saying('One.').model });
    await run(withHooks(config, agent), 'Go.');
    withHooks(config, agent);
    expect(debugLogger.said).toEqual([
      expect.stringContaining('no hooks run for the tool "web_search" (hosted_tool)'),
      expect.stringContaining('no hooks run for the tool "shell" (shell)'),
    ]);
  });

  it('are an error with `strict`, also where they come later', async () => {
    const config = makeConfig({ BeforeTool: answering({}) });
    const { model } = saying();
    const agent = new Agent({ name: 'a', tools: hosted(), model });
    expect(() => withHooks(config, agent, { strict: true })).toThrow('web_search');
    for (const each of local()) {
      const alone = new Agent({ name: 'a', tools: [each], model });
      expect(() => withHooks(config, alone, { strict: true })).toThrow(
        `no hooks run for the tool "${each.name}" (${each.type})`,
      );
    }
    const late = withHooks(config, new Agent({ name: 'a', model }), { strict: true });
    late.tools.push(webSearchTool());
    await expect(run(late, 'Go.')).rejects.toThrow('web_search');
  });
});

function makeAdder() {
  const inner = saying([ADD]);
  return { inner, agent: new Agent({ name: 'adder', tools: [add()], model: inner.model }) };
}

describe('an agent as a tool', () => {
  const PICK = [{ id: 'call_0', name: 'adder', args: { input: 'Add.' } }];

  function outer(tools: Agent['tools']) {
    return new Agent({ name: 'a', tools, model: saying(PICK).model });
  }

  it('is warned of once, wherever it comes from', async () => {
    const debugLogger = new Warnings('test');
    const config = makeConfig({ BeforeTool: answering(NO, '^add$') }, { debugLogger });
    const asTool = makeAdder().agent.asTool({ toolName: 'adder' });
    withHooks(config, outer([asTool]));
    await run(withHooks(config, outer([asTool])), 'Go.');
    expect(debugLogger.said).toEqual([
      expect.stringMatching(/no hooks run inside of the tool "adder".*withHooks.*asTool/),
    ]);
    const later = makeConfig({}, { debugLogger });
    const agent = withHooks(later, new Agent({ name: 'a', model: saying().model }));
    agent.tools.push({ ...asTool, name: 'late' });
    await run(agent, 'Go.');
    expect(debugLogger.said[1]).toContain('"late"');
  });

  it('is an error with `strict`, also where it comes later', async () => {
    const config = makeConfig({ BeforeTool: answering(NO, '^add$') });
    const { agent, inner } = makeAdder();
    const asTool = agent.asTool({ toolName: 'adder' });
    const strict = { strict: true };
    expect(() => withHooks(config, outer([asTool]), strict)).toThrow('"adder"');
    expect(() =>
      withHooks(config, new Agent({ name: 'b', model: 'none', handoffs: [outer([asTool])] }), {
        ...strict,
        modelProvider: { getModel: () => inner.model },
      }),
    ).toThrow('"adder"');
    const late = withHooks(config, outer([]), strict);
    late.tools.push(asTool);
    await expect(run(late, 'Go.')).rejects.toThrow('"adder"');
    expect(inner.requests).toEqual([]);
  });

  it('is fine where it has hooks itself, by any copy of it', async () => {
    const debugLogger = new Warnings('test');
    const config = makeConfig({ BeforeTool: answering(NO, '^add$') }, { debugLogger });
    const { agent, inner } = makeAdder();
    const hooked = withHooks(config, agent);
    for (const each of [hooked, hooked.clone({})]) {
      const asTool = each.asTool({ toolName: 'adder' });
      await run(
        withHooks(config, outer([asTool, { ...asTool, name: 'other' }]), { strict: true }),
        'Go.',
      );
    }
    expect(JSON.stringify(inner.requests.map(({ input }) => input))).toContain('Not that.');
    expect(debugLogger.said).toEqual([]);
  });
});

describe('what a model gives beside its text', () => {
  const SAID = 'The password is hunter2.';
  const REDACT = { hookSpecificOutput: { llm_response: { text: '[redacted]' } } };
  const raw = { output_text: SAID };

  /** An answer that says it in all places where providers repeat it. */
  function answer(): ModelResponse {
    return {
      usage: new Usage({ requests: 1, inputTokens: 1, outputTokens: 1, totalTokens: 2 }),
      responseId: 'resp_1',
      providerData: raw,
      output: [
        {
          type: 'reasoning',
          id: 'rs_1',
          content: [{ type: 'input_text', text: SAID }],
          rawContent: [{ type: 'reasoning_text', text: SAID }],
          providerData: { encrypted_content: 'x', summary: SAID },
        },
        {
          type: 'message',
          role: 'assistant',
          status: 'completed',
          content: [
            { type: 'refusal', refusal: SAID },
            { type: 'audio', audio: 'AA==', transcript: SAID },
            { type: 'image', image: 'data:image/png;base64,AA==' },
            { type: 'output_text', text: SAID, providerData: { logprobs: SAID } },
          ],
          providerData: raw,
        },
        { type: 'unknown', providerData: raw },
      ],
    };
  }

  const model: Model = {
    getResponse: async () => answer(),
    async *getStreamedResponse(): AsyncIterable<StreamEvent> {
      const { usage, output } = answer();
      yield { type: 'response_started', providerData: raw };
      yield { type: 'model', event: { type: 'response.reasoning_text.delta', delta: SAID } };
      yield { type: 'output_text_delta', delta: SAID, providerData: raw };
      const response = { id: 'resp_1', usage, output, providerData: raw };
      yield { type: 'response_done', response: response as never, providerData: raw };
    },
  };
  const agent = new Agent({ name: 'a', model });

  async function streamed(hooks: Hooks, options?: ConfigOptions) {
    const result = await run(withHooks(makeConfig(hooks, options), agent), 'Go.', { stream: true });
    const events: unknown[] = [];
    for await (const event of result) {
      events.push(event.type === 'raw_model_stream_event' ? event.data : event);
    }
    await result.completed;
    return { result, events };
  }

  it('is withheld where a hook has redacted the text', async () => {
    const result = await run(
      withHooks(makeConfig({ AfterModel: answering(REDACT) }), agent),
      'Go.',
    );
    expect(result.finalOutput).toBe('[redacted]');
    expect(inspect(result.rawResponses, { depth: 9 })).not.toContain('hunter2');
    expect(inspect(result.history, { depth: 9 })).not.toContain('hunter2');
    expect(result.rawResponses[0]).toMatchObject({ responseId: 'resp_1' });
    expect(result.rawResponses[0]?.output).toEqual([
      { type: 'reasoning', id: 'rs_1', content: [], providerData: { encrypted_content: 'x' } },
      {
        type: 'message',
        role: 'assistant',
        status: 'completed',
        content: [
          { type: 'image', image: 'data:image/png;base64,AA==' },
          { type: 'output_text', text: '[redacted]' },
        ],
      },
    ]);
  });

  it.each([
    ['redacts', answering(REDACT), { afterModelDisplay: 'hold' } as const],
    ['stops', answering({ ...REDACT, ...STOP }), { afterModelDisplay: 'hold' } as const],
    [
      'fails, and is a guard,',
      [{ hooks: [{ type: 'command' as const, command: 'exit 1', onFailure: 'deny' as const }] }],
      {},
    ],
  ])('never reaches a stream that is held, where a hook %s', async (_what, hooks, options) => {
    const { result, events } = await streamed({ AfterModel: hooks }, options);
    expect(events.length).toBeGreaterThan(2);
    expect(inspect(events, { depth: 12 })).not.toContain('hunter2');
    expect(inspect(result.rawResponses, { depth: 9 })).not.toContain('hunter2');
    expect(result.finalOutput).not.toContain('hunter2');
  });

  it('is withheld where a hook after the model blocks', async () => {
    const blocking = {
      hooks: [{ type: 'command' as const, command: 'exit 1', onFailure: 'deny' as const }],
    };
    const result = await run(withHooks(makeConfig({ AfterModel: [blocking] }), agent), 'Go.');
    expect(inspect(result.rawResponses, { depth: 9 })).not.toContain('hunter2');
  });

  it('comes as it was where no hook changes the text', async () => {
    const config = makeConfig({ AfterModel: answering({}) });
    const result = await run(withHooks(config, agent), 'Go.');
    expect(result.rawResponses).toEqual([answer()]);
  });
});

describe('a model', () => {
  it('that the agent has by name needs its provider', async () => {
    const config = makeConfig({});
    const agent = new Agent({ name: 'writer', model: 'gpt-9' });
    expect(() => withHooks(config, agent)).toThrow(/"writer".*modelProvider/);
    const said = saying('Hello.');
    const asked: (string | undefined)[] = [];
    const modelProvider: ModelProvider = {
      getModel: (name) => {
        asked.push(name);
        return said.model;
      },
    };
    const result = await run(withHooks(config, agent, { modelProvider }), 'Go.');
    expect(result.finalOutput).toBe('Hello.');
    expect(asked).toEqual(['gpt-9']);
  });

  it.each([
    ['gpt-5', undefined],
    [undefined, undefined],
    ['gpt-5', { temperature: 0.5 }],
  ])('that has a name (%s) gets what the SDK sets for it', async (model, modelSettings) => {
    const agent = new Agent({
      name: 'writer',
      ...(model && { model }),
      ...(modelSettings && { modelSettings }),
    });
    const settings: unknown[] = [];
    for (const hooked of [false, true]) {
      const said = saying('Hello.');
      const modelProvider: ModelProvider = { getModel: () => said.model };
      const own = { text: { verbosity: 'high' } } as const;
      const runner = new Runner({ modelProvider, modelSettings: own, tracingDisabled: true });
      const wanted = hooked ? withHooks(makeConfig({}), agent, { modelProvider }) : agent;
      await runner.run(wanted, 'Go.');
      settings.push(said.requests.map((request) => request.modelSettings));
    }
    expect(settings[1]).toEqual(settings[0]);
  });

  it('reads with the result of the tool what hooks have said to it', async () => {
    const said = saying([ADD]);
    const agent = new Agent({ name: 'a', tools: [add()], model: said.model });
    const config = makeConfig({ AfterModel: answering({ systemMessage: 'Be brief.' }) });
    await run(withHooks(config, agent), 'Go.');
    expect(JSON.stringify(outputs(said))).toContain('[System] Be brief.');
  });

  it('is not asked by a runner with a model of its own in place of that with hooks', async () => {
    const said = saying('With hooks.');
    const other = saying('Without hooks.');
    const agent = withHooks(makeConfig({}), new Agent({ name: 'a' }), {
      modelProvider: { getModel: () => said.model },
    });
    const result = await new Runner({ model: other.model }).run(agent, 'Go.');
    expect(result.finalOutput).toBe('With hooks.');
  });
});

it('gives an agent of the same type', () => {
  const outputType = z.object({ sum: z.number() });
  const agent = new Agent({ name: 'a', model: saying().model, outputType });
  expectTypeOf(withHooks(makeConfig({}), agent)).toEqualTypeOf<typeof agent>();
  const strict = new Agent<{ user: string }>({ name: 'a', model: saying().model });
  expectTypeOf(withHooks(makeConfig({}), strict)).toEqualTypeOf<typeof strict>();
});

it('refuses options that do not exist', () => {
  const agent = new Agent({ name: 'a', model: saying().model });
  // @ts-expect-error there is no such option
  expect(() => withHooks(makeConfig({}), agent, { strickt: true })).toThrow(
    'did you mean "strict"',
  );
});
