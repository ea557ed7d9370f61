import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { LastMinute, networkOf, Quota } from '../../../src/cli/shared/http/quota.js';

describe('a quota', () => {
  it('is for all, of which one gets a part', () => {
    const quota = new Quota(4, 2);
    expect([quota.take('one'), quota.take('one'), quota.take('one')]).toEqual([true, true, false]);
    expect([quota.take('two'), quota.take(undefined), quota.take('two')]).toEqual([
      true,
      true,
      false,
    ]);
    expect([quota.taken, quota.takenBy('one'), quota.takenBy('nobody')]).toEqual([4, 2, 0]);
    quota.give('one');
    expect([quota.take('one'), quota.take('one')]).toEqual([true, false]);
  });

  it('counts amounts, and takes none that does not fit', () => {
    const quota = new Quota(100, 50);
    expect([quota.take('one', 51), quota.take('one', 50), quota.take(undefined, 51)]).toEqual([
      false,
      true,
      false,
    ]);
    quota.give('one', 50);
    expect([quota.taken, quota.take(undefined, 100)]).toEqual([0, true]);
  });
});

describe('the last minute', () => {
  beforeEach(() => void vi.useFakeTimers());
  afterEach(() => void vi.useRealTimers());

  it('counts what one did, and all, and says when that is less', () => {
    const minute = new LastMinute();
    minute.add('one');
    vi.advanceTimersByTime(20_000);
    minute.add('two');
    minute.add('one');
    expect(minute.count('one')).toEqual({ times: 2, lessInS: 40 });
    expect(minute.count()).toEqual({ times: 3, lessInS: 40 });
    vi.advanceTimersByTime(40_000);
    expect(minute.count('one')).toEqual({ times: 1, lessInS: 20 });
    vi.advanceTimersByTime(20_000);
    expect(minute.count().times).toBe(0);
  });
});

describe('what one machine may have', () => {
  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['::ffff:192.0.2.1', '::ffff:192.0.2.1'],
    ['2001:db8:1:2:3:4:5:6', '2001:db8:1:2'],
    ['2001:db8:1:2::', '2001:db8:1:2'],
    ['2001:db8::1', '2001:db8:0:0'],
    ['2001:db8:0:2:0:1::', '2001:db8:0:2'],
    ['2001::4:5:6:7:8', '2001:0:0:4'],
    ['::1', ':0:0:0'],
    ['fe80::1%eth0', 'fe80:0:0:0'],
    ['', ''],
  ])('is of %j the network %j', (address, network) => {
    expect(networkOf(address)).toBe(network);
  });
});
