import { describe, expect, it } from 'vitest';
import { aggregateResults } from '../../middleware/aggregator.js';
import { Config } from '../../src/config/config.js';
import { HookSystem } from '../../src/hooks/hookSystem.js';
import { ConfigSource, HookEventName, type HookDefinitions } from '../../src/hooks/types.js';
import { healthy, hook } from '../helpers/hooks.js';

const { BeforeTool } = HookEventName;

const select = (toolConfig: object) => healthy({ hookSpecificOutput: { toolConfig } });

const of = (scope: 'project' | 'user' | 'system', command: string) => ({
  origin: { scope },
  hooks: [hook(command)],
});

describe('the registry', () => {
  it('tags the hooks of the configuration as Project, those of extensions as Extensions, in this order', async () => {
    const hooks: HookDefinitions = {
      BeforeTool: [of('system', 's'), of('user', 'u'), of('project', 'p'), { hooks: [hook('c')] }],
    };
    const extension = {
      name: 'e',
      isActive: true,
      hooks: { BeforeTool: [{ hooks: [hook('e')] }] },
    };
    const system = new HookSystem(
      new Config({ enableHooks: true, trustedFolder: true, hooks, extensions: [extension] }),
    );
    await system.initialize();
    const entries = system.getRegistry().getHooksForEvent(BeforeTool);
    expect(entries.map(({ config, source }) => [config.command, source])).toEqual([
      ['s', ConfigSource.Project],
      ['u', ConfigSource.Project],
      ['p', ConfigSource.Project],
      ['c', ConfigSource.Project],
      ['e', ConfigSource.Extensions],
    ]);
  });
});

describe('the strategies of the merge', () => {
  const [first, second] = [
    { decision: 'deny', reason: 'r1', systemMessage: 's1' } as const,
    { decision: 'block', reason: 'r2', systemMessage: 's2' } as const,
  ];
  const merge = (event: HookEventName) =>
    aggregateResults([healthy(first), healthy(second)], event).finalOutput;

  it.each([
    HookEventName.BeforeTool,
    HookEventName.AfterTool,
    HookEventName.BeforeAgent,
    HookEventName.AfterAgent,
    HookEventName.SessionStart,
  ])('%s: a block wins, and texts are joined', (event) => {
    const joined = { decision: 'deny', reason: 'r1\nr2', systemMessage: 's1\ns2' };
    expect(merge(event)).toMatchObject(joined);
  });

  it.each([HookEventName.BeforeModel, HookEventName.AfterModel])(
    '%s: a block wins, and later texts replace earlier ones',
    (event) => {
      expect(merge(event)).toMatchObject({ decision: 'block', reason: 'r2', systemMessage: 's2' });
    },
  );

  it('BeforeToolSelection: names are united, and the most restrictive mode wins', () => {
    const { finalOutput } = aggregateResults(
      [
        select({ mode: 'ANY', allowedFunctionNames: ['b'] }),
        select({ mode: 'AUTO', allowedFunctionNames: ['a'] }),
      ],
      HookEventName.BeforeToolSelection,
    );
    expect(finalOutput?.hookSpecificOutput).toEqual({
      toolConfig: { mode: 'ANY', allowedFunctionNames: ['a', 'b'] },
    });
  });
});
