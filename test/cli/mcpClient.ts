import { createInterface } from 'node:readline';
import { fileURLToPath } from 'node:url';
import type { ResultPromise } from 'execa';
import { expect, onTestFinished } from 'vitest';
import type { Cli } from './helpers.js';

/** A server whose tools misbehave in many ways. */
export const SERVER = fileURLToPath(new URL('../fixtures/mcp/server.mjs', import.meta.url));

export interface RpcMessage {
  readonly id?: string | number | null;
  readonly method?: string;
  readonly params?: { readonly [key: string]: unknown };
  readonly result?: { readonly [key: string]: unknown };
  readonly error?: { readonly code: number; readonly message: string };
}

interface StartOptions {
  readonly args?: readonly string[];
  readonly command?: readonly string[];
  readonly env?: Record<string, string>;
  /** Where the server is, in place of a command. */
  readonly at?: string;
}

/** A client that says what it is told to, right or wrong, to a proxy in front of a server. */
export class RawClient {
  readonly received: RpcMessage[] = [];
  readonly process: ResultPromise;
  #id = 0;

  constructor(
    cli: Cli,
    { args = [], command = [process.execPath, SERVER], env = {}, at }: StartOptions = {},
  ) {
    const place = at === undefined ? ['--', ...command] : ['--url', at];
    const words = ['mcp', '--name', 'test', ...args, ...place];
    this.process = cli.start(words, { stdin: 'pipe', input: undefined, env, maxBuffer: 2 ** 30 });
    const { stdout } = this.process;
    if (!stdout) throw new Error('There is no stdout');
    createInterface({ input: stdout }).on('line', (line) => {
      this.received.push(JSON.parse(line) as RpcMessage);
    });
    onTestFinished(() => void this.process.kill('SIGKILL'));
  }

  /** A line, or an object that becomes one. */
  say(message: object | string): void {
    const line = typeof message === 'string' ? message : JSON.stringify(message);
    this.process.stdin?.write(`${line}\n`);
  }

  async waitFor(matches: (message: RpcMessage) => boolean): Promise<RpcMessage> {
    // Each test waits for several messages, which mostly come within milliseconds.
    const soon = { timeout: 15_000, interval: 2 };
    await expect.poll(() => this.received.find(matches), soon).toBeDefined();
    return this.received.find(matches) ?? {};
  }

  async request(method: string, params: object = {}): Promise<RpcMessage> {
    const id = (this.#id += 1);
    this.say({ jsonrpc: '2.0', id, method, params });
    return this.waitFor((message) => message.id === id && message.method === undefined);
  }

  initialize(capabilities: object = {}, protocolVersion = '2025-11-25'): Promise<RpcMessage> {
    const clientInfo = { name: 'raw', version: '1' };
    return this.request('initialize', { protocolVersion, capabilities, clientInfo });
  }

  async call(name: string, args: object = {}, meta?: object): Promise<RpcMessage> {
    return this.request('tools/call', { name, arguments: args, ...(meta && { _meta: meta }) });
  }

  /** Says no more; the exit code, and what stood on stderr. */
  async end(): Promise<{ exitCode: number | undefined; stderr: string }> {
    this.process.stdin?.end();
    return this.ended();
  }

  async ended(): Promise<{ exitCode: number | undefined; stderr: string }> {
    const { exitCode, stderr } = await this.process;
    return { exitCode, stderr: String(stderr) };
  }
}

/** The text of a result of a tool. */
export function textOf({ result }: RpcMessage): string {
  const content = (result?.['content'] ?? []) as { text?: string }[];
  return content.map(({ text }) => text ?? '').join('|');
}
