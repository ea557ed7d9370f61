import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import {
  AgentTool,
  BaseTool,
  FunctionTool,
  InMemoryRunner,
  LlmAgent,
  LoopAgent,
  ParallelAgent,
  SequentialAgent,
  setLogLevel,
  LogLevel,
  StreamingMode,
  type BaseAgent,
  type Event,
  type LlmRequest,
  type LlmResponse,
} from '@google/adk';
import type { Part } from '@google/genai';
import { Config, type ConfigOptions } from 'hookstack';
import { HooksPlugin, type HooksPluginOptions } from 'hookstack/adk';
import { beforeAll, describe, expect, it } from 'vitest';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { MockLlm } from './adkHarness.js';
import { answering, nothing } from './scriptedHooks.js';

beforeAll(() => setLogLevel(LogLevel.ERROR));

const logger = new RecordingLogger();
const STOP = answering({ continue: false, stopReason: 'Enough.' });
const REDACT = answering({ hookSpecificOutput: { llm_response: { text: '[redacted]' } } });

type Hooks = ConfigOptions['hooks'];

/** A model that gives these events, one list for each request, and notes the requests. */
class ScriptedLlm extends MockLlm {
  readonly requests: LlmRequest[] = [];

  constructor(
    readonly answers: (Part[] | LlmResponse[])[],
    override readonly model = 'mock',
  ) {
    super(() => ({ text: 'Done.', chunks: ReadableStream.from(['Done.']), calls: [] }));
  }

  override async *generateContentAsync(request: LlmRequest, stream = false) {
    this.requests.push({ ...request, contents: [...request.contents] });
    const answer = this.answers.shift();
    const isParts = answer?.every((each) => 'text' in each || 'functionCall' in each);
    if (isParts) yield { content: { role: 'model', parts: answer as Part[] } };
    else if (answer) yield* answer as LlmResponse[];
    else yield* super.generateContentAsync(request, stream);
  }
}

const call = (name: string, args: Record<string, unknown> = {}): Part => ({
  functionCall: { id: `id-${name}`, name, args },
});

function toolOf(name: string, work: (args: unknown) => unknown = () => `${name} ran`) {
  const parameters = { type: 'OBJECT', properties: { path: { type: 'STRING' } } } as never;
  return new FunctionTool({
    name,
    description: name,
    parameters,
    execute: async (args) => work(args),
  });
}

interface Wanted {
  readonly hooks?: Hooks;
  readonly config?: ConfigOptions;
  readonly options?: HooksPluginOptions;
  readonly stream?: boolean;
}

/** Runs one turn of an agent. */
async function run(agent: BaseAgent, { hooks, config, options, stream }: Wanted) {
  const settings = { enableHooks: true, hooks: hooks ?? {}, debugLogger: logger, ...config };
  const plugin = new HooksPlugin(new Config(settings), options);
  const runner = new InMemoryRunner({ agent, appName: 'test', plugins: [plugin] });
  const { id } = await runner.sessionService.createSession({ appName: 'test', userId: 'ada' });
  const events: Event[] = [];
  const turn = runner.runAsync({
    userId: 'ada',
    sessionId: id,
    newMessage: { role: 'user', parts: [{ text: 'Go.' }] },
    ...(stream && { runConfig: { streamingMode: StreamingMode.SSE } }),
  });
  for await (const event of turn) events.push(event);
  const session = await runner.sessionService.getSession({
    appName: 'test',
    userId: 'ada',
    sessionId: id,
  });
  return { id, events, texts: events.flatMap(textsOf), stored: session?.events ?? [] };
}

function textsOf({ content }: Event): string[] {
  return (content?.parts ?? []).flatMap(({ text, functionResponse }) => {
    if (functionResponse) return JSON.stringify(functionResponse.response);
    return text ?? [];
  });
}

/** What the model gave of an event. */
function given({ content, groundingMetadata, customMetadata }: Event) {
  return { content, groundingMetadata, customMetadata };
}

function agentOf(llm: MockLlm, tools: BaseTool[] = [], name = 'helper') {
  return new LlmAgent({ name, model: llm, tools });
}

