import { describe, expect, it } from 'vitest';
import {
  Config,
  HookEventName,
  HookPlanner,
  HookRegistry,
  type Extension,
  type HookDefinition,
  type HookDefinitions,
} from '../../src/index.js';
import { asLoaded, hook } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';

// What the planners of Gemini CLI and LLxprt are tested for. Where ours differs, see differences.test.ts.

const { BeforeTool, SessionStart } = HookEventName;

async function plan(
  hooks: HookDefinitions,
  context?: { toolName?: string; subject?: string },
  { event = BeforeTool, extensions = [] as Extension[] } = {},
) {
  const config = new Config({ enableHooks: true, hooks, extensions });
  const logger = new RecordingLogger();
  const registry = new HookRegistry(config, logger);
  await registry.initialize();
  const planned = new HookPlanner(registry, logger).createExecutionPlan(event, context);
  return planned && planned.hookConfigs.map(({ command }) => command);
}

const group = (command: string, matcher?: string): HookDefinition => ({
  ...(matcher !== undefined && { matcher }),
  hooks: [hook(command)],
});

describe('a plan', () => {
  it('is null without hooks', async () => {
    expect(await plan({})).toBeNull();
  });

  it('has all hooks without a matcher, in their order', async () => {
    const hooks = { BeforeTool: [group('./first.sh'), group('./second.sh')] };
    expect(await plan(hooks)).toEqual(['./first.sh', './second.sh']);
  });

  it('has a hook for the tool beside one for all tools', async () => {
    const hooks = { BeforeTool: [group('./edits.sh', 'EditTool'), group('./all.sh')] };
    expect(await plan(hooks, { toolName: 'EditTool' })).toEqual(['./edits.sh', './all.sh']);
  });
});

describe('a matcher', () => {
  it.each<[matcher: string, toolName: string, matches: boolean]>([
    ['Edit|Write', 'EditTool', true],
    ['Edit|Write', 'WriteTool', true],
    ['Edit|Write', 'ReadTool', false],
    ['ReadTool', 'ReadTool', true],
    ['ReadTool', 'OtherTool', false],
    ['*', 'AnyTool', true],
    ['', 'AnyTool', true],
    ['[not-closed', '[not-closed', true],
    ['[not-closed', 'other-tool', false],
  ])('%j and the tool %j: %s', async (matcher, toolName, matches) => {
    const planned = await plan(asLoaded({ BeforeTool: [group('./hook.sh', matcher)] }), {
      toolName,
    });
    expect(planned).toEqual(matches ? ['./hook.sh'] : null);
  });

  it.each([
    ['startup', './new.sh'],
    ['resume', './again.sh'],
  ])(
    'of a hook for Gemini CLI is tested against the source %j of a session',
    async (subject, expected) => {
      const theirs = [group('./new.sh', 'startup'), group('./again.sh', 'resume')];
      const hooks = {
        SessionStart: theirs.map((each): HookDefinition => ({ ...each, dialect: 'gemini' })),
      };
      expect(await plan(hooks, { subject }, { event: SessionStart })).toEqual([expected]);
    },
  );
});

describe('a command that is configured twice', () => {
  it('runs once, wherever it came from', async () => {
    const hooks = { BeforeTool: [group('./same.sh'), group('./other.sh'), group('./same.sh')] };
    const extensions = [
      { name: 'e', isActive: true, hooks: { BeforeTool: [group('./other.sh')] } },
    ];
    expect(await plan(hooks, undefined, { extensions })).toEqual(['./same.sh', './other.sh']);
  });

  it('is not mistaken for another by a colon in a name or a command (LLxprt)', async () => {
    const hooks = [hook('c', { name: 'a:b' }), hook('b:c', { name: 'a' })];
    expect(await plan({ BeforeTool: [{ hooks }] })).toEqual(['c', 'b:c']);
  });
});
