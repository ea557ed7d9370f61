import { parse } from 'jsonc-parser';
import { describe, expect, it } from 'vitest';
import { editJson, type JsonEdit } from '../../src/cli/shared/editJson.js';

const hook = { type: 'command', command: './new.sh' };
const ADD: JsonEdit = {
  path: ['hooks', 'BeforeTool', -1],
  value: { matcher: 'x', hooks: [hook] },
  isInsertion: true,
};
const SWITCH_ON: JsonEdit = { path: ['enableHooks'], value: true };
const DISABLE: JsonEdit = { path: ['disabledHooks', -1], value: 'guard', isInsertion: true };
const EDITS = { ADD, SWITCH_ON, DISABLE };

const group = `{ "matcher": "a", "hooks": [{ "type": "command", "command": "a" }] }`;

/** Settings as people write them, with comments wherever there may be one. */
const CORPUS: readonly string[] = [
  '',
  '\n',
  '{}',
  '{ }\n',
  '{\n}\n',
  '// mine\n{}\n',
  '{\n  // nothing yet\n}\n',
  '{ /* nothing yet */ }\n',
  '{\n  "enableHooks": false\n}\n',
  '{\n  "enableHooks": false // for now\n}\n',
  '{\n  "enableHooks": false, // for now\n}\n',
  '{ "enableHooks": false }',
  '{ "theme": "dark", /* why */ "other": 1 /* because */ }\n',
  '{\n\t"theme": "dark",\n\t"hooks": {}\n}\n',
  '{\n    "hooks": {\n        // all of them\n    },\n    "disabledHooks": []\n}\n',
  `{\n  "hooks": { "BeforeTool": [${group}] }\n}\n`,
  `{\n  "hooks": { "BeforeTool": [${group}] } // one line\n}\n`,
  `{\n  "hooks": {\n    "BeforeTool": [${group}] // one group\n  }\n}\n`,
  `{\n  "hooks": {\n    "BeforeTool": [\n      ${group} // the first\n    ]\n  }\n}\n`,
  `{\n  "hooks": {\n    "BeforeTool": [\n      ${group}, // the first\n    ], // the tools\n  }, // the hooks\n}\n`,
  `{\n  "hooks": {\n    "BeforeTool": [\n      ${group} /* the\n      first */\n    ]\n  }\n}\n`,
  `{\n  "hooks": {\n    "BeforeTool": [\n      // before\n      ${group}\n      // after\n    ]\n    // after the list\n  }\n  // at the end\n}\n`,
  `{\n  "hooks": {\n    "BeforeTool": [\n      ${group} ] }\n}\n`,
  `{\n  "hooks": {\n    "BeforeTool": [\n      /* the */ ${group} // first\n    ]\n  }\n}\n`,
  `{\r\n  "hooks": {\r\n    "BeforeTool": [\r\n      ${group} // windows\r\n    ]\r\n  }\r\n}\r\n`,
  '{\n  "disabledHooks": ["a", "b"], // not these\n  "hooks": {}\n}\n',
  '{\n  "disabledHooks": [\n    "a", // not this\n    "b" // nor this\n  ]\n}\n',
  '{\n  "disabledHooks": [\n    "a",\n    "b",\n  ],\n}\n',
  '{\n  "disabledHooks": [/* none */]\n}\n',
  '{"hooks":{"AfterTool":[]},"disabledHooks":["a"]}',
  `/* a licence */\n{\n  "a": "// no comment", // a comment\n  "hooks": {\n    "AfterTool": [${group}]\n  }\n}\n// the end\n`,
  '{\n  "a": [1, 2 /* two */, 3],\n\n  "b": {\n    "c": null // nothing\n  } // b\n}\n',
];

type Values = Record<string, unknown>;

const read = (text: string) =>
  (parse(text, [], { allowTrailingComma: true }) as Values | undefined) ?? {};

/** The comments of a text, in their order. */
function commentsIn(text: string): string[] {
  const tokens = text.match(/"(?:[^"\\]|\\.)*"|\/\/[^\n\r]*|\/\*[^]*?\*\//gu) ?? [];
  return tokens.filter((token) => token.startsWith('/'));
}

