import { describe, expect, it } from 'vitest';
import {
  CoreToolScheduler,
  executeToolWithHooks,
  fireAfterModelHook,
  fireAfterToolHook,
  fireBeforeModelHook,
  fireBeforeToolHook,
  fireBeforeToolSelectionHook,
  GeminiChat,
  referenceTools,
  runAgent,
  ToolErrorType,
  toFunctionResponse,
  type HookDefinitions,
  type HookOutput,
  type Tool,
  type ToolResult,
} from '../../src/index.js';
import { textResponse } from '../../src/protocol/response.js';
import { readToEnd } from '../core/helpers/chats.js';
import { atOnce } from '../core/helpers/hookScripts.js';
import { callTools, reply } from '../core/helpers/modelAnswers.js';
import { useSandbox } from '../core/helpers/sandbox.js';
import { blocking, saying } from '../helpers/hooks.js';

// What the callers of hooks in Gemini CLI and LLxprt are tested for: triggers, scheduler, chat and agent. Where ours
// differ, see differences.test.ts.

const sandbox = useSandbox();
const says = (output: HookOutput) => [{ hooks: [saying(output)] }];
const specific = (hookSpecificOutput: Record<string, unknown>) => ({ hookSpecificOutput });
const request = { model: 'm', contents: [{ role: 'user', parts: [{ text: 'hi' }] }] };
const fromHook = (...parts: string[]) =>
  specific({ llm_response: { candidates: [{ content: { role: 'model', parts } }] } });

/** Runs a tool that says which arguments it was called with. */
async function execute(
  hooks: HookDefinitions,
  input: Record<string, unknown> = { key: 'original' },
) {
  const executions: Record<string, unknown>[] = [];
  const config = sandbox.createConfig(hooks);
  const result = await executeToolWithHooks(config, 'test_tool', input, async (given) => {
    executions.push(given);
    return { llmContent: `key: ${String(given['key'])}`, returnDisplay: 'Done.' };
  });
  return { result, executions };
}

/** Schedules calls of a tool that says which arguments it was called with. */
async function schedule(hooks: HookDefinitions, ...calls: Record<string, unknown>[]) {
  const executions: Record<string, unknown>[] = [];
  const tool: Tool = {
    name: 'test_tool',
    declaration: { name: 'test_tool' },
    async execute(input): Promise<ToolResult> {
      executions.push(input);
      return { llmContent: 'tool output', returnDisplay: 'tool output' };
    },
  };
  const scheduler = new CoreToolScheduler({ config: sandbox.createConfig(hooks), tools: [tool] });
  const completed = await scheduler.schedule(calls.map((args) => ({ name: tool.name, args })));
  return { completed, executions };
}

/** Sends one message to a model that answers with two words. */
async function chat(hooks: HookDefinitions) {
  const { models, sent } = await sandbox.startModel(reply('Two', ' words'), reply('Again'));
  const session = new GeminiChat({ config: sandbox.createConfig(hooks), models, model: 'm' });
  return { ...(await readToEnd(session.sendMessageStream('hi'))), sent };
}

/** Runs an agent whose model calls a tool, and then is done. */
async function work(hooks: HookDefinitions) {
  const call = { name: 'write_file', args: { file_path: 'a', content: 'b' } };
  const { models, sent } = await sandbox.startModel(
    callTools(call),
    reply('Done.'),
    reply('Again.'),
  );
  const config = sandbox.createConfig(hooks);
  const result = await runAgent({
    config,
    models,
    model: 'm',
    prompt: 'Go.',
    tools: referenceTools,
  });
  return { result, sent };
}

