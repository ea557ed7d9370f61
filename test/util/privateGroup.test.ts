import { describe, expect, it } from 'vitest';
import { isPrivateGroup } from '../../src/util/guardedFile.js';

const me = {
  username: 'ann',
  uid: 1000,
  gid: 1000,
  passwd: 'root:x:0:0::/root:/bin/sh\nann:x:1000:1000::/home/ann:/bin/sh\n',
  group: 'root:x:0:\nann:x:1000:\nstaff:x:50:ann,bob\n',
};

describe('a group', () => {
  it("is the user's alone where it has the name of the user and nobody else in it", () => {
    expect(isPrivateGroup(1000, () => me)).toBe(true);
    expect(isPrivateGroup(1000, () => ({ ...me, group: 'ann:x:1000:ann' }))).toBe(true);
  });

  it.each([
    ['another one', me, 50],
    ['one with another member', { ...me, group: 'ann:x:1000:bob' }, 1000],
    [
      'one that is the first of another user',
      { ...me, passwd: `${me.passwd}bob:x:1001:1000::/:/` },
      1000,
    ],
    ['one of another name', { ...me, group: 'users:x:1000:' }, 1000],
    ['one that nobody knows', { ...me, group: '' }, 1000],
    ['that of root', { ...me, username: 'root', uid: 0, gid: 0 }, 0],
  ])('is not: %s', (_, users, gid) => expect(isPrivateGroup(gid, () => users)).toBe(false));
});
