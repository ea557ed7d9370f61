import { describe, expect, it } from 'vitest';
import { Config, type ConfigOptions } from '../../src/config/config.js';
import {
  executeToolWithHooks,
  fireAfterToolHook,
  fireBeforeToolHook,
} from '../../src/core/coreToolHookTriggers.js';
import { type AggregatedHookResult, BeforeToolHookOutput } from '../../src/protocol/hookOutput.js';
import type { HookSystem } from '../../src/hooks/hookSystem.js';
import type { HookDefinitions } from '../../src/protocol/types.js';
import { asHookContext } from '../../src/protocol/llmContent.js';
import type { ToolResult } from '../../src/tools/tools.js';
import { blocking, chain, hook, keepInput, saying } from '../helpers/hooks.js';
import { failingObserver } from '../helpers/observer.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';

const temp = useTempDir();
const specific = (fields: object) => ({ hookSpecificOutput: fields });
const change = (toolInput: object) => specific({ tool_input: toolInput });

function createConfig(hooks: HookDefinitions, options: ConfigOptions = {}): Config {
  return new Config({
    enableHooks: true,
    workingDir: temp.path,
    debugLogger: new RecordingLogger(),
    hooks,
    ...options,
  });
}

/** Runs a tool with hooks, and returns its result beside the arguments of each execution. */
async function execute(
  hooks: HookDefinitions,
  { input = {}, result = ok(), config = createConfig(hooks) }: ExecuteOptions = {},
) {
  const executions: Record<string, unknown>[] = [];
  const returned = await executeToolWithHooks(config, 'write_file', input, async (toolInput) => {
    executions.push(toolInput);
    return result;
  });
  return { result: returned, executions };
}

interface ExecuteOptions {
  input?: Record<string, unknown>;
  result?: ToolResult;
  config?: Config;
}

function ok(): ToolResult {
  return { llmContent: 'written', returnDisplay: 'Wrote 1 file' };
}

/** A tool that writes into its arguments. */
async function writing(args: Record<string, unknown>): Promise<ToolResult> {
  (args['list'] as unknown[]).push('more');
  args['file'] = 'b';
  return ok();
}

const beforeTool = (...outputs: unknown[]): HookDefinitions => ({
  BeforeTool: [{ hooks: outputs.map((output) => saying(output)) }],
});
const afterTool = (...outputs: unknown[]): HookDefinitions => ({
  AfterTool: [{ hooks: outputs.map((output) => saying(output)) }],
});

describe('a tool without hooks', () => {
  it.each([
    ['hooks that are off', { enableHooks: false }],
    ['hooks of other tools', {}],
  ])('with %s gives its own result and gets its own arguments', async (_, options) => {
    const hooks = { BeforeTool: [{ matcher: '^other$', hooks: [blocking('no')] }] };
    const [input, result] = [{ a: 1 }, ok()];
    const ran = await execute(hooks, { input, result, config: createConfig(hooks, options) });
    expect(ran.result).toEqual(ok());
    expect(ran.executions).toEqual([input]);
  });
});

