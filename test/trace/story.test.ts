import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { describe, expect, it } from 'vitest';
import type { SpanRecord } from '../../src/trace/record.js';
import { readTrace } from '../../src/cli/shared/readTrace.js';
import { ShadowDiff } from '../../src/cli/trace/shadowDiff.js';
import { slowest, storyOf } from '../../src/cli/trace/story.js';
import { formatStory } from '../../src/cli/trace/storyText.js';
import { useTempDir } from '../helpers/tempDir.js';
import { record } from './helpers.js';

const directory = useTempDir();

describe('a story', () => {
  it('has each span behind the one that contains it, whatever the order in the file', () => {
    const session = record({ kind: 'session', name: 'session', start: 0, durationMs: 100 });
    const tool = record({
      parent: session.id,
      kind: 'tool',
      name: 'tool',
      start: 20,
      durationMs: 30,
    });
    const late = record({ parent: tool.id, name: 'late', start: 40, durationMs: 5 });
    const early = record({ parent: tool.id, name: 'early', start: 20, durationMs: 10 });

    const story = storyOf([late, early, tool, session]);
    expect(story.map(({ name, depth, ownMs }) => [name, depth, ownMs])).toEqual([
      ['session', 0, 70],
      ['tool', 1, 15],
      ['early', 2, 10],
      ['late', 2, 5],
    ]);
    expect(slowest(story, 2).map(({ name }) => name)).toEqual(['session', 'tool']);
  });

  it('has what agents say that only servers know as their word', () => {
    const said = { approver: 'ann', policy: 'b' };
    const server = record({ ...said, from: 'policy/one', kind: 'event', name: 'BeforeTool' });
    const within = record({ ...said, from: 'acme/one', kind: 'question', parent: server.id });
    const here = record({ ...said, kind: 'question' });
    const text = stripVTControlCharacters(formatStory(storyOf([server, within, here])));
    const told = text.split('\n').flatMap((line) => /policy .*/.exec(line)?.[0] ?? []);
    expect(new Set(told)).toEqual(
      new Set([
        'policy acme/one says: b, answered by acme/one says: ann, acme/one',
        'policy b, answered by ann',
        'policy b, answered by ann, policy/one',
      ]),
    );
  });

  it('believes shadows of servers, and of no agent', () => {
    const shadow = { kind: 'shadow', name: 'BeforeTool', counted: 'block' } as const;
    const diff = new ShadowDiff();
    expect(diff.add(record({ ...shadow, from: 'acme/one' }))).toBe(false);
    expect(diff.add(record({ ...shadow, from: 'policy/one' }))).toBe(true);
    expect(diff.add(record(shadow))).toBe(true);
    expect(diff.questions).toBe(2);
  });

  it.each<Partial<SpanRecord> & { point: string }>([
    {
      kind: 'tool',
      input: '{"content": "a\\n\\n b", "file_path": ".env"}',
      point: '.env, content: a b',
    },
    { kind: 'tool', input: '{"limit": 2, "deep": {"a": [1]}}', point: 'limit: 2, deep: {"a":[1]}' },
    { kind: 'tool', input: '{"command": "ls', point: '{"command": "ls' },
    {
      kind: 'event',
      input: '{"tool_name": "read_file", "tool_input": {"file_path": ".env"}}',
      point: 'read_file .env',
    },
    { kind: 'hook', input: '{"session_id": "s", "prompt": "Why?"}', point: 'Why?' },
    {
      kind: 'hook',
      input: '{"llm_request": {"messages": [{"content": "old"}, {"content": "new"}]}}',
      point: 'new',
    },
    { kind: 'event', input: '{"llm_request": {}, "llm_response": {"text": "So."}}', point: 'So.' },
    { kind: 'session', input: '{"a": "prompt"}', point: '{"a": "prompt"}' },
    { kind: 'turn', input: '[{"text": "Do it."}]', point: 'Do it.' },
    { kind: 'turn', input: '[{"functionResponse": {"name": "glob"}}]', point: 'result of glob' },
    { kind: 'model', input: '{"contents": [{"parts": [{"text": "Do it."}]}]}', point: 'Do it.' },
    { kind: 'model', input: '{"contents": "Do it."}', point: 'Do it.' },
    { kind: 'model', input: '{"contents": [null], "x": 1}', point: 'null' },
    { kind: 'tool', input: '[[[null]]]', point: '[[null]]' },
    { kind: 'tool', point: '' },
  ])('says the point of a $kind with $input', ({ point, ...fields }) => {
    expect(storyOf([record(fields)])[0]?.point).toBe(point);
  });

  it('cuts a long point, and says of middleware what it is around', () => {
    const tool = record({ kind: 'tool', input: JSON.stringify({ path: `${'x'.repeat(159)}😀` }) });
    const story = storyOf([tool, record({ kind: 'middleware', parent: tool.id })]);
    expect(story.map(({ point }) => point)).toEqual(Array(2).fill(`${'x'.repeat(159)}…`));
  });

  it('counts time in which two hooks ran side by side once', () => {
    const event = record({ kind: 'event', start: 0, durationMs: 30 });
    const hooks = [0, 5].map((start) => record({ parent: event.id, start, durationMs: 20 }));
    expect(storyOf([...hooks, event])[0]?.ownMs).toBe(5);
  });

  it('has spans whose parent is missing, that contain each other, and that share an id', () => {
    const spans = [
      record({ id: 'a', parent: 'b', name: 'a' }),
      record({ id: 'b', parent: 'a', name: 'b' }),
      record({ id: 'c', parent: 'killed', name: 'orphan' }),
      record({ id: 'c', parent: 'c', name: 'own parent' }),
    ];
    const names = storyOf(spans).map(({ name }) => name);
    expect(names.toSorted()).toEqual(['a', 'b', 'orphan', 'own parent']);
  });

  it('is told of a hundred thousand spans that contain each other', () => {
    const spans = Array.from({ length: 100_000 }, (_, index) =>
      record({ id: String(index), parent: index > 0 ? String(index - 1) : null, reason: 'why' }),
    );
    const story = storyOf(spans);
    expect(story.at(-1)?.depth).toBe(99_999);
    // The reason is told once, by the innermost.
    expect(formatStory(story.slice(0, 5000)).match(/why/g)).toHaveLength(1);
  });
});

