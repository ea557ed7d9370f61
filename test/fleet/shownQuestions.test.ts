import { expect, it } from 'vitest';
import { ShownQuestions } from '../../src/cli/serve/approvals/signIn.js';

const ONE = { revision: 1, digest: 'one' };

it('an answer counts a second after the question was shown, whichever page shows it again', () => {
  let now = 0;
  const shown = new ShownQuestions(() => now);
  shown.add('key', ONE);
  now = 999;
  shown.add('key', ONE);
  expect(shown.whyNot('key', ONE)?.status).toBe(425);
  now = 1000;
  expect(shown.whyNot('key', ONE)).toBeUndefined();
});

it('an answer to what stood there before does not count, nor one to the new question at once', () => {
  let now = 0;
  const shown = new ShownQuestions(() => now);
  shown.add('key', ONE);
  now = 5000;
  const other = { revision: 2, digest: 'other' };
  shown.add('key', other);
  expect(shown.whyNot('key', ONE)?.status).toBe(409);
  expect(shown.whyNot('key', other)?.status).toBe(425);
});

it('what was shown longest ago is forgotten first', () => {
  const shown = new ShownQuestions(() => 0);
  for (let each = 0; each <= 1000; each += 1) shown.add(String(each), ONE);
  expect(shown.whyNot('0', ONE)?.status).toBe(404);
  expect(shown.whyNot('1', ONE)?.status).toBe(425);
});