describe('BeforeTool', () => {
  it.each([
    ['a deny', saying({ decision: 'deny', reason: 'too risky' })],
    ['a block', saying({ decision: 'block', reason: 'too risky' })],
    ['exit code 2', blocking('too risky')],
    [
      'a denied permission',
      saying(specific({ permissionDecision: 'deny', permissionDecisionReason: 'too risky' })),
    ],
  ])('by %s keeps the tool from running, and tells the model why', async (_, guard) => {
    const { result, executions } = await execute({
      BeforeTool: [{ hooks: [guard] }],
      AfterTool: [{ hooks: [hook(': > after')] }],
    });
    expect(executions).toEqual([]);
    expect(result).toEqual({
      llmContent: 'too risky',
      returnDisplay: 'too risky',
      error: { type: 'blocked_by_hook', message: 'too risky' },
    });
    await expect(temp.readLines('after')).rejects.toThrow('ENOENT');
  });

  it('blocks with a default reason', async () => {
    const { result } = await execute({ BeforeTool: [{ hooks: [hook('exit 2')] }] });
    expect(result.llmContent).toBe('Blocked by hook');
  });

  it('blocks although another hook allows', async () => {
    const { executions } = await execute(
      beforeTool({ decision: 'allow' }, { decision: 'deny', reason: 'no' }, { decision: 'ask' }),
    );
    expect(executions).toEqual([]);
  });

  it.each(['allow', 'approve', 'ask', null])('lets the tool run on %s', async (decision) => {
    const { result, executions } = await execute(beforeTool({ decision }));
    expect(executions).toHaveLength(1);
    expect(result).toEqual(ok());
  });

  it.each([
    ['crashes', hook('exit 1')],
    ['is killed', hook('kill -KILL $$')],
    ['times out', hook('sleep 60', { timeout: 1_000 })],
    ['is missing', hook('./no-such-script.sh')],
  ])('lets the tool run when a hook %s, and warns', async (_, broken) => {
    const logger = new RecordingLogger();
    const config = createConfig({ BeforeTool: [{ hooks: [broken] }] }, { debugLogger: logger });
    const { result, executions } = await execute({}, { config });
    expect(executions).toHaveLength(1);
    expect(result).toEqual(ok());
    expect(logger.warnings).toHaveLength(1);
  });

  it('stops the agent: the result says so, with the reason', async () => {
    const { result, executions } = await execute(
      beforeTool({ continue: false, stopReason: 'budget is spent' }),
    );
    expect(executions).toEqual([]);
    expect(result).toMatchObject({
      llmContent: 'budget is spent',
      error: { type: 'stop_execution', message: 'budget is spent' },
    });
  });

  it('appends a system message to what the model reads, also of a block', async () => {
    const allowed = await execute(beforeTool({ systemMessage: 'mind the gap' }));
    expect(allowed.result).toEqual({
      llmContent: 'written\n\n[System] mind the gap',
      returnDisplay: 'Wrote 1 file',
    });
    const denial = { decision: 'deny', reason: 'no', systemMessage: 'try read_file' };
    const blocked = await execute(beforeTool(denial));
    expect(blocked.result.llmContent).toBe('no\n\n[System] try read_file');
    expect(blocked.result.returnDisplay).toBe('no');
  });
});

describe('arguments that BeforeTool hooks change', () => {
  it('are what the tool is executed with, merged over its own', async () => {
    const input = { path: 'a', options: { mode: 1 } };
    const { executions } = await execute(beforeTool(change({ path: 'b' })), { input });
    expect(executions).toEqual([{ path: 'b', options: { mode: 1 } }]);
  });

  it('leave the object that the caller passed in', async () => {
    const input = Object.freeze({ path: 'a', options: Object.freeze({ mode: 1 }) });
    const { executions } = await execute(beforeTool(change({ path: 'b', options: { mode: 2 } })), {
      input,
    });
    expect(executions).toEqual([{ path: 'b', options: { mode: 2 } }]);
    expect(input).toEqual({ path: 'a', options: { mode: 1 } });
  });

  it('are not those of the caller where the tool itself changes what it was given', async () => {
    const input = { path: 'a', options: { mode: 1 } };
    for (const hooks of [{}, beforeTool({ reason: 'fine' })]) {
      await executeToolWithHooks(createConfig(hooks), 'write_file', input, async (given) => {
        Object.assign(given, { path: 'b' });
        Object.assign(given['options'] as object, { mode: 2 });
        return ok();
      });
      expect(input).toEqual({ path: 'a', options: { mode: 1 } });
    }
  });

  it('are what AfterTool hooks read', async () => {
    await execute({
      ...beforeTool(change({ path: 'b' })),
      AfterTool: [{ hooks: [hook(keepInput('after.json'))] }],
    });
    expect(await temp.readJson('after.json')).toMatchObject({
      tool_input: { path: 'b' },
      tool_response: { llmContent: 'written', returnDisplay: 'Wrote 1 file' },
    });
  });

  it('do not count when a hook blocks', async () => {
    const { executions } = await execute(
      beforeTool(change({ path: 'b' }), { decision: 'deny', reason: 'no' }),
    );
    expect(executions).toEqual([]);
  });

  it('BeforeTool sequential chaining passes modified tool_input', async () => {
    const hooks = {
      BeforeTool: [
        chain(
          saying(change({ path: 'b' }), { before: keepInput('first.json') }),
          saying(change({ mode: 2 }), { before: keepInput('second.json') }),
          hook(keepInput('third.json')),
        ),
      ],
    };
    const { executions } = await execute(hooks, { input: { path: 'a', size: 3 } });
    expect(await temp.readJson('first.json')).toMatchObject({ tool_input: { path: 'a', size: 3 } });
    expect(await temp.readJson('second.json')).toMatchObject({
      tool_input: { path: 'b', size: 3 },
    });
    expect(await temp.readJson('third.json')).toMatchObject({
      tool_input: { path: 'b', size: 3, mode: 2 },
    });
    expect(executions).toEqual([{ path: 'b', size: 3, mode: 2 }]);
  });
});

