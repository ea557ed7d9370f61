import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { Config, type ConfigOptions } from '../../src/config/config.js';
import { loadSettingsFile } from '../../src/config/settings/settings.js';
import type { Middleware, Next } from '../../src/compose.js';
import { InProcessMessageBus } from '../../src/confirmation-bus/messageBus.js';
import {
  createModelCall,
  type AnyHookContext,
  type ModelCall,
  type ToolCall,
} from '../../src/context.js';
import { textResponse } from '../../src/protocol/response.js';
import { executeToolWithHooks } from '../../src/core/coreToolHookTriggers.js';
import { HookSystem } from '../../src/hooks/hookSystem.js';
import type { WrittenHooks } from '../../src/protocol/types.js';
import { checkRegistration } from '../../src/stack.js';
import { STAGES } from '../../src/protocol/stages.js';
import { hook, saying } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';

const temp = useTempDir();

function createConfig(options: ConfigOptions = {}): Config {
  return new Config({
    workingDir: temp.path,
    enableHooks: true,
    debugLogger: new RecordingLogger(),
    ...options,
  });
}

const result = { llmContent: 'ran', returnDisplay: 'ran' };

describe('getHookSystem', () => {
  it('enableHooks true initializes hook system', async () => {
    const hooks = { BeforeTool: [{ hooks: [hook('true')] }] };
    const config = createConfig({ hooks });
    const system = config.getHookSystem();
    expect(system).toBeInstanceOf(HookSystem);
    expect(system?.getStatus()).toEqual({ initialized: false, totalHooks: 0 });
    await executeToolWithHooks(config, 'x', {}, async () => result);
    expect(system?.getStatus()).toEqual({ initialized: true, totalHooks: 1 });
  });

  it('enableHooks false returns undefined', () => {
    expect(createConfig({ enableHooks: false }).getHookSystem()).toBeUndefined();
    expect(new Config().getHookSystem()).toBeUndefined();
    expect(new Config().getEnableHooks()).toBe(false);
  });

  it('tools.enableHooks does not enable hooks', async () => {
    const settings = { tools: { enableHooks: true }, hooks: { BeforeTool: [] } };
    const file = path.join(temp.path, 'settings.json');
    await writeFile(file, JSON.stringify(settings), { mode: 0o600 });
    const loaded = await loadSettingsFile(file);
    const config = createConfig({ enableHooks: loaded.settings.enableHooks });
    expect(config.getHookSystem()).toBeUndefined();
    expect(loaded.problems.map(({ message }) => message)).toEqual([
      expect.stringContaining('enableHooks'),
    ]);
  });

  it('is the same at every call', () => {
    const config = createConfig();
    expect(config.getHookSystem()).toBe(config.getHookSystem());
  });

  it.each([
    ['makes the hook system at its first call, and not before', true, 1],
    ['makes none while hooks are off', false, 0],
  ])('%s', (_, enableHooks, expected) => {
    let made = 0;
    class Watched extends Config {
      // What every hook system asks when it is made.
      override getMaxParallelHooks(): number {
        made += 1;
        return super.getMaxParallelHooks();
      }
    }
    const config = new Watched({ enableHooks, hooks: { BeforeTool: [] } });
    config.use('tool', passing).getToolStack();
    expect(made).toBe(0);
    config.getHookSystem();
    config.getHookSystem();
    expect(made).toBe(expected);
  });

  it.each<[string, ConfigOptions]>([
    ['', {}],
    [', nor where requests may come over a bus', { messageBus: new InProcessMessageBus() }],
  ])('reads nothing before the first event%s', async (_, options) => {
    const told: string[] = [];
    class Watched extends Config {
      override getHooks(): WrittenHooks {
        told.push('read');
        return super.getHooks();
      }
    }
    const config = new Watched({ enableHooks: true, ...options });
    const system = config.getHookSystem();
    await setImmediate();
    expect(system?.isInitialized()).toBe(false);
    told.push('fired');
    await executeToolWithHooks(config, 'x', {}, async () => result);
    expect(told).toEqual(['fired', 'read']);
    expect(system?.isInitialized()).toBe(true);
    await config.dispose();
  });
});

