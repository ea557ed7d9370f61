import { assert, describe, expect, it } from 'vitest';
import {
  checkArguments,
  describeParameters,
  flag,
  integer,
  nonEmptyText,
  optional,
  text,
  textList,
} from '../../../src/agent/tools/parameters.js';
import { ToolFailure } from '../../../src/agent/tools/toolFailure.js';
import { ToolErrorType } from '../../../src/tools/tools.js';

const parameters = {
  file: nonEmptyText('A file.'),
  path: optional(text('A directory.', 'dir_path')),
  limit: optional(integer('A limit.', 1)),
  deep: optional(flag('Deep or not.')),
  ignore: optional(textList('Globs.')),
};

function check(input: Record<string, unknown>) {
  return checkArguments('some_tool', parameters, input);
}

function refusalOf(input: Record<string, unknown>): ToolFailure['result'] {
  try {
    check(input);
  } catch (failure) {
    assert(failure instanceof ToolFailure);
    return failure.result;
  }
  return assert.fail('The arguments were not refused');
}

describe('checkArguments', () => {
  it('gives back arguments that fit', () => {
    const input = { file: 'a', path: '', limit: 1, deep: false, ignore: ['x'] };
    expect(check(input)).toEqual(input);
  });

  it('accepts an argument under its alias', () => {
    expect(check({ file: 'a', dir_path: 'src' })).toEqual({ file: 'a', path: 'src' });
  });

  it('leaves the input as it was', () => {
    const input = Object.freeze({ file: 'a', dir_path: 'src' });
    check(input);
    expect(input).toEqual({ file: 'a', dir_path: 'src' });
  });

  it.each([
    [{}, 'some_tool: the argument file is missing; expected a string that is not empty.'],
    [{ file: '' }, "some_tool: the argument file is ''; expected a string that is not empty."],
    [{ file: 7 }, 'some_tool: the argument file is 7; expected a string that is not empty.'],
    [
      { file: 'a', limit: 0 },
      'some_tool: the argument limit is 0; expected an integer of at least 1.',
    ],
    [{ file: 'a', limit: 1.5 }, 'the argument limit is 1.5; expected an integer of at least 1.'],
    [{ file: 'a', limit: '3' }, "the argument limit is '3'; expected an integer of at least 1."],
    [{ file: 'a', deep: 'yes' }, "the argument deep is 'yes'; expected true or false."],
    [
      { file: 'a', ignore: ['x', 5] },
      "the argument ignore is [ 'x', 5 ]; expected a list of strings.",
    ],
    [{ file: 'a', dir_path: null }, 'the argument path is null; expected a string.'],
    [{ file: 'a', paht: 'b' }, "some_tool has no argument 'paht'."],
    [{ file: 'a', constructor: 'b' }, "some_tool has no argument 'constructor'."],
    [{ file: 'a', path: 'b', dir_path: 'c' }, 'the arguments path and dir_path mean the same'],
  ])('refuses %j', (input, message) => {
    const { error, llmContent } = refusalOf(input);
    expect(error.type).toBe(ToolErrorType.InvalidParams);
    expect(error.message).toContain(message);
    expect(llmContent).toContain(message);
  });

  it('shows only the beginning of a long value', () => {
    const { error } = refusalOf({ file: 'a', limit: 'x'.repeat(10_000) });
    expect(error.message.length).toBeLessThan(300);
  });
});

describe('describeParameters', () => {
  it('makes the JSON schema', () => {
    expect(describeParameters(parameters)).toEqual({
      type: 'object',
      properties: {
        file: { type: 'string', minLength: 1, description: 'A file.' },
        path: { type: 'string', description: 'A directory.' },
        limit: { type: 'integer', minimum: 1, description: 'A limit.' },
        deep: { type: 'boolean', description: 'Deep or not.' },
        ignore: { type: 'array', items: { type: 'string' }, description: 'Globs.' },
      },
      required: ['file'],
      additionalProperties: false,
    });
  });
});