describe('the plugin and tools', () => {
  it('fires no AfterTool for a tool that did not run, although ADK calls back', async () => {
    const seen: string[] = [];
    const hooks = { BeforeTool: [{ hooks: [answering({ decision: 'block', reason: 'No.' })] }] };
    const agent = agentOf(new ScriptedLlm([[call('read')]]), [toolOf('read')]);
    const onHooks = (event: string) => void seen.push(event);
    const { texts } = await run(agent, {
      hooks: { ...hooks, AfterTool: [{ hooks: [nothing] }] },
      options: { onHooks },
    });
    expect(texts).toEqual(['{"error":"No."}', 'Done.']);
    expect(seen).toEqual(['BeforeTool']);
  });

  it('leaves changed arguments in the events of the session, as ADK lends its own object', async () => {
    const change = answering({ hookSpecificOutput: { tool_input: { path: 'b.txt' } } });
    const ran: unknown[] = [];
    const tool = toolOf('read', (args) => ran.push(args));
    const llm = new ScriptedLlm([[call('read', { path: 'a.txt' })]]);
    const hooks = { BeforeTool: [{ hooks: [change] }] };
    const { stored } = await run(agentOf(llm, [tool]), { hooks });
    expect(ran).toEqual([{ path: 'b.txt' }]);
    const calls = stored.flatMap(({ content }) => content?.parts ?? []);
    expect(calls.find(({ functionCall }) => functionCall)?.functionCall?.args).toEqual({
      path: 'b.txt',
    });
  });

  it('keeps what a tool gives as an object, and adds to it', async () => {
    const note = answering({ hookSpecificOutput: { additionalContext: 'Lint it.' } });
    const llm = new ScriptedLlm([[call('read')]]);
    const tool = toolOf('read', () => ({ lines: [1, 2] }));
    const { texts } = await run(agentOf(llm, [tool]), {
      hooks: { AfterTool: [{ hooks: [note] }] },
    });
    expect(JSON.parse(texts[0] ?? '')).toEqual({
      lines: [1, 2],
      hook_context: expect.stringContaining('Lint it.') as string,
    });
  });

  it('ends all agents of an invocation, and loops, when one is stopped', async () => {
    const first = new ScriptedLlm([[call('read')]]);
    const second = new ScriptedLlm([]);
    const agents = [agentOf(first, [toolOf('read')], 'first'), agentOf(second, [], 'second')];
    const inner = new SequentialAgent({ name: 'both', subAgents: agents });
    const loop = new LoopAgent({ name: 'loop', subAgents: [inner], maxIterations: 3 });
    const { texts, events } = await run(loop, { hooks: { AfterTool: [{ hooks: [STOP] }] } });
    expect(texts).toEqual(['{"result":"read ran"}', 'Enough.']);
    expect(events.at(-1)?.customMetadata).toEqual({ hookstack: { stopped: 'Enough.' } });
    expect([first.requests.length, second.requests.length]).toEqual([1, 0]);
  });

  it('ends agents side by side, when one is stopped and a hook of another blocks later', async () => {
    const late = { ...answering({ decision: 'block', reason: 'No.' }) };
    const slow = {
      ...late,
      command: `until [ -e "$STOPPED" ]; do sleep 0.01; done; ${late.command}`,
    };
    const directory = await mkdtemp(path.join(tmpdir(), 'hookstack-adk-'));
    const env = { STOPPED: path.join(directory, 'stopped') };
    const stop = { ...STOP, command: `${STOP.command}; touch "$STOPPED"` };
    const hooks = {
      BeforeTool: [
        { matcher: '^one$', hooks: [{ ...stop, env: { ...STOP.env, ...env } }] },
        { matcher: '^two$', hooks: [{ ...slow, env: { ...late.env, ...env } }] },
      ],
    };
    const llms = ['one', 'two'].map((name) => new ScriptedLlm([[call(name)]]));
    const subAgents = llms.map((llm, index) =>
      agentOf(
        llm,
        ['one', 'two'].map((name) => toolOf(name)),
        `agent${index}`,
      ),
    );
    await run(new ParallelAgent({ name: 'both', subAgents }), { hooks });
    await rm(directory, { recursive: true });
    expect(llms.map(({ requests }) => requests.length)).toEqual([1, 1]);
  });

  it('refuses the other tools of a turn once the agent is stopped', async () => {
    const ran: string[] = [];
    const tools = ['one', 'two'].map((name) => toolOf(name, () => ran.push(name)));
    const llm = new ScriptedLlm([[call('one'), call('two')]]);
    const hooks = { AfterTool: [{ matcher: 'one', hooks: [STOP] }] };
    const { texts } = await run(agentOf(llm, tools), { hooks });
    expect(ran).toEqual(['one']);
    expect(texts).toEqual(['{"result":1}', '{"error":"Enough."}', 'Enough.']);
  });

  it('tells the model of a tool that throws, as ADK does', async () => {
    const tool = toolOf('read', () => {
      throw new Error('The disk is full.');
    });
    const llm = new ScriptedLlm([[call('read')]]);
    const hooks = { BeforeTool: [{ hooks: [nothing] }] };
    const { texts } = await run(agentOf(llm, [tool]), { hooks });
    const bare = await run(agentOf(new ScriptedLlm([[call('read')]]), [tool]), {
      config: { enableHooks: false },
    });
    expect(texts).toEqual(bare.texts);
    expect(texts[0]).toContain('The disk is full.');
  });

  it('gives hooks the session and the agent of the host', async () => {
    const show = answering(
      { hookSpecificOutput: {} },
      `jq -c '{session_id, agent}' | tr -d '\\n' >&2; exit 2`,
    );
    const llm = new ScriptedLlm([[call('read')]]);
    const hooks = { BeforeTool: [{ hooks: [show] }] };
    const { id, texts } = await run(agentOf(llm, [toolOf('read')]), { hooks });
    const { error } = JSON.parse(texts[0] ?? '') as { error: string };
    expect(JSON.parse(error)).toEqual({ session_id: id, agent: 'helper' });
  });
});

