import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { request as httpRequest } from 'node:http';
import type { ServerResponse } from 'node:http';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { fileURLToPath } from 'node:url';
import { ApiError, GoogleGenAI } from '@google/genai';
import type { GenerateContentResponse, HttpOptions } from '@google/genai';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { startRecordedModel } from './recordedServer.js';
import type { RecordedModel } from './recordedServer.js';

const FOREVER_MS = 2 ** 31 - 1;

let folder: string;
let file: string;
let model: RecordedModel;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recorded-model-'));
  file = join(folder, 'calls.responses');
});

afterEach(async () => {
  await model.close();
  await rm(folder, { recursive: true });
});

async function start(...calls: object[]) {
  await writeFile(file, calls.map((call) => JSON.stringify(call)).join('\n'));
  model = await startRecordedModel(file);
  return connect();
}

function connect(httpOptions: HttpOptions = {}) {
  return new GoogleGenAI({
    apiKey: model.apiKey,
    vertexai: false,
    httpOptions: { baseUrl: model.baseUrl, ...httpOptions },
  }).models;
}

function withKey() {
  return { 'x-goog-api-key': model.apiKey };
}

function answer(reply: string) {
  return { candidates: [{ content: { role: 'model', parts: [{ text: reply }] } }] };
}

function streamOf(...replies: string[]) {
  return { method: 'generateContentStream', response: replies.map(answer) };
}

function single(reply: string) {
  return { method: 'generateContent', response: answer(reply) };
}

const ask = { model: 'gemini-2.5-flash', contents: 'hello' };

async function textsOf(stream: AsyncIterable<GenerateContentResponse>) {
  const texts: (string | undefined)[] = [];
  for await (const chunk of stream) texts.push(chunk.text);
  return texts;
}

async function apiErrorOf(call: Promise<unknown>) {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  if (!(error instanceof ApiError)) throw new Error('Expected an ApiError', { cause: error });
  return error;
}

/** Servers and sockets that keep this process from ending. */
function listActiveConnections() {
  return process.getActiveResourcesInfo().filter((resource) => resource.startsWith('TCP'));
}

/** The server's side of the next exchange, as Node's HTTP server announces it. */
function nextServerResponse() {
  return new Promise<ServerResponse>((resolve) => {
    const listener = (message: unknown) => {
      unsubscribe('http.server.request.start', listener);
      resolve((message as { response: ServerResponse }).response);
    };
    subscribe('http.server.request.start', listener);
  });
}

describe('answering', () => {
  it('streams the recorded chunks and keeps what was asked', async () => {
    const models = await start(streamOf('one', 'two', 'three'));
    expect(model.remaining).toBe(1);

    const config = { temperature: 0.5 };
    const stream = await models.generateContentStream({ ...ask, config });
    expect(await textsOf(stream)).toEqual(['one', 'two', 'three']);

    expect(model.remaining).toBe(0);
    expect(model.requests).toEqual([
      {
        method: 'generateContentStream',
        model: 'gemini-2.5-flash',
        body: {
          contents: [{ role: 'user', parts: [{ text: 'hello' }] }],
          generationConfig: { temperature: 0.5 },
        },
      },
    ]);
  });

  it.each(['v1', 'v1beta'])('serves both methods under /%s/', async (apiVersion) => {
    await start(single('whole'), streamOf('parts'));
    const models = connect({ apiVersion });
    expect((await models.generateContent(ask)).text).toBe('whole');
    expect(await textsOf(await models.generateContentStream(ask))).toEqual(['parts']);
    expect(model.requests.map(({ method }) => method)).toEqual([
      'generateContent',
      'generateContentStream',
    ]);
  });

  it('carries any Unicode text and an empty stream', async () => {
    const models = await start(streamOf('häh\n\n\u2028 \u{1F600}'), streamOf());
    const stream = await models.generateContentStream(ask);
    expect(await textsOf(stream)).toEqual(['häh\n\n\u2028 \u{1F600}']);
    expect(await textsOf(await models.generateContentStream(ask))).toEqual([]);
  });

  it('answers concurrent calls in order of arrival', async () => {
    const replies = Array.from({ length: 8 }, (_, index) => `reply ${index}`);
    const models = await start(...replies.map(single));
    const responses = await Promise.all(
      replies.map((_, index) => models.generateContent({ ...ask, contents: `call ${index}` })),
    );
    const asked = model.requests.map(({ body }) => /call \d/.exec(JSON.stringify(body))?.[0]);
    const told = responses.map(({ text: reply }) => reply);
    expect(new Set(told)).toEqual(new Set(replies));
    for (const [position, call] of asked.entries()) {
      expect(told[Number(call?.slice(-1))]).toBe(`reply ${position}`);
    }
  });

  it('keeps the order of arrival when an earlier body is slower', async () => {
    const models = await start(single('first'), single('second'));
    const arrived = nextServerResponse();
    const slow = httpRequest(`${model.baseUrl}/v1beta/models/slow:generateContent`, {
      method: 'POST',
      headers: withKey(),
    });
    slow.write('{"contents":');
    await arrived;

    const quickArrived = nextServerResponse();
    const quick = models.generateContent(ask);
    await quickArrived;
    slow.end('[]}');
    const [slowResponse] = await once(slow, 'response');

    expect(await text(slowResponse)).toContain('first');
    expect((await quick).text).toBe('second');
    expect(model.requests.map((request) => request.model)).toEqual(['slow', 'gemini-2.5-flash']);
  });

  it('lets the next request through when a sender leaves midway', async () => {
    const models = await start(single('first'));
    const arrived = nextServerResponse();
    const leaving = httpRequest(`${model.baseUrl}/v1beta/models/m:generateContent`, {
      method: 'POST',
      headers: withKey(),
    });
    leaving.on('error', () => undefined);
    leaving.write('{"contents":');
    await arrived;
    const next = models.generateContent(ask);
    leaving.destroy();
    expect((await next).text).toBe('first');
  });
});

