import { chmod, mkdir, readdir, rename, symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Config } from '../../src/config/config.js';
import { executeToolWithHooks } from '../../src/core/coreToolHookTriggers.js';
import { HookRegistry } from '../../src/hooks/hookRegistry.js';
import { hook } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { problemLines, useExtensionFolders } from './extensionFolder.js';

const folders = useExtensionFolders();

const MANIFEST = 'llxprt-extension.json';
const MODULE = 'export default async (ctx, next) => next();';

const hooksSaying = (...commands: string[]) => ({
  BeforeTool: [{ hooks: commands.map((command) => hook(command)) }],
});

describe('loadExtensions', () => {
  it('finds nothing where there is nothing', async () => {
    expect(await folders.load()).toEqual({ extensions: [], problems: [] });
  });

  it('reads the manifest, and the hooks beside it', async () => {
    await folders.write('user', 'rules', {
      [MANIFEST]: { name: 'rules', version: '1.2.0', hooks: hooksSaying('a') },
      'hooks/hooks.json': { hooks: { ...hooksSaying('b'), SessionEnd: [{ hooks: [hook('c')] }] } },
    });
    const directory = folders.folder('user', 'rules');
    const [file, packed] = [
      path.join(directory, MANIFEST),
      path.join(directory, 'hooks/hooks.json'),
    ];
    expect(await folders.load()).toEqual({
      problems: [],
      extensions: [
        {
          name: 'rules',
          version: '1.2.0',
          scope: 'user',
          isActive: true,
          directory,
          hooks: {
            BeforeTool: [
              { hooks: [hook('a')], origin: { scope: 'extension', file } },
              { hooks: [hook('b')], origin: { scope: 'extension', file: packed } },
            ],
            SessionEnd: [{ hooks: [hook('c')], origin: { scope: 'extension', file: packed } }],
          },
          middleware: [],
        },
      ],
    });
  });

  it("reads Gemini's manifest where there is no other, and leaves its other keys alone", async () => {
    const gemini = { name: 'gemini', version: '1.0.0', mcpServers: {}, contextFileName: 'X.md' };
    await folders.write('user', 'both', {
      [MANIFEST]: { name: 'ours' },
      'gemini-extension.json': gemini,
    });
    await folders.write('user', 'one', { 'gemini-extension.json': gemini });
    const { extensions, problems } = await folders.load();
    expect(extensions.map(({ name }) => name)).toEqual(['ours', 'gemini']);
    expect(problems).toEqual([]);
  });

  it("lists the project's first, then the user's", async () => {
    await folders.write('user', 'a', { [MANIFEST]: { name: 'a' } });
    await folders.write('project', 'c', { [MANIFEST]: { name: 'c' } });
    await folders.write('project', 'b', { [MANIFEST]: { name: 'b' } });
    const { extensions } = await folders.load();
    expect(extensions.map(({ name, scope }) => `${scope} ${name}`)).toEqual([
      'project b',
      'project c',
      'user a',
    ]);
  });

  it("lets the user's count where a project has one of the same name, and says so", async () => {
    await folders.write('project', 'mine', { [MANIFEST]: '{\n  "name": "rules"\n}' });
    await folders.write('user', 'rules', { [MANIFEST]: { name: 'rules' } });
    const loaded = await folders.load();
    expect(loaded.extensions).toMatchObject([{ name: 'rules', scope: 'user' }]);
    expect(problemLines(loaded)).toEqual([
      `mine/${MANIFEST}:2:3: name: the user has an extension of this name in ${folders.folder('user', 'rules')}, which counts; this one is ignored`,
    ]);
  });

  it('counts a project that is the home as the user', async () => {
    await folders.write('user', 'rules', { [MANIFEST]: { name: 'rules' } });
    await mkdir(folders.project);
    await symlink(path.join(folders.home, '.llxprt'), path.join(folders.project, '.llxprt'));
    const { extensions, problems } = await folders.load();
    expect(extensions).toMatchObject([{ name: 'rules', scope: 'user' }]);
    expect(problems).toEqual([]);
  });

  it.each<[string, Record<string, string | object>, string[]]>([
    [
      'no manifest',
      { 'guard.js': MODULE },
      [
        `bad/${MANIFEST}:1:1: there is no ${MANIFEST} or gemini-extension.json; add one, or remove the folder`,
      ],
    ],
    [
      'broken JSON',
      { [MANIFEST]: '{\n  "name": "x",,\n}' },
      [
        `bad/${MANIFEST}:2:15: not valid JSON: property name expected; nothing in this file counts until it is fixed`,
      ],
    ],
    [
      'no object',
      { [MANIFEST]: '[]' },
      [
        `bad/${MANIFEST}:1:1: expected the manifest of an extension, got an array; nothing in this file counts until it is fixed`,
      ],
    ],
    [
      'no name',
      { [MANIFEST]: '{}' },
      [
        `bad/${MANIFEST}:1:1: name: expected a name of letters, digits, '.', '_' and '-', got nothing; the whole extension is ignored`,
      ],
    ],
    [
      'a name for terminals',
      { [MANIFEST]: { name: '\u001b[2J' } },
      [
        `bad/${MANIFEST}:1:2: name: expected a name of letters, digits, '.', '_' and '-', got '\\x1B[2J'; the whole extension is ignored`,
      ],
    ],
  ])('reports %s, and reads the others', async (_what, files, lines) => {
    await folders.write('user', 'bad', files);
    await folders.write('user', 'good', { [MANIFEST]: { name: 'good' } });
    const loaded = await folders.load();
    expect(problemLines(loaded)).toEqual(lines);
    expect(loaded.extensions.map(({ name }) => name)).toEqual(['good']);
  });

  it('reports bad hooks where they stand, and keeps the others', async () => {
    await folders.write('user', 'bad', {
      [MANIFEST]: '{ "name": "bad",\n  "hooks": { "BeforeTols": [] } }',
      'hooks/hooks.json':
        '{ "hooks": { "BeforeTool": [{ "hooks": [\n { "type": "command" },\n { "type": "command", "command": "a" }] }] } }',
    });
    const loaded = await folders.load();
    expect(problemLines(loaded)).toEqual([
      `bad/${MANIFEST}:2:14: hooks.BeforeTols: unknown event, ignored; did you mean 'BeforeTool'?`,
      expect.stringMatching(
        /^bad\/hooks\/hooks.json:2:2: hooks.BeforeTool\[0\].hooks\[0\].command:/,
      ),
    ]);
    expect(loaded.extensions[0]?.hooks?.BeforeTool).toMatchObject([{ hooks: [hook('a')] }]);
  });

  it('refuses a manifest that others may write', async () => {
    await folders.write('user', 'open', { [MANIFEST]: { name: 'open' } });
    await chmod(path.join(folders.folder('user', 'open'), MANIFEST), 0o646);
    const loaded = await folders.load();
    expect(loaded.extensions).toEqual([]);
    expect(loaded.problems).toMatchObject([{ severity: 'error', scope: 'user' }]);
    expect(problemLines(loaded)).toEqual([expect.stringContaining('other users may write it')]);
  });
});

