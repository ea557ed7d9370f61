import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { inspect } from 'node:util';
import type { Config } from '../config/config.js';
import type { CallOptions } from '../context.js';
import { executeToolWithHooks } from '../core/coreToolHookTriggers.js';
import { toParts } from '../protocol/llmContent.js';
import { hasHooks } from '../hooks/fireHook.js';
import { HookEventName, type CallSession } from '../protocol/types.js';
import type { ToolResult } from '../tools/tools.js';
import { readTextSync } from '../util/guardedRead.js';
import type { OptionNames } from '../util/requireKnown.js';

/** The version of a package that is installed beside this one; `undefined` where that cannot be known. */
export function installedVersion(name: string): string | undefined {
  const require = createRequire(import.meta.url);
  try {
    return (require(`${name}/package.json`) as { version?: string }).version;
  } catch {
    return versionAbove(require, name);
  }
}

/** Of a package that does not export its `package.json`: the one above what it exports. */
function versionAbove(require: NodeJS.Require, name: string): string | undefined {
  try {
    let directory = path.dirname(require.resolve(name));
    for (;;) {
      const file = path.join(directory, 'package.json');
      const found = existsSync(file)
        ? (JSON.parse(readTextSync(file)) as { name?: string; version?: string })
        : undefined;
      if (found?.name === name) return found.version;
      if (directory === path.dirname(directory)) return undefined;
      directory = path.dirname(directory);
    }
  } catch {
    return undefined;
  }
}

/**
 * Refuses a host that the adapter was not made for. A version that cannot be known passes.
 *
 * @param adapter such as `hookstack/ai`
 * @param host what it is an adapter of, such as `ai`
 * @param version that of the host that is there
 * @param supported beginnings of versions, such as `6` or `0.20`; `1.5+` is 1.5, and what came after it, but not 2
 */
export function requireVersion(
  adapter: string,
  host: string,
  version: string | undefined,
  supported: readonly string[],
): void {
  if (version === undefined || supported.some((each) => isOneOf(version, each))) return;
  const wanted = supported
    .map((each) => (each.endsWith('+') ? `${each.slice(0, -1)} or newer` : `${each}.x`))
    .join(' or ');
  throw new Error(
    `${adapter} is for ${host} ${wanted}, and this is ${host} ${version}: install one of these versions, or a hookstack that knows this one`,
  );
}

function isOneOf(version: string, supported: string): boolean {
  if (!supported.endsWith('+')) return `${version}.`.startsWith(`${supported}.`);
  const [major, least] = supported.slice(0, -1).split('.').map(Number);
  const [given, minor = 0] = version.split('.').map(Number);
  return given === major && minor >= (least ?? 0);
}

/** What every adapter takes besides the `Config`. `Session` says in what form. */
export interface AdapterOptions<Session = CallSession> extends Pick<
  CallOptions,
  'onHooks' | 'onApproval'
> {
  /** For whom calls are made; a function is asked for each call. Default: what the host says, or else the `Config`. */
  readonly session?: Session | undefined;
  /** Throw where hooks or middleware cannot have an effect, instead of a warning. Default `false`. */
  readonly strict?: boolean | undefined;
}

export const ADAPTER_OPTIONS: OptionNames<AdapterOptions> = {
  onHooks: true,
  onApproval: true,
  session: true,
  strict: true,
};

const warned = new WeakMap<Config, Set<string>>();

/** Warns of what an adapter cannot cover, once per `Config`; throws it with `strict`. */
export function tellUncovered(config: Config, message: string, strict = false): void {
  if (strict) throw new Error(message);
  const said = warned.get(config) ?? new Set();
  warned.set(config, said);
  if (said.has(message)) return;
  said.add(message);
  config.getDebugLogger().warn(message);
}

/** Whether answers are kept from streams until hooks have seen them. */
export function isHeld(config: Config): boolean {
  return config.holdsAnswers() && hasHooks(config, HookEventName.AfterModel);
}

/** The signal for the model: the host's own, unless middleware may end a call that the model is at. */
export function modelSignal(
  config: Config,
  own: AbortSignal | undefined,
  aborted: AbortSignal,
): AbortSignal | undefined {
  return config.registrations('model').length === 0 ? own : aborted;
}

/** A tool of the host that has run. */
export interface Ran<Output> {
  readonly output: Output;
  /** What hooks read of it. */
  readonly result: ToolResult;
}

/**
 * Runs a host's tool with its hooks.
 *
 * @param read makes of what the tool gives what hooks read
 * @returns the result with all effects of hooks, and what the tool gave, where it has run
 * @throws what the tool throws; the reason of `options.signal`
 */
export async function runTool<Output>(
  config: Config,
  name: string,
  input: Record<string, unknown>,
  execute: (input: Record<string, unknown>) => Promise<Output> | Output,
  read: (output: Output) => ToolResult,
  options: CallOptions,
): Promise<{ readonly result: ToolResult; readonly ran: Ran<Output> | undefined }> {
  let ran: Ran<Output> | undefined;
  const run = async (changed: Record<string, unknown>) => {
    const output = await execute(changed);
    ran = { output, result: read(output) };
    return ran.result;
  };
  const result = await executeToolWithHooks(config, name, input, run, options);
  if (!ran) options.signal?.throwIfAborted();
  return { result, ran };
}

/** What a tool gave as text, or else as JSON. */
export function textResult(output: unknown): ToolResult {
  const text = asText(output);
  return { llmContent: text, returnDisplay: text };
}

/** What hooks read of what a tool gives. */
export function asText(output: unknown): string {
  if (typeof output === 'string') return output;
  try {
    return JSON.stringify(output) ?? '';
  } catch {
    return inspect(output);
  }
}

/** What the model is to read of a result. */
export function textOf({ llmContent }: ToolResult): string {
  return toParts(llmContent)
    .map((part) => part.text ?? JSON.stringify(part))
    .join('');
}

/** So many calls are remembered. More than these go on at once in no program. */
const MAX_REMEMBERED = 1000;

/** A map that forgets what was set first, for what is known of calls that may never come. */
export class RecentMap<V> extends Map<string, V> {
  readonly #onForget: ((value: V) => void) | undefined;

  constructor(onForget?: (value: V) => void) {
    super();
    this.#onForget = onForget;
  }

  override set(key: string, value: V): this {
    this.delete(key);
    super.set(key, value);
    const [oldest] = this;
    if (!oldest || this.size <= MAX_REMEMBERED) return this;
    this.delete(oldest[0]);
    this.#onForget?.(oldest[1]);
    return this;
  }

  take(key: string | undefined): V | undefined {
    if (key === undefined) return undefined;
    const value = this.get(key);
    this.delete(key);
    return value;
  }
}