describe('recorded trouble', () => {
  const error = { code: 503, message: 'The model is overloaded.', status: 'UNAVAILABLE' };

  it('fails a call as recorded', async () => {
    const models = await start(
      { method: 'generateContentStream', error },
      { method: 'generateContent', error: { ...error, code: 429 } },
      single('recovered'),
    );
    const streamError = await apiErrorOf(models.generateContentStream(ask));
    expect(streamError.status).toBe(503);
    expect(JSON.parse(streamError.message)).toEqual({ error });
    expect((await apiErrorOf(models.generateContent(ask))).status).toBe(429);
    expect((await models.generateContent(ask)).text).toBe('recovered');
  });

  it('breaks a stream after the recorded number of chunks', async () => {
    const models = await start({ ...streamOf('one', 'two', 'three'), abortAfter: 2 });
    const stream = await models.generateContentStream(ask);
    expect((await stream.next()).value?.text).toBe('one');
    expect((await stream.next()).value?.text).toBe('two');
    await expect(stream.next()).rejects.toThrow('terminated');
  });

  it('delivers a large chunk in full before it breaks the stream', async () => {
    const large = 'x'.repeat(8 * 1024 * 1024);
    const models = await start({ ...streamOf(large), abortAfter: 1 });
    const stream = await models.generateContentStream(ask);
    expect((await stream.next()).value?.text).toHaveLength(large.length);
    await expect(stream.next()).rejects.toThrow('terminated');
  });

  it('breaks the connection instead of a single response', async () => {
    const models = await start({ ...single('never'), abortAfter: 0 });
    await expect(models.generateContent(ask)).rejects.toThrow('fetch failed');
    expect(model.remaining).toBe(0);
  });

  it('waits before each chunk, and before an error', async () => {
    const models = await start(
      { ...streamOf('one', 'two'), delayMs: 40 },
      { method: 'generateContent', error, delayMs: 40 },
    );
    const started = performance.now();
    await textsOf(await models.generateContentStream(ask));
    const streamed = performance.now();
    await apiErrorOf(models.generateContent(ask));
    // Timers of Node may fire up to a millisecond early.
    expect(streamed - started).toBeGreaterThan(78);
    expect(performance.now() - streamed).toBeGreaterThan(38);
  });
});

