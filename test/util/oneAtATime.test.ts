import { expect, it } from 'vitest';
import { oneAtATime } from '../../src/util/oneAtATime.js';

it('does work never twice at a time, and once more for all who ask meanwhile', async () => {
  let [atATime, most, times] = [0, 0, 0];
  const work = oneAtATime(async () => {
    most = Math.max(most, (atATime += 1));
    await new Promise(setImmediate);
    times += 1;
    atATime -= 1;
  });
  const first = work();
  await Promise.resolve();
  // Who comes while it is done wants what comes after.
  const rest = Promise.all([work(), work(), work()]);
  await first;
  expect(times).toBe(1);
  await rest;
  expect([times, most]).toEqual([2, 1]);
});