describe('the plugin and models', () => {
  it('shows the pieces of a stream before hooks have seen them, and redacts the whole', async () => {
    const hooks = { AfterModel: [{ hooks: [REDACT] }] };
    const pieces = await run(agentOf(new ScriptedLlm([])), { hooks, stream: true });
    expect(pieces.texts).toEqual(['Done.', '[redacted]']);
    const config = { afterModelDisplay: 'hold' } as const;
    const held = await run(agentOf(new ScriptedLlm([])), { hooks, config, stream: true });
    expect(held.texts).toEqual(['[redacted]']);
  });

  it('has hooks see each event of one answer', async () => {
    const answer: LlmResponse[] = [
      { content: { role: 'model', parts: [{ text: 'The password' }] }, partial: false },
      { content: { role: 'model', parts: [{ text: 'is hunter2.' }] }, partial: false },
      { usageMetadata: { totalTokenCount: 3 }, partial: false },
    ];
    const hooks = { AfterModel: [{ hooks: [REDACT] }] };
    const { texts } = await run(agentOf(new ScriptedLlm([answer])), { hooks });
    expect(texts).toEqual(['[redacted]', '[redacted]']);
  });

  const SAID = 'The password is hunter2.';
  const BESIDE = {
    groundingMetadata: { groundingSupports: [{ segment: { text: SAID } }] },
    citationMetadata: { citations: [{ title: SAID }] },
    outputTranscription: { text: SAID },
    customMetadata: { raw: SAID },
    modelVersion: 'mock-1',
    usageMetadata: { totalTokenCount: 3 },
  };

  /** An answer that says it in all places, in three events. */
  function repeating(): LlmResponse[] {
    const image = { inlineData: { mimeType: 'image/png', data: 'AA==' } };
    const others = [
      { text: SAID, thought: true },
      { codeExecutionResult: { output: SAID } },
      { inlineData: { mimeType: 'audio/wav', data: SAID } },
      image,
    ];
    return [
      { content: { role: 'model', parts: [...others, { text: SAID }] }, ...BESIDE },
      { content: { role: 'model', parts: [call('read')] }, ...BESIDE },
      { ...BESIDE, turnComplete: true },
    ];
  }

  it('withholds thoughts and metadata of an answer that a hook has redacted', async () => {
    const llm = new ScriptedLlm([repeating()]);
    const hooks = { AfterModel: [{ hooks: [REDACT] }] };
    const { events, stored } = await run(agentOf(llm, [toolOf('read')]), { hooks });
    expect(JSON.stringify([events, stored, llm.requests])).not.toContain('hunter2');
    expect(events[0]?.content?.parts).toEqual([
      expect.objectContaining({ inlineData: { mimeType: 'image/png', data: 'AA==' } }),
      { text: '[redacted]' },
    ]);
    expect(events[0]).toMatchObject({ modelVersion: 'mock-1', usageMetadata: {} });
  });

  it('withholds them where a guard fails, which holds the answer', async () => {
    const broken = { type: 'command' as const, command: 'exit 1', onFailure: 'deny' as const };
    const hooks = { AfterModel: [{ hooks: [broken] }] };
    const pieces = [{ content: { role: 'model', parts: [{ text: SAID, thought: true }] } }, BESIDE];
    const partial = pieces.map((each) => ({ ...each, partial: true }));
    // What belongs to an answer may come before it.
    const llm = new ScriptedLlm([[...partial, BESIDE, ...repeating()]]);
    const { events, stored } = await run(agentOf(llm, [toolOf('read')]), { hooks, stream: true });
    expect(JSON.stringify([events, stored, llm.requests])).not.toContain('hunter2');
    expect(JSON.stringify(events)).toContain('withheld');
  });

  it('leaves thoughts and metadata where no hook changes the answer', async () => {
    const answer = repeating();
    const hooks = { AfterModel: [{ hooks: [nothing] }] };
    const tools = [toolOf('read')];
    const { events } = await run(agentOf(new ScriptedLlm([answer]), tools), { hooks });
    const bare = await run(agentOf(new ScriptedLlm([repeating()]), tools), {});
    expect(events.map(given)).toEqual(bare.events.map(given));
    expect(JSON.stringify(events)).toContain('hunter2');
  });

  it('says which hook stops at a later event of an answer', async () => {
    const answer: LlmResponse[] = [
      { content: { role: 'model', parts: [{ text: 'The password' }] }, partial: false },
      { content: { role: 'model', parts: [{ text: 'is hunter2.' }] }, partial: false },
    ];
    const stop = JSON.stringify({ continue: false, stopReason: 'Enough.' });
    const command = `if grep -q hunter2; then echo '${stop}'; fi`;
    const secrets = { type: 'command' as const, name: 'secrets', command };
    const hooks = { AfterModel: [{ hooks: [secrets] }] };
    const { events } = await run(agentOf(new ScriptedLlm([answer])), { hooks });
    expect(events.map(({ customMetadata }) => customMetadata)).toEqual([
      undefined,
      { hookstack: { stopped: 'Enough.', hooks: ['secrets'] } },
    ]);
  });

  it('has the model read what hooks say after its answer with the next request', async () => {
    const say = answering({ systemMessage: 'Be brief.' });
    const llm = new ScriptedLlm([[call('read')]]);
    const hooks = { AfterModel: [{ hooks: [say] }] };
    await run(agentOf(llm, [toolOf('read')]), { hooks });
    expect(JSON.stringify(llm.requests[0]?.contents)).not.toContain('Be brief.');
    expect(llm.requests[1]?.contents.at(-1)?.parts?.[0]?.text).toContain('Be brief.');
  });

  it('goes on when the model fails', async () => {
    const llm = new ScriptedLlm([]);
    llm.generateContentAsync = () => {
      throw new Error('Quota.');
    };
    const { events } = await run(agentOf(llm), { hooks: { AfterModel: [{ hooks: [nothing] }] } });
    expect(events).toMatchObject([{ errorMessage: 'Quota.' }]);
  });
});

