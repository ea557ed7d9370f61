import { describe, expect, it, vi } from 'vitest';
import { every, retry } from '../../src/util/retry.js';

function hopeless(): never {
  throw new Error('hopeless');
}

const failingTimes = (times: number) => {
  let left = times;
  return vi.fn(async () => {
    left -= 1;
    if (left >= 0) throw new Error(`failed, ${left} left`);
    return 'done';
  });
};

describe('retry', () => {
  it('does work until it succeeds', async () => {
    const work = failingTimes(3);
    const onFailure = vi.fn();
    expect(await retry(work, { pauses: every(1), onFailure })).toBe('done');
    expect([work.mock.calls.length, onFailure.mock.calls.length]).toEqual([4, 3]);
  });

  it('throws the last failure once there is no pause left', async () => {
    const work = failingTimes(9);
    await expect(retry(work, { pauses: [1, 1] })).rejects.toThrow('failed, 6 left');
  });

  it('ends with its signal, and with what is thrown about a failure', async () => {
    const controller = new AbortController();
    const onFailure = vi.fn(() => controller.abort(new Error('enough')));
    const work = failingTimes(9);
    const { signal } = controller;
    await expect(retry(work, { pauses: every(60_000), signal, onFailure })).rejects.toThrow();
    expect(work).toHaveBeenCalledTimes(1);
    await expect(retry(work, { pauses: every(1), signal })).rejects.toThrow('enough');
    const given = { pauses: every(1), onFailure: hopeless };
    await expect(retry(failingTimes(9), given)).rejects.toThrow('hopeless');
  });
});
