import { askRemote } from '../src/fleet/remoteHooks.js';
import { McpHooks } from '../src/mcp/mcpHooks.js';
import { PromptHooks } from '../src/prompts/promptHooks.js';
import type { HookRun } from '../src/run/hookRun.js';
import type { PreparedInput } from '../src/run/preparedInput.js';
import type { RunOptions } from './runHook.js';

/** Has a hook answer that is no process here: a server, a tool of one, or a model. */
export async function askHook(
  run: HookRun,
  stdin: Uint8Array,
  prepared: PreparedInput,
  options: RunOptions,
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
