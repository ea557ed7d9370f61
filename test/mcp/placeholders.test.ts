import { expect, it } from 'vitest';
import { fillIn } from '../../src/mcp/placeholders.js';

const read = {
  cwd: '/project',
  tool_input: { file_path: 'a.ts', edits: [{ old: '${cwd}' }], count: 3, 'a b': 'blank' },
};

it.each<[string, unknown]>([
  ['${tool_input.file_path}', 'a.ts'],
  ['in ${cwd}: ${tool_input.file_path}', 'in /project: a.ts'],
  ['${tool_input.edits.0.old}', '${cwd}'],
  ['${tool_input.count}', '3'],
  ['${tool_input.edits}', '[{"old":"${cwd}"}]'],
  ['${tool_input.a b}', 'blank'],
  ['${tool_input.missing}', ''],
  ['${toString}', ''],
  ['${tool_input.__proto__.constructor.name}', ''],
  ['${tool_input.file_path.length}', ''],
  ['$tool_input and ${', '$tool_input and ${'],
])('reads %s', (text, filled) => {
  expect(fillIn({ text }, read, false)).toEqual({ text: filled });
});

it('fills in lists and objects, and leaves what is no text', () => {
  const input = { paths: ['${tool_input.file_path}'], deep: { at: '${cwd}' }, limit: 5, all: true };
  expect(fillIn(input, read, false)).toEqual({
    paths: ['a.ts'],
    deep: { at: '/project' },
    limit: 5,
    all: true,
  });
});

it('does not put in what the model has written as a pattern of replacements', () => {
  const tricky = { tool_input: { text: '$& $1 $`' } };
  expect(fillIn({ a: '<${tool_input.text}>' }, tricky, false)).toEqual({ a: '<$& $1 $`>' });
});

it('refuses for a guard what the event does not have', () => {
  expect(() => fillIn({ a: '${tool_input.path}' }, read, true)).toThrow(
    'its "input" names tool_input.path, which this event does not have',
  );
});
