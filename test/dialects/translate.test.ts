import assert from 'node:assert/strict';
import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { parseAnswer } from '../../src/protocol/readHookOutput.js';
import type { Dialect } from '../../src/dialects/dialect.js';
import {
  changedArguments,
  ourToolName,
  theirArguments,
  theirToolNames,
} from '../../src/dialects/translate.js';
import { dialects, ourEventName, theirEventName } from '../../src/dialects/dialects.js';
import { HookEventName } from '../../src/protocol/types.js';

const { claude, gemini } = dialects;
const CWD = '/project';

describe.each(Object.entries(dialects))('the words of %s', (_name, dialect) => {
  it('name no tool, and no event, twice', () => {
    // One that does the work of several is read by its form, which has tests of its own.
    const plain = dialect.tools.filter(({ form }) => !form);
    const ours = plain.map((words) => words.ours);
    const theirs = plain.flatMap((words) => words.theirs);
    const events = dialect.events.map((words) => words.name);
    for (const names of [ours, theirs, events]) expect(new Set(names).size).toBe(names.length);
  });

  it('give every event back as it was', () => {
    for (const event of Object.values(HookEventName)) {
      expect(ourEventName(dialect, theirEventName(dialect, event))).toBe(event);
      expect(ourEventName(dialect, event)).toBe(event);
    }
  });

  it('give every name of a tool back as it was', () => {
    fc.assert(
      fc.property(toolOf(dialect), (tool) => {
        for (const theirs of theirToolNames(dialect, tool)) {
          expect(ourToolName(dialect, theirs)).toBe(tool);
        }
      }),
    );
  });

  it('see no change in arguments that come back as they were read', () => {
    fc.assert(
      fc.property(toolOf(dialect), args, (tool, input) => {
        const sent = theirArguments(dialect, tool, input, CWD);
        expect(Object.keys(sent)).toHaveLength(Object.keys(input).length);
        const given = changedArguments(dialect, tool, input, CWD, sent);
        expect(given).toEqual({ change: {}, dropped: [] });
      }),
    );
  });

  it('give a changed argument the name that it had', () => {
    fc.assert(
      fc.property(toolOf(dialect), args, fc.nat(), (tool, input, index) => {
        const names = Object.keys(input);
        fc.pre(names.length > 0);
        const sent = Object.entries(theirArguments(dialect, tool, input, CWD));
        const at = index % names.length;
        const returned = Object.fromEntries(
          sent.map(([key, value], place) => [key, place === at ? { changed: true } : value]),
        );
        const given = changedArguments(dialect, tool, input, CWD, returned);
        expect(given).toEqual({ change: { [names[at] ?? '']: { changed: true } }, dropped: [] });
      }),
    );
  });
});

function toolOf(dialect: Dialect) {
  const theirs = new Set(dialect.tools.flatMap((words) => words.theirs));
  const forms = new Set(dialect.tools.flatMap(({ form, ours }) => (form ? [ours] : [])));
  const plain = dialect.tools.map(({ ours }) => ours).filter((name) => !forms.has(name));
  return fc.oneof(
    fc.constantFrom('odd_tool', ...plain),
    fc.constantFrom('mcp__github__create_issue', 'MultiEdit', 'memory'),
    fc.string().filter((name) => !theirs.has(name)),
  );
}

/** Texts and numbers, also under the names that are renamed. */
const args = fc.dictionary(
  fc.constantFrom(
    'absolute_path',
    'file_path',
    'path',
    'dir_path',
    'directory',
    'include',
    'include_pattern',
    'glob',
    'command',
  ),
  fc.oneof(fc.string(), fc.integer(), fc.constant('/project/a'), fc.constant('b/c')),
);