describe('a client that leaves', () => {
  it('gets each chunk while the stream is open, and the server sees the close', async () => {
    const models = await start(
      { ...streamOf('one', 'two', 'three'), delayMs: 1000 },
      single('next'),
    );
    const serverResponse = nextServerResponse();
    const client = new AbortController();
    const config = { abortSignal: client.signal };
    for await (const chunk of await models.generateContentStream({ ...ask, config })) {
      expect(chunk.text).toBe('one');
      break;
    }
    const response = await serverResponse;
    expect(response.writableEnded).toBe(false);

    const closed = once(response, 'close');
    client.abort();
    await closed;
    expect(response.writableEnded).toBe(false);
    expect((await models.generateContent(ask)).text).toBe('next');
  });

  it('does not disturb later calls when it only stops reading', async () => {
    const models = await start(streamOf('one', 'two'), single('next'));
    for await (const chunk of await models.generateContentStream(ask)) {
      expect(chunk.text).toBe('one');
      break;
    }
    expect((await models.generateContent(ask)).text).toBe('next');
  });

  it.each(['generateContentStream', 'generateContent'] as const)(
    'ends the wait of %s by aborting',
    async (method) => {
      const call = method === 'generateContent' ? single('late') : streamOf('late');
      const models = await start({ ...call, delayMs: FOREVER_MS });
      const serverResponse = nextServerResponse();
      const client = new AbortController();
      const request = { ...ask, config: { abortSignal: client.signal } };
      const asked =
        method === 'generateContent'
          ? models.generateContent(request)
          : models.generateContentStream(request).then(textsOf);
      const refused = expect(asked).rejects.toThrow(/abort/i);
      const response = await serverResponse;
      const closed = once(response, 'close');
      client.abort();
      await refused;
      await closed;
    },
  );

  it('is let go while it does not read what is sent', async () => {
    await start(streamOf('x'.repeat(32 * 1024 * 1024), 'two'));
    const serverResponse = nextServerResponse();
    const client = new AbortController();
    await fetch(`${model.baseUrl}/v1/models/m:streamGenerateContent?alt=sse`, {
      method: 'POST',
      headers: withKey(),
      body: '{}',
      signal: client.signal,
    });
    const response = await serverResponse;
    await vi.waitFor(() => expect(response.writableNeedDrain).toBe(true));
    const closed = once(response, 'close');
    client.abort();
    await closed;
    expect(response.writableFinished).toBe(false);
  });
});