describe('triggers', () => {
  const configs = {
    'with hooks off': () => sandbox.createConfig({ BeforeTool: says({}) }, { enableHooks: false }),
    'without hooks': () => sandbox.createConfig({}),
  };

  it.each(Object.entries(configs))('give no verdict %s', async (_when, createConfig) => {
    const config = createConfig();
    const response = textResponse('yes');
    expect(await fireBeforeToolHook(config, 'test_tool', { a: 1 })).toBeUndefined();
    expect(await fireAfterToolHook(config, 'test_tool', {}, { result: 'ok' })).toBeUndefined();
    expect(await fireBeforeModelHook(config, request)).toEqual({ blocked: false });
    expect(await fireAfterModelHook(config, request, response)).toEqual({ response });
    expect(await fireBeforeToolSelectionHook(config, request)).toEqual({});
  });

  it('give a verdict of BeforeTool that can be asked (LLxprt)', async () => {
    const allowing = sandbox.createConfig({ BeforeTool: says({ decision: 'allow' }) });
    const allowed = await fireBeforeToolHook(allowing, 'test_tool', {});
    expect(allowed?.isBlockingDecision()).toBe(false);
    const denying = sandbox.createConfig({ BeforeTool: [{ hooks: [blocking('Not here.')] }] });
    const denied = await fireBeforeToolHook(denying, 'test_tool', {});
    expect([denied?.isBlockingDecision(), denied?.getEffectiveReason()]).toEqual([
      true,
      'Not here.',
    ]);
    const changing = sandbox.createConfig({
      BeforeTool: says({ decision: 'allow', ...specific({ tool_input: { path: '/safe' } }) }),
    });
    const changed = await fireBeforeToolHook(changing, 'test_tool', { path: '/etc/passwd' });
    expect(changed?.hookSpecificOutput).toMatchObject({ tool_input: { path: '/safe' } });
  });

  it('give the context of AfterTool (LLxprt)', async () => {
    const config = sandbox.createConfig({
      AfterTool: says(specific({ additionalContext: 'It was cleaned.' })),
    });
    const output = await fireAfterToolHook(config, 'test_tool', {}, { llmContent: 'x' });
    expect(output?.getAdditionalContext()).toBe('It was cleaned.');
  });

  it.each<[said: HookOutput, result: object]>([
    [
      { continue: false, stopReason: 'enough' },
      { blocked: true, stopped: true, reason: 'enough' },
    ],
    [
      { decision: 'block', reason: 'no', ...fromHook('Not today.') },
      { blocked: true, reason: 'no', syntheticResponse: { text: 'Not today.' } },
    ],
    [{}, { blocked: false }],
  ])('of BeforeModel make of %j what the chat is to do', async (said, result) => {
    const config = sandbox.createConfig({ BeforeModel: says(said) });
    expect(await fireBeforeModelHook(config, request)).toMatchObject(result);
  });

  it.each<[said: HookOutput, result: object]>([
    [
      { continue: false, stopReason: 'enough' },
      { stopped: true, stopReason: 'enough' },
    ],
    [fromHook('Changed.'), { response: { text: 'Changed.' } }],
    [{}, { response: { text: 'yes' } }],
  ])('of AfterModel make of %j what the chat is to do', async (said, result) => {
    const config = sandbox.createConfig({ AfterModel: says(said) });
    expect(await fireAfterModelHook(config, request, textResponse('yes'))).toMatchObject(result);
  });

  it('of BeforeToolSelection restrict the tools (LLxprt)', async () => {
    const toolConfig = { mode: 'AUTO', allowedFunctionNames: ['read_file', 'list_directory'] };
    const config = sandbox.createConfig({ BeforeToolSelection: says(specific({ toolConfig })) });
    const selection = await fireBeforeToolSelectionHook(config, request);
    const { allowedFunctionNames = [] } = selection.toolConfig?.functionCallingConfig ?? {};
    expect(allowedFunctionNames.toSorted()).toEqual(['list_directory', 'read_file']);
  });
});

describe('a tool with its hooks', () => {
  it('does not run where one stops, whatever else it decides', async () => {
    const stop: HookOutput = {
      continue: false,
      stopReason: 'Stop.',
      decision: 'block',
      reason: 'No.',
    };
    const { result, executions } = await execute({ BeforeTool: says(stop) });
    expect(result.error).toEqual({ type: ToolErrorType.StopExecution, message: 'Stop.' });
    expect(executions).toEqual([]);
  });

  it('does not run where one blocks', async () => {
    const { result, executions } = await execute({ BeforeTool: [{ hooks: [blocking('No.')] }] });
    expect(result).toMatchObject({ llmContent: 'No.', error: { message: 'No.' } });
    expect(executions).toEqual([]);
  });

  it('has run where one stops afterwards', async () => {
    const { result, executions } = await execute({
      AfterTool: says({ continue: false, stopReason: 'Enough.' }),
    });
    expect(result.error).toEqual({ type: ToolErrorType.StopExecution, message: 'Enough.' });
    expect(executions).toHaveLength(1);
  });

  it('runs with the arguments that one changed', async () => {
    const change = specific({ tool_input: { key: 'changed' } });
    const { executions, result } = await execute({ BeforeTool: says(change) });
    expect(executions).toEqual([{ key: 'changed' }]);
    expect(result.llmContent).toContain('key: changed');
  });

  it('runs with its own arguments where none changed them', async () => {
    const { result, executions } = await execute({ BeforeTool: says({ continue: true }) });
    expect(executions).toEqual([{ key: 'original' }]);
    expect(result.llmContent).toBe('key: original');
  });
});