describe('AfterTool', () => {
  it('appends context, objections and system messages to what the model reads', async () => {
    const { result } = await execute(
      afterTool(
        specific({ additionalContext: 'tests exist' }),
        { decision: 'block', reason: 'not formatted' },
        { systemMessage: 'be careful' },
      ),
    );
    expect(result).toEqual({
      llmContent: `written\n\n${asHookContext('tests exist')}\n\n${asHookContext('not formatted')}\n\n[System] be careful`,
      returnDisplay: 'Wrote 1 file',
    });
  });

  it('appends to content that is a list of parts', async () => {
    const image = { inlineData: { mimeType: 'image/png', data: 'AAAA' } };
    const result = { llmContent: [image, 'caption'], returnDisplay: '' };
    const ran = await execute(afterTool({ systemMessage: 'note' }), { result });
    expect(ran.result.llmContent).toEqual([image, 'caption', { text: '\n\n[System] note' }]);
    expect(result.llmContent).toEqual([image, 'caption']);
  });

  it('hides the result from the user and not from the model', async () => {
    const { result } = await execute(afterTool({ suppressOutput: true }));
    expect(result).toEqual({ ...ok(), suppressDisplay: true });
  });

  it('stops the agent with the result at hand', async () => {
    const { result } = await execute(afterTool({ continue: false, reason: 'done' }));
    expect(result).toEqual({
      ...ok(),
      error: { type: 'stop_execution', message: 'done' },
      stopReason: 'done',
    });
  });

  it('stops the agent, and the error of the tool stays', async () => {
    const error = { type: 'disk', message: 'disk is full' };
    const ran = await execute(afterTool({ continue: false, reason: 'done' }), {
      result: { ...ok(), error },
    });
    expect(ran.result).toEqual({ ...ok(), error, stopReason: 'done' });
  });

  it('tells the model why one hook blocked, and stops with the words of another', async () => {
    const { result } = await execute(
      afterTool(
        { decision: 'block', reason: 'not formatted' },
        { continue: false, reason: 'done' },
      ),
    );
    expect(result).toMatchObject({
      llmContent: `written\n\n${asHookContext('not formatted')}`,
      stopReason: 'done',
    });
  });

  it('does not fire for a tool that did not run, as a middleware further in refused it', async () => {
    for (const refuse of ['block', 'stop'] as const) {
      const config = createConfig({ AfterTool: [{ hooks: [hook(': > after')] }] });
      config.use('tool', async (call) => call[refuse]('not today'), { before: 'execute' });
      const { result, executions } = await execute({}, { config });
      expect(executions).toEqual([]);
      expect(result.llmContent).toBe('not today');
      await expect(temp.readLines('after')).rejects.toThrow('ENOENT');
    }
  });

  it.each([true, false])(
    'fires for a tool that ran, whatever a middleware made of the result (blocked: %s)',
    async (isBlocked) => {
      const hooks = { AfterTool: [{ hooks: [hook(keepInput('after.json'))] }] };
      const config = createConfig(hooks).use(
        'tool',
        async (call, next) => {
          await next();
          if (isBlocked) call.block('replaced');
          else call.result = { llmContent: 'replaced', returnDisplay: '' };
        },
        { before: 'execute' },
      );
      const { executions } = await execute({}, { config });
      expect(executions).toHaveLength(1);
      expect(await temp.readJson('after.json')).toMatchObject({
        tool_response: { llmContent: 'replaced' },
      });
    },
  );

  it('does not modify the result that the tool returned', async () => {
    const effects = [
      { suppressOutput: true },
      { systemMessage: 'note' },
      specific({ additionalContext: 'tests exist' }),
      { decision: 'block', reason: 'not formatted' },
      { continue: false },
    ];
    for (const effect of [...effects, Object.assign({}, ...effects)]) {
      const result = ok();
      const ran = await execute(afterTool(effect), { result });
      expect(ran.result).not.toEqual(ok());
      expect(result).toEqual(ok());
    }
  });

  it('keeps metadata and the error of a tool that failed, and shows both to its hooks', async () => {
    const result = { ...ok(), metadata: { lines: 3 }, error: { message: 'disk is full' } };
    const hooks = {
      AfterTool: [
        { hooks: [saying({ systemMessage: 'note' }, { before: keepInput('after.json') })] },
      ],
    };
    const ran = await execute(hooks, { result });
    expect(ran.result).toMatchObject({
      metadata: { lines: 3 },
      error: { message: 'disk is full' },
    });
    expect(await temp.readJson('after.json')).toMatchObject({
      tool_response: { metadata: { lines: 3 }, error: { message: 'disk is full' } },
    });
  });

  it('leaves the result alone when a hook fails', async () => {
    const result = ok();
    const hooks = { AfterTool: [{ hooks: [hook('echo oops >&2; exit 1')] }] };
    const ran = await execute(hooks, { result });
    expect(ran.result).toEqual(ok());
  });
});

