import { existsSync } from 'node:fs';
import { createRequire } from 'node:module';
import path from 'node:path';
import { inspect } from 'node:util';
import type { GenerateContentParameters } from '@google/genai';
import type { Config } from '../config/config.js';
import type { CallOptions } from '../context.js';
import { executeToolWithHooks } from '../core/coreToolHookTriggers.js';
import { isLookedAt } from '../core/isLookedAt.js';
import type { ModelTurn } from '../core/modelCall.js';
import { toParts } from '../protocol/llmContent.js';
import { emptyResponse } from '../protocol/response.js';
import { HookEventName } from '../protocol/types.js';
import type { ToolResult } from '../tools/tools.js';
import { readTextSync } from '../util/guardedRead.js';

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

/** What a host goes on with after a tool call. */
export type ToolOutcome<Output> = {
  /** The agent is to end: why. */
  readonly stopReason: string | undefined;
} & (
  | /** What the tool gave, as it gave it. */ { readonly kind: 'given'; readonly output: Output }
  | /** What the model is to read in its place. */ {
      readonly kind: 'changed';
      readonly text: string;
    }
  | /** The tool did not run, and why. */ { readonly kind: 'refused'; readonly text: string }
);

/**
 * Runs a host's tool with its hooks, or by itself where nobody looks at the call. Hooks read what it gives as text, or
 * else as JSON; what no hook has changed comes back as it was.
 *
 * @throws what the tool throws; the reason of `options.signal`, where somebody looks at the call
 */
export async function callTool<Output>(
  config: Config,
  name: string,
  input: Record<string, unknown>,
  execute: (input: Record<string, unknown>) => Promise<Output> | Output,
  options: CallOptions = {},
): Promise<ToolOutcome<Output>> {
  if (!isLookedAt(config, { toolName: name, toolInput: input })) {
    return { kind: 'given', output: await execute(input), stopReason: undefined };
  }
  let ran: { output: Output; text: string } | undefined;
  const result = await executeToolWithHooks(
    config,
    name,
    input,
    async (changed) => {
      const output = await execute(changed);
      ran = { output, text: asText(output) };
      return { llmContent: ran.text, returnDisplay: ran.text };
    },
    options,
  );
  if (!ran) options.signal?.throwIfAborted();
  return outcomeOf(result, ran);
}

/** What a result means for the host. `ran` is what the tool gave, and the text that hooks read of it. */
export function outcomeOf<Output>(
  result: ToolResult,
  ran: { readonly output: Output; readonly text: string } | undefined,
): ToolOutcome<Output> {
  const { stopReason, llmContent } = result;
  if (ran && llmContent === ran.text) return { kind: 'given', output: ran.output, stopReason };
  return { kind: ran ? 'changed' : 'refused', text: textOf(result), stopReason };
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

/** A map that forgets what was set first, for what is known of calls that may never come. */
export class RecentMap<V> {
  readonly #entries = new Map<string, V>();

  constructor(readonly limit = 1000) {}

  get size(): number {
    return this.#entries.size;
  }

  get(key: string): V | undefined {
    return this.#entries.get(key);
  }

  set(key: string, value: V): void {
    this.#entries.delete(key);
    this.#entries.set(key, value);
    const [oldest] = this.#entries.keys();
    if (this.#entries.size > this.limit && oldest !== undefined) this.#entries.delete(oldest);
  }

  delete(key: string): void {
    this.#entries.delete(key);
  }
}

/** How a model call ends that is not made, because a tool before it stopped the agent. */
export function stoppedTurn(request: GenerateContentParameters, reason: string): ModelTurn {
  return {
    request,
    response: emptyResponse(),
    verdict: { kind: 'stop', event: HookEventName.AfterTool, reason },
    blocked: true,
    synthetic: false,
    suppressDisplay: false,
    notes: [],
  };
}
