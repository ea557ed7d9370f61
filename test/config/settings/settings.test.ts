import { execFile } from 'node:child_process';
import { chmod, chown, mkdir, mkdtemp, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { loadSettings, loadSettingsFile } from '../../../src/config/settings/settings.js';
import { openConsent } from '../../../src/trust/openConsent.js';
import { formatProblem, type FileProblem } from '../../../src/util/fileProblem.js';

const isRoot = process.getuid?.() === 0;
const isPosix = process.getuid !== undefined;

let root: string;
let project: string;
let user: string;
let system: string;

beforeEach(async () => {
  root = await mkdtemp(join(tmpdir(), 'settings-'));
  project = join(root, 'project', '.llxprt', 'settings.json');
  user = join(root, 'home', '.llxprt', 'settings.json');
  system = join(root, 'etc', 'settings.json');
});

afterEach(() => rm(root, { recursive: true, force: true }));

async function write(file: string, content: unknown, mode = 0o600): Promise<void> {
  await mkdir(dirname(file), { recursive: true });
  await writeFile(file, typeof content === 'string' ? content : JSON.stringify(content));
  await chmod(file, mode);
}

function load(options: { trustProject?: boolean } = {}) {
  const workingDir = join(root, 'project');
  return loadSettings({ workingDir, home: join(root, 'home'), systemPath: system, ...options });
}

function hook(command: string) {
  return { type: 'command', command };
}

function beforeTool(...commands: string[]) {
  return { hooks: { BeforeTool: [{ hooks: commands.map(hook) }] } };
}

function places(problems: readonly FileProblem[]): string[] {
  return problems.map(({ line, column, path }) => `${line}:${column}:${path}`);
}

describe('loadSettings', () => {
  it('is content without any file', async () => {
    expect(await load()).toEqual({
      settings: { enableHooks: false, hooks: {}, disabledHooks: [] },
      problems: [],
      files: [],
      origins: { enableHooks: undefined, disabledHooks: new Map() },
    });
  });

  it('counts a `.llxprt` that is a file as a missing settings file', async () => {
    await mkdir(join(root, 'home'));
    await writeFile(join(root, 'home', '.llxprt'), '');
    expect((await load()).problems).toEqual([]);
  });

  it('orders hooks project, user, system, each group with its origin', async () => {
    await write(project, beforeTool('p'));
    await write(user, beforeTool('u'));
    await write(system, { hooks: { BeforeTool: [{ hooks: [hook('s')] }], AfterTool: [] } });
    const { settings, problems, files } = await load({ trustProject: true });
    expect(settings.hooks).toEqual({
      BeforeTool: [
        { origin: { scope: 'project', file: project }, hooks: [hook('p')] },
        { origin: { scope: 'user', file: user }, hooks: [hook('u')] },
        { origin: { scope: 'system', file: system }, hooks: [hook('s')] },
      ],
    });
    expect(problems).toEqual([]);
    expect(files).toEqual([
      { scope: 'project', file: project },
      { scope: 'user', file: user },
      { scope: 'system', file: system },
    ]);
  });

  it('lets project override user override system, and adds up disabledHooks', async () => {
    await write(project, { enableHooks: false, disabledHooks: ['a', 'b'] });
    await write(user, { enableHooks: true, afterModelDisplay: 'hold', disabledHooks: ['b', 'c'] });
    await write(system, {
      afterModelDisplay: 'stream',
      maxStopHookRetries: 3,
      disabledHooks: ['d'],
    });
    expect((await load({ trustProject: true })).settings).toEqual({
      enableHooks: false,
      hooks: {},
      disabledHooks: ['project:a', 'project:b', 'b', 'c', 'd'],
      afterModelDisplay: 'hold',
      maxStopHookRetries: 3,
    });
  });

  it('does not let an untrusted project weaken the guards of the user', async () => {
    await write(project, {
      enableHooks: false,
      disabledHooks: ['guard'],
      afterModelDisplay: 'stream',
      maxStopHookRetries: 0,
      ...beforeTool('p'),
    });
    await write(user, { enableHooks: true, afterModelDisplay: 'hold', ...beforeTool('guard') });
    const { settings, problems } = await load();
    expect(settings).toMatchObject({
      enableHooks: true,
      disabledHooks: [],
      afterModelDisplay: 'hold',
      hooks: { BeforeTool: [{ origin: { scope: 'project' } }, { origin: { scope: 'user' } }] },
    });
    expect(settings.maxStopHookRetries).toBeUndefined();
    expect(problems.map(({ path }) => path)).toEqual([
      'enableHooks',
      'disabledHooks',
      'afterModelDisplay',
      'maxStopHookRetries',
    ]);
    expect(problems.every(({ severity }) => severity === 'warning')).toBe(true);
  });

  it('counts of an untrusted project what only tightens, where nobody else says anything', async () => {
    await write(project, { enableHooks: true, afterModelDisplay: 'hold', maxParallelHooks: 1 });
    for (const trustProject of [false, undefined]) {
      const { settings, problems } = await load({ trustProject });
      expect(settings).toMatchObject({ enableHooks: true, afterModelDisplay: 'hold' });
      expect(problems.map(({ path }) => path)).toEqual(['maxParallelHooks']);
    }
    await write(user, { afterModelDisplay: 'stream' });
    expect((await load()).settings.afterModelDisplay).toBe('stream');
  });

  it.each([
    [{ whenNobody: 'deny' }, true],
    [{ whenNobody: 'allow' }, false],
    [{ whenNobody: 'deny', timeout: 1000 }, false],
    [{ timeout: 1000 }, false],
    [{}, false],
  ])('counts approvals of an untrusted project where they only deny: %j', async (said, counts) => {
    await write(project, { approvals: said });
    for (const trustProject of [false, undefined]) {
      const { settings, origins, problems } = await load({ trustProject });
      expect(settings.approvals).toEqual(counts ? said : undefined);
      expect(origins.approvals).toEqual(counts ? { scope: 'project', file: project } : undefined);
      expect(problems.map(({ path }) => path)).toEqual(counts ? [] : ['approvals']);
    }
    expect((await load({ trustProject: true })).settings.approvals).toEqual(said);
  });

  it('lets no untrusted project change the approvals of the user', async () => {
    await write(project, { approvals: { whenNobody: 'deny' } });
    await write(user, { approvals: { whenNobody: 'allow', timeout: 5000 } });
    const { settings, origins } = await load();
    expect(settings.approvals).toEqual({ whenNobody: 'allow', timeout: 5000 });
    expect(origins.approvals).toEqual({ scope: 'user', file: user });
  });

  it('counts what the user has allowed as written, exactly as it was', async () => {
    await write(project, { disabledHooks: ['a'], afterModelDisplay: 'hold' });
    await write(user, { afterModelDisplay: 'stream' });
    const home = join(root, 'home');
    const consent = await openConsent({ workingDir: join(root, 'project'), home, trustedLock: '' });
    const { review } = await load();
    expect(review).toMatchObject({ status: 'new', item: { kind: 'settings' } });
    await consent.allowSettings(review);
    const { settings, problems } = await load();
    expect(settings).toMatchObject({ disabledHooks: ['project:a'], afterModelDisplay: 'hold' });
    expect(problems).toEqual([]);
    expect((await load({ trustProject: false })).settings.disabledHooks).toEqual([]);

    await write(project, '{ "afterModelDisplay": "hold", /* as before */ "disabledHooks": ["a"] }');
    expect((await load()).settings.disabledHooks).toEqual(['project:a']);
    await write(project, { disabledHooks: ['a', 'b'], afterModelDisplay: 'hold' });
    expect((await load()).settings).toMatchObject({
      disabledHooks: [],
      afterModelDisplay: 'stream',
    });
  });

  it('lets the user have the last word over `enableHooks: true` of an untrusted project', async () => {
    await write(project, { enableHooks: true });
    await write(user, { enableHooks: false });

    expect((await load()).settings.enableHooks).toBe(false);
    expect((await load({ trustProject: true })).settings.enableHooks).toBe(true);
  });

  it('counts `enableHooks: true` of an untrusted project', async () => {
    await write(project, { enableHooks: true, ...beforeTool('p') });
    const { settings, problems } = await load();
    expect(settings.enableHooks).toBe(true);
    expect(problems).toEqual([]);
  });

  it('reads a file that is both project and user once, as user', async () => {
    await write(user, { enableHooks: true, disabledHooks: ['x'], ...beforeTool('u') });
    const home = join(root, 'home');
    await symlink(home, join(root, 'link'));
    for (const workingDir of [home, join(root, 'link')]) {
      const loaded = await loadSettings({ workingDir, home, systemPath: system });
      expect(loaded.files).toEqual([{ scope: 'user', file: user }]);
      expect(loaded.settings.hooks.BeforeTool).toHaveLength(1);
      expect(loaded.settings.disabledHooks).toEqual(['x']);
      expect(loaded.problems).toEqual([]);
    }
  });

  it('reads comments, trailing commas, CRLF and a byte order mark', async () => {
    await write(
      user,
      '\uFEFF// the guard\r\n{ "enableHooks": true, /* yes */\r\n"disabledHooks": ["a",],\r\n"hooks": {"Nope": [],},}\r\n',
    );
    const { settings, problems } = await load();
    expect(settings).toMatchObject({ enableHooks: true, disabledHooks: ['a'] });
    expect(places(problems)).toEqual(['4:11:hooks.Nope']);
  });

  it.each([
    ['{\n  "hooks": {"BeforeTool": [] "x": 1}\n}', 2, 30, 'comma expected'],
    ['{\n  "enableHooks": true', 2, 22, 'close brace expected'],
    ['{ "a": }', 1, 8, 'value expected'],
    ['{ a: 1 }', 1, 3, 'invalid symbol'],
    ['{}\n{}', 2, 1, 'end of file expected'],
    ['', 1, 1, 'value expected'],
    ['[1]', 1, 1, 'expected an object of settings, got an array'],
    ['['.repeat(200_000), 1, 1, 'nested too deeply'],
  ])(
    'says where a file is broken, and reads the others (%#)',
    async (text, line, column, message) => {
      await write(project, text);
      await write(user, { enableHooks: true, ...beforeTool('u') });
      const { settings, problems } = await load();
      expect(problems).toEqual([
        {
          scope: 'project',
          file: project,
          line,
          column,
          path: '',
          message: expect.stringContaining(message),
          severity: 'error',
        },
      ]);
      expect(settings.enableHooks).toBe(true);
      expect(settings.hooks.BeforeTool).toHaveLength(1);
    },
  );

  it('reads no hook of a file that is broken behind its hooks', async () => {
    await write(user, `{"enableHooks": true, "hooks": {"BeforeTool": [{"hooks": []}]}, oops`);
    expect((await load()).settings).toEqual({ enableHooks: false, hooks: {}, disabledHooks: [] });
  });

  it('points at the line and column of a bad entry, and keeps its neighbours', async () => {
    await write(
      user,
      `{
  "hooks": {
    "BeforeTool": [
      { "matcher": 5, "hooks": [{ "type": "command", "command": "a" }] },
      { "hooks": [
        { "type": "command" },
        { "type": "command", "command": "b",
          "timeout": 5 }
      ] }
    ]
  }
}`,
    );
    const { settings, problems } = await load();
    expect(settings.hooks.BeforeTool).toEqual([
      { origin: { scope: 'user', file: user }, hooks: [{ ...hook('b'), timeout: 5 }] },
    ]);
    expect(places(problems)).toEqual([
      '4:9:hooks.BeforeTool[0].matcher',
      '6:9:hooks.BeforeTool[1].hooks[0].command',
      '8:11:hooks.BeforeTool[1].hooks[1].timeout',
    ]);
  });

  it.each([
    [{ tools: { enableHooks: true } }, 'tools.enableHooks', 'enableHooks'],
    [{ hooksConfig: { enabled: true } }, 'hooksConfig.enabled', 'enableHooks'],
    [{ hooksConfig: { disabled: ['x'] } }, 'hooksConfig.disabled', 'disabledHooks'],
    [{ hooks: { disabled: ['x'] } }, 'hooks.disabled', 'disabledHooks'],
  ])('%j has no effect, and names the right key', async (content, path, rightKey) => {
    await write(user, content);
    const { settings, problems } = await load();
    expect(settings).toEqual({ enableHooks: false, hooks: {}, disabledHooks: [] });
    expect(problems).toEqual([
      expect.objectContaining({
        path,
        severity: 'warning',
        message: expect.stringContaining(`'${rightKey}'`),
      }),
    ]);
  });

  it.each([
    ['enableHooks', 'true'],
    ['disabledHooks', ['a', 5]],
    ['afterModelDisplay', 'later'],
    ['maxStopHookRetries', -1],
    ['approvals', { whenNobody: 'ask' }],
    ['approvals', { timeout: 0 }],
    ['hooks', null],
  ])('warns of a bad %s and takes the default', async (key, value) => {
    await write(user, { [key]: value, theme: 'dark', tools: null });
    const { settings, problems } = await load();
    expect(settings).toEqual({ enableHooks: false, hooks: {}, disabledHooks: [] });
    expect(problems).toEqual([expect.objectContaining({ path: key, severity: 'warning' })]);
  });

  it('warns of a key that is written twice, and points into the one that counts', async () => {
    await write(
      user,
      '{"theme": 1, "theme": 2,\n"hooks": {"BeforeTool": []},\n"hooks": {"Nope": []}}',
    );
    expect(places((await load()).problems)).toEqual(['2:1:hooks', '3:11:hooks.Nope']);
  });

  it('lets no key of a file reach a prototype', async () => {
    await write(
      user,
      '{"__proto__": {"enableHooks": true}, "hooks": {"__proto__": {"BeforeTool": []}}}',
    );
    const { settings, problems } = await load();
    expect(settings).toEqual({ enableHooks: false, hooks: {}, disabledHooks: [] });
    expect(problems.map(({ path }) => path)).toEqual(['hooks.__proto__']);
    expect('enableHooks' in {}).toBe(false);
  });

  it('reads 10,000 bad hooks in a time that grows with their number only, and tells of twenty', async () => {
    const hooks = Array.from({ length: 10_000 }, (_, index) => ({
      ...hook(`${index}`),
      timeout: 5,
    }));
    await write(user, JSON.stringify({ hooks: { BeforeTool: [{ hooks }] } }, undefined, 2));
    const startedAt = performance.now();
    const { problems } = await load();
    expect(performance.now() - startedAt).toBeLessThan(10_000);
    expect(problems).toHaveLength(21);
    expect(problems.at(-2)).toMatchObject({ line: 104, column: 13 });
  });
});

describe('a file that cannot be vouched for', () => {
  const content = { enableHooks: true, ...beforeTool('evil') };

  it.runIf(isPosix).each([
    ['project', '602', 'chmod o-w'],
    ['project', '666', 'chmod o-w'],
    ['user', '602', 'chmod o-w'],
    ['user', '620', 'chmod g-w'],
    ['user', '666', 'chmod go-w'],
    ['system', '620', 'chmod g-w'],
    ['system', '602', 'chmod o-w'],
  ])(
    'refuses a %s file of mode 0%s, and the command it names mends it',
    async (scope, mode, cure) => {
      const file = { project, user, system }[scope] ?? '';
      await write(file, content, Number.parseInt(mode, 8));
      const { settings, problems, files } = await load({ trustProject: true });
      expect(settings).toEqual({ enableHooks: false, hooks: {}, disabledHooks: [] });
      expect(files).toEqual([]);
      expect(problems).toEqual([
        expect.objectContaining({ file, line: 1, column: 1, path: '', severity: 'error' }),
      ]);
      const message = problems[0]?.message ?? '';
      expect(message).toContain(`mode 0${mode}`);
      const command = message.slice(message.indexOf(cure));
      await promisify(execFile)('/bin/sh', ['-c', command]);
      expect((await load({ trustProject: true })).problems).toEqual([]);
    },
  );

  it.runIf(isPosix)('quotes the path in the command that it names', async () => {
    const file = join(root, "it's $(touch pwned)", 'settings.json');
    await write(file, content, 0o602);
    const message = (await loadSettingsFile(file)).problems[0]?.message ?? '';
    await promisify(execFile)('/bin/sh', ['-c', message.slice(message.indexOf('chmod'))], {
      cwd: root,
    });
    expect((await loadSettingsFile(file)).problems).toEqual([]);
  });

  it.runIf(isPosix)('reads a project file that its group may write', async () => {
    await write(project, content, 0o660);
    expect((await load()).settings.enableHooks).toBe(true);
  });

  it.runIf(isRoot).each(['project', 'user', 'system'])(
    'refuses a %s file of another user',
    async (scope) => {
      const file = { project, user, system }[scope] ?? '';
      await write(file, content);
      await chown(file, 12_345, 0);
      const { settings, problems } = await load({ trustProject: true });
      expect(settings.enableHooks).toBe(false);
      expect(problems).toEqual([
        expect.objectContaining({
          file,
          severity: 'error',
          message: expect.stringContaining('chown'),
        }),
      ]);
      expect(problems[0]?.message).toContain('belongs to user 12345');
    },
  );

  it('reports a directory, and a link that leads nowhere but to itself', async () => {
    await mkdir(project, { recursive: true });
    await mkdir(dirname(user), { recursive: true });
    await symlink(user, user);
    const { problems } = await load();
    expect(problems).toEqual([
      expect.objectContaining({
        file: project,
        severity: 'error',
        message: expect.stringContaining('a directory'),
      }),
      expect.objectContaining({
        file: user,
        severity: 'error',
        message: expect.stringContaining('ELOOP'),
      }),
    ]);
  });

  it.runIf(isPosix && !isRoot)('reports a file without read permission', async () => {
    await write(user, content, 0o200);
    expect((await load()).problems).toEqual([
      expect.objectContaining({ severity: 'error', message: expect.stringContaining('EACCES') }),
    ]);
  });

  it.runIf(isPosix)('does not wait for the writer of a named pipe', async () => {
    await mkdir(dirname(project), { recursive: true });
    await promisify(execFile)('mkfifo', [project]);
    expect((await load()).problems).toEqual([
      expect.objectContaining({ message: expect.stringContaining('no regular file') }),
    ]);
  });

  it('reports a working directory that no file system can have', async () => {
    const { problems } = await loadSettings({
      workingDir: '/tmp/\0',
      home: join(root, 'home'),
      systemPath: system,
    });
    expect(problems).toEqual([expect.objectContaining({ severity: 'error' })]);
  });
});

describe('loadSettingsFile', () => {
  it('takes all of one file, with the scope `file`', async () => {
    const file = join(root, 'mine.json');
    await write(file, { enableHooks: true, disabledHooks: ['x'], ...beforeTool('f') });
    expect(await loadSettingsFile(file)).toEqual({
      settings: {
        enableHooks: true,
        disabledHooks: ['x'],
        hooks: { BeforeTool: [{ origin: { scope: 'file', file }, hooks: [hook('f')] }] },
      },
      problems: [],
      files: [{ scope: 'file', file }],
      origins: {
        enableHooks: { scope: 'file', file },
        disabledHooks: new Map([['x', [{ scope: 'file', file }]]]),
      },
    });
  });

  it('reports a missing file', async () => {
    const file = join(root, 'none.json');
    const { problems, files } = await loadSettingsFile(file);
    expect(files).toEqual([]);
    expect(problems).toEqual([
      {
        scope: 'file',
        file,
        line: 1,
        column: 1,
        path: '',
        severity: 'error',
        message: expect.stringContaining('no such file'),
      },
    ]);
  });
});

describe('formatProblem', () => {
  const problem: FileProblem = {
    scope: 'project',
    file: '/p/settings.json',
    line: 3,
    column: 5,
    path: 'hooks.Nope',
    message: 'unknown event',
    severity: 'warning',
  };

  it('writes one line that editors and terminals can follow', () => {
    expect(formatProblem(problem)).toBe('/p/settings.json:3:5: hooks.Nope: unknown event');
    expect(formatProblem({ ...problem, path: '' })).toBe('/p/settings.json:3:5: unknown event');
  });

  it('shows no control character of a file name', () => {
    expect(formatProblem({ ...problem, file: '/a\n\u001B[2Jb' })).toBe(
      String.raw`/a\n\x1b[2Jb:3:5: hooks.Nope: unknown event`,
    );
  });
});
