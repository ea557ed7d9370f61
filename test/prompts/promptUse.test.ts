import { appendFileSync, mkdirSync, readdirSync, statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { reserveTokens, UseInMemory, type PromptUse } from '../../src/prompts/promptUse.js';
import { UseInFiles } from '../../src/prompts/useInFiles.js';
import { onBehalfOf } from '../../src/util/requester.js';
import { useTempDir } from '../helpers/tempDir.js';

const temp = useTempDir();
const here = <T>(work: () => T): T => onBehalfOf({ env: { HOME: temp.path } }, work);
const folder = () => path.join(temp.path, '.llxprt/sessions');
const needs = { characters: 400, answer: 500 };

describe.each<[string, () => PromptUse]>([
  ['in memory', () => new UseInMemory()],
  ['in files', () => new UseInFiles()],
])('what sessions have used, %s', (_where, make) => {
  it('has the tokens that are under way, and those that are given back', () =>
    here(() => {
      const use = make();
      expect(reserveTokens(use, 'a', 1_000, needs)).toBe(600);
      const again = () => reserveTokens(use, 'a', 1_000, needs);
      expect(again).toThrow(/600 tokens, and 400 of 1000 are left/u);
      expect(reserveTokens(use, 'b', 1_000, needs)).toBe(600);
      use.note('a', { tokens: -500 });
      expect(again()).toBe(600);
    }));

  it('has the last 500 answers, until the session ends', () =>
    here(() => {
      const use = make();
      for (let each = 0; each <= 500; each++) use.note('a', { key: `k${each}`, said: 'x' });
      use.note('b', { key: 'k', said: 'y' });
      expect([...use.read('a').answers.keys()].at(0)).toBe('k1');
      use.forget('a');
      expect(use.read('a')).toEqual({ tokens: 0, answers: new Map() });
      expect(use.read('b').answers.get('k')).toBe('y');
    }));
});

describe('the file of a session', () => {
  it("is the user's alone, and says nothing of its name", () =>
    here(() => {
      new UseInFiles().note('../../s', { tokens: 1 });
      const [name = '', ...others] = readdirSync(folder());
      expect(others).toEqual([]);
      expect(name).toMatch(/^[\da-f]{64}\.prompts$/u);
      expect(statSync(path.join(folder(), name)).mode & 0o777).toBe(0o600);
    }));

  it('is read in spite of a line that is torn, or none of ours', () =>
    here(() => {
      const use = new UseInFiles();
      use.note('s', { tokens: 5 });
      const [name = ''] = readdirSync(folder());
      appendFileSync(path.join(folder(), name), '{"tokens": 9');
      use.note('s', { tokens: 5 });
      appendFileSync(path.join(folder(), name), '[]\n{"tokens": "9"}\n{"key": 1, "said": "x"}\n');
      expect(use.read('s')).toEqual({ tokens: 10, answers: new Map() });
    }));

  it('holds no more answers than a MiB, and counts on', () =>
    here(() => {
      const use = new UseInFiles();
      const said = 'x'.repeat(16_000);
      for (let each = 0; each < 100; each++) use.note('s', { key: `k${each}`, said });
      use.note('s', { tokens: 7 });
      expect(use.read('s').answers.size).toBeLessThan(70);
      expect(use.read('s').tokens).toBe(7);
    }));

  it('is not read where its folder is a file, or writable by others', () =>
    here(() => {
      mkdirSync(path.dirname(folder()));
      writeFileSync(folder(), '');
      expect(() => new UseInFiles().read('s')).toThrow('it was not asked, as what it uses');
      expect(() => new UseInFiles().forget('s')).not.toThrow();
    }));

  it('takes no more than there is where two take at once', () =>
    here(() => {
      const use = new UseInFiles();
      // Between the look of one and its note, another one takes some.
      const read = use.read.bind(use);
      let isFirst = true;
      use.read = (session) => {
        const found = read(session);
        if (isFirst) new UseInFiles().note(session, { tokens: 600 });
        isFirst = false;
        return found;
      };
      expect(() => reserveTokens(use, 's', 1_000, needs)).toThrow('400 of 1000 are left');
      expect(use.read('s').tokens).toBe(600);
    }));
});
