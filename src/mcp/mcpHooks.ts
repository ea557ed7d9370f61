import type { CommandHookConfig } from '../protocol/types.js';
import type { HookRun } from '../run/hookRun.js';
import type { McpCall, Servers } from './servers.js';

/** Hooks of a host that are tools of MCP servers. What calls them is loaded with the first, as most hosts have none. */
export class McpHooks {
  #servers: Promise<Servers> | undefined;

  /** Calls the tool of a hook, and writes into `run` what a command that prints its text would have come to. */
  async ask(run: HookRun, stdin: Uint8Array, options: McpCall): Promise<void> {
    this.#servers ??= import('./servers.js').then((module) => new module.Servers());
    run.outcome = await (await this.#servers).ask(run, stdin, options);
  }

  /** Ends the server of a hook that must not be asked any more. */
  drop(hook: CommandHookConfig): void {
    if (hook.mcpServer) void this.#servers?.then((servers) => servers.drop(hook));
  }

  /** Ends all servers. The next call starts its own anew. */
  async stop(): Promise<void> {
    await (await this.#servers)?.stop();
  }
}
