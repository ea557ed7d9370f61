import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { GenerateContentResponse } from '@google/genai';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readRecordedModel } from '../../src/agent/recordedModel.js';
import { failure, reply } from '../core/helpers/modelAnswers.js';

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recorded-model-'));
  file = join(folder, 'calls.responses');
});

afterEach(() => rm(folder, { recursive: true }));

async function read(...calls: object[]) {
  await writeFile(file, calls.map((call) => JSON.stringify(call)).join('\n'));
  return readRecordedModel(file);
}

const request = { model: 'gemini-2.5-flash', contents: 'hello' };

async function textsOf(stream: AsyncIterable<GenerateContentResponse>, texts: unknown[] = []) {
  for await (const chunk of stream) texts.push(chunk.text);
  return texts;
}

describe('a recorded model in the process', () => {
  it('answers the n-th request with the n-th call, and keeps what was asked', async () => {
    const model = await read(reply('one', 'two'), reply('three'));
    expect(model.remaining).toBe(2);
    expect(await textsOf(await model.models.generateContentStream(request))).toEqual([
      'one',
      'two',
    ]);
    const other = { ...request, contents: 'again' };
    expect(await textsOf(await model.models.generateContentStream(other))).toEqual(['three']);
    expect(model.remaining).toBe(0);
    expect(model.requests).toEqual([request, other]);
  });

  it('refuses what is not recorded with the line, and keeps the call', async () => {
    const single = { method: 'generateContent', response: {} };
    const model = await read(single);
    await expect(model.models.generateContentStream(request)).rejects.toThrow(
      `${file}:1: generateContentStream of model gemini-2.5-flash was asked, but generateContent is recorded.`,
    );
    expect(model.remaining).toBe(1);
    const used = await read(reply('one'));
    await used.models.generateContentStream(request);
    await expect(used.models.generateContentStream(request)).rejects.toThrow(
      `${file}:2: generateContentStream of model gemini-2.5-flash was asked, but all 1 recorded calls are used. Record one more call here.`,
    );
    expect(used.requests).toHaveLength(2);
  });

  it('fails as recorded, before the stream or in it', async () => {
    const broken = { ...reply('one', 'two'), abortAfter: 1 };
    const { models } = await read(failure(503, 'The model is overloaded.'), broken);
    await expect(models.generateContentStream(request)).rejects.toMatchObject({
      message: 'The model is overloaded.',
      status: 503,
    });
    const texts: unknown[] = [];
    const stream = await models.generateContentStream(request);
    await expect(textsOf(stream, texts)).rejects.toThrow('breaks off after 1 chunks');
    expect(texts).toEqual(['one']);
  });

  it('ends with the signal of its request, however long it would wait', async () => {
    const { models } = await read(
      { ...reply('one'), delayMs: 600_000 },
      { ...failure(503, 'late'), delayMs: 600_000 },
    );
    const abort = new AbortController();
    const asked = { ...request, config: { abortSignal: abort.signal } };
    const stream = textsOf(await models.generateContentStream(asked));
    const failed = models.generateContentStream(asked);
    abort.abort(new Error('enough'));
    await expect(stream).rejects.toMatchObject({ name: 'AbortError' });
    await expect(failed).rejects.toMatchObject({ name: 'AbortError' });
  });
});
