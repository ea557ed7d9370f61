import { beforeAll, describe, expect, it } from 'vitest';
import { loadExpressions, type Expressions } from '../../src/rules/expression.js';

const EVENT = {
  hook_event_name: 'BeforeTool',
  tool_name: 'run_shell_command',
  tool_input: {
    command: 'git push --force',
    count: 5,
    ratio: 0.5,
    paths: ['src/index.ts', '.env'],
    options: { branch: 'main' },
    nothing: null,
  },
};

let expressions: Expressions;

beforeAll(async () => {
  expressions = await loadExpressions();
});

function evaluate(text: string, input: object = EVENT): boolean {
  return expressions.compile(text).evaluate(input);
}

describe('what an expression says of an event', () => {
  it.each([
    ['tool_name == "run_shell_command" && tool_input.command.contains("--force")', true],
    ['tool_input.command.matches("^git +push")', true],
    ['tool_input.command.matches("(?i)GIT")', true],
    ['tool_input["options"].branch in ["main", "master"]', true],
    ['tool_input.paths.exists(path, path.startsWith(".env"))', true],
    ['tool_input.paths.all(path, path.startsWith("src/"))', false],
    ['size(tool_input.paths) > 2', false],
    ['has(tool_input.branch)', false],
    ['has(tool_input.branch) && tool_input.branch == "main"', false],
    ['tool_input.nothing == null', true],
    // Of JSON, where `null` is nothing.
    ['has(tool_input.nothing)', false],
    ['tool_input.branch == "main" || true', true],
  ])('%s', (text, expected) => {
    expect(evaluate(text)).toBe(expected);
  });

  it.each([
    ['tool_input.count > 3', true],
    ['tool_input.count == 5', true],
    ['tool_input.count == 5.0', true],
    ['tool_input.count in [1, 5]', true],
    ['tool_input.ratio < 1', true],
    ['tool_input.count + 1 == 6', true],
    ['10 - tool_input.count == 5.0', true],
    ['tool_input.count * 2 == 10', true],
    ['tool_input.count / 2 == 2.5', true],
    ['tool_input.count % 2 == 1', true],
    ['tool_input.paths[tool_input.count - 4] == ".env"', true],
    ['string(tool_input.count) == "5"', true],
    ['tool_input.count == "5"', false],
  ])('takes numbers as they are meant: %s', (text, expected) => {
    expect(evaluate(text)).toBe(expected);
  });

  it('does not divide by zero', () => {
    expect(() => evaluate('tool_input.count % 0 == 1')).toThrow(
      'The expression "tool_input.count % 0 == 1" failed at character 18: modulus by zero',
    );
  });
});

describe('a text that is no expression', () => {
  it.each([
    ['tool_input.count >', / is no CEL expression at character 18: found >/],
    ['', / is no CEL expression at character 1: /],
    ['"😀" == tool_name )', / at character 19: found \)/],
    [
      'tool_input.command.contians("x")',
      / calls contians at character 19, which CEL does not have/,
    ],
    ['false && eval("x")', / calls eval at character 10, /],
    [`"${'x'.repeat(2000)}" == ""`, / is longer than 2000 characters: /],
    [`${'('.repeat(51)}true${')'.repeat(51)}`, / has more than 50 brackets in each other: /],
    ['['.repeat(1999), / has more than 50 brackets in each other: /],
  ])('%s', (text, problem) => {
    expect(() => expressions.compile(text)).toThrow(
      expect.objectContaining({ name: 'ExpressionError', message: expect.stringMatching(problem) }),
    );
  });

  it('is shown by its start, and on one line', () => {
    const text = `tool_name == "\n${'x'.repeat(200)}`;
    expect(() => expressions.compile(text)).toThrow(
      /^The expression "tool_name == \\"\\nx{85}…" is no CEL expression/,
    );
  });
});

describe('an expression that gives no verdict', () => {
  it.each([
    ['tool_input.branch == "main"', /failed at character 11: field not found: branch$/],
    ['tool_inptu.count > 3', /failed at character 1: the event has no field tool_inptu$/],
    ['1 + tool_name == 2', /failed at character 3: found no matching overload for /],
    ['tool_input.command', /failed: it gives a text, and has to give true or false$/],
    ['tool_input.paths', /failed: it gives a list, and has to give true or false$/],
    ['tool_input', /failed: it gives a map, and has to give true or false$/],
    ['tool_input.count', /failed: it gives a number, and has to give true or false$/],
    ['tool_input.nothing', /failed: it gives null, and has to give true or false$/],
    ['tool_input.paths[7] == ""', /failed at character \d+: /],
    ['tool_input.command.matches("(")', /failed at character \d+: error parsing regexp: /],
    // Not an expression of RE2, which never takes long.
    ['tool_input.command.matches("(?=git)")', /failed at character \d+: error parsing regexp: /],
  ])('%s', (text, reason) => {
    expect(() => evaluate(text)).toThrow(
      expect.objectContaining({ name: 'ExpressionError', message: expect.stringMatching(reason) }),
    );
  });
});

