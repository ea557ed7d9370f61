import './realTime.js';
import { Config } from 'hookstack';
import { aiHooks, type ModelMiddleware } from 'hookstack/ai';

const silent = [{ hooks: [{ type: 'command' as const, command: 'cat > /dev/null' }] }];
const configs = {
  none: () => new Config(),
  /** All goes the way of hooks, in no time. */
  watched() {
    const config = new Config({ enableHooks: true });
    config.use('hook', (_event, next) => next());
    return config;
  },
  /** Hooks that are processes. */
  silent: () =>
    new Config({
      enableHooks: true,
      hooks: { BeforeTool: silent, AfterTool: silent, BeforeModel: silent, AfterModel: silent },
    }),
};

const mode = process.env['AI_SDK_HOOKS'] ?? 'none';
const hooks = mode in configs ? aiHooks(configs[mode as keyof typeof configs]()) : undefined;
const middleware = mode === 'empty' ? {} : hooks?.middleware;

type Call = (params: object) => Promise<object>;
interface Model {
  doGenerate: Call;
  doStream: Call;
}

/** What `wrapLanguageModel` does, for a model that stays the same object: tests look at the one that they have given. */
function wrap(model: Model): void {
  const inner = Object.create(model, {
    doGenerate: { value: model.doGenerate },
    doStream: { value: model.doStream },
  }) as Model & Parameters<ModelMiddleware['wrapGenerate']>[0]['model'];
  const { wrapGenerate, wrapStream } = (middleware ?? {}) as Partial<ModelMiddleware>;
  model.doGenerate = async (params) => {
    const doGenerate = () => inner.doGenerate(params);
    return wrapGenerate?.({ params: params as never, model: inner, doGenerate }) ?? doGenerate();
  };
  model.doStream = async (params) => {
    const doStream = () => inner.doStream(params);
    return wrapStream?.({ params: params as never, model: inner, doStream }) ?? doStream();
  };
}

/** What an application does that has hooks: its models and tools are wrapped before the SDK gets them. */
Object.assign(globalThis, {
  aroundAiSdk: {
    model(Mock: new (options: unknown) => Model) {
      const Wrapped = {
        // Snapshots have the name of the class.
        MockLanguageModelV4: class extends Mock {
          constructor(options: unknown) {
            super(options);
            if (mode !== 'plain') wrap(this);
          }
        },
      };
      return Wrapped.MockLanguageModelV4;
    },
    options<O extends { readonly tools?: Record<string, object> }>(options: O): O {
      if (!hooks || !options.tools) return options;
      return { ...options, tools: hooks.wrapTools(options.tools) };
    },
  },
});
