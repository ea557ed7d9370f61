import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { text as readText } from 'node:stream/consumers';
import { textOf } from '../../../dialects/answers.js';
import { isRecord } from '../../../util/records.js';

/** What a model says: a text, or a call of a tool. An input that is a text is one of a tool that takes free text. */
export type Part =
  | { readonly text: string }
  | { readonly name: string; readonly namespace?: string; readonly input: unknown };

/** What it says in one answer. */
export type Step = readonly Part[];

/** A request of an agent's program to the model. */
export interface ModelRequest {
  readonly body: Body;
  /** The script that it was answered by, and which step of it; `undefined` for titles and such. */
  readonly script?: number | undefined;
  readonly step?: number | undefined;
}

export type Api = keyof typeof APIS;

/**
 * A model on this machine that follows scripts: a prompt names one, and its answer n is step n of it. After the last step
 * it says that it is done.
 */
export class LoopbackModel {
  readonly requests: ModelRequest[] = [];
  /** The HTTP status with which it fails at whatever it is asked with tools, where it does. */
  failsWith: number | undefined;
  readonly #scripts: (readonly Step[])[] = [];
  readonly #server = createServer((request, response) => {
    void this.#serve(request, response);
  });
  readonly #api: Api;

  private constructor(api: Api) {
    this.#api = api;
  }

  static async start(api: Api): Promise<LoopbackModel> {
    const model = new LoopbackModel(api);
    model.#server.listen(0, '127.0.0.1');
    await once(model.#server, 'listening');
    return model;
  }

  get url(): string {
    return `http://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** @returns the prompt for which the model follows the steps */
  play(steps: readonly Step[]): string {
    return `Please follow SCRIPT-${this.#scripts.push(steps)}- to its end.`;
  }

  close(): void {
    this.#server.closeAllConnections();
    this.#server.close();
  }

  async #serve(request: IncomingMessage, response: ServerResponse): Promise<void> {
    const text = await readText(request);
    const body = (text === '' ? {} : JSON.parse(text)) as Body;
    if (this.failsWith !== undefined && body.tools?.length) {
      return sendJson(response, { error: { message: 'It fails.' } }, this.failsWith);
    }
    APIS[this.#api](request.url ?? '', body, response, (messages) => this.#next(body, messages));
  }

  /** @param messages of which those of the model have the role `model` */
  #next(body: Body, messages: readonly Message[]): Step {
    let script: number | undefined;
    let step = 0;
    for (const { role, text } of messages) {
      const found = role === 'user' && /SCRIPT-(\d+)-/u.exec(text);
      if (found) [script, step] = [Number(found[1]), 0];
      else if (role === 'model') step += 1;
    }
    this.requests.push(script === undefined ? { body } : { body, script, step });
    return this.#scripts[(script ?? 0) - 1]?.[step] ?? [{ text: 'Done.' }];
  }
}

interface Message {
  readonly role: 'user' | 'model';
  readonly text: string;
}

/** What is read of a request, whatever its API. */
export interface Body {
  readonly model?: string;
  readonly stream?: boolean;
  readonly tools?: readonly unknown[];
  /** Of Anthropic's API, and of OpenAI's for chats. */
  readonly messages?: readonly Said[];
  /** Of Gemini's API. */
  readonly contents?: readonly Said[];
  /** Of OpenAI's API for responses. */
  readonly input?: readonly Said[];
  readonly generationConfig?: {
    readonly responseMimeType?: string;
    readonly responseJsonSchema?: unknown;
  };
}

interface Said {
  readonly role?: string;
  readonly type?: string;
  readonly content?: unknown;
  readonly parts?: unknown;
}

type Answering = (
  url: string,
  body: Body,
  response: ServerResponse,
  next: (messages: readonly Message[]) => Step,
) => void;

/** Those of the user and of the model; results of tools are neither. */
function messagesOf(said: readonly Said[] = []): Message[] {
  return said.flatMap((each): Message[] => {
    if (each.role === 'user') return [{ role: 'user', text: textIn(each.content ?? each.parts) }];
    const isModel = each.role === 'assistant' || each.role === 'model';
    return isModel ? [{ role: 'model', text: '' }] : [];
  });
}

function textIn(content: unknown): string {
  if (typeof content === 'string') return content;
  const parts = Array.isArray(content) ? content : [];
  return parts.map((part: unknown) => (isRecord(part) ? textOf(part['text']) : '')).join('\n');
}

function sendJson(response: ServerResponse, value: object, status = 200): void {
  response.writeHead(status, { 'content-type': 'application/json' });
  response.end(JSON.stringify(value));
}

/** Starts a stream of events; their name is the `type` of what they hold, where it has one. */
function streamTo(response: ServerResponse): (event: object) => void {
  response.writeHead(200, { 'content-type': 'text/event-stream' });
  return (event) => {
    const name = 'type' in event ? `event: ${String(event.type)}\n` : '';
    response.write(`${name}data: ${JSON.stringify(event)}\n\n`);
  };
}

let lastId = 0;
const idOf = (kind: string): string => `${kind}_${(lastId += 1)}`;

/** Requests without tools are for titles. */
const TITLE: Step = [{ text: 'A title' }];

