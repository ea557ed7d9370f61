import { describe, expect, it } from 'vitest';
import { matcherOf, parseQuery } from '../../src/cli/record/query.js';
import { rowOf } from '../../src/cli/record/row.js';
import type { SpanRecord } from '../../src/trace/record.js';
import { Cli } from './helpers.js';

const cli = new Cli();

const NOW = Date.parse('2026-11-27T12:00:00Z');

const span = (fields: Partial<SpanRecord>): SpanRecord => ({
  id: '0123456789abcdef',
  parent: null,
  kind: 'tool',
  name: 'run_shell_command',
  tool: 'run_shell_command',
  start: NOW - 60_000,
  durationMs: 3,
  verdict: 'block',
  from: 'acme/one',
  ...fields,
});

function fits(query: string, fields: Partial<SpanRecord> = {}): boolean {
  return matcherOf(parseQuery(query, NOW))(rowOf(span(fields)));
}

describe('a query of the record', () => {
  it.each([
    ['', true],
    ['verdict=block tool=run_shell_command since=1h from=acme/*', true],
    ['verdict=allow,block', true],
    ['verdict=allow', false],
    ['verdict!=allow,stop', true],
    ['verdict!=allow,block', false],
    ['from=*/one', true],
    ['from=acme', false],
    ['from=acme.one', false],
    ['approver=', true],
    ['approver!=', false],
    ['since=30s', false],
    ['until=30s', true],
    ['since=2026-11-27T11:59:00Z until=2026-11-27T11:59:00.001Z', true],
    ['since=2026-11-28', false],
    ['reason="It is (frozen), *"', true],
    ['reason="It is frozen"', false],
  ])('%s', (query, isMeant) => {
    expect(fits(query, { reason: 'It is (frozen), today\nand tomorrow' })).toBe(isMeant);
  });

  it.each([
    ['verdict', /"verdict" is no condition; write NAME=VALUE or NAME!=VALUE/],
    ['verdict=block; drop', /"drop" is no condition/],
    ['tool="a b', /"tool="a b" is no condition/],
    ['verdit=block', /there is no "verdit"; did you mean 'verdict'\?/],
    ['since=soon', /since="soon" is no time; write how long ago \(30m, 1h, 7d\)/],
  ])('that is none says why: %s', (query, why) => {
    expect(() => parseQuery(query)).toThrow(why);
  });

  it('asks for what counted, and for what a shadow says', () => {
    const of = { from: 'policy/policy', policy: 'b' } as const;
    const shadow = { ...of, kind: 'shadow', isShadow: true, counted: 'allow' } as const;
    const { verdict, shadow: said, counted, policy } = rowOf(span(shadow));
    expect({ verdict, said, counted, policy }).toEqual({
      verdict: null,
      said: 'block',
      counted: 'allow',
      policy: 'b',
    });
    expect(fits('verdict=block', shadow)).toBe(false);
    expect(fits('kind=shadow shadow=block counted=allow', shadow)).toBe(true);
    expect(fits('shadow!=', {})).toBe(false);
  });

  it('believes who has asked of a server alone', () => {
    expect(rowOf(span({ from: 'policy/policy', agent: 'acme/one/sub' })).agent).toBe(
      'acme/one/sub',
    );
    expect(rowOf(span({ from: 'acme/two', agent: 'acme/one' })).agent).toBe('acme/two');
    expect(rowOf(span({ from: 'policyless/two', agent: 'acme/one' })).agent).toBe('policyless/two');
    expect(rowOf(span({ from: 'policy/policy' })).agent).toBe('policy/policy');
  });
});

describe('who has approved, and by which policy,', () => {
  const by = { approver: 'ann', policy: 'abc' };

  it.each([
    ['is what a server says', 'policy/policy', by],
    ['is what this machine has seen', undefined, by],
    [
      'is what an agent says, with its name',
      'acme/one',
      { approver: 'acme/one says: ann', policy: 'acme/one says: abc' },
    ],
  ])('%s', (_whose, from, told) => {
    const fields = { ...by, ...(from === undefined ? {} : { from }) };
    const { from: _, ...here } = span(fields);
    const record = from === undefined ? here : span(fields);
    expect(rowOf(record)).toMatchObject(told);
    expect(matcherOf(parseQuery('approver=ann', NOW))(rowOf(record))).toBe(from !== 'acme/one');
  });
});

describe('hookstack trace --query', () => {
  it('lists what fits, the oldest first, and what a terminal would obey is data', async () => {
    const RED = 'later \u001b[31mred';
    const spans = [
      span({ start: NOW, from: 'policy/1', agent: 'acme/one', approver: 'ann', reason: RED }),
      span({ start: NOW - 1000, reason: 'earlier' }),
      span({ verdict: 'allow' }),
    ];
    const lines = spans.map((each) => `${JSON.stringify(each)}\n`);
    const file = await cli.write('trace.jsonl', `${lines.join('')}broken\n`);
    const { stdout, exitCode } = await cli.run(['trace', file, '--query', 'verdict=block']);
    expect(exitCode).toBe(0);
    expect(stdout.trimEnd().split('\n')).toEqual([
      'time                      from      agent     kind  tool               verdict  approver  reason',
      '2026-11-27T11:59:59.000Z  acme/one  acme/one  tool  run_shell_command  block              earlier',
      expect.stringMatching(/block    ann       later .*red$/),
      '2 records',
    ]);
    expect(stdout).not.toContain('\u001b');
    expect(await cli.run(['trace', file, '--query', 'verdict=stop'])).toMatchObject({
      exitCode: 1,
    });
    expect(await cli.run(['trace', file, '--query', 'nothing'])).toMatchObject({ exitCode: 2 });
    expect(await cli.run(['trace', `${file}x`, '--query', ''])).toMatchObject({ exitCode: 2 });
  });
});
