import { askRemote } from '../src/fleet/remoteHooks.js';
import { McpHooks } from '../src/mcp/mcpHooks.js';
import { PromptHooks } from '../src/prompts/promptHooks.js';
import type { HookRun } from '../src/run/hookRun.js';
import type { PreparedInput } from '../src/run/preparedInput.js';
import type { HookEnvironmentPolicy } from '../src/run/hookEnvironment.js';

/** What answers hooks that are no processes. */
export interface Answering {
  /** Keeps MCP servers for their tools; without it, one is started for each event. */
  readonly mcp?: McpHooks | undefined;
  /** Has models judge; without it, there is none. */
  readonly prompts?: PromptHooks;
  readonly signal?: AbortSignal | undefined;
  readonly environment: HookEnvironmentPolicy;
}

/** Has a hook answer that is no process here: a server, a tool of one, or a model. */
export async function askHook(
  run: HookRun,
  stdin: Uint8Array,
  prepared: PreparedInput,
  options: Answering,
): Promise<void> {
  const { type } = run.hook;
  const { environment, signal, prompts = new PromptHooks(), mcp } = options;
  if (type === 'remote') return askRemote(run, stdin, options);
  if (type === 'prompt') return prompts.ask(run, stdin, signal);
  const servers = mcp ?? new McpHooks();
  try {
    await servers.ask(run, stdin, { prepared, environment, signal });
  } finally {
    if (!mcp) await servers.stop();
  }
}