describe('the options', () => {
  it('have defaults', () => {
    const config = new Config();
    expect({
      hooks: config.getHooks(),
      extensions: config.getExtensions(),
      disabledHooks: config.getDisabledHooks(),
      trusted: config.isTrustedFolder(),
      workingDir: config.getWorkingDir(),
      transcriptPath: config.getTranscriptPath(),
      display: config.getAfterModelDisplay(),
    }).toEqual({
      hooks: {},
      extensions: [],
      disabledHooks: [],
      trusted: true,
      workingDir: process.cwd(),
      transcriptPath: undefined,
      display: 'stream',
    });
    expect(config.getSessionId()).toMatch(/^[\da-f-]{36}$/);
    expect(config.getSessionId()).toBe(config.getSessionId());
    expect(config.getSessionId()).not.toBe(new Config().getSessionId());
  });

  it('are what the getters return', () => {
    const options = {
      sessionId: 's',
      workingDir: '/w',
      hooks: { BeforeTool: [] },
      extensions: [{ name: 'e', isActive: true }],
      disabledHooks: ['h'],
      trustedFolder: false,
      afterModelDisplay: 'hold',
      transcriptPath: '/t',
    } as const;
    const config = new Config(options);
    expect({
      sessionId: config.getSessionId(),
      workingDir: config.getWorkingDir(),
      hooks: config.getHooks(),
      extensions: config.getExtensions(),
      disabledHooks: config.getDisabledHooks(),
      trustedFolder: config.isTrustedFolder(),
      afterModelDisplay: config.getAfterModelDisplay(),
      transcriptPath: config.getTranscriptPath(),
    }).toEqual(options);
  });
});

const passing: Middleware<unknown> = (_, next) => next();

function first(_: ToolCall, next: Next): Promise<void> {
  return next();
}

describe('the order of a stack', () => {
  it('is that of its stages without custom middleware', () => {
    const config = createConfig();
    expect(config.getToolStack().names).toEqual(STAGES.tool);
    expect(config.getModelStack().names).toEqual(STAGES.model);
  });

  it('has custom middleware outermost, or where it asked to stand', () => {
    const config = createConfig()
      .use('tool', passing, { name: 'inner', before: 'execute' })
      .use('tool', first)
      .use('tool', passing, { name: 'before1', before: 'afterTool' })
      .use('tool', passing, { name: 'before2', before: 'afterTool' })
      .use('tool', passing, { name: 'after1', after: 'beforeTool' })
      .use('tool', passing, { name: 'after2', after: 'beforeTool' })
      .use('tool', (_, next) => next())
      .use('tool', passing, { name: 'second' });
    expect(config.getToolStack().names).toEqual([
      'first',
      'anonymous',
      'second',
      'beforeTool',
      'after1',
      'after2',
      'before1',
      'before2',
      'afterTool',
      'inner',
      'execute',
    ]);
  });

  it('is composed once', () => {
    const config = createConfig();
    expect(config.getToolStack()).toBe(config.getToolStack());
    expect(config.getModelStack()).toBe(config.getModelStack());
  });

  it('keeps the middleware of each stack apart', () => {
    const config = createConfig()
      .use('tool', passing, { name: 't' })
      .use('model', passing, { name: 'm', after: 'openStream' })
      .use('hook', passing, { name: 'h' });
    expect(config.getToolStack().names).toEqual(['t', ...STAGES.tool]);
    expect(config.getModelStack().names).toEqual([...STAGES.model, 'm']);
    expect(config.registrations('hook').map(({ name }) => name)).toEqual(['h']);
  });
});

