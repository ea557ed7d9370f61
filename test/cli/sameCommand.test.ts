import { describe, expect, it } from 'vitest';
import type { CommandHookConfig } from '../../src/protocol/types.js';
import { Cli } from './helpers.js';

const cli = new Cli();

/** Where a hook is written, in order of priority. */
const PLACES = ['project', 'user', 'extension'] as const;

type Written = Partial<Record<(typeof PLACES)[number], Partial<CommandHookConfig>[]>>;

/** Which of the hooks, by their names, each way of looking takes to be other hooks again. */
interface Views {
  readonly run: readonly string[];
  readonly guards: readonly string[];
}

const groups = (hooks: Partial<CommandHookConfig>[] = []) => ({
  BeforeAgent: [{ hooks: hooks.map((hook) => ({ type: 'command' as const, ...hook })) }],
});

/** Writes hooks of BeforeAgent, runs them, and asks everybody else which would run. */
async function lookAt(written: Written, disabledHooks: readonly string[] = []): Promise<Views> {
  const all = PLACES.flatMap((place) => written[place] ?? []).map(({ name = '' }) => name);
  await cli.projectSettings(groups(written.project) as never);
  await cli.userSettings(groups(written.user) as never, { disabledHooks });
  await cli.extension('user', 'mine', { hooks: groups(written.extension) });

  const fired = await json(['fire', 'BeforeAgent', '--json', '--trust']);
  const listed = await json(['list', '--json', '--trust']);
  const explained = await json(['explain', 'BeforeAgent', '--json', '--trust']);
  const validated = await json(['validate', '--json', '--trust']);
  const ran = (fired['results'] as Seen[]).map(({ hook }) => hook);
  const running = hooksOf(explained).filter(({ runs }) => runs);
  expect(running.map(({ hook }) => hook)).toEqual(ran);
  const notDuplicates = hooksOf(listed).filter(
    ({ enabled, duplicateOf }) => enabled && duplicateOf === null,
  );
  expect(notDuplicates.map(({ hook }) => hook)).toEqual(ran);
  const findings = validated['findings'] as { rule: string }[];
  const repeated = findings.filter(({ rule }) => rule === 'duplicate-command');
  expect(repeated).toHaveLength(all.length - ran.length - disabledHooks.length);
  const guards = running.filter(({ onFailure }) => onFailure === 'deny');
  return { run: ran, guards: guards.map(({ hook }) => hook) };
}

interface Seen {
  readonly hook: string;
  readonly runs?: boolean;
  readonly enabled?: boolean;
  readonly duplicateOf?: string | null;
  readonly onFailure?: string;
}

function hooksOf({ hooks }: Record<string, unknown>): Seen[] {
  return hooks as Seen[];
}

async function json(args: readonly string[]): Promise<Record<string, unknown>> {
  const { stdout, stderr } = await cli.run(args);
  expect(stderr).not.toContain('error:');
  return JSON.parse(stdout) as Record<string, unknown>;
}

const CASES: readonly [string, Written, readonly string[], readonly string[]][] = [
  [
    'other blanks, another timeout',
    {
      user: [
        { name: 'a', command: 'cat  -u' },
        { name: 'b', command: 'cat -u', timeout: 9000 },
      ],
    },
    [],
    ['a'],
  ],
  [
    'other variables',
    {
      user: [
        { name: 'a', command: 'true', env: { A: '1' } },
        { name: 'b', command: 'true', env: { A: '2' } },
      ],
    },
    [],
    ['a', 'b'],
  ],
  [
    'a project, a user and an extension to which it does not refer',
    {
      project: [{ name: 'a', command: 'true' }],
      user: [{ name: 'b', command: 'true' }],
      extension: [{ name: 'c', command: 'true' }],
    },
    [],
    ['b'],
  ],
  [
    'an extension to which it refers',
    {
      user: [{ name: 'a', command: 'true "$extensionPath"' }],
      extension: [{ name: 'b', command: 'true "$extensionPath"' }],
    },
    [],
    ['a', 'b'],
  ],
  [
    'a first one that is switched off',
    {
      user: [
        { name: 'a', command: 'true' },
        { name: 'b', command: 'true' },
      ],
    },
    ['a'],
    ['b'],
  ],
];

describe('the runs, list, explain and validate agree on the same command', () => {
  it.each(CASES)('with %s', async (_, written, disabled, expected) => {
    expect((await lookAt(written, disabled)).run).toEqual(expected);
  });

  it('with a guard among them, which makes the one that runs a guard', async () => {
    const command = 'exit 1; true';
    const written = {
      user: [
        { name: 'a', command },
        { name: 'b', command, onFailure: 'deny' as const },
      ],
    };
    expect(await lookAt(written)).toEqual({ run: ['a'], guards: ['a'] });
    const { blocked } = await json(['fire', 'BeforeAgent', '--json', '--trust']);
    expect(blocked).toBe(true);
  });
});