describe('the scheduler', () => {
  it.each<[how: string, HookOutput]>([
    ['a block', { decision: 'block', reason: 'Against the policy.' }],
    ['a stop', { continue: false, stopReason: 'Against the policy.' }],
  ])('does not run a tool after %s, and tells the model why', async (_how, said) => {
    const { completed, executions } = await schedule({ BeforeTool: says(said) }, { a: 1 });
    expect(executions).toEqual([]);
    const [part] = completed.flatMap(toFunctionResponse);
    expect(part?.functionResponse?.response?.['error']).toContain('Against the policy.');
  });

  it('runs a tool with changed arguments, and reports them', async () => {
    const change = specific({ tool_input: { param: 'changed' } });
    const { completed, executions } = await schedule(
      { BeforeTool: says(change) },
      { param: 'original' },
    );
    expect(executions).toEqual([{ param: 'changed' }]);
    expect(completed).toMatchObject([{ status: 'success', input: { param: 'changed' } }]);
  });

  it('puts a message of AfterTool into the result (LLxprt)', async () => {
    const { completed } = await schedule({ AfterTool: says({ systemMessage: 'Scanned.' }) }, {});
    const [part] = completed.flatMap(toFunctionResponse);
    expect(part?.functionResponse?.response?.['output']).toMatch(/^tool output\n\n.*Scanned\.$/);
  });

  it('hides a result that AfterTool hides, from the user alone (LLxprt)', async () => {
    const { completed } = await schedule({ AfterTool: says({ suppressOutput: true }) }, {});
    expect(completed).toMatchObject([
      { status: 'success', result: { suppressDisplay: true, llmContent: 'tool output' } },
    ]);
  });

  it('gives results in the order of the calls, whichever ends first (LLxprt)', async () => {
    const slow = sandbox.runs(
      `case "$input" in *'"id":1'*) until [ -e two ]; do sleep 0.02; done;; *'"id":2'*) touch two;; esac`,
    );
    const { completed } = await schedule(
      { BeforeTool: atOnce(slow) },
      { id: 1 },
      { id: 2 },
      { id: 3 },
    );
    expect(completed.map(({ input, status }) => [input['id'], status])).toEqual([
      [1, 'success'],
      [2, 'success'],
      [3, 'success'],
    ]);
  });
});

describe('the chat (LLxprt)', () => {
  it('does not ask the model after a stop by BeforeModel, not a second time either', async () => {
    const counting = sandbox.runs(`echo '{"continue":false,"stopReason":"Stopped."}'`);
    const { shown, turn, retries, sent } = await chat({ BeforeModel: atOnce(counting) });
    expect([shown, retries, sent()]).toEqual([[], [], []]);
    expect(turn).toMatchObject({ blocked: true, verdict: { kind: 'stop', reason: 'Stopped.' } });
    expect(counting.inputs()).toHaveLength(1);
  });

  it('shows the answer of a hook that blocks, and does not ask the model', async () => {
    const block: HookOutput = { decision: 'block', reason: 'No.', ...fromHook('Not today.') };
    const { shown, turn, sent } = await chat({ BeforeModel: says(block) });
    expect([shown, sent()]).toEqual([['Not today.'], []]);
    expect(turn).toMatchObject({ blocked: true, verdict: { kind: 'block', reason: 'No.' } });
  });

  it('is stopped by AfterModel', async () => {
    const { turn } = await chat({ AfterModel: says({ continue: false, stopReason: 'Enough.' }) });
    expect(turn.verdict).toMatchObject({ kind: 'stop', reason: 'Enough.' });
  });

  it('sends the names that BeforeToolSelection allows', async () => {
    const toolConfig = { mode: 'ANY', allowedFunctionNames: ['glob'] };
    const { sent } = await chat({ BeforeToolSelection: says(specific({ toolConfig })) });
    expect(sent()[0]?.toolConfig?.functionCallingConfig).toMatchObject(toolConfig);
  });

  it('tells AfterModel hooks of the request and of all of the answer, at once and in a chain', async () => {
    for (const sequential of [false, true]) {
      const hooks = [sandbox.says(fromHook('Changed.')), sandbox.says({})];
      await chat({ AfterModel: [{ sequential, hooks: hooks.map(({ config }) => config) }] });
      for (const hook of hooks) {
        expect(hook.inputs()).toMatchObject([
          {
            llm_request: { model: 'm', messages: [{ role: 'user', content: 'hi' }] },
            llm_response: { text: 'Two words' },
          },
        ]);
      }
    }
  });
});

describe('the agent (LLxprt)', () => {
  it('asks BeforeAgent and AfterAgent once for a prompt, however many calls it takes', async () => {
    const before = sandbox.says({});
    const after = sandbox.says({});
    const start = sandbox.says({});
    const end = sandbox.says({});
    const { result } = await work({
      BeforeAgent: atOnce(before),
      AfterAgent: atOnce(after),
      SessionStart: atOnce(start),
      SessionEnd: atOnce(end),
    });
    expect(result.turns).toBe(2);
    expect(before.inputs()).toMatchObject([{ prompt: 'Go.' }]);
    expect(after.inputs()).toMatchObject([
      { prompt: 'Go.', prompt_response: 'Done.', stop_hook_active: false },
    ]);
    expect(start.inputs()).toMatchObject([{ source: 'startup' }]);
    expect(end.inputs()).toMatchObject([{ reason: 'exit' }]);
  });

  it('ends without another call of the model once AfterModel stops it', async () => {
    const { result, sent } = await work({
      AfterModel: says({ continue: false, stopReason: 'Enough.' }),
    });
    expect(sent()).toHaveLength(1);
    expect(result.stopped).toMatchObject({ event: 'AfterModel', reason: 'Enough.' });
    expect(result.toolCalls).toEqual([]);
  });

  it('tells the model what BeforeAgent adds', async () => {
    const { sent } = await work({
      BeforeAgent: says(specific({ additionalContext: 'Be brief.' })),
    });
    expect(JSON.stringify(sent()[0]?.contents)).toContain('Be brief.');
  });
});
