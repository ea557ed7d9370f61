import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Config, type ConfigOptions } from '../../src/config/config.js';
import { loadSettings } from '../../src/config/settings/settings.js';
import { loadExtensions } from '../../src/extensions/extensions.js';
import { executeToolWithHooks } from '../../src/core/coreToolHookTriggers.js';
import { blocking, hook } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';

const temp = useTempDir();
const good = { hooks: [hook('true')] };

/** What JavaScript lets pass, as it knows no types. */
function make(hooks: object, options: ConfigOptions = {}): Config {
  return new Config({ ...options, enableHooks: true, hooks });
}

/** A file of the project, in JSON. */
async function write(name: string, content: object): Promise<void> {
  const file = path.join(temp.path, name);
  await mkdir(path.dirname(file), { recursive: true });
  await writeFile(file, JSON.stringify(content), { mode: 0o600 });
}

const FLAWED = {
  BeforeTools: [good],
  BeforeTool: [
    { matcher: '(', hooks: [hook('true', { name: 'literal' })] },
    { hooks: [{ ...hook('true', { name: 'misspelt' }), onFaliure: 'deny' }] },
    { matcher: 'write_file' },
    { hooks: [{ type: 'command' }] },
    good,
  ],
};

const FAULTS = [
  "BeforeTools: unknown event, ignored; did you mean 'BeforeTool'?",
  "BeforeTool[0].matcher: '(' is not a valid regular expression",
  "BeforeTool[1].hooks[0].onFaliure: unknown key, ignored; did you mean 'onFailure'?",
  'BeforeTool[2].hooks: expected an array, got nothing',
  'BeforeTool[3].hooks[0].command: expected a string that is not empty',
];

describe('hooks that are given in code', () => {
  it('are refused with all that is wrong, whether or not hooks are on', () => {
    for (const enableHooks of [true, false, undefined]) {
      const hooks = FLAWED as object;
      const create = () => new Config({ enableHooks, hooks, debugLogger: new RecordingLogger() });
      expect(create).toThrow(TypeError);
      for (const fault of FAULTS) expect(create).toThrow(`- hooks.${fault}`);
    }
  });

  it.each([
    ['no object', 'BeforeTool'],
    ['an event that is no array', { BeforeTool: good }],
    ['a group that is none', { BeforeTool: [null] }],
    ["another agent's event", { PreToolUse: [good] }],
    ['an option of hooks', { enabled: [good] }],
    ['a timeout that is none', { BeforeTool: [{ hooks: [hook('true', { timeout: 0 })] }] }],
    [
      'a guard where nothing is guarded',
      { SessionStart: [{ hooks: [hook('x', { onFailure: 'deny' })] }] },
    ],
    [
      'a matcher of Claude Code',
      { PreToolUse: [{ ...good, dialect: 'claude', matcher: 'Write(' }] },
    ],
    ['an origin that is none', { BeforeTool: [{ ...good, origin: {} }] }],
    [
      'an origin, and a key that no file was read with',
      { BeforeTool: [{ ...good, origin: { scope: 'user' }, matchers: 'x' }] },
    ],
  ])('are refused: %s', (_, hooks) => {
    expect(() => make(hooks as object)).toThrow(TypeError);
  });

  it.each([
    ['a short timeout', { BeforeTool: [{ hooks: [hook('true', { timeout: 5 })] }] }],
    ['a list of names', { PreToolUse: [{ ...good, dialect: 'claude', matcher: 'Write|Edit' }] }],
    ['a matcher that is not tried', { BeforeModel: [{ ...good, matcher: '(' }] }],
    ['an event without groups', { BeforeTool: undefined, AfterTool: [] }],
    ['a group without a hook', { BeforeTool: [{ hooks: [] }] }],
  ])('are taken: %s', (_, hooks) => {
    expect(() => make(hooks)).not.toThrow();
  });

  it('are refused in extensions that are active', () => {
    const extension = { name: 'x', isActive: true, hooks: FLAWED as object };
    const create = (isActive: boolean) => new Config({ extensions: [{ ...extension, isActive }] });
    for (const fault of FAULTS) {
      expect(() => create(true)).toThrow(`- extension x: hooks.${fault}`);
    }
    expect(() => create(false)).not.toThrow();
  });
});

