import { describe, expect, it } from 'vitest';
import { parseHookDefinitions } from '../../src/hooks/hookSettings.js';
import { formatPath } from '../../src/util/checks.js';
import type { HookOrigin } from '../../src/protocol/types.js';

const guard = { type: 'command', command: './guard.sh' };
const audit = { type: 'command', command: './audit.sh' };

/** Parses one BeforeTool group that holds one hook with the given extra keys, beside a good one. */
function parseHook(keys: Record<string, unknown>) {
  return parseHookDefinitions({ BeforeTool: [{ hooks: [{ ...guard, ...keys }, audit] }] });
}

function summarize(raw: unknown) {
  const { hooks, problems } = parseHookDefinitions(raw);
  return { hooks, paths: problems.map(({ path }) => formatPath(path)) };
}

describe('parseHookDefinitions', () => {
  it('keeps valid definitions as they are', () => {
    const raw = {
      BeforeTool: [
        {
          matcher: 'write_file|edit',
          sequential: true,
          hooks: [
            {
              ...guard,
              name: 'guard',
              description: 'guards',
              timeout: 5000,
              env: { MODE: 'strict' },
            },
            audit,
          ],
        },
      ],
      SessionEnd: [{ hooks: [audit] }],
      AfterModel: [],
    };
    expect(parseHookDefinitions(raw)).toEqual({ hooks: raw, problems: [] });
  });

  it('accepts a plugin without a command', () => {
    expect(
      parseHookDefinitions({ BeforeTool: [{ hooks: [{ type: 'plugin', name: 'p' }] }] }),
    ).toEqual({
      hooks: { BeforeTool: [{ hooks: [{ type: 'plugin', name: 'p', command: '' }] }] },
      problems: [],
    });
  });

  it.each([
    ['null', null],
    ['an array', []],
    ['a string', 'BeforeTool'],
    ['nothing', undefined],
    ['a function', () => undefined],
  ])('reads no hook from %s', (_, raw) => {
    const { hooks, problems } = parseHookDefinitions(raw);
    expect(hooks).toEqual({});
    expect(problems).toMatchObject([
      { path: [], message: expect.stringContaining('expected an object of event names') },
    ]);
  });

  it.each([
    ['BeforeTol', "did you mean 'BeforeTool'?"],
    ['aftermodel', "did you mean 'AfterModel'?"],
    ['PreToolUse', `use 'BeforeTool', or say "dialect": "claude"`],
    ['disabled', "use the key 'disabledHooks'"],
    ['enabled', "use the key 'enableHooks'"],
    ['x'.repeat(5_000_000), 'known are BeforeTool'],
  ])('reports an unknown event (%#) and keeps the others', (eventName, advice) => {
    const { hooks, problems } = parseHookDefinitions({
      [eventName]: ['guard'],
      AfterTool: [{ hooks: [audit] }],
    });
    expect(hooks).toEqual({ AfterTool: [{ hooks: [audit] }] });
    expect(problems).toMatchObject([
      { path: [eventName], message: expect.stringContaining(advice) },
    ]);
  });

  it.each([
    ['an event that is not an array', { BeforeTool: { hooks: [guard] } }, 'BeforeTool'],
    ['an event that is null', { BeforeTool: null }, 'BeforeTool'],
  ])('ignores %s and keeps the others', (_, raw, path) => {
    expect(summarize({ ...raw, AfterTool: [{ hooks: [audit] }] })).toEqual({
      hooks: { AfterTool: [{ hooks: [audit] }] },
      paths: [path],
    });
  });

  it.each([
    ['null', null, ''],
    ['a string', 'guard', ''],
    ['a matcher that is not a string', { matcher: 5, hooks: [guard] }, '.matcher'],
    ['a matcher that is null', { matcher: null, hooks: [guard] }, '.matcher'],
    ['hooks that are no array', { hooks: guard }, '.hooks'],
    ['no hooks', { matcher: 'x' }, '.hooks'],
    ['a made-up origin', { origin: { scope: 'root' }, hooks: [guard] }, '.origin'],
  ])('skips a group that is or has %s, and keeps its neighbours', (_, group, path) => {
    expect(summarize({ BeforeTool: [{ hooks: [guard] }, group, { hooks: [audit] }] })).toEqual({
      hooks: { BeforeTool: [{ hooks: [guard] }, { hooks: [audit] }] },
      paths: [`BeforeTool[1]${path}`],
    });
  });

  it.each([
    ['null', null, ''],
    ['a string', './guard.sh', ''],
    ['an array', [guard], ''],
    ['no type', { command: './guard.sh' }, '.type'],
    ['another type', { type: 'http', command: './guard.sh' }, '.type'],
    ['an object for a type', { type: Object.create(null), command: './guard.sh' }, '.type'],
    ['no command', { type: 'command' }, '.command'],
    ['a blank command', { type: 'command', command: ' ' }, '.command'],
    ['a number for a command', { type: 'command', command: 5 }, '.command'],
  ])('drops a hook that is or has %s, and keeps its neighbours', (_, hook, path) => {
    expect(summarize({ BeforeTool: [{ matcher: 'm', hooks: [guard, hook, audit] }] })).toEqual({
      hooks: { BeforeTool: [{ matcher: 'm', hooks: [guard, audit] }] },
      paths: [`BeforeTool[0].hooks[1]${path}`],
    });
  });

  it.each([
    ['name', 5, 'expected a string, got 5'],
    ['description', ['x'], 'expected a string, got an array'],
    ['env', 'MODE=strict', 'expected an object of strings'],
    ['env', { PORT: 8080 }, 'expected an object of strings'],
    ['env', JSON.parse('{"__proto__": "x"}'), 'expected an object of strings'],
    ['env', { constructor: 'x' }, 'expected an object of strings'],
    ['timeout', 0, 'expected a number of milliseconds above 0, got 0'],
    ['timeout', -1, 'expected a number of milliseconds above 0, got -1'],
    ['timeout', '1000', "expected a number of milliseconds above 0, got '1000'"],
    ['timeout', null, 'expected a number of milliseconds above 0, got null'],
    ['timeout', Number.NaN, 'expected a number of milliseconds above 0, got NaN'],
    ['timeout', Infinity, 'expected a number of milliseconds above 0, got Infinity'],
  ])('drops a bad %s (%j) and keeps the hook', (key, value, message) => {
    const { hooks, problems } = parseHook({ [key]: value });
    expect(hooks).toEqual({ BeforeTool: [{ hooks: [guard, audit] }] });
    expect(problems).toMatchObject([
      { path: ['BeforeTool', 0, 'hooks', 0, key], message: expect.stringContaining(message) },
    ]);
  });

  it('drops a bad `sequential` and keeps the group', () => {
    expect(summarize({ BeforeTool: [{ sequential: 'yes', hooks: [guard] }] })).toEqual({
      hooks: { BeforeTool: [{ hooks: [guard] }] },
      paths: ['BeforeTool[0].sequential'],
    });
  });

  it('drops a group of an unknown dialect, as nobody knows what its hooks mean', () => {
    const raw = { BeforeTool: [{ dialect: 'nobody', hooks: [guard] }, { hooks: [audit] }] };
    expect(summarize(raw)).toEqual({
      hooks: { BeforeTool: [{ hooks: [audit] }] },
      paths: ['BeforeTool[0].dialect'],
    });
  });

  it('takes groups of a dialect under its names of events and ours, in the order of the file', () => {
    const claude = { dialect: 'claude', hooks: [guard] };
    expect(summarize({ PreToolUse: [claude, { hooks: [audit] }], BeforeTool: [claude] })).toEqual({
      hooks: { BeforeTool: [claude, claude] },
      paths: ['PreToolUse[1]'],
    });
  });

  it('keeps a timeout that looks like seconds, and asks', () => {
    const { hooks, problems } = parseHook({ timeout: 5 });
    expect(hooks.BeforeTool?.[0]?.hooks[0]?.timeout).toBe(5);
    expect(problems).toMatchObject([
      {
        path: ['BeforeTool', 0, 'hooks', 0, 'timeout'],
        message: expect.stringContaining('milliseconds; did you mean 5000?'),
      },
    ]);
    expect(parseHook({ timeout: 1000 }).problems).toEqual([]);
  });

  it('reports unknown keys of groups and hooks, and the names they resemble', () => {
    const { hooks, problems } = parseHookDefinitions({
      BeforeTool: [{ Matcher: 'x', hooks: [{ ...guard, timeuot: 5000 }] }],
    });
    expect(hooks).toEqual({ BeforeTool: [{ hooks: [guard] }] });
    expect(problems).toMatchObject([
      { path: ['BeforeTool', 0, 'Matcher'], message: expect.stringContaining("mean 'matcher'?") },
      {
        path: ['BeforeTool', 0, 'hooks', 0, 'timeuot'],
        message: expect.stringContaining("mean 'timeout'?"),
      },
    ]);
  });

  it('lets no key reach a prototype', () => {
    const poison = '{"__proto__": {"polluted": true}, "constructor": 1, "prototype": 2';
    const { hooks, problems } = parseHookDefinitions(
      JSON.parse(`${poison}, "BeforeTool": [${poison}, "hooks": [${poison},
        "type": "command", "command": "./guard.sh"}]}]}`),
    );
    expect(hooks).toEqual({ BeforeTool: [{ hooks: [guard] }] });
    expect(problems).toHaveLength(9);
    expect(Object.keys(hooks)).toEqual(['BeforeTool']);
    expect(Object.getPrototypeOf(hooks)).toBe(Object.prototype);
    expect('polluted' in {}).toBe(false);
  });

  it('treats a key whose value is undefined as absent', () => {
    const { hooks, problems } = parseHook({ timeout: undefined, env: undefined });
    expect(hooks.BeforeTool?.[0]?.hooks[0]).toStrictEqual(guard);
    expect(problems).toEqual([]);
  });

  it('stamps the given origin, and does not let the value claim one', () => {
    const origin: HookOrigin = { scope: 'project', file: '/p/.llxprt/settings.json' };
    const { hooks, problems } = parseHookDefinitions(
      { BeforeTool: [{ origin: { scope: 'system' }, hooks: [guard] }] },
      origin,
    );
    expect(hooks.BeforeTool?.[0]?.origin).toEqual(origin);
    expect(problems.map(({ path }) => formatPath(path))).toEqual(['BeforeTool[0].origin']);
  });

  it('keeps the origin of groups that were loaded before', () => {
    const loaded = { BeforeTool: [{ origin: { scope: 'user', file: '/u' }, hooks: [guard] }] };
    expect(parseHookDefinitions(loaded)).toEqual({ hooks: loaded, problems: [] });
  });

  it('checks 10,000 hooks, every one with a problem, in well under a second', () => {
    const hooks = Array.from({ length: 10_000 }, (_, index) => ({
      type: 'command',
      command: `./hook-${index}.sh`,
      name: `hook ${index}`,
      env: { INDEX: `${index}` },
      timeout: 5,
    }));
    const startedAt = performance.now();
    const { problems } = parseHookDefinitions({ BeforeTool: [{ hooks }] });
    expect(performance.now() - startedAt).toBeLessThan(1000);
    expect(problems).toHaveLength(10_000);
  });
});

