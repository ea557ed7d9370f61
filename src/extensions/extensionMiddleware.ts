import type { HookMiddleware, ModelMiddleware, ToolMiddleware } from '../stack.js';
import { pathToFileURL } from 'node:url';
import { types } from 'node:util';
import { basename, dirname, relative } from 'node:path';
import type { Middleware } from '../compose.js';
import { errorMessage } from '../util/errorMessage.js';
import { isRecord } from '../util/records.js';
import type { Blockable } from '../middlewareGuard.js';
import { type StackName, STACK_NAMES } from '../protocol/stages.js';
import type { Config } from '../config/config.js';
import type { Extension, ConsentItem, ExtensionMiddleware } from '../hooks/entry.js';
import { describe } from '../util/checks.js';
import type { DebugLogger } from '../util/debugLogger.js';
import type { ProjectModule } from '../trust/consentItem.js';
import { formatProblem, type FileProblem } from '../util/fileProblem.js';

/**
 * What the module of an extension exports by default, if not the middleware itself: makes the middleware, once. Not
 * async, by which the two are told apart.
 *
 * @typeParam M which kind it makes
 * @typeParam O what it takes from `options` of its entry in the manifest, which nobody has checked
 */
export type MiddlewareFactory<
  M extends ToolMiddleware | ModelMiddleware | HookMiddleware,
  O = Record<string, unknown>,
> = (options: O, context: FactoryContext) => M;

/** What the factory of an extension gets from its host. */
export interface FactoryContext {
  readonly logger: DebugLogger;
  /** Absolute path in which hooks run. */
  readonly workingDir: string;
}

/** One middleware module, and the extension that it belongs to. */
export interface ExtensionModule {
  readonly extension: Extension;
  readonly middleware: ExtensionMiddleware;
}

/** Why a module may not be used, and what takes its place. */
export interface ModuleRefusal {
  readonly reason: string;
  /** The stack of which every call is blocked meanwhile. Default: none, even where the module is a policy. */
  readonly blocks?: StackName;
}

/** How `useExtensionMiddleware` treats what it finds. */
export interface UseExtensionMiddlewareOptions {
  /**
   * Says why a module may not be used; `undefined` for one that may. A refused one is not imported. Default: those of a
   * project are refused, unless the user has allowed them as they are or the config says `trustedFolder: true`; where
   * the user had allowed a policy that has changed since, its stack is blocked. When this rejects, the module is refused,
   * and the stack of a policy that is not the project's is blocked.
   */
  readonly refuse?: (module: ExtensionModule) => Promise<string | ModuleRefusal | undefined>;
  /** Called with each refused module. Default: `onProblem` is. */
  readonly onRefused?: (module: ExtensionModule, refusal: ModuleRefusal) => void;
  /** Called with what is wrong. Default: a warning in the log of `config`. */
  readonly onProblem?: (problem: FileProblem) => void;
}

/** Ms in which a module has to be loaded. */
const LOAD_LIMIT_MS = 10_000;

/**
 * Imports the middleware modules of extensions and adds them to the stacks, in order, each under the name
 * `<extension>/<middleware>`. To be called before the first event.
 *
 * A module's default export is the middleware, if it is an `async` function, and else a factory: called once with
 * `(options, { logger, workingDir })`, it returns the middleware. What cannot be loaded is a problem, and left out; in place of a
 * policy stands a middleware that blocks every call and says why.
 *
 * @throws Error when a policy comes after the first event
 */
export async function useExtensionMiddleware(
  config: Config,
  extensions: readonly Extension[],
  options: UseExtensionMiddlewareOptions = {},
): Promise<void> {
  const {
    refuse = refuseUntrusted(config),
    onProblem = (problem) => config.getDebugLogger().warn(formatProblem(problem)),
    onRefused = (module, { reason }) => onProblem(problemOf(module, `not used: ${reason}`)),
  } = options;
  for (const module of listModules(extensions)) {
    const refusal = await askWhetherToRefuse(refuse, module);
    if (!refusal) {
      await useModule(config, module, onProblem);
      continue;
    }
    onRefused(module, refusal);
    if (refusal.blocks) blockAll(config, module, refusal.reason, refusal.blocks);
  }
}

/** The modules of all active extensions. */
export function listModules(extensions: readonly Extension[]): ExtensionModule[] {
  return extensions
    .filter(({ isActive }) => isActive)
    .flatMap((extension) =>
      (extension.middleware ?? []).map((middleware) => ({ extension, middleware })),
    );
}

/** @param own the name of the middleware function itself */
export function nameOfModule({ extension, middleware }: ExtensionModule, own = ''): string {
  // The name of an anonymous function that is exported by default.
  const given = own === 'default' ? '' : own;
  const name = middleware.name ?? (given || basename(middleware.module).replace(/\.\w+$/u, ''));
  return `${extension.name}/${name}`;
}

