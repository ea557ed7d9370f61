import { describe, expectTypeOf, it } from 'vitest';
import {
  Config,
  type AfterModelDisplay,
  type AnyHookContext,
  type ConfigOptions,
  type DebugLogger,
  type Extension,
  type HookDefinitions,
  type HookSystem,
  type Middleware,
  type ModelCall,
  type Next,
  type StageName,
  type ToolCall,
} from '../../src/index.js';

declare function createConfig(options: ConfigOptions): Config;
declare function pass(ctx: unknown, next: Next): Promise<void>;
declare const ofTools: Middleware<ToolCall>;

describe('Config', () => {
  it('needs no option', () => {
    expectTypeOf(Config).toBeConstructibleWith();
    expectTypeOf(Config).toBeConstructibleWith({});
  });

  it('takes options of these types', () => {
    expectTypeOf<ConfigOptions['enableHooks']>().toEqualTypeOf<boolean | undefined>();
    expectTypeOf<ConfigOptions['hooks']>().toEqualTypeOf<HookDefinitions | undefined>();
    expectTypeOf<ConfigOptions['extensions']>().toEqualTypeOf<readonly Extension[] | undefined>();
    expectTypeOf<ConfigOptions['disabledHooks']>().toEqualTypeOf<readonly string[] | undefined>();
    expectTypeOf<ConfigOptions['debugLogger']>().toEqualTypeOf<DebugLogger | undefined>();
    expectTypeOf<AfterModelDisplay>().toEqualTypeOf<'stream' | 'hold'>();
  });

  it('refuses unknown events, wrong types and unknown options', () => {
    // @ts-expect-error
    createConfig({ hooks: { BeforeTools: [] } });
    // @ts-expect-error
    createConfig({ hooks: { BeforeTool: [{ hooks: [{ type: 'script', command: 'x' }] }] } });
    // @ts-expect-error
    createConfig({ hooks: { BeforeTool: [{ hooks: [{ type: 'command' }] }] } });
    // @ts-expect-error
    createConfig({ enableHooks: 'true' });
    // @ts-expect-error
    createConfig({ afterModelDisplay: 'show' });
    // @ts-expect-error
    createConfig({ tools: { enableHooks: true } });
  });

  it('takes definitions that are written as constants', () => {
    const hooks = {
      BeforeTool: [
        { matcher: 'write', hooks: [{ type: 'command', command: 'x', timeout: 1_000 }] },
      ],
    } as const;
    expectTypeOf(Config).toBeConstructibleWith({ hooks });
  });

  it('may have no hook system', () => {
    expectTypeOf(new Config().getHookSystem()).toEqualTypeOf<HookSystem | undefined>();
    expectTypeOf(new Config().getEnableHooks()).toEqualTypeOf<boolean>();
  });
});

describe('config.use', () => {
  const config = new Config();

  it('gives a middleware the context of its stack', () => {
    config.use('tool', async (call, next) => {
      expectTypeOf(call).toEqualTypeOf<ToolCall>();
      expectTypeOf(next).toEqualTypeOf<Next>();
      await next();
    });
    config.use('model', async (call) => {
      expectTypeOf(call).toEqualTypeOf<ModelCall>();
    });
    config.use('hook', async (ctx) => {
      expectTypeOf(ctx).toEqualTypeOf<AnyHookContext>();
    });
  });

  it('returns the config, so that calls can be chained', () => {
    expectTypeOf(config.use('tool', async () => undefined)).toEqualTypeOf<Config>();
  });

  it('knows the stages of each stack', () => {
    expectTypeOf<StageName<'tool'>>().toEqualTypeOf<'beforeTool' | 'afterTool' | 'execute'>();
    expectTypeOf<StageName<'model'>>().toEqualTypeOf<
      'beforeToolSelection' | 'beforeModel' | 'afterModel' | 'openStream'
    >();
    expectTypeOf<StageName<'hook'>>().toEqualTypeOf<
      'enablementGate' | 'planner' | 'translator' | 'runner' | 'aggregator'
    >();
  });

  it('refuses a position of another stack', () => {
    config.use('tool', pass, { before: 'execute', name: 'pass' });
    config.use('model', pass, { after: 'openStream' });
    config.use('hook', pass, { before: 'runner' });
    // @ts-expect-error
    config.use('tool', pass, { before: 'openStream' });
    // @ts-expect-error
    config.use('model', pass, { after: 'beforeTool' });
    // @ts-expect-error
    config.use('hook', pass, { before: 'execute' });
    // @ts-expect-error
    config.use('tool', pass, { inside: 'execute' });
    // @ts-expect-error
    config.use('tools', pass);
  });

  it('refuses a middleware of another stack', () => {
    config.use('tool', ofTools);
    // @ts-expect-error
    config.use('model', ofTools);
    // @ts-expect-error
    config.use('hook', ofTools);
  });

  it('refuses what does not return a promise, so that next cannot be dropped', () => {
    // @ts-expect-error
    config.use('tool', (_: ToolCall, next: Next) => void next());
  });
});
