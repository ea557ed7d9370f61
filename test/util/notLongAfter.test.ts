import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { notLongAfter } from '../../src/util/notLongAfter.js';

const never = () => new Promise<never>(() => undefined);

it('gives up what never comes, some time after the signal', async () => {
  const late = notLongAfter(AbortSignal.timeout(20), 20, never());
  await expect(late).rejects.toThrow('timeout');
  await expect(notLongAfter(AbortSignal.abort(new Error('gone')), 1, never())).rejects.toThrow(
    'gone',
  );
});

it('lets end what heeds the signal', async () => {
  const gone = AbortSignal.abort(new Error('gone'));
  expect(await notLongAfter(gone, 5000, sleep(20, 'ended'))).toBe('ended');
  const { signal } = new AbortController();
  await expect(notLongAfter(signal, 0, Promise.reject(new Error('no')))).rejects.toThrow('no');
});