describe('what Claude Code calls', () => {
  it.each([
    ['write_file', 'Write'],
    ['replace', 'Edit'],
    ['read_file', 'Read'],
    ['glob', 'Glob'],
    ['search_file_content', 'Grep'],
    ['list_directory', 'LS'],
    ['web_fetch', 'WebFetch'],
    ['google_web_search', 'WebSearch'],
    ['write_todos', 'TodoWrite'],
    ['mcp__memory__read', 'mcp__memory__read'],
    ['MultiEdit', 'MultiEdit'],
  ])('%s is %s', (ours, theirs) => {
    expect(theirToolNames(claude, ours)).toEqual([theirs]);
    expect(ourToolName(claude, theirs)).toBe(ours);
  });

  it.each([
    ['task', ['Agent', 'Task']],
    ['run_shell_command', ['Bash', 'PowerShell']],
  ])('%s has several names', (ours, theirs) => {
    expect(theirToolNames(claude, ours)).toEqual(theirs);
    for (const name of theirs) expect(ourToolName(claude, name)).toBe(ours);
  });

  it.each([
    ['read_file', { absolute_path: '/a' }, { file_path: '/a' }],
    ['read_file', { file_path: 'a', limit: 3 }, { file_path: '/project/a', limit: 3 }],
    [
      'replace',
      { file_path: 'a', old_string: 'x', new_string: 'y' },
      { file_path: '/project/a', old_string: 'x', new_string: 'y' },
    ],
    ['search_file_content', { pattern: 'x', include: '*.ts' }, { pattern: 'x', glob: '*.ts' }],
    ['glob', { pattern: '*', dir_path: 'src' }, { pattern: '*', path: 'src' }],
    ['list_directory', { dir_path: 'src' }, { path: '/project/src' }],
    ['run_shell_command', { command: 'ls' }, { command: 'ls' }],
  ])('the arguments of %s', (tool, ours, theirs) => {
    expect(theirArguments(claude, tool, ours, CWD)).toEqual(theirs);
  });

  it('arguments of any name stay, and give no change when they are given back as they were read', () => {
    const odd = '{"__proto__":1,"constructor":"c","toString":"t","":{"constructor":[2]}}';
    const input = { ...(JSON.parse(odd) as object), gap: [undefined, -0] };
    const theirs = theirArguments(claude, 'read_file', input, CWD);
    assert.deepStrictEqual(theirs, input);
    const answer = parseAnswer(JSON.stringify(theirs)) ?? {};
    const given = changedArguments(claude, 'read_file', input, CWD, answer);
    expect(given).toEqual({ change: {}, dropped: [] });
  });

  it('an argument that a hook adds', () => {
    const returned = { pattern: 'x', glob: '*.ts' };
    const given = changedArguments(claude, 'search_file_content', { pattern: 'x' }, CWD, returned);
    expect(given).toEqual({ change: { include: '*.ts' }, dropped: [] });
  });

  it('an argument that a hook leaves out, by our name', () => {
    const input = { pattern: 'x', include: '*.ts', depth: undefined };
    const given = changedArguments(claude, 'search_file_content', input, CWD, { pattern: 'y' });
    expect(given).toEqual({ change: { pattern: 'y' }, dropped: ['include'] });
  });
});

describe('what Gemini CLI calls', () => {
  it('search_file_content is grep_search, under both names', () => {
    expect(theirToolNames(gemini, 'search_file_content')).toEqual([
      'grep_search',
      'search_file_content',
    ]);
  });

  it.each([
    [
      'search_file_content',
      { pattern: 'x', path: 'src', include: '*.ts' },
      { pattern: 'x', dir_path: 'src', include_pattern: '*.ts' },
    ],
    ['glob', { pattern: '*', path: 'src' }, { pattern: '*', dir_path: 'src' }],
    ['list_directory', { path: 'src' }, { dir_path: 'src' }],
    ['list_directory', { dir_path: 'src' }, { dir_path: 'src' }],
    ['run_shell_command', { command: 'ls', directory: 'src' }, { command: 'ls', dir_path: 'src' }],
    ['read_file', { file_path: 'a' }, { file_path: 'a' }],
  ])('the arguments of %s', (tool, ours, theirs) => {
    expect(theirArguments(gemini, tool, ours, CWD)).toEqual(theirs);
  });

  it('arguments that a hook changes, by their newer and their older names', () => {
    const input = { pattern: 'x', path: 'src', include: '*.ts' };
    const change = (returned: object) =>
      changedArguments(gemini, 'search_file_content', input, CWD, { ...returned }).change;
    expect(change({ dir_path: 'lib', include_pattern: '*.js' })).toEqual({
      path: 'lib',
      include: '*.js',
    });
    expect(change({ path: 'lib', include: '*.js' })).toEqual({ path: 'lib', include: '*.js' });
  });
});