describe('bounds', () => {
  const numbers = Array.from({ length: 100_000 }, (_, index) => index);

  it.each([
    'tool_input.list.all(a, tool_input.list.all(b, tool_input.list.all(c, a + b + c >= 0)))',
    'tool_input.list.map(a, tool_input.list.map(b, a * b)).size() > 0',
    'tool_input.list.map(a, [a]) == tool_input.list.map(a, [a + 1 - 1])',
    `${'tool_input.list.exists(a, '.repeat(40)}false${')'.repeat(40)}`,
    'int(tool_input.digits) > 0',
    'tool_input.text.matches(tool_input.text)',
  ])('ends after 50 ms of processor time, and works again: %s', (text) => {
    const expression = expressions.compile(text);
    const input = {
      tool_input: { list: numbers, digits: '9'.repeat(10_000_000), text: 'ab'.repeat(1_000_000) },
    };
    const before = process.cpuUsage();
    expect(() => expression.evaluate(input)).toThrow(/failed: it took longer than 50 ms$/);
    const { user, system } = process.cpuUsage(before);
    expect((user + system) / 1000).toBeLessThan(1000);
    expect(evaluate('tool_input.paths.all(path, path != "")')).toBe(true);
  });

  it('does not search with expressions that backtrack', () => {
    const input = { tool_input: { text: `${'a'.repeat(5000)}!` } };
    expect(evaluate('tool_input.text.matches("^(a+)+$")', input)).toBe(false);
  });

  it('fails where it is nested too deeply to be run', () => {
    const deep = JSON.parse(`${'['.repeat(100_000)}${']'.repeat(100_000)}`) as object;
    expect(() => evaluate('size(tool_input) == 1', { tool_input: deep })).toThrow(
      / failed at character 18: Maximum call stack/,
    );
  });
});

describe('what an event cannot do to an expression', () => {
  it.each(['constructor', 'toString', '__proto__', 'hasOwnProperty'])(
    'has no field %s that nobody gave',
    (name) => {
      expect(() => evaluate(`${name} == 1`)).toThrow(`the event has no field ${name}`);
      expect(evaluate(`has(tool_input.${name})`)).toBe(false);
      expect(() => evaluate(`tool_input.${name} == 1`)).toThrow(`field not found: ${name}`);
      expect(() => evaluate(`tool_name.${name} == 1`)).toThrow(`field not found: ${name}`);
      expect(() => evaluate(`tool_input.paths.${name} == 1`)).toThrow(`field not found: ${name}`);
    },
  );

  it('has fields of such names where somebody gave them', () => {
    const tool_input = JSON.parse(
      '{"constructor":"x","__proto__":{"a":"y"},"valueOf":"z","toJSON":"j"}',
    ) as object;
    const input = { tool_input };
    expect(evaluate('tool_input.constructor == "x"', input)).toBe(true);
    expect(evaluate('tool_input["__proto__"].a == "y"', input)).toBe(true);
    expect(evaluate('size(tool_input) == 4 && tool_input.toJSON == "j"', input)).toBe(true);
  });

  it('calls no method of its texts and lists', () => {
    expect(() => expressions.compile('"a".constructor("return 1")')).toThrow('calls constructor');
    expect(() => expressions.compile('tool_input.paths.push("x")')).toThrow('calls push');
  });
});

describe('the event', () => {
  it('stays as it was, frozen or not', () => {
    const before = JSON.stringify(EVENT);
    const text =
      'size(tool_input.paths + ["x"]) == 3 && tool_input.paths.map(path, path + "x").size() == 2';
    expect(evaluate(text)).toBe(true);
    expect(JSON.stringify(EVENT)).toBe(before);
    expect(evaluate(text, Object.freeze(structuredClone(EVENT)))).toBe(true);
  });

  it('is looked at anew each time', () => {
    const expression = expressions.compile('tool_input.count == 1');
    const input = { tool_input: { count: 1 } };
    expect(expression.evaluate(input)).toBe(true);
    input.tool_input.count = 2;
    expect(expression.evaluate(input)).toBe(false);
  });

  it('is read as JSON would have it, and only where it is named', () => {
    const input = {
      tool_input: { missing: undefined, list: [undefined, 1] },
      get llm_request(): never {
        throw new Error('nobody asked for it');
      },
    };
    expect(evaluate('!has(tool_input.missing) && tool_input.list[0] == null', input)).toBe(true);
    expect(() => evaluate('has(llm_request.model)', input)).toThrow('nobody asked for it');
  });
});