const withEntry = (entry: object) => ({
  [MANIFEST]: { name: 'guarded', middleware: [entry] },
  'guard.mjs': MODULE,
});

describe('the middleware of a manifest', () => {
  it('is read with its place', async () => {
    await folders.write('user', 'guarded', {
      [MANIFEST]: `{ "name": "guarded", "middleware": [
  { "module": "./guard.mjs", "stack": "model", "before": "openStream", "options": { "a": 1 } }] }`,
      'guard.mjs': MODULE,
    });
    const { extensions, problems } = await folders.load();
    expect(problems).toEqual([]);
    const directory = folders.folder('user', 'guarded');
    expect(extensions[0]?.middleware).toEqual([
      {
        module: path.join(directory, 'guard.mjs'),
        stack: 'model',
        before: 'openStream',
        options: { a: 1 },
        place: {
          scope: 'user',
          file: path.join(directory, MANIFEST),
          line: 2,
          column: 3,
          path: 'middleware[0]',
        },
      },
    ]);
  });

  it.each<[string, object, RegExp]>([
    [
      'a stack that there is not',
      { module: './guard.mjs', stack: 'tools' },
      /\.stack: expected 'tool' or 'model' or 'hook', got 'tools'/,
    ],
    [
      'a position of another stack',
      { module: './guard.mjs', stack: 'tool', before: 'openStream' },
      /\.before: The tool stack has no stage "openStream" \(before\)\. Its stages are: beforeTool, afterTool, execute/,
    ],
    [
      'two positions',
      { module: './guard.mjs', stack: 'tool', before: 'execute', after: 'beforeTool' },
      /before one stage or after one, not both/,
    ],
    ['a position that is not a text', { module: './guard.mjs', stack: 'tool', after: 1 }, /got 1/],
    ['no module', { stack: 'tool' }, /\.module: expected a string that is not empty/],
    [
      'a module that does not exist',
      { module: './none.mjs', stack: 'tool' },
      /\.module: there is no file '\.\/none\.mjs'/,
    ],
    [
      'a module outside of the folder',
      { module: '../outside.mjs', stack: 'tool' },
      /\.module: '\.\.\/outside\.mjs' is outside of the extension's folder/,
    ],
    [
      'a link to outside of the folder',
      { module: './link.mjs', stack: 'tool' },
      /\.module: '\.\/link\.mjs' is outside of the extension's folder/,
    ],
    ['a folder', { module: '.', stack: 'tool' }, /\.module: '\.' is refused: it is a directory/],
  ])('with %s is left out; a policy blocks in its place', async (_what, entry, why) => {
    await folders.write('user', '.', { 'outside.mjs': MODULE });
    await folders.write('user', 'guarded', withEntry(entry));
    const link = path.join(folders.folder('user', 'guarded'), 'link.mjs');
    await symlink('../outside.mjs', link);
    const observer = await folders.load();
    expect(problemLines(observer)).toEqual([expect.stringMatching(why)]);
    expect(observer.extensions[0]?.middleware).toEqual([]);

    await folders.write('user', 'guarded', withEntry({ ...entry, policy: true }));
    const policy = await folders.load();
    for (const left of policy.extensions[0]?.middleware ?? []) {
      expect(left).toMatchObject({ policy: true, fault: expect.any(String) });
    }
    const stacks = policy.extensions[0]?.middleware?.map(({ stack }) => stack);
    const isKnown = 'stack' in entry && entry.stack === 'tool';
    expect(stacks).toEqual(isKnown ? ['tool'] : ['tool', 'model']);
  });
});

