import { describe, expect, it } from 'vitest';
import { normalizeTimeout } from '../../src/process/normalizeTimeout.js';
import { run } from './helpers.js';

describe('normalizeTimeout', () => {
  it.each([
    [undefined, 60_000],
    [1, 1],
    [0.5, 0.5],
    [1_000, 1_000],
    [2 ** 31 - 1, 2 ** 31 - 1],
    [2 ** 31, 2 ** 31 - 1],
    [Number.MAX_VALUE, 2 ** 31 - 1],
  ])('takes %s as %s ms', (value, timeoutMs) => {
    expect(normalizeTimeout(value)).toEqual({ timeoutMs });
  });

  it.each([
    [0],
    [-1],
    [Number.NaN],
    [Infinity],
    [-Infinity],
    ['1000'],
    [null],
    [true],
    [{}],
    [10n],
  ])('replaces %s by the default and says so', (value) => {
    const { timeoutMs, problem } = normalizeTimeout(value);
    expect(timeoutMs).toBe(60_000);
    expect(problem).toMatch(/^timeout is .+, and 60000 ms are used instead: write a number/);
  });

  it('takes another default', () => {
    expect(normalizeTimeout(undefined, 600_000)).toEqual({ timeoutMs: 600_000 });
    expect(normalizeTimeout('1', 600_000)).toMatchObject({ timeoutMs: 600_000 });
  });

  it('quotes a long value only in part', () => {
    expect(normalizeTimeout('9'.repeat(100_000)).problem?.length).toBeLessThan(200);
  });

  it('returns a deadline that does not fire at once', async () => {
    const { timeoutMs } = normalizeTimeout(2 ** 31);
    expect(await run('sleep 0.2; echo done', { timeoutMs })).toMatchObject({
      ending: 'exit',
      stdout: 'done\n',
    });
  });
});
