import path from 'node:path';
import { parseFleetAddress } from '../fleet/address.js';
import { NOT_RUN, type CommandOutcome } from '../process/command/outcome.js';
import { failsClosed } from '../protocol/events.js';
import type { CommandHookConfig, McpServer } from '../protocol/types.js';
import { inherited, variablesOf, type HookEnvironmentPolicy } from '../run/hookEnvironment.js';
import type { HookRun } from '../run/hookRun.js';
import { startOptions, type PreparedInput } from '../run/preparedInput.js';
import { errorMessage } from '../util/errorMessage.js';
import { isRecord } from '../util/records.js';
import { Connection, type Way } from './connection.js';
import { fillIn } from './placeholders.js';
import type { ToolAnswer } from './sdk.js';
import { readToolAnswer } from './toolAnswer.js';

/** Servers that are kept at a time. */
const MAX_SERVERS = 16;

/** What a call needs besides its hook. */
export interface McpCall {
  readonly prepared: PreparedInput;
  readonly environment: HookEnvironmentPolicy;
  readonly signal?: AbortSignal | undefined;
}

/** The MCP servers of one host, each started for its first call, and kept. */
export class Servers {
  readonly #open = new Map<string, Connection>();

  /**
   * Calls the tool of a hook.
   *
   * @param stdin what a command would read
   * @returns what a command that prints the tool's text would have come to. Never rejects
   */
  async ask(run: HookRun, stdin: Uint8Array, options: McpCall): Promise<CommandOutcome> {
    const { timeoutMs, hook, event } = run;
    const startedAt = performance.now();
    const deadline = AbortSignal.timeout(timeoutMs);
    const signal = options.signal ? AbortSignal.any([options.signal, deadline]) : deadline;
    const timer = setTimeout(() => undefined, timeoutMs);
    try {
      const read: unknown = JSON.parse(Buffer.from(stdin).toString());
      const isGuard = failsClosed(hook, event);
      const args = fillIn(hook.input ?? {}, read, isGuard);
      const answer = await this.#call(hook, args, { ...options, signal, timeoutMs });
      const stdout = readToolAnswer(answer, isGuard);
      const said = { stdout, inputTaken: true, bytesRead: Buffer.byteLength(stdout) };
      return { ...NOT_RUN, ending: 'exit', exitCode: 0, ...said, durationMs: since(startedAt) };
    } catch (error) {
      const durationMs = since(startedAt);
      if (options.signal?.aborted) return { ...NOT_RUN, ending: 'aborted', durationMs };
      if (deadline.aborted) return { ...NOT_RUN, ending: 'timeout', durationMs };
      const what = `got no answer from the MCP server "${hook.server}": ${withStatus(error)}`;
      return { ...NOT_RUN, ending: 'broken', durationMs, error: new Error(what, { cause: error }) };
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the server of a hook that must not be asked any more. */
  drop(hook: CommandHookConfig): void {
    for (const [key, connection] of this.#open) {
      if (!key.startsWith(keyOf(hook, ''))) continue;
      this.#open.delete(key);
      void connection.close();
    }
  }

  /** Ends all of them. */
  async stop(): Promise<void> {
    const all = [...this.#open.values()];
    this.#open.clear();
    await Promise.all(all.map((connection) => connection.close()));
  }

  async #call(
    hook: CommandHookConfig,
    args: Readonly<Record<string, unknown>>,
    options: McpCall & { readonly signal: AbortSignal; readonly timeoutMs: number },
  ): Promise<ToolAnswer> {
    const { signal, timeoutMs, prepared } = options;
    const key = keyOf(hook, prepared.directory);
    const known = this.#open.get(key);
    const call = (connection: Connection) =>
      connection.call(hook.tool ?? '', args, signal, timeoutMs);
    if (!known || known.isSpent) return call(this.#connect(key, hook, options));
    try {
      return await call(known);
    } catch (error) {
      // The server has forgotten a session that was well, and with it nothing of this call.
      if ((error as { code?: unknown }).code !== NO_SESSION) throw error;
      return call(this.#connect(key, hook, options));
    }
  }

  #connect(key: string, hook: CommandHookConfig, options: McpCall): Connection {
    const way = wayTo(hook, options);
    this.#open.delete(key);
    this.#makeRoom();
    const connection = new Connection(way);
    this.#open.set(key, connection);
    return connection;
  }

  #makeRoom(): void {
    for (const [key, { isSpent }] of this.#open) if (isSpent) this.#open.delete(key);
    if (this.#open.size < MAX_SERVERS) return;
    const idle = [...this.#open].filter(([, { isBusy }]) => !isBusy);
    const [oldest] = idle.toSorted(([, a], [, b]) => a.usedAt - b.usedAt);
    if (!oldest) throw new Error(`it is not started beside ${MAX_SERVERS} others that are busy`);
    this.#open.delete(oldest[0]);
    void oldest[1].close();
  }
}

/** Status of an answer to a session that is not known. */
const NO_SESSION = 404;

/** What tells one server from another: hooks with the same have it together. */
function keyOf(hook: CommandHookConfig, directory: string): string {
  const { mcpServer, scope, extensionPath, dialect } = hook;
  const start = JSON.stringify([mcpServer, scope, extensionPath, dialect]);
  return `${start}${directory}`;
}

/** @throws Error that says what is wrong with the definition */
function wayTo(hook: CommandHookConfig, { prepared, environment }: McpCall): Way {
  const { mcpServer: server, scope } = hook;
  if (!server) throw new Error('it is not known: put it under "mcpServers" of the same file');
  const host = variablesOf(environment);
  const variables = scope === 'project' ? inherited(environment, host) : host;
  if (server.command !== undefined) return { start: startOf(hook, server, prepared, variables) };
  const { url = '', headers = {} } = server;
  const address = parseFleetAddress(url, (name) => variables[name]);
  if (address.kind !== 'http') throw new Error('it has an address of another kind than https://');
  return { url: address.url, headers: new Headers(withVariables(headers, variables)) };
}

function startOf(
  { extensionPath, scope, dialect }: CommandHookConfig,
  { command = '', args = [], env = {}, cwd = '.' }: McpServer,
  prepared: PreparedInput,
  variables: NodeJS.ProcessEnv,
) {
  const own = withVariables(env, variables);
  const program = {
    type: 'command',
    command,
    args,
    env: own,
    extensionPath,
    scope,
    dialect,
  } as const;
  return { ...startOptions(program, prepared), cwd: path.resolve(prepared.directory, cwd) };
}

const VARIABLE = /\$\{(\w+)\}/gu;

function withVariables(
  texts: Readonly<Record<string, string>>,
  variables: NodeJS.ProcessEnv,
): Record<string, string> {
  const fill = (text: string) =>
    text.replaceAll(VARIABLE, (_, name: string) => {
      const value = variables[name];
      if (value !== undefined) return value;
      throw new Error(`it needs the variable ${name}, which is not set, or withheld from hooks`);
    });
  return Object.fromEntries(Object.entries(texts).map(([name, text]) => [name, fill(text)]));
}

function since(startedAt: number): number {
  return Math.round(performance.now() - startedAt);
}

/** The client gives the status of HTTP beside its message. */
function withStatus(error: unknown): string {
  const told = error instanceof Error ? (error.cause ?? error) : error;
  const status: unknown = isRecord(told) || told instanceof Error ? Reflect.get(told, 'code') : 0;
  const isStatus = typeof status === 'number' && status >= 300 && status < 600;
  const advice = status === 401 ? ' (write what it wants into its "headers")' : '';
  return isStatus ? `HTTP ${status}${advice}: ${errorMessage(error)}` : errorMessage(error);
}
