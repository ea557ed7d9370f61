import { describe, expect, it } from 'vitest';
import { isOfMoment, MatcherBudget, matcherLetsRun } from '../../middleware/planner.js';
import { HookRegistry } from '../../src/hooks/hookRegistry.js';
import type { HookRegistryEntry } from '../../src/hooks/entry.js';
import { findUnmatchableNames, matchesGroup } from '../../src/validate/matching.js';
import {
  HookEventName,
  type DialectName,
  type HookDefinition,
  type Moment,
} from '../../src/protocol/types.js';
import { startStopwatch } from '../../src/util/stopwatch.js';
import { ChangingConfig } from '../helpers/changingConfig.js';
import { hook } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';

const { BeforeTool, AfterTool, BeforeModel, SessionStart, SessionEnd } = HookEventName;

/** An expression that is not decided in time, and a name on which it is not. */
const ENDLESS = '^(a+)+$';
const LONG_NAME = `${'a'.repeat(140)}!`;

/** The entries of one group, as a registry knows them. */
async function entriesOf(group: HookDefinition, event: HookEventName = BeforeTool) {
  const logger = new RecordingLogger();
  const config = new ChangingConfig({ enableHooks: true });
  config.hooks = { [event]: [group] };
  const registry = new HookRegistry(config, logger);
  await registry.initialize();
  return { registry, logger, entries: registry.getAllHooks() };
}

function asOfProject(entry: HookRegistryEntry): HookRegistryEntry {
  return { ...entry, origin: { scope: 'project', file: 'settings.json' } };
}

function keepBusy(ms: number): void {
  const spentMs = startStopwatch();
  while (spentMs() < ms);
}

describe('the time that the matchers of a project share', () => {
  it('is up after 250 ms: what comes later is not tried, which is told once', () => {
    const budget = new MatcherBudget();
    const logger = new RecordingLogger();
    const tried: string[] = [];
    const spend = (name: string, ms: number) => {
      const tryIt = () => {
        tried.push(name);
        keepBusy(ms);
        return 'no' as const;
      };
      return budget.spend(tryIt, logger, name);
    };
    expect(spend('first', 140)).toBe('no');
    expect(spend('second', 140)).toBe('no');
    expect(logger.warnings).toEqual([]);
    expect(spend(LONG_NAME, 0)).toBe('undecided');
    expect(spend('fourth', 0)).toBe('undecided');
    expect(tried).toEqual(['first', 'second']);
    expect(logger.warnings).toEqual([
      expect.stringMatching(/longer than 250 ms for the tool "a{100}".*guards do; simplify/),
    ]);
  });

  it('counts against hooks of the project alone', async () => {
    const hooks = [hook('./lax.sh'), hook('./guard.sh', { onFailure: 'deny' })];
    const { registry, logger, entries } = await entriesOf({ matcher: '^a', hooks });
    const budget = new MatcherBudget();
    budget.spend(() => (keepBusy(300), 'no'), logger, 'b');
    const isAsked = (entry: HookRegistryEntry) =>
      matcherLetsRun(registry, entry, { toolName: 'abc' }, logger, budget);
    expect(entries.map((entry) => isAsked(asOfProject(entry)))).toEqual([false, true]);
    expect(entries.map(isAsked)).toEqual([true, true]);
    expect(entries.map((entry) => isAsked(asOfProject(entry)))).toEqual([false, true]);
  });
});