describe('what other agents say of a hook', () => {
  it.each([
    ['two words', { args: ['a b', '$HOME'] }],
    ['no words, which is without a shell as well', { args: [] }],
    ['the shell that there is', { shell: 'bash' }],
  ])('is kept: %s', (_, keys) => {
    const { hooks, problems } = parseHook(keys);
    expect(hooks.BeforeTool?.[0]?.hooks).toEqual([{ ...guard, ...keys }, audit]);
    expect(problems).toEqual([]);
  });

  it.each<[string, Record<string, unknown>, string]>([
    ['args that are no list', { args: 'guard.sh' }, 'value'],
    ['args with a number', { args: ['guard.sh', 1] }, 'value'],
    ['another shell', { shell: 'powershell' }, 'unsupported'],
    ['a condition', { if: 'Bash(git *)' }, 'unsupported'],
    ['a type of another agent', { type: 'http', url: 'x' }, 'unsupported'],
  ])('never leaves half of it: %s', (_, keys, kind) => {
    const { hooks, problems } = parseHook(keys);
    expect(hooks.BeforeTool?.[0]?.hooks).toEqual([audit]);
    expect(problems).toMatchObject([{ kind, message: expect.stringMatching(/ignored|left out/) }]);
  });

  it.each<[string, object, object, RegExp]>([
    ['in our own format', {}, { if: 'Bash(rm *)' }, /left out: conditions are called "when" here/],
    ['of an agent without', { dialect: 'gemini' }, { if: 'x' }, /left out: conditions are called/],
    ['that is no text', { dialect: 'claude' }, { if: ['Bash(rm *)'] }, /left out: expected a perm/],
    [
      'beside "when"',
      { dialect: 'claude' },
      { if: 'Read', when: 'Read' },
      /left out: beside "when"/,
    ],
    [
      'of too many texts',
      { dialect: 'claude' },
      { if: 'Bash(a*b*c*d*e*f)' },
      /too many "\*" within/,
    ],
    ['that is no pattern', { dialect: 'claude' }, { if: 'Agent(Explore)' }, /which argument/],
  ])('is left out for a condition %s', (_what, group, keys, message) => {
    const hook = { type: 'command', command: 'a', ...keys };
    const { hooks, problems } = parseHookDefinitions({
      BeforeTool: [{ ...group, hooks: [hook] }],
    });
    expect(hooks.BeforeTool?.flatMap((each) => each.hooks)).toEqual([]);
    expect(problems).toEqual([
      {
        path: ['BeforeTool', 0, 'hooks', 0, 'if'],
        message: expect.stringMatching(message),
        kind: 'unsupported',
      },
    ]);
  });

  it.each(['once', 'statusMessage'])('has no effect: %s', (key) => {
    const { hooks, problems } = parseHook({ [key]: true });
    expect(hooks.BeforeTool?.[0]?.hooks).toEqual([guard, audit]);
    expect(problems).toMatchObject([{ kind: 'no-effect' }]);
    expect(parseHook({ [key]: false }).problems).toEqual([]);
  });

  it.each([
    { command: 'bash ${CLAUDE_PLUGIN_ROOT}/x.sh' },
    { command: 'bash', args: ['$CLAUDE_PLUGIN_DATA/x'] },
  ])('is left out where it needs a variable that never is there: %j', (keys) => {
    const group = (dialect: string, env = {}) => ({ dialect, hooks: [{ ...guard, ...keys, env }] });
    const { hooks, problems } = parseHookDefinitions({
      BeforeTool: [
        group('claude'),
        group('gemini'),
        group('claude', { CLAUDE_PLUGIN_ROOT: '/p', CLAUDE_PLUGIN_DATA: '/d' }),
      ],
    });
    expect(hooks.BeforeTool?.map((each) => each.hooks.length)).toEqual([0, 1, 1]);
    expect(problems).toMatchObject([
      { kind: 'unsupported', message: expect.stringContaining('sets for plugins only') },
    ]);
  });
});

describe('formatPath', () => {
  it.each([
    [[], ''],
    [['hooks', 'BeforeTool', 1, 'hooks', 0, 'timeout'], 'hooks.BeforeTool[1].hooks[0].timeout'],
    [['hooks', 'a key', 0], "hooks['a key'][0]"],
    [['hooks', '\u001B[2J'], String.raw`hooks['\x1B[2J']`],
  ])('writes %j as %s', (path, expected) => {
    expect(formatPath(path)).toBe(expected);
  });
});