describe('a tool with an odd result', () => {
  const note = { text: '\n\n[System] note' };
  const odd: [unknown, unknown][] = [
    [undefined, '[System] note'],
    [null, '[System] note'],
    ['', '\n\n[System] note'],
    [5, [5, note]],
    [{ text: 5 }, [{ text: 5 }, note]],
    [[null], [null, note]],
    [
      ['a', undefined, { text: 5 }, 7],
      ['a', undefined, { text: 5 }, 7, note],
    ],
  ];

  it.each(odd)('%j gives it as it is where hooks say nothing', async (llmContent) => {
    const result = { llmContent, returnDisplay: '' } as ToolResult;
    const silent = {
      BeforeTool: [{ hooks: [hook('true')] }],
      AfterTool: [{ hooks: [hook('true')] }],
    };
    for (const hooks of [{}, silent]) {
      expect((await execute(hooks, { result })).result).toEqual(result);
    }
  });

  it.each(odd)('%j has notes behind it: %j', async (llmContent, expected) => {
    const result = { llmContent, returnDisplay: '' } as ToolResult;
    for (const hooks of [
      beforeTool({ systemMessage: 'note' }),
      afterTool({ systemMessage: 'note' }),
    ]) {
      expect((await execute(hooks, { result })).result.llmContent).toEqual(expected);
    }
  });
});

describe('a tool whose result throws when it is read', () => {
  const unreadable = ['llmContent', 'returnDisplay', 'metadata', 'error'].map((key) => {
    const get = () => {
      throw new Error(`no ${key}`);
    };
    return [key, Object.defineProperty(ok(), key, { get, enumerable: true })] as const;
  });
  const elsewhere: HookDefinitions = { AfterTool: [{ matcher: '^other$', hooks: [hook('true')] }] };
  const guarded: HookDefinitions = {
    AfterTool: [{ hooks: [hook('true', { onFailure: 'deny' })] }],
  };

  it.each(unreadable)('gives it as it is without hooks to read it: %s', async (_, result) => {
    const off = new Config({ enableHooks: false });
    for (const config of [off, createConfig({}), createConfig(elsewhere)]) {
      expect((await execute({}, { config, result })).result).toBe(result);
    }
  });

  it.each(unreadable)('gives it as it is where a hook cannot read it: %s', async (_, result) => {
    const config = createConfig({ AfterTool: [{ hooks: [hook('true')] }] });
    expect((await execute({}, { config, result })).result).toBe(result);
  });

  it('has it withheld where a guard cannot read it', async () => {
    const result = unreadable.find(([key]) => key === 'llmContent')?.[1];
    const ran = await execute(guarded, result && { result });
    expect(ran.result).toMatchObject({ error: { type: 'blocked_by_hook' } });
  });
});