describe('what custom middleware sees', () => {
  it('rewrites the arguments before the hooks see them', async () => {
    const config = createConfig({
      hooks: { BeforeTool: [{ hooks: [hook('cat > seen.json')] }] },
    }).use('tool', async (call: ToolCall, next) => {
      call.input = { ...call.input, rewritten: true };
      await next();
    });
    await executeToolWithHooks(config, 'x', { a: 1 }, async () => result);
    expect(await temp.readJson('seen.json')).toMatchObject({
      tool_input: { a: 1, rewritten: true },
    });
  });

  it('is not reached behind beforeTool when a hook blocks', async () => {
    const seen: string[] = [];
    const config = createConfig({
      hooks: { BeforeTool: [{ hooks: [saying({ decision: 'deny', reason: 'no' })] }] },
    })
      .use('tool', async (call: ToolCall, next) => {
        await next();
        seen.push(`outside: ${call.verdict.kind}`);
      })
      .use(
        'tool',
        async (_, next) => {
          seen.push('inside');
          await next();
        },
        { after: 'beforeTool' },
      );
    await executeToolWithHooks(config, 'x', {}, async () => result);
    expect(seen).toEqual(['outside: block']);
  });

  it('may stand in the hook stack, and change what a hook said', async () => {
    const config = createConfig({
      hooks: { BeforeTool: [{ hooks: [saying({ decision: 'deny', reason: 'no' })] }] },
    }).use('hook', async (ctx: AnyHookContext, next) => {
      await next();
      if (ctx.aggregated?.finalOutput) ctx.aggregated.finalOutput.decision = 'allow';
    });
    const ran = await executeToolWithHooks(config, 'x', {}, async () => result);
    expect(ran.llmContent).toBe('ran');
  });

  it('runs in the hook stack without any hook when it stands outside of the planner', async () => {
    const seen: string[] = [];
    const config = createConfig()
      .use('hook', async (ctx, next) => {
        seen.push(`outside of ${ctx.event}`);
        await next();
      })
      .use(
        'hook',
        async (_, next) => {
          seen.push('inside');
          await next();
        },
        { after: 'planner' },
      );
    await executeToolWithHooks(config, 'x', {}, async () => result);
    expect(seen).toEqual(['outside of BeforeTool', 'outside of AfterTool']);
  });

  it('fails open when it throws in the hook stack', async () => {
    const logger = new RecordingLogger();
    const config = createConfig({ debugLogger: logger }).use('hook', () =>
      Promise.reject(new Error('broken middleware')),
    );
    const ran = await executeToolWithHooks(config, 'x', {}, async () => result);
    expect(ran).toEqual(result);
    expect(logger.warnings).toHaveLength(2);
  });

  it('answers in place of the model in the model stack', async () => {
    const config = createConfig().use('model', async (call: ModelCall) => {
      call.response = textResponse(`no ${call.request.model} today`);
    });
    const call = createModelCall({ model: 'm', contents: 'hi' }, () =>
      Promise.reject(new Error('the model was called')),
    );
    await config.getModelStack().run(call);
    expect(call.response?.text).toBe('no m today');
    expect(call.stream).toBeUndefined();
  });
});

describe('a wrong registration', () => {
  // What a host in JavaScript, or one that reads positions from a file, can get wrong.
  it('at an unknown stage is refused with the stages that there are', () => {
    expect(() =>
      checkRegistration('tool', async () => undefined, JSON.parse('{"before":"runner"}') as object),
    ).toThrow(
      new RangeError(
        'The tool stack has no stage "runner" (before). Its stages are: beforeTool, afterTool, execute',
      ),
    );
    expect(() =>
      checkRegistration(
        'hook',
        async () => undefined,
        JSON.parse('{"after":"toString"}') as object,
      ),
    ).toThrow(RangeError);
  });

  it('at two places is refused', () => {
    expect(() =>
      createConfig().use('tool', passing, { before: 'execute', after: 'beforeTool' }),
    ).toThrow(RangeError);
  });

  it('after the first event is refused, with the name of the middleware', async () => {
    const config = createConfig();
    await executeToolWithHooks(config, 'x', {}, async () => result);
    expect(() => config.use('tool', passing, { name: 'late' })).toThrow(
      /"late" comes too late.*before the first event/,
    );
    expect(() => config.use('model', passing)).toThrow(/"passing" comes too late/);
  });

  it('leaves the stack as it was', () => {
    const config = createConfig();
    expect(() => config.use('tool', passing, { before: 'execute', after: 'beforeTool' })).toThrow(
      RangeError,
    );
    expect(config.getToolStack().names).toEqual(STAGES.tool);
  });
});

describe('a limit that makes no sense', () => {
  it.each([0, -1, Number.NaN, 1.5, '4' as unknown as number])('%s is refused', (limit) => {
    expect(() => new Config({ maxParallelHooks: limit })).toThrow(RangeError);
    expect(() => new Config({ maxAsyncHooks: limit })).toThrow(RangeError);
  });

  it.each([
    [{ whenNobody: 'never' }, 'approvals: expected { "whenNobody": "allow" | "deny"'],
    [{ timeout: 0 }, 'ms, a whole number of 1 or more }, got an object'],
    [{ timeOut: 1000 }, "which has no key 'timeOut'; did you mean 'timeout'?"],
    ['allow', "got 'allow'"],
  ])('refuses approvals of %j, whoever wrote them', (approvals, why) => {
    const refused = () => new Config({ approvals: approvals as never });
    expect(refused).toThrow(TypeError);
    expect(refused).toThrow(why);
  });

  it('refuses an approver that cannot be called', () => {
    expect(() => new Config({ approver: 'me' as never })).toThrow(
      'approver must be a function: (request, { signal }) => answer',
    );
  });
});