function refuseUntrusted(config: Config) {
  return async (module: ExtensionModule) => {
    if (module.extension.scope !== 'project') return undefined;
    if (!config.needsConsent()) {
      return config.isTrustedFolder() ? undefined : 'the project is not trusted';
    }
    const consent = await config.getConsent();
    const [review] = await consent.reviewModules([toProjectModule(module)]);
    if (review?.status === 'allowed') return undefined;
    const reason = `it ${review?.reason ?? 'has not been looked at'}`;
    const advice = 'to see and allow it, run in the project: hookstack trust';
    const blocks = stackOfPolicy(review?.previous);
    const effect = `, and as it was a policy, every call of the ${blocks} stack is blocked`;
    return { reason: `${reason}${blocks ? effect : ''}; ${advice}`, blocks };
  };
}

/** The stack of a module that the user had allowed as a policy. */
function stackOfPolicy(allowed: ConsentItem | undefined): StackName | undefined {
  const { policy, stack } = allowed?.definition ?? {};
  return policy === true ? STACK_NAMES.find((name) => name === stack) : undefined;
}

/** A module as it is allowed: its path is relative, so that the project may be moved. */
export function toProjectModule({ extension, middleware }: ExtensionModule): ProjectModule {
  const { place: _place, module, ...entry } = middleware;
  const directory = extension.directory ?? dirname(module);
  return {
    extension: extension.name,
    directory,
    entry: { ...entry, module: relative(directory, module) },
  };
}

async function askWhetherToRefuse(
  refuse: NonNullable<UseExtensionMiddlewareOptions['refuse']>,
  module: ExtensionModule,
): Promise<ModuleRefusal | undefined> {
  try {
    const answer = await refuse(module);
    return typeof answer === 'string' ? { reason: answer } : answer;
  } catch (error) {
    const { extension, middleware } = module;
    const isOwnPolicy = middleware.policy === true && extension.scope !== 'project';
    return {
      reason: `whether it may be used cannot be found out: ${errorMessage(error)}`,
      blocks: isOwnPolicy ? middleware.stack : undefined,
    };
  }
}

async function useModule(
  config: Config,
  module: ExtensionModule,
  onProblem: (problem: FileProblem) => void,
): Promise<void> {
  const { stack, before, after, policy, deadlineMs, fault } = module.middleware;
  // It was reported when the manifest was read.
  if (fault !== undefined) return blockAll(config, module, fault);
  try {
    const logger = config.getDebugLogger().extend(module.extension.name);
    const told = { logger, workingDir: config.getWorkingDir() };
    const middleware = await loadMiddleware(module.middleware, told);
    const name = nameOfModule(module, middleware.name);
    config.use(stack, middleware, { name, before, after, policy, deadlineMs });
  } catch (error) {
    const what = policy
      ? `in its place, every call of the ${stack} stack is blocked`
      : 'it is left out';
    onProblem(problemOf(module, `${errorMessage(error)}; ${what}`));
    if (policy) blockAll(config, module, errorMessage(error));
  }
}

/** In place of a policy that cannot be asked. As a policy itself, it is outermost, so that nothing of the call happens. */
function blockAll(
  config: Config,
  module: ExtensionModule,
  why: string,
  stack = module.middleware.stack,
): void {
  const name = nameOfModule(module);
  const reason = `Blocked: the policy "${name}" cannot be asked: ${why}`;
  const block = async (ctx: Blockable) => ctx.block(reason);
  config.use(stack, block, { name, policy: true });
}

async function loadMiddleware(
  { module, options = {} }: ExtensionMiddleware,
  told: FactoryContext,
): Promise<Middleware<unknown>> {
  const exported = defaultOf(await withinLimit(import(pathToFileURL(module).href)));
  if (!isFunction(exported)) {
    throw new TypeError(
      `The module's default export is ${describe(exported)}: export an async function (ctx, next), or a factory that returns one`,
    );
  }
  // So a factory cannot be async; its module can await what it needs.
  if (types.isAsyncFunction(exported)) return exported as Middleware<unknown>;
  const made = exported(options, told);
  if (isFunction(made)) return made as Middleware<unknown>;
  // Nobody waits for this promise.
  if (made instanceof Promise) made.catch(() => undefined);
  throw new TypeError(
    `The module's default export is not an async function, so it was called as a factory, and returned ${describe(made)}: return the middleware, or mark the function as async if it is the middleware`,
  );
}

/** CommonJS that was compiled from ESM has its default export one level deeper. */
function defaultOf(namespace: unknown): unknown {
  const exported = isRecord(namespace) ? namespace['default'] : undefined;
  return isRecord(exported) && exported['__esModule'] === true ? exported['default'] : exported;
}

function isFunction(value: unknown): value is (first: unknown, second: unknown) => unknown {
  return typeof value === 'function';
}

/** A module may await something that never happens. */
async function withinLimit(loading: Promise<unknown>): Promise<unknown> {
  let timer: NodeJS.Timeout | undefined;
  const limit = new Promise<never>((_resolve, reject) => {
    const error = new Error(`The module was not loaded within ${LOAD_LIMIT_MS} ms`);
    timer = setTimeout(() => reject(error), LOAD_LIMIT_MS);
  });
  try {
    return await Promise.race([loading, limit]);
  } finally {
    clearTimeout(timer);
  }
}

function problemOf({ middleware }: ExtensionModule, message: string): FileProblem {
  return { ...middleware.place, message, severity: 'warning' };
}