describe('a tool that writes into its arguments', () => {
  it('leaves them to AfterTool hooks as they were', async () => {
    const reading = saying({}, { before: keepInput('after.json') });
    const config = createConfig({ AfterTool: [{ hooks: [reading] }] });
    await executeToolWithHooks(config, 'write_file', { file: 'a', list: [] }, writing);
    const read = await temp.readJson('after.json');
    expect(read).toMatchObject({ tool_input: { file: 'a', list: [] } });
  });

  it('leaves them to middleware that reads the event', async () => {
    const read: unknown[] = [];
    const config = createConfig({}).use('hook', async ({ event, payload }, next) => {
      if (event === 'AfterTool') read.push(payload.toolInput);
      await next();
    });
    await executeToolWithHooks(config, 'write_file', { file: 'a', list: [] }, writing);
    expect(read).toEqual([{ file: 'a', list: [] }]);
  });
});

describe('executeToolWithHooks', () => {
  it('passes the error of the tool on as it is, without AfterTool', async () => {
    const error = new Error('the tool broke');
    const config = createConfig({
      BeforeTool: [{ hooks: [hook('true')] }],
      AfterTool: [{ hooks: [hook(': > after')] }],
    });
    const running = executeToolWithHooks(config, 'x', {}, () => Promise.reject(error));
    await expect(running).rejects.toBe(error);
    await expect(temp.readLines('after')).rejects.toThrow('ENOENT');
  });

  it('takes a function that needs no arguments', async () => {
    const config = createConfig(beforeTool(specific({ tool_input: { a: 1 } })));
    expect(await executeToolWithHooks(config, 'x', {}, async () => ok())).toEqual(ok());
  });

  it('reports a middleware that ends a call without a result', async () => {
    const config = createConfig({}).use('tool', async () => undefined);
    const running = executeToolWithHooks(config, 'write_file', {}, async () => ok());
    await expect(running).rejects.toThrow(/"write_file" without a result: set call\.result/);
  });

  it('passes the error of the tool through middleware as it is', async () => {
    const error = new Error('the tool broke');
    const config = createConfig({}).use('tool', async (_call, next) => next());
    const fails = () => Promise.reject(error);
    await expect(executeToolWithHooks(config, 'x', {}, fails)).rejects.toBe(error);
  });

  it('tells the observer what the hooks of both events said', async () => {
    const seen: string[] = [];
    const onHooks = (event: string, result: AggregatedHookResult) =>
      void seen.push(`${event} ${result.finalOutput?.reason}`);
    const config = createConfig({ ...beforeTool({ reason: 'b' }), ...afterTool({ reason: 'a' }) });
    await executeToolWithHooks(config, 'x', {}, async () => ok(), { onHooks });
    expect(seen).toEqual(['BeforeTool b', 'AfterTool a']);
  });

  it('goes on when the observer throws', async () => {
    const config = createConfig(beforeTool({ reason: 'r' }));
    const ran = await executeToolWithHooks(config, 'x', {}, async () => ok(), {
      onHooks: failingObserver,
    });
    expect(ran).toEqual(ok());
  });

  it('runs calls side by side, each with its own arguments', async () => {
    const config = createConfig({
      BeforeTool: [
        {
          matcher: '^guarded$',
          hooks: [saying({ decision: 'deny', reason: 'no' })],
        },
      ],
    });
    const run = (toolName: string) =>
      executeToolWithHooks(config, toolName, { toolName }, async (input) => ({
        ...ok(),
        llmContent: `ran ${String(input['toolName'])}`,
      }));
    const results = await Promise.all(['a', 'guarded', 'b'].map(run));
    expect(results.map(({ llmContent }) => llmContent)).toEqual(['ran a', 'no', 'ran b']);
  });
});

