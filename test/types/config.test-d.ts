import { describe, expectTypeOf, it } from 'vitest';
import {
  Config,
  type AfterModelDisplay,
  type AnyHookContext,
  type ConfigOptions,
  type DebugLogger,
  type Extension,
  type ExtensionMiddleware,
  type WrittenHooks,
  type HookMiddleware,
  type HookSystem,
  type Middleware,
  type MiddlewareFactory,
  type ModelCall,
  type ModelMiddleware,
  type Next,
  type Position,
  type StageName,
  type ToolCall,
  type ToolMiddleware,
} from '../../src/index.js';

declare function createConfig(options: ConfigOptions): Config;
declare function pass(ctx: unknown, next: Next): Promise<void>;
declare const ofTools: Middleware<ToolCall>;
declare const ofModels: ModelMiddleware;
declare function checkFactory(
  factory: MiddlewareFactory<ToolMiddleware, { tools: string[] }>,
): void;

describe('Config', () => {
  it('needs no option', () => {
    expectTypeOf(Config).toBeConstructibleWith();
    expectTypeOf(Config).toBeConstructibleWith({});
  });

  it('takes options of these types', () => {
    expectTypeOf<ConfigOptions['enableHooks']>().toEqualTypeOf<boolean | undefined>();
    expectTypeOf<ConfigOptions['hooks']>().toEqualTypeOf<WrittenHooks | undefined>();
    expectTypeOf<ConfigOptions['extensions']>().toEqualTypeOf<readonly Extension[] | undefined>();
    expectTypeOf<ConfigOptions['disabledHooks']>().toEqualTypeOf<readonly string[] | undefined>();
    expectTypeOf<ConfigOptions['debugLogger']>().toEqualTypeOf<DebugLogger | undefined>();
    expectTypeOf<AfterModelDisplay>().toEqualTypeOf<'stream' | 'hold'>();
  });

  it('takes rules, which start no command', () => {
    const rule = { type: 'rule', when: 'Bash(git push *)', decision: 'deny' } as const;
    createConfig({ hooks: { BeforeTool: [{ hooks: [rule] }] } });
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

describe('the module of an extension', () => {
  it('has a type for each stack', () => {
    expectTypeOf<ToolMiddleware>().parameter(0).toEqualTypeOf<ToolCall>();
    expectTypeOf<ModelMiddleware>().parameter(0).toEqualTypeOf<ModelCall>();
    expectTypeOf<HookMiddleware>().parameter(0).toEqualTypeOf<AnyHookContext>();
  });

  it('may export a factory, which knows its options', () => {
    checkFactory(({ tools }, { logger }) => async (call, next) => {
      expectTypeOf(logger).toEqualTypeOf<DebugLogger>();
      if (tools.includes(call.toolName)) call.block('no');
      else await next();
    });
    // @ts-expect-error
    checkFactory(() => (_call, next) => void next());
    // @ts-expect-error
    checkFactory(() => ofModels);
  });

  it('stands at a stage of its stack', () => {
    const position = { before: 'execute', policy: true } satisfies Position<'tool'>;
    expectTypeOf(position).toExtend<Position<'tool'>>();
    // @ts-expect-error
    const ofModel: Position<'tool'> = { before: 'openStream' };
    // @ts-expect-error
    const numbered: Position<'model'> = { before: 1 };
    expectTypeOf([ofModel, numbered]).toBeArray();
    expectTypeOf<ExtensionMiddleware['stack']>().toEqualTypeOf<'tool' | 'model' | 'hook'>();
  });
});
