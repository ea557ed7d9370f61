import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { readRecordedCalls } from '../../src/agent/recordedCalls.js';

const chunk = { candidates: [{ content: { role: 'model', parts: [{ text: 'hi' }] } }] };
const error = { code: 503, message: 'overloaded', status: 'UNAVAILABLE' };

let folder: string;
let file: string;

beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'recorded-calls-'));
  file = join(folder, 'calls.responses');
});

afterEach(() => rm(folder, { recursive: true }));

async function read(text: string) {
  await writeFile(file, text);
  return readRecordedCalls(file);
}

describe('readRecordedCalls', () => {
  it('reads calls in order, counts lines from 1 and skips empty ones', async () => {
    const calls = await read(
      [
        '',
        JSON.stringify({
          method: 'generateContentStream',
          response: [chunk, chunk],
          abortAfter: 2,
        }),
        '  \r',
        `${JSON.stringify({ method: 'generateContent', response: chunk, delayMs: 5 })}\r`,
        JSON.stringify({ method: 'generateContent', error }),
        '',
      ].join('\n'),
    );
    expect(calls).toEqual([
      {
        method: 'generateContentStream',
        line: 2,
        chunks: [chunk, chunk],
        delayMs: 0,
        abortAfter: 2,
      },
      { method: 'generateContent', line: 4, chunks: [chunk], delayMs: 5 },
      { method: 'generateContent', line: 5, chunks: [], delayMs: 0, error },
    ]);
  });

  it('reads an empty file as no calls', async () => {
    expect(await read('')).toEqual([]);
  });

  it('keeps further keys of a recorded error', async () => {
    const detailed = { ...error, details: [{ reason: 'quota' }] };
    const [call] = await read(JSON.stringify({ method: 'generateContent', error: detailed }));
    expect(call?.error).toEqual(detailed);
  });

  it('names a file that cannot be read', async () => {
    await expect(readRecordedCalls(file)).rejects.toThrow(
      `${file}: the recorded calls cannot be read (ENOENT`,
    );
  });

  it.each<[string, string | object, string]>([
    ['text', 'hello', 'not JSON ('],
    ['a number', '42', 'Expected an object'],
    ['an array', '[]', 'Expected an object'],
    ['no method', { response: {} }, 'At path: method -- Expected one of'],
    ['an unknown method', { method: 'countTokens', response: {} }, 'At path: method -- Expected'],
    [
      'a stream that is not an array',
      { method: 'generateContentStream', response: chunk },
      '"response" of generateContentStream must be an array of objects, one for each chunk',
    ],
    [
      'a chunk that is not an object',
      { method: 'generateContentStream', response: [chunk, 'text'] },
      '"response" of generateContentStream must be an array of objects',
    ],
    [
      'an array where one response belongs',
      { method: 'generateContent', response: [chunk] },
      '"response" of generateContent must be one object',
    ],
    [
      'a null response',
      { method: 'generateContent', response: null },
      '"response" of generateContent must be one object',
    ],
    ['neither response nor error', { method: 'generateContent' }, 'exactly one of'],
    ['both', { method: 'generateContent', response: chunk, error }, 'exactly one of'],
    [
      'an error with a code that is no failure',
      { method: 'generateContent', error: { ...error, code: 200 } },
      'At path: error.code -- Expected',
    ],
    [
      'a misspelt key',
      { method: 'generateContent', response: chunk, delayms: 5 },
      'unknown key "delayms"',
    ],
    [
      'a negative delay',
      { method: 'generateContent', response: chunk, delayMs: -1 },
      'At path: delayMs -- Expected',
    ],
    [
      'a break beyond the last chunk',
      { method: 'generateContentStream', response: [chunk], abortAfter: 2 },
      '"abortAfter" is 2, and this call can break off after 1 chunks at most',
    ],
    [
      'a break within a single response',
      { method: 'generateContent', response: chunk, abortAfter: 1 },
      '"abortAfter" is 1, and this call can break off after 0 chunks at most',
    ],
    [
      'a break of an error',
      { method: 'generateContent', error, abortAfter: 0 },
      '"abortAfter" breaks off a response',
    ],
  ])('refuses %s, naming file and line', async (_what, entry, message) => {
    const line = typeof entry === 'string' ? entry : JSON.stringify(entry);
    await expect(read(`\n${line}\n`)).rejects.toThrow(`${file}:2: ${message}`);
  });
});