describe('the author of a verdict', () => {
  it('is told before the reason, and is read from a file where it is a list of names', async () => {
    const file = path.join(directory.path, 'decided.jsonl');
    const event = { kind: 'event', verdict: 'block', reason: 'one\ntwo' } as const;
    const lines = [
      record({ ...event, name: 'BeforeTool', decidedBy: ['guard', 'lint'] }),
      { ...record({ ...event, name: 'AfterTool' }), decidedBy: 'guard' },
      { ...record({ ...event, name: 'BeforeAgent' }), decidedBy: ['guard', 5] },
    ];
    await writeFile(file, lines.map((line) => JSON.stringify(line)).join('\n'));
    const { spans } = await readTrace(file);
    expect(spans.map(({ decidedBy }) => decidedBy)).toEqual([
      ['guard', 'lint'],
      undefined,
      ['guard'],
    ]);
    expect(formatStory(storyOf(spans))).toContain('by guard, lint: one two');
  });
});

describe('a file of spans', () => {
  it('is read but for the lines that are not spans', async () => {
    const file = path.join(directory.path, 'trace.jsonl');
    const whole = JSON.stringify(record({ name: 'whole' }));
    const lines = [
      whole,
      whole.slice(0, 40),
      '[]',
      '{"id":1}',
      JSON.stringify({ ...record(), durationMs: -1 }),
      JSON.stringify({ ...record({ name: 'odd' }), reason: 1, verdict: 'maybe', sizes: [] }),
    ];
    await writeFile(file, lines.join('\n'));

    const { spans, unreadable } = await readTrace(file);
    expect(spans.map(({ name, verdict, reason }) => [name, verdict, reason])).toEqual([
      ['whole', 'allow', undefined],
      ['odd', 'allow', undefined],
    ]);
    expect(unreadable).toEqual([2, 3, 4, 5]);
  });
});