const configWith = (onFailure: 'allow' | 'deny') =>
  createConfig({ BeforeTool: [{ hooks: [hook('true', { onFailure })] }] });

describe('the triggers', () => {
  it('return what the hooks said', async () => {
    const config = createConfig({
      ...beforeTool({ decision: 'deny', reason: 'b' }),
      ...afterTool({ suppressOutput: true }),
    });
    const before = await fireBeforeToolHook(config, 'x', {});
    expect(before).toBeInstanceOf(BeforeToolHookOutput);
    expect(before?.isBlockingDecision()).toBe(true);
    const after = await fireAfterToolHook(config, 'x', {}, { llmContent: 'y' });
    expect(after?.suppressOutput).toBe(true);
  });

  it('show the hooks what they are given', async () => {
    const keep = [{ hooks: [hook(keepInput('seen.json'))] }];
    const config = createConfig({ BeforeTool: keep, AfterTool: keep });
    const input = { path: 'a', options: { mode: 1 } };
    await fireBeforeToolHook(config, 'write_file', input);
    const call = { tool_name: 'write_file', tool_input: input };
    expect(await temp.readJson('seen.json')).toMatchObject(call);
    const result = { ...ok(), metadata: { lines: 3 }, error: { message: 'disk is full' } };
    await fireAfterToolHook(config, 'write_file', input, result);
    expect(await temp.readJson('seen.json')).toMatchObject({ ...call, tool_response: result });
  });

  it('shouldStop/stopReason contract is propagated', async () => {
    const config = createConfig({
      ...beforeTool({ continue: false, stopReason: 'before' }),
      ...afterTool({ continue: false, stopReason: 'after' }),
    });
    const before = await fireBeforeToolHook(config, 'x', {});
    expect(before?.shouldStopExecution()).toBe(true);
    expect(before?.getEffectiveReason()).toBe('before');
    const after = await fireAfterToolHook(config, 'x', {}, { llmContent: 'y' });
    expect(after?.shouldStopExecution()).toBe(true);
    expect(after?.getEffectiveReason()).toBe('after');
  });

  it('return undefined when hooks are off, or say nothing', async () => {
    const off = createConfig(beforeTool({ decision: 'deny' }), { enableHooks: false });
    expect(await fireBeforeToolHook(off, 'x', {})).toBeUndefined();
    expect(await fireAfterToolHook(off, 'x', {}, {})).toBeUndefined();
    const silent = createConfig({ BeforeTool: [{ hooks: [hook('true')] }] });
    expect(await fireBeforeToolHook(silent, 'x', {})).toBeUndefined();
  });

  it('block when the arguments cannot be shown to a guard, and go on without other hooks', async () => {
    const cyclic: Record<string, unknown> = {};
    cyclic['self'] = cyclic;
    expect(await fireBeforeToolHook(configWith('allow'), 'x', cyclic)).toBeUndefined();
    expect(await fireBeforeToolHook(configWith('deny'), 'x', cyclic)).toMatchObject({
      decision: 'deny',
      reason: expect.stringMatching(
        /its input cannot be written as JSON: tool_input is nested .* without end/,
      ),
    });
  });

  it('return undefined whatever else goes wrong', async () => {
    class BrokenConfig extends Config {
      override getHookSystem(): HookSystem | undefined {
        throw new Error('no hook system');
      }
    }
    const config = new BrokenConfig({ enableHooks: true, debugLogger: new RecordingLogger() });
    expect(await fireBeforeToolHook(config, 'x', {})).toBeUndefined();
    expect(await fireAfterToolHook(config, 'x', {}, {})).toBeUndefined();
  });
});