describe('a matcher that is not a regular expression', () => {
  it('of ours is text, and of Claude Code matches nothing, but guards are asked', async () => {
    const hooks = [hook('./lax.sh'), hook('./guard.sh', { onFailure: 'deny' })];
    const isAsked = async (dialect: DialectName | undefined, toolName: string) => {
      const group = { matcher: '(write', hooks, ...(dialect && { dialect }) };
      const { registry, logger, entries } = await entriesOf(group);
      const asked = entries.map((entry) => matcherLetsRun(registry, entry, { toolName }, logger));
      return { asked, warnings: logger.warnings };
    };
    expect((await isAsked(undefined, '(write')).asked).toEqual([true, true]);
    const other = await isAsked(undefined, 'write');
    expect(other.asked).toEqual([false, true]);
    expect(other.warnings).toEqual([expect.stringMatching(/'\(write'.*literal text; guards/)]);
    const { asked, warnings } = await isAsked('claude', '(write');
    expect(asked).toEqual([false, true]);
    expect(warnings).toEqual([expect.stringMatching(/'\(write'.*matches nothing; guards/)]);
  });

  it('is quoted in its warning up to a length, with its place', async () => {
    const matcher = `(${'x'.repeat(300)}`;
    const { logger } = await entriesOf({ matcher, hooks: [hook('./x.sh')] });
    expect(logger.warnings).toEqual([
      expect.stringMatching(/^hooks\.BeforeTool\[0\]\.matcher: '\(x{59}'\.\.\. 241 .*literal/),
    ]);
  });

  it('or takes too long is told with the first hundred characters of the tool', async () => {
    const hooks = [hook('./x.sh')];
    const { registry, logger, entries } = await entriesOf({ matcher: ENDLESS, hooks });
    matcherLetsRun(registry, entries[0]!, { toolName: LONG_NAME }, logger);
    expect(logger.warnings).toEqual([
      expect.stringMatching(
        /"\.\/x\.sh" took longer than 50 ms for the tool "a{100}": simplify it/,
      ),
    ]);
    expect(logger.records.at(-1)?.details).toEqual({ event: BeforeTool });
  });

  it('or takes too long is quoted by its first two hundred characters', async () => {
    const matcher = `${ENDLESS}|${'x'.repeat(300)}`;
    const { registry, logger, entries } = await entriesOf({ matcher, hooks: [hook('./x.sh')] });
    matcherLetsRun(registry, entries[0]!, { toolName: LONG_NAME }, logger);
    expect(logger.warnings).toEqual([
      expect.stringMatching(/^The matcher "\^\(a\+\)\+\$\|x{192}" of the hook/),
    ]);
  });
});

describe('the moment of an event', () => {
  type Own = { readonly dialect?: DialectName; readonly moment?: Moment };
  const claude = 'claude';

  it.each<[own: Own, moments: (Moment | undefined)[]]>([
    [{}, [undefined, 'failed']],
    [{ dialect: 'gemini' }, [undefined, 'failed']],
    [{ dialect: claude }, [undefined]],
    [{ dialect: claude, moment: 'failed' }, ['failed']],
    [{ dialect: claude, moment: 'asked' }, ['asked']],
  ])('a hook %j runs at %j', (own, moments) => {
    const all = [undefined, 'failed', 'asked'] as const;
    expect(all.filter((moment) => isOfMoment(own, moment))).toEqual(moments);
  });
});

/** Whether hooks of a group run when a session ends because the user left. */
function runsAtExit(dialect: DialectName | undefined, matcher: string): boolean {
  const group = { matcher, ...(dialect && { dialect }) };
  return matchesGroup(group, SessionEnd, { subject: 'exit' });
}

