import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { aggregateResults } from '../../middleware/aggregator.js';
import { Config } from '../../src/config/config.js';
import { loadSettings } from '../../src/config/settings/settings.js';
import { fireHook } from '../../src/hooks/fireHook.js';
import { HookSystem } from '../../src/hooks/hookSystem.js';
import { ConfigSource, HookEventName, type HookDefinitions } from '../../src/protocol/types.js';
import { healthy, hook } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';

const { BeforeTool } = HookEventName;
const temp = useTempDir();

const select = (toolConfig: object) => healthy({ hookSpecificOutput: { toolConfig } });

const of = (scope: 'project' | 'user' | 'system', command: string) => ({
  origin: { scope },
  hooks: [hook(command)],
});

async function writeSettings(directory: string, command: string): Promise<string> {
  const file = path.join(temp.path, directory, '.llxprt', 'settings.json');
  await mkdir(path.dirname(file), { recursive: true });
  const hooks = { BeforeTool: [{ sequential: true, hooks: [hook(command)] }] };
  await writeFile(file, JSON.stringify({ enableHooks: true, hooks }), { mode: 0o600 });
  return file;
}

const note = (name: string) => `echo ${name} >> order`;

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

describe('the hooks of the settings files', () => {
  it('run in the order project, user, system, and those of extensions last', async () => {
    const systemPath = await writeSettings('etc', note('system'));
    await writeSettings('home', note('user'));
    await writeSettings('project', note('project'));
    const workingDir = path.join(temp.path, 'project');
    const home = path.join(temp.path, 'home');
    const loaded = await loadSettings({ workingDir, home, systemPath, trustProject: true });
    expect(loaded.problems).toEqual([]);
    const extensionHooks = { BeforeTool: [{ hooks: [hook(note('extension'))] }] };
    const config = new Config({
      ...loaded.settings,
      workingDir,
      trustedFolder: true,
      extensions: [{ name: 'e', isActive: true, hooks: extensionHooks }],
      debugLogger: new RecordingLogger(),
    });
    await fireHook(config, BeforeTool, { toolName: 'x', toolInput: {} });
    expect(await temp.readLines('project/order')).toEqual([
      'project',
      'user',
      'system',
      'extension',
    ]);
    await config.getHookSystem()?.dispose();
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