const load = async (trustedFolder: boolean) => {
  const { extensions } = await folders.load();
  const logger = new RecordingLogger();
  return new Config({
    enableHooks: true,
    workingDir: folders.project,
    extensions,
    trustedFolder,
    debugLogger: logger,
  });
};

const callTool = (config: Config) =>
  executeToolWithHooks(config, 'write_file', {}, async () => ({
    llmContent: 'done',
    returnDisplay: '',
  }));

describe('the hooks of extensions', () => {
  it('of a project run only where it is trusted, those of the user always', async () => {
    await folders.write('project', 'p', { [MANIFEST]: { name: 'p', hooks: hooksSaying('p') } });
    await folders.write('user', 'u', { [MANIFEST]: { name: 'u', hooks: hooksSaying('u') } });
    const registry = new HookRegistry(await load(false));
    await registry.initialize();
    expect(registry.getAllHooks()).toMatchObject([
      { config: { command: 'p' }, enabled: false, skipped: 'untrusted', extension: { name: 'p' } },
      { config: { command: 'u' }, enabled: true, extension: { name: 'u' } },
    ]);
  });

  it.each([
    'sh ${extensionPath}/say.sh',
    'sh "${extensionPath}${/}say.sh"',
    `sh -c 'sh "$extensionPath/say.sh"'`,
    '"${extensionPath}/say.sh"',
    'cd ${workspacePath} && sh $extensionPath/say.sh',
  ])('find their folder, whatever it is called: %s', async (command) => {
    await folders.write('user', 'plain', {
      [MANIFEST]: {
        name: 'plain',
        hooks: {
          BeforeTool: [
            { hooks: [{ ...hook(command), env: { extensionPath: '/tmp', workspacePath: '/' } }] },
          ],
        },
      },
      'say.sh': '#!/bin/sh\nprintf "%s|%s" "$extensionPath" "$workspacePath" >&2; exit 2\n',
    });
    const renamed = folders.folder('user', `$(touch pwned) "x'`);
    await rename(folders.folder('user', 'plain'), renamed);
    await chmod(path.join(renamed, 'say.sh'), 0o755);
    await mkdir(folders.project);
    const config = await load(true);

    const { llmContent } = await callTool(config);

    expect(llmContent).toBe(`${renamed}|${folders.project}`);
    expect(await readdir(folders.project)).toEqual([]);
    await config.getHookSystem()?.dispose();
  });

  it('run each, where two extensions have a command of the same words', async () => {
    for (const name of ['a', 'b']) {
      await folders.write('user', name, {
        [MANIFEST]: { name, hooks: hooksSaying('sh ${extensionPath}/say.sh') },
        'say.sh': `echo ${name} >&2; exit 2`,
      });
    }
    await mkdir(folders.project);
    const config = await load(true);
    expect((await callTool(config)).llmContent).toBe('a\nb');
    await config.getHookSystem()?.dispose();
  });
});