function apply(value: Values, { path, value: added, isInsertion }: JsonEdit): Values {
  const result = structuredClone(value);
  let place: Values = result;
  for (const [depth, step] of path.slice(0, -1).entries()) {
    place[step] ??= typeof path[depth + 1] === 'number' ? [] : {};
    place = place[step] as Values;
  }
  if (isInsertion) (place as unknown as unknown[]).push(added);
  else place[path.at(-1)!] = added;
  return result;
}

describe.each(Object.entries(EDITS))('%s', (_name, edit) => {
  it.each(CORPUS)('changes nothing but its own lines in %j', (text) => {
    const after = editJson(text, edit);
    expect(read(after)).toEqual(apply(read(text), edit));
    expect(commentsIn(after)).toEqual(commentsIn(text));
    // Each line of before is there as it was, but for one with a comma, or with the new entry in it.
    const lines = after.split('\n');
    let at = 0;
    const changed = text.split('\n').filter((line) => {
      const index = lines.indexOf(line, at);
      if (index >= 0) at = index + 1;
      return index < 0;
    });
    expect(changed.length).toBeLessThanOrEqual(1);
    if (text.includes('\r\n')) expect(after).not.toMatch(/[^\r]\n/);
  });

  it.each(CORPUS)('is taken back without a trace in %j', (text) => {
    const key = edit.path[0]!;
    if (Object.hasOwn(read(text), key)) return;
    const gone = editJson(editJson(text, edit), { path: [key], value: undefined });
    expect(read(gone)).toEqual(read(text));
    expect(commentsIn(gone)).toEqual(commentsIn(text));
  });
});

it('puts a new entry behind the comment of the one before it', () => {
  const text = `{\n  "disabledHooks": [\n    "a" // not this\n  ]\n}\n`;
  expect(editJson(text, DISABLE)).toBe(
    `{\n  "disabledHooks": [\n    "a", // not this\n    "guard"\n  ]\n}\n`,
  );
});

it('puts a new entry on lines of its own behind one that has a comment before it', () => {
  const text = `{\n  "disabledHooks": [\n    /* not */ "a" // this\n  ]\n}\n`;
  expect(editJson(text, DISABLE)).toBe(
    `{\n  "disabledHooks": [\n    /* not */ "a", // this\n    "guard"\n  ]\n}\n`,
  );
});

it('stays in one line where the list does', () => {
  const text = `{ "hooks": { "BeforeTool": [${group}] } } // all`;
  expect(editJson(text, ADD)).toBe(
    `{ "hooks": { "BeforeTool": [${group}, { "matcher": "x", "hooks": [{ "type": "command", "command": "./new.sh" }] }] } } // all`,
  );
});

it.each<[string, string, readonly (string | number)[], string]>([
  ['the only entry', '{\n  "a": 1\n}\n', ['a'], '{}\n'],
  [
    'the last of two',
    '{\n  "a": 1, // one\n  "b": 2 // two\n}\n',
    ['b'],
    '{\n  "a": 1 // one\n}\n',
  ],
  ['the last, behind a comma', '{\n  "a": 1,\n  "b": 2,\n}\n', ['b'], '{\n  "a": 1,\n}\n'],
  ['the first of two', '{\n  "a": 1,\n  "b": 2\n}\n', ['a'], '{\n  "b": 2\n}\n'],
  ['one of a line', '{ "a": [1, 2, 3] }', ['a', 1], '{ "a": [1, 3] }'],
  ['the last of a line', '{ "a": [1, 2, 3] }', ['a', 2], '{ "a": [1, 2] }'],
  ['the only one of a line', '{ "a": [1] }', ['a', 0], '{ "a": [] }'],
  ['what is not there', '{ "a": [1] }', ['b'], '{ "a": [1] }'],
])('removes %s', (_, text, path, expected) => {
  expect(editJson(text, { path, value: undefined })).toBe(expected);
});

it('replaces a value where it stands', () => {
  const text = '{\n  "a": 1, // one\n}\n';
  expect(editJson(text, { path: ['a'], value: true })).toBe('{\n  "a": true, // one\n}\n');
});

it('refuses to add to what holds nothing', () => {
  expect(() => editJson('{ "hooks": 5 }', ADD)).toThrow('["hooks"] is not an object');
});