describe('refusing', () => {
  it('says where the file ended, and is not asked again', async () => {
    await start(single('only'));
    const models = connect({ retryOptions: { attempts: 3 } });
    await models.generateContent(ask);
    const error = await apiErrorOf(models.generateContentStream(ask));
    expect(error.status).toBe(400);
    expect(JSON.parse(error.message)).toEqual({
      error: {
        code: 400,
        message: `${file}:2: generateContentStream of model gemini-2.5-flash was asked, but all 1 recorded calls are used. Record one more call here.`,
        status: 'FAILED_PRECONDITION',
      },
    });
    expect(model.requests).toHaveLength(2);
  });

  it('says which method is recorded, and keeps the call', async () => {
    const models = await start(streamOf('kept'));
    const error = await apiErrorOf(models.generateContent(ask));
    expect(error.status).toBe(400);
    expect(error.message).toContain(
      `${file}:1: generateContent of model gemini-2.5-flash was asked, but generateContentStream is recorded.`,
    );
    expect(model.remaining).toBe(1);
    expect(await textsOf(await models.generateContentStream(ask))).toEqual(['kept']);
  });

  it('refuses a body over 64 MiB without using a call', async () => {
    const models = await start(single('kept'));
    const contents = 'x'.repeat(64 * 1024 * 1024);
    const error = await apiErrorOf(models.generateContent({ ...ask, contents }));
    expect(error.status).toBe(413);
    expect(error.message).toContain('takes 67108864 at most');
    expect(model.requests).toEqual([]);
    expect((await models.generateContent(ask)).text).toBe('kept');
  });

  it('refuses a body that is not JSON', async () => {
    await start(single('kept'));
    const response = await fetch(`${model.baseUrl}/v1/models/m:generateContent`, {
      method: 'POST',
      headers: withKey(),
      body: 'hello',
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      error: {
        code: 400,
        message: expect.stringContaining('not JSON'),
        status: 'INVALID_ARGUMENT',
      },
    });
    expect(model.remaining).toBe(1);
  });

  it.each<Record<string, string>>([
    {},
    { 'x-goog-api-key': 'recorded' },
    { authorization: 'Bearer recorded' },
  ])('refuses whoever does not have the key: %j', async (headers) => {
    const models = await start(single('kept'));
    const response = await fetch(`${model.baseUrl}/v1/models/m:generateContent`, {
      method: 'POST',
      headers,
      body: '{}',
    });
    expect(response.status).toBe(401);
    expect(response.headers.get('connection')).toBe('close');
    expect(await response.json()).toMatchObject({ error: { status: 'UNAUTHENTICATED' } });
    expect(model.requests).toEqual([]);
    expect((await models.generateContent(ask)).text).toBe('kept');
  });

  it('waits for a body that does not end for seconds only', async () => {
    const models = await start(single('kept'));
    const arrived = nextServerResponse();
    const endless = httpRequest(`${model.baseUrl}/v1beta/models/m:generateContent`, {
      method: 'POST',
      headers: withKey(),
    });
    endless.on('error', () => undefined);
    endless.write('{"contents":');
    await arrived;
    expect((await models.generateContent(ask)).text).toBe('kept');
  });

  it('keeps the latest bodies, up to 64 MiB', async () => {
    const models = await start(single('one'), single('two'), single('three'));
    for (const [letter, length] of [
      ['a', 40],
      ['b', 40],
      ['c', 1],
    ] as const) {
      await models.generateContent({ ...ask, contents: letter.repeat(length * 1024 * 1024) });
    }
    const kept = model.requests.map(({ body }) => /([abc])\1{9}/.exec(JSON.stringify(body))?.[1]);
    expect(kept).toEqual(['b', 'c']);
  });

  it('answers other methods of the API with 404', async () => {
    const models = await start(single('kept'));
    const error = await apiErrorOf(models.countTokens(ask));
    expect(error.status).toBe(404);
    expect(error.message).toContain(
      'POST /v1beta/models/gemini-2.5-flash:countTokens is not served',
    );
  });

  it.each([
    ['GET', '/v1/models/m:generateContent'],
    ['POST', '/v1/models/m:streamGenerateContent'],
    ['POST', '/v2/models/m:generateContent'],
    ['POST', '//'],
  ])('answers %s %s with 404', async (method, path) => {
    await start(single('kept'));
    const response = await fetch(model.baseUrl + path, { method, headers: withKey() });
    expect(response.status).toBe(404);
    expect(await response.json()).toMatchObject({ error: { code: 404, status: 'NOT_FOUND' } });
    expect(model.remaining).toBe(1);
  });
});

describe('starting and closing', () => {
  it('fails to start on a file that is not as expected', async () => {
    await start();
    await writeFile(file, '\n{"method": "generateContent"}');
    await expect(startRecordedModel(file)).rejects.toThrow(`${file}:2: exactly one of`);
  });

  it('ends open streams, may be closed again, and is gone', async () => {
    const models = await start({ ...streamOf('late'), delayMs: FOREVER_MS });
    const broken = expect(textsOf(await models.generateContentStream(ask))).rejects.toThrow(
      'terminated',
    );
    await model.close();
    await model.close();
    await broken;
    await expect(models.generateContent(ask)).rejects.toThrow('fetch failed');
  });

  it('does not keep the process alive, in use or closed', async () => {
    await vi.waitFor(() => expect(listActiveConnections()).toEqual([]));
    const models = await start(single('used'));
    await models.generateContent(ask);
    await vi.waitFor(() => expect(listActiveConnections()).toEqual([]));
    await model.close();
    expect(listActiveConnections()).toEqual([]);
  });
});

const recordings = fileURLToPath(new URL('../../../shared/data/responses', import.meta.url));

describe.skipIf(!existsSync(recordings))('real traffic', () => {
  const files = existsSync(recordings)
    ? readdirSync(recordings).filter((name) => name.endsWith('.responses'))
    : [];

  it.each(files)('replays every call of %s', async (name) => {
    const path = join(recordings, name);
    const lines = readFileSync(path, 'utf8').split('\n').filter(Boolean);
    model = await startRecordedModel(path);
    const models = connect();
    for (const line of lines) {
      const recorded = (JSON.parse(line) as { response: GenerateContentResponse[] }).response;
      const received: GenerateContentResponse[] = [];
      for await (const chunk of await models.generateContentStream(ask)) received.push(chunk);
      expect(received.map(({ candidates }) => candidates)).toEqual(
        recorded.map(({ candidates }) => candidates),
      );
    }
    expect(model.remaining).toBe(0);
  });
});