const anthropic: Answering = (url, body, response, next) => {
  if (url.includes('count_tokens')) return sendJson(response, { input_tokens: 1 });
  if (!url.startsWith('/v1/messages')) return sendJson(response, {}, 404);
  const step = body.tools?.length ? next(messagesOf(body.messages)) : TITLE;
  const content = step.map((part) =>
    'text' in part
      ? { type: 'text', text: part.text }
      : { type: 'tool_use', id: idOf('toolu'), name: part.name, input: part.input },
  );
  const stop_reason = step.every((part) => 'text' in part) ? 'end_turn' : 'tool_use';
  const message = {
    id: idOf('msg'),
    type: 'message',
    role: 'assistant',
    model: body.model,
    content,
    stop_reason,
    stop_sequence: null,
    usage: { input_tokens: 1, output_tokens: 1 },
  };
  if (!body.stream) return sendJson(response, message);
  const send = streamTo(response);
  send({ type: 'message_start', message: { ...message, content: [], stop_reason: null } });
  for (const [index, block] of content.entries()) {
    const isText = 'text' in block;
    const start = isText ? { ...block, text: '' } : { ...block, input: {} };
    const delta = isText
      ? { type: 'text_delta', text: block.text }
      : { type: 'input_json_delta', partial_json: JSON.stringify(block.input) };
    send({ type: 'content_block_start', index, content_block: start });
    send({ type: 'content_block_delta', index, delta });
    send({ type: 'content_block_stop', index });
  }
  const usage = { output_tokens: 1 };
  send({ type: 'message_delta', delta: { stop_reason, stop_sequence: null }, usage });
  send({ type: 'message_stop' });
  response.end();
};

/** What Gemini CLI asks a model besides the prompt: who speaks next, and how hard the task is. */
const ROUTING = {
  reasoning: '-',
  next_speaker: 'user',
  complexity_reasoning: '-',
  complexity_score: 1,
  model_choice: 'flash',
};

const gemini: Answering = (url, body, response, next) => {
  if (url.includes('countTokens')) return sendJson(response, { totalTokens: 1 });
  if (!/generateContent/i.test(url)) return sendJson(response, {}, 404);
  const { responseMimeType, responseJsonSchema } = body.generationConfig ?? {};
  const isRouting = responseMimeType === 'application/json' || responseJsonSchema !== undefined;
  const step = isRouting ? [{ text: JSON.stringify(ROUTING) }] : next(messagesOf(body.contents));
  const parts = step.map((part) =>
    'text' in part ? part : { functionCall: { name: part.name, args: part.input } },
  );
  const answer = {
    candidates: [{ index: 0, content: { role: 'model', parts }, finishReason: 'STOP' }],
    usageMetadata: { promptTokenCount: 1, candidatesTokenCount: 1, totalTokenCount: 2 },
  };
  if (!url.includes('stream')) return sendJson(response, answer);
  streamTo(response)(answer);
  response.end();
};

/** Items of a conversation that are the model's own. */
const OWN_ITEMS = new Set(['function_call', 'custom_tool_call', 'local_shell_call', 'reasoning']);

/** Calls side by side are items of their own, and one answer. */
function answersIn(items: readonly Said[] = []): Said[] {
  const isOwn = (item?: Said) => OWN_ITEMS.has(item?.type ?? '') || item?.role === 'assistant';
  return items.flatMap((item, at) => {
    if (!isOwn(item)) return item;
    return isOwn(items[at - 1]) ? [] : { ...item, role: 'assistant' };
  });
}

const responses: Answering = (url, body, response, next) => {
  if (!url.includes('/responses')) return sendJson(response, {}, 404);
  const step = body.tools?.length ? next(messagesOf(answersIn(body.input))) : TITLE;
  const output = step.map((part) => {
    if ('text' in part) {
      const content = [{ type: 'output_text', text: part.text, annotations: [] }];
      return { type: 'message', id: idOf('msg'), role: 'assistant', content };
    }
    const { input, ...name } = part;
    const call = { ...name, id: idOf('item'), call_id: idOf('call') };
    return typeof input === 'string'
      ? { ...call, type: 'custom_tool_call', input }
      : { ...call, type: 'function_call', arguments: JSON.stringify(input) };
  });
  const answer = { id: idOf('resp'), object: 'response', model: body.model };
  const send = streamTo(response);
  send({ type: 'response.created', response: { ...answer, status: 'in_progress', output: [] } });
  for (const [output_index, item] of output.entries()) {
    send({ type: 'response.output_item.added', output_index, item });
    send({ type: 'response.output_item.done', output_index, item });
  }
  const usage = { input_tokens: 1, output_tokens: 1, total_tokens: 2 };
  send({ type: 'response.completed', response: { ...answer, status: 'completed', output, usage } });
  response.end();
};

const chat: Answering = (url, body, response, next) => {
  if (!url.includes('/chat/completions')) return sendJson(response, {}, 404);
  const step = body.tools?.length ? next(messagesOf(body.messages)) : TITLE;
  const content = step.map((part) => ('text' in part ? part.text : '')).join('') || null;
  const tool_calls = step.flatMap((part, index) => {
    if ('text' in part) return [];
    const function_ = { name: part.name, arguments: JSON.stringify(part.input) };
    return [{ index, id: idOf('call'), type: 'function', function: function_ }];
  });
  const isCall = tool_calls.length > 0;
  const finish_reason = isCall ? 'tool_calls' : 'stop';
  const message = { role: 'assistant', content, ...(isCall && { tool_calls }) };
  const answer = { id: idOf('chatcmpl'), created: 1, model: body.model };
  const usage = { prompt_tokens: 1, completion_tokens: 1, total_tokens: 2 };
  if (!body.stream) {
    const choices = [{ index: 0, message, finish_reason }];
    return sendJson(response, { ...answer, object: 'chat.completion', choices, usage });
  }
  const send = streamTo(response);
  const chunk = { ...answer, object: 'chat.completion.chunk' };
  send({ ...chunk, choices: [{ index: 0, delta: message, finish_reason: null }] });
  send({ ...chunk, choices: [{ index: 0, delta: {}, finish_reason }] });
  send({ ...chunk, choices: [], usage });
  response.end('data: [DONE]\n\n');
};

const APIS = { anthropic, gemini, responses, chat };
