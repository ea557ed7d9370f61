import { readFile } from 'node:fs/promises';
import path from 'node:path';
import { pathToFileURL } from 'node:url';
import { execa } from 'execa';
import { array, assert, asyncProperty, constantFrom, nat } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { Config } from '../../src/config/config.js';
import { createModelCall } from '../../src/context.js';
import { createResponse } from '../../src/protocol/response.js';
import type { ModelMiddleware } from '../../src/stack.js';

const FOLDER = path.resolve(import.meta.dirname, '../../examples/middleware-redaction');
const SECRETS = ['sk-7Hq2', 'aaab'];

describe('the redaction of a stream', async () => {
  const { redaction } = (await import(pathToFileURL(`${FOLDER}/redaction.mjs`).href)) as {
    redaction: (secrets: readonly string[]) => ModelMiddleware;
  };

  /** What comes out of it, of texts that arrive one a chunk. */
  async function redact(texts: readonly string[]): Promise<string[]> {
    const config = new Config().use('model', redaction(SECRETS), { after: 'afterModel' });
    const request = { model: 'm', contents: [] };
    const call = createModelCall(request, async () => toChunks(texts));
    await config.getModelStack().run(call);
    const passed: string[] = [];
    for await (const chunk of call.stream ?? []) passed.push(chunk.text ?? '');
    return passed;
  }

  it('shows what the example promises', async () => {
    const { stdout } = await execa(process.execPath, [path.join(FOLDER, 'demo.mjs')]);
    expect(`${stdout}\n`).toBe(await readFile(path.join(FOLDER, 'expected.txt'), 'utf8'));
  });

  it('lets no secret through, wherever it is split, and changes nothing else', async () => {
    const word = constantFrom(...SECRETS, 'sk-', 'aaa', 'b', 'Hi ', '');
    const text = array(word).map((words) => words.join(''));
    await assert(
      asyncProperty(text, array(nat()), async (whole, cuts) => {
        const passed = (await redact(split(whole, cuts))).join('');
        const [first, second] = SECRETS;
        const expected = whole
          .replaceAll(`${first}`, '[secret]')
          .replaceAll(`${second}`, '[secret]');
        expect(passed).toBe(expected);
      }),
    );
  });

  it('holds back no more than what may become a secret', async () => {
    expect(await redact(['Hi sk', '-8', ' aaaa', 'c'])).toEqual(['Hi ', 'sk-8', ' a', 'aaac']);
  });
});

async function* toChunks(texts: readonly string[]) {
  for (const text of texts) {
    yield createResponse({ candidates: [{ content: { role: 'model', parts: [{ text }] } }] });
  }
}

function split(text: string, cuts: readonly number[]): string[] {
  const at = [0, ...cuts.map((cut) => cut % (text.length + 1)), text.length];
  const places = at.toSorted((a, b) => a - b);
  return places.slice(1).map((end, index) => text.slice(places[index], end));
}