describe('whether a hook is concerned', () => {
  const toolName = 'search_file_content';
  const hooks = [hook('./x.sh')];

  it('depends on the moment, which there may be none of', async () => {
    const { registry, logger, entries } = await entriesOf({ hooks });
    const [ours] = entries;
    const theirs: HookRegistryEntry = {
      ...ours!,
      config: { ...ours!.config, dialect: 'claude', moment: 'failed' },
    };
    expect(matcherLetsRun(registry, ours!, undefined, logger)).toBe(true);
    expect(matcherLetsRun(registry, theirs, undefined, logger)).toBe(false);
    expect(matcherLetsRun(registry, theirs, { toolName, moment: 'failed' }, logger)).toBe(true);
  });

  it('depends on any of the names that a tool has', async () => {
    const group = { matcher: '^grep', dialect: 'gemini', hooks } as const;
    const { registry, logger, entries } = await entriesOf(group);
    expect(matcherLetsRun(registry, entries[0]!, { toolName }, logger)).toBe(true);
  });

  it('depends on its matcher also where it is a guard', async () => {
    const guards = [hook('./guard.sh', { onFailure: 'deny' })];
    const { registry, logger, entries } = await entriesOf({ matcher: '^write', hooks: guards });
    const isAsked = (name: string) =>
      matcherLetsRun(registry, entries[0]!, { toolName: name }, logger);
    expect(['write_file', 'overwrite'].map(isAsked)).toEqual([true, false]);
  });

  it('by a matcher that takes too long: a guard is, and no other', async () => {
    const guarded = [...hooks, hook('./guard.sh', { onFailure: 'deny' })];
    const { registry, logger, entries } = await entriesOf({ matcher: ENDLESS, hooks: guarded });
    const context = { toolName: LONG_NAME };
    const isAsked = (entry: HookRegistryEntry) => matcherLetsRun(registry, entry, context, logger);
    expect(entries.map(isAsked)).toEqual([false, true]);
  });
});

describe('whether the matcher of a group', () => {
  it.each<[string, Pick<HookDefinition, 'matcher' | 'dialect'>, string, boolean]>([
    ['is missing', {}, 'read_file', true],
    ['is a part of the name', { matcher: 'write' }, 'write_file', true],
    ['is another name', { matcher: 'write' }, 'read_file', false],
    ['is not an expression', { matcher: '(write' }, '(write', true],
    ['takes too long', { matcher: ENDLESS }, LONG_NAME, false],
    ['is a name of Claude Code', { matcher: 'Edit|Write', dialect: 'claude' }, 'write_file', true],
    ['is another of its names', { matcher: 'Edit|Read', dialect: 'claude' }, 'write_file', false],
    ['has a name in it', { matcher: 'Writer', dialect: 'claude' }, 'write_file', false],
    ['is none of its expressions', { matcher: '(Write', dialect: 'claude' }, '(Write', false],
    [
      'is an older name',
      { matcher: 'search_file', dialect: 'gemini' },
      'search_file_content',
      true,
    ],
  ])('lets its hooks run where it %s', (_, group, toolName, expected) => {
    expect(matchesGroup(group, BeforeTool, { toolName })).toBe(expected);
  });

  it('lets its hooks run at a subject: ours in any case, those of dialects where it is named', () => {
    expect(runsAtExit(undefined, 'never')).toBe(true);
    expect(runsAtExit('gemini', 'exit')).toBe(true);
    expect(runsAtExit('gemini', 'clear')).toBe(false);
    expect(runsAtExit('claude', 'other')).toBe(true);
    expect(runsAtExit('claude', 'exit')).toBe(false);
    expect(matchesGroup({ matcher: 'never', dialect: 'claude' }, BeforeModel, {})).toBe(true);
  });
});

describe('names that a matcher waits for and never meets', () => {
  it.each<[string, string, readonly string[]]>([
    ['none of a list', 'startup|resume', []],
    ['one of a list', 'startup|never, nor', ['never', 'nor']],
    ['not what is empty', 'startup|', []],
    ['none of an expression', '^(start|never)', []],
    ['all of an expression', '^never$', ['^never$']],
    ['none of a wildcard', '*', []],
  ])('%s', (_, matcher, idle) => {
    const found = findUnmatchableNames({ matcher, dialect: 'claude' }, SessionStart);
    expect(found).toEqual({ idle, subjects: ['startup', 'resume', 'clear'] });
  });

  it('are not looked for in our own groups, and where there is a tool', () => {
    const none = { idle: [], subjects: [] };
    expect(findUnmatchableNames({ matcher: 'never' }, SessionStart)).toEqual(none);
    expect(findUnmatchableNames({ matcher: 'never', dialect: 'claude' }, AfterTool)).toEqual(none);
    expect(findUnmatchableNames({ dialect: 'claude' }, AfterTool)).toEqual(none);
  });
});
