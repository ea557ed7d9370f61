import { afterEach, describe, expect, it, vi } from 'vitest';
import { toSpanRecord } from '../../src/trace/record.js';
import type { Span } from '../../src/trace/span.js';

/** In characters. */
const LIMIT = 16 * 1024;

function written(fields: Partial<Span>) {
  return toSpanRecord({
    id: '0123456789abcdef',
    trace: '0123456789abcdef0123456789abcdef',
    parent: null,
    kind: 'tool',
    name: 'write_file',
    start: 1,
    durationMs: 1.23456,
    ...fields,
  });
}

afterEach(() => vi.unstubAllEnvs());

const cyclic: { self?: unknown } = {};
cyclic.self = cyclic;

function nested(depth: number): unknown {
  let value: unknown = 'deep';
  for (let level = 0; level < depth; level++) value = { in: value };
  return value;
}

describe('a record of a span', () => {
  it('masks a variable that was set a moment ago', () => {
    vi.stubEnv('VAULT_TOKEN', 'of-before-0123456789');
    expect(written({ output: 'of-before-0123456789' }).output).toBe('[VAULT_TOKEN]');
    vi.stubEnv('VAULT_TOKEN', 'of-now-0123456789');
    vi.stubEnv('DB_PASSWORD', 'new-0123456789');
    const { output } = written({ output: 'of-now-0123456789 new-0123456789' });
    expect(output).toBe('[VAULT_TOKEN] [DB_PASSWORD]');
  });

  it.each<{ what: string; output: unknown; text: string }>([
    { what: 'a text as it is', output: 'as it is', text: 'as it is' },
    { what: 'data as indented JSON', output: { a: [1] }, text: '{\n  "a": [\n    1\n  ]\n}' },
    { what: 'what is cyclic', output: cyclic, text: '{\n  "self": "[cyclic]"\n}' },
    { what: 'a number that JSON has not', output: { n: 1n }, text: '{\n  "n": "1n"\n}' },
    {
      what: 'a key that would change a prototype',
      output: JSON.parse('{"__proto__":{"polluted":true}}'),
      text: '{\n  "__proto__": {\n    "polluted": true\n  }\n}',
    },
    {
      what: 'no sequences that drive a terminal',
      output: 'a\u001b[2Jb\u0007\u009b',
      text: 'ab',
    },
  ])('has $what', ({ output, text }) => {
    expect(written({ output }).output).toBe(text);
  });

  it('has what is nested too deeply to be written, up to a depth', () => {
    expect(written({ output: nested(10_000) }).output).toContain('[nested too deeply]');
  });

  it('has no text that is longer than the limit, but for the mark that says so', () => {
    const { output = '', change = '' } = written({
      output: 'x'.repeat(LIMIT + 5),
      changes: [{ what: 'input', before: 'a', after: '😀'.repeat(LIMIT) }],
    });
    expect(output).toMatch(/x\n\[… 5 more characters cut\]$/);
    expect(change.length).toBeLessThan(LIMIT + 50);
    expect(encodeURI(change)).toContain('more%20characters');
  });

  it('has times to the microsecond', () => {
    expect(written({}).durationMs).toBe(1.235);
  });
});

it('masks what a secret is now, whatever it was when the last span was written', () => {
  vi.stubEnv('DEPLOY_TOKEN', 'first-value');
  expect(written({ output: 'first-value second-value' }).output).toBe(
    '[DEPLOY_TOKEN] second-value',
  );
  vi.stubEnv('DEPLOY_TOKEN', 'second-value');
  expect(written({ output: 'first-value second-value' }).output).toBe('first-value [DEPLOY_TOKEN]');
  vi.stubEnv('OTHER_TOKEN', 'first-value');
  expect(written({ output: 'first-value second-value' }).output).toBe(
    '[OTHER_TOKEN] [DEPLOY_TOKEN]',
  );
  vi.stubEnv('DEPLOY_TOKEN', undefined);
  expect(written({ output: 'first-value second-value' }).output).toBe('[OTHER_TOKEN] second-value');
});
