import { EventEmitter } from 'node:events';
import { createInterface } from 'node:readline';
import { PassThrough } from 'node:stream';
import type { SpawnedProcess } from '@anthropic-ai/claude-agent-sdk';
import type { Answer, ClaudeIo, PermissionAnswer } from './claudeLoop.js';

interface Line {
  readonly type: string;
  readonly request_id: string;
  readonly request: {
    readonly subtype: string;
    readonly hooks?: Record<string, { hookCallbackIds: string[]; timeout?: number }[]>;
    readonly systemPrompt?: string | string[];
  };
  readonly response: {
    readonly request_id: string;
    readonly response?: object;
    readonly error?: string;
  };
  readonly message: { readonly content: string | { readonly text: string }[] };
}

/** Stands in for the program Claude Code: it speaks the SDK's protocol, and does what `serve` says for a prompt. */
export function fakeClaude(
  common: object,
  serve: (io: ClaudeIo) => Promise<string>,
): SpawnedProcess {
  const [stdin, stdout] = [new PassThrough(), new PassThrough()];
  const events = new EventEmitter();
  const waiting = new Map<string, (response: Line['response']) => void>();
  let hooks: NonNullable<Line['request']['hooks']> = {};
  let systemPrompt = '';
  const state = { exitCode: null as number | null, killed: false };

  const send = (message: object) => void stdout.write(`${JSON.stringify(message)}\n`);
  const ended = new AbortController();
  const exit = () => {
    if (state.exitCode !== null) return;
    ended.abort();
    state.exitCode = 0;
    stdout.end();
    events.emit('exit', 0, null);
    events.emit('close', 0, null);
  };
  const request = (fields: object) =>
    new Promise<object>((resolve, reject) => {
      const id = `request-${waiting.size}`;
      waiting.set(id, ({ response, error }) =>
        error === undefined ? resolve(response ?? {}) : reject(new Error(error)),
      );
      send({ type: 'control_request', request_id: id, request: fields });
    });
  const tell = (message: object) => send({ uuid: crypto.randomUUID(), ...common, ...message });
  const io = {
    async fire(event: string, fields: object) {
      const ids = (hooks[event] ?? []).flatMap(({ hookCallbackIds }) => hookCallbackIds);
      const input = { hook_event_name: event, ...common, ...fields };
      const ask = (id: string) => request({ subtype: 'hook_callback', callback_id: id, input });
      return Object.assign({}, ...(await Promise.all(ids.map(ask)))) as Answer;
    },
    ask: async (tool_name: string, input: object, tool_use_id: string) =>
      (await request({
        subtype: 'can_use_tool',
        tool_name,
        input,
        tool_use_id,
      })) as PermissionAnswer,
    signal: ended.signal,
    show(text: string) {
      const delta = { type: 'text_delta', text };
      tell({ type: 'stream_event', event: { type: 'content_block_delta', index: 0, delta } });
    },
  };
  const answer = async (content: Line['message']['content']) => {
    const prompt = typeof content === 'string' ? content : content.map(({ text }) => text).join('');
    const outcome = await serve({ ...io, prompt, systemPrompt }).then(
      (result) => ({ subtype: 'success', is_error: false, result }),
      (error: unknown) => ({
        subtype: 'error_during_execution',
        is_error: true,
        errors: [String(error)],
      }),
    );
    if (state.exitCode !== null) return;
    const figures = { duration_ms: 1, duration_api_ms: 1, num_turns: 1, total_cost_usd: 0 };
    const rest = { ...figures, usage: {}, permission_denials: [] };
    tell({ type: 'result', ...outcome, ...rest });
    exit();
  };
  createInterface({ input: stdin }).on('line', (text) => {
    const line = JSON.parse(text) as Line;
    if (line.type === 'control_response') waiting.get(line.response.request_id)?.(line.response);
    if (line.type === 'user') void answer(line.message.content);
    if (line.type !== 'control_request') return;
    if (line.request.subtype === 'initialize') {
      hooks = line.request.hooks ?? {};
      systemPrompt = [line.request.systemPrompt ?? ''].flat().join('\n');
    }
    const response = { commands: [], models: [], account: {} };
    const { request_id } = line;
    send({ type: 'control_response', response: { subtype: 'success', request_id, response } });
  });
  stdin.on('end', exit);
  const kill = () => {
    state.killed = true;
    exit();
    return true;
  };
  const child = Object.assign(events, { stdin, stdout, kill });
  return Object.defineProperties(child, {
    killed: { get: () => state.killed },
    exitCode: { get: () => state.exitCode },
  }) as unknown as SpawnedProcess;
}