describe('what loadSettings has read and told', () => {
  it.each(['settings', 'hooks', 'joined'] as const)('is taken: %s', async (how) => {
    await write('.llxprt/settings.json', { enableHooks: true, hooks: FLAWED });
    const { settings, problems } = await loadSettings({ workingDir: temp.path, home: temp.path });
    expect(problems.map(({ path: at, message }) => `${at}: ${message}`)).toEqual(
      expect.arrayContaining(FAULTS.map((fault) => expect.stringContaining(`hooks.${fault}`))),
    );
    const debugLogger = new RecordingLogger();
    const own = { hooks: [blocking('own')] };
    const { hooks } = settings;
    const options = {
      settings,
      hooks: { enableHooks: true, hooks },
      joined: {
        enableHooks: true,
        hooks: { ...hooks, BeforeTool: [...(hooks?.BeforeTool ?? []), own] },
      },
    }[how];
    const config = new Config({
      ...options,
      workingDir: temp.path,
      trustedFolder: true,
      debugLogger,
    });
    const ran = await executeToolWithHooks(config, 'x', {}, async () => ({
      llmContent: 'ran',
      returnDisplay: '',
    }));
    expect(JSON.stringify(ran)).toContain(how === 'joined' ? 'own' : 'ran');
    expect(debugLogger.warnings).toEqual([]);
  });

  it('is no excuse for a group that was added', async () => {
    await write('.llxprt/settings.json', { enableHooks: true, hooks: FLAWED });
    const { settings } = await loadSettings({ workingDir: temp.path, home: temp.path });
    const added = { ...good, matcher: ')' };
    const hooks = { ...settings.hooks, BeforeTool: [...(settings.hooks?.BeforeTool ?? []), added] };
    expect(() => new Config({ ...settings, hooks })).toThrow(
      /^Config has hooks.*\n- hooks\.BeforeTool\[\d\]\.matcher: '\)'[^\n]*$/u,
    );
  });

  it('is taken of extensions, too', async () => {
    await write('.llxprt/extensions/x/llxprt-extension.json', { name: 'x', hooks: FLAWED });
    const workingDir = temp.path;
    const { extensions, problems } = await loadExtensions({
      workingDir,
      home: `${workingDir}/none`,
    });
    expect(problems).toHaveLength(FAULTS.length);
    expect(() => new Config({ workingDir, extensions })).not.toThrow();
  });
});

describe('what no reader of definitions finds', () => {
  const deny = { onFailure: 'deny' };
  const guard = { ...hook('exit 1'), ...deny };
  class Guard {
    readonly type = 'command';
    readonly command = 'exit 1';
    get onFailure() {
      return 'deny';
    }
  }

  it.each([
    ['an event', Object.create({ BeforeTool: [{ hooks: [guard] }] }), 'BeforeTool'],
    ['all events, in a map', new Map([['BeforeTool', [{ hooks: [guard] }]]]), 'size'],
    [
      'a matcher',
      { BeforeTool: [Object.assign(Object.create({ matcher: 'x' }), { hooks: [guard] })] },
      'BeforeTool[0].matcher',
    ],
    [
      'a failure, by a class',
      { BeforeTool: [{ hooks: [new Guard()] }] },
      'BeforeTool[0].hooks[0].onFailure',
    ],
    [
      'a failure, not enumerable',
      { BeforeTool: [{ hooks: [Object.defineProperty(hook('exit 1'), 'onFailure', deny)] }] },
      'BeforeTool[0].hooks[0].onFailure',
    ],
    [
      'a variable',
      { BeforeTool: [{ hooks: [{ ...guard, env: Object.create({ STRICT: '1' }) as object }] }] },
      'BeforeTool[0].hooks[0].env.STRICT',
    ],
  ])('is refused: %s', (_what, hooks: object, place) => {
    const problem = `hooks.${place}: is inherited, or not enumerable`;
    expect(() => make(hooks)).toThrow(problem);
    const extension = { name: 'x', isActive: true, path: temp.path, hooks };
    expect(() => make({}, { extensions: [extension] })).toThrow(`extension x: ${problem}`);
  });

  it('is none of a class with methods, and of objects without a prototype', () => {
    class Group {
      readonly hooks = [guard];
      describe() {
        return 'A guard.';
      }
    }
    const bare = Object.assign(Object.create(null) as object, { BeforeTool: [new Group()] });
    expect(() => make(bare)).not.toThrow();
  });
});