/** A tool that the provider of the model runs. */
class ProviderTool extends BaseTool {
  override async processLlmRequest({ llmRequest }: { llmRequest: LlmRequest }) {
    llmRequest.config = { ...llmRequest.config, tools: [{ googleSearch: {} }] };
  }

  override runAsync() {
    return Promise.reject(new Error('It runs elsewhere'));
  }
}

describe('what the plugin cannot cover', () => {
  const inner = new AgentTool({ agent: agentOf(new ScriptedLlm([]), [], 'researcher') });
  const cases = [
    ['an agent as a tool', inner, 'runs the agent of the tool "researcher" without plugins'],
    [
      'a tool of the provider',
      new ProviderTool({ name: 'search', description: '' }),
      '"googleSearch" is run by the provider',
    ],
  ] as const;

  it.each(cases)('%s: a warning once, an error with strict', async (_what, tool, message) => {
    const config = new Config({ enableHooks: true, debugLogger: logger });
    logger.records.length = 0;
    const plugin = new HooksPlugin(config);
    for (let turn = 0; turn < 2; turn += 1) {
      const agent = agentOf(new ScriptedLlm([]), [tool]);
      const runner = new InMemoryRunner({ agent, plugins: [plugin] });
      const newMessage = { role: 'user', parts: [{ text: 'Go.' }] };
      for await (const event of runner.runEphemeral({ userId: 'ada', newMessage })) {
        expect(event.errorMessage).toBeUndefined();
      }
    }
    expect(logger.warnings).toEqual([expect.stringContaining(message)]);
    const llm = new ScriptedLlm([]);
    const { events } = await run(agentOf(llm, [tool]), { options: { strict: true } });
    expect(events.at(-1)?.errorMessage).toContain(message);
    expect(llm.requests).toEqual([]);
  });

  it('an option that does not exist is an error', () => {
    const options = { strikt: true } as HooksPluginOptions;
    expect(() => new HooksPlugin(new Config(), options)).toThrow('strict');
  });
});
