import { execFileSync } from 'node:child_process';
import { mkdir, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { HookEventName, type CommandHookConfig } from '../../src/protocol/types.js';
import { HookConsent } from '../../src/trust/consent.js';
import { hook } from '../helpers/hooks.js';
import { useTempDir } from '../helpers/tempDir.js';

const temporary = useTempDir();
const at = (file: string) => path.join(temporary.path, 'project', file);

async function write(file: string, content = '#!/bin/sh\n', mode = 0o755): Promise<void> {
  await mkdir(path.dirname(at(file)), { recursive: true });
  await writeFile(at(file), content, { mode });
}

interface Extension {
  readonly name: string;
  readonly directory: string;
}

async function review(
  command: string,
  { extension, ...more }: Partial<CommandHookConfig> & { extension?: Extension } = {},
) {
  const home = path.join(temporary.path, 'home');
  const consent = await HookConsent.read({ workingDir: at('.'), home, trustedLock: '' });
  const config = hook(command, more);
  const event = HookEventName.BeforeTool;
  const [found] = await consent.review([{ event, group: {}, config, extension }]);
  return found;
}

beforeEach(async () => {
  await write('.claude/hooks/x.sh');
  await write('other/y.sh');
});

const X = 'bash .claude/hooks/x.sh';

it.each([
  ['is not there', async () => undefined],
  ['is a folder', () => mkdir(at('.claude/hooks/z.sh'))],
])('a hook is open, and the question says why, where its program %s', async (_, arrange) => {
  await arrange();
  expect(await review('./.claude/hooks/z.sh')).toMatchObject({
    class: 'open',
    covers: expect.stringContaining('it starts ./.claude/hooks/z.sh, which is not a file'),
  });
});

describe('a hook is open, and the question says why, where its folder', () => {
  it.each<[string, () => Promise<unknown>, string]>([
    [
      'is a link',
      async () => {
        await rm(at('.claude/hooks'), { recursive: true });
        await write('shared/x.sh');
        await symlink('../shared', at('.claude/hooks'));
      },
      'has its script in .claude/hooks, which is a link, or not there',
    ],
    [
      'lies in a link',
      async () => {
        await rm(at('.claude'), { recursive: true });
        await write('shared/hooks/x.sh');
        await symlink('shared', at('.claude'));
      },
      'has its script in .claude/hooks, which is a link, or not there',
    ],
    [
      'is not there',
      () => rm(at('.claude'), { recursive: true }),
      'has its script in .claude/hooks, which is a link, or not there',
    ],
    [
      'lacks the script',
      () => rm(at('.claude/hooks/x.sh')),
      'starts .claude/hooks/x.sh, which is not a file',
    ],
    [
      'has a folder in its place',
      async () => {
        await rm(at('.claude/hooks/x.sh'));
        await mkdir(at('.claude/hooks/x.sh'));
      },
      'starts .claude/hooks/x.sh, which is not a file',
    ],
    [
      'holds a link out of it',
      () => symlink('../../other/y.sh', at('.claude/hooks/lib.sh')),
      'is beside .claude/hooks/lib.sh, a link that leads out of .claude/hooks',
    ],
    [
      'holds a link out of the project',
      () => symlink('/etc/profile', at('.claude/hooks/lib.sh')),
      'is beside .claude/hooks/lib.sh, a link that leads out of the project, to /etc/profile',
    ],
    [
      'holds a link to a folder',
      () => symlink('../..', at('.claude/hooks/lib')),
      'is beside .claude/hooks/lib, which is a link to a folder',
    ],
    [
      'holds a link to nothing',
      () => symlink('nowhere', at('.claude/hooks/lib.sh')),
      'is beside .claude/hooks/lib.sh, a link that leads to nothing, or not straight',
    ],
    [
      'holds a link by way of another',
      async () => {
        await symlink('x.sh', at('.claude/hooks/a.sh'));
        await symlink('a.sh', at('.claude/hooks/b.sh'));
      },
      'is beside .claude/hooks/b.sh, a link that leads to nothing, or not straight',
    ],
    [
      'holds a link by way of /proc, which leads elsewhere for each process',
      () => symlink('/proc/self/root/etc/profile', at('.claude/hooks/lib.sh')),
      'is beside .claude/hooks/lib.sh, a link that leads to nothing, or not straight',
    ],
    [
      'holds a pipe',
      async () => execFileSync('mkfifo', [at('.claude/hooks/pipe')]),
      'is beside .claude/hooks/pipe, which is no file',
    ],
    [
      'holds too many files',
      async () => {
        for (let file = 0; file < 1000; file++) await write(`.claude/hooks/node_modules/${file}`);
      },
      'is in .claude/hooks, which holds more than 1000 files',
    ],
    [
      'holds too many bytes',
      async () => {
        await write('.claude/hooks/large', '');
        await truncate(at('.claude/hooks/large'), 33 * 1024 * 1024);
      },
      'is in .claude/hooks, which holds more than 1000 files or 33554432 bytes',
    ],
  ])('%s', async (_, change, why) => {
    expect(await review(X)).toMatchObject({ class: 'pinned' });
    await change();
    const { class: covered, covers, scripts } = (await review(X)) ?? {};
    expect(covered).toBe('open');
    expect(covers).toContain(
      `only its definition is covered: what it runs may change unasked, because it ${why}`,
    );
    expect(scripts).toEqual([]);
  });
});

describe('an interpreter of the project', () => {
  it('is none of the machine, by its path or by the search path', async () => {
    await write('bin/bash');
    expect(await review(`bin/bash .claude/hooks/x.sh`)).toMatchObject({ class: 'open' });
    onTestFinished(() => void vi.unstubAllEnvs());
    // A home directory in the project makes its programs the user's own.
    vi.stubEnv('HOME', at('home'));
    vi.stubEnv('PATH', `${at('bin')}:${process.env['PATH']}`);
    expect(await review(X)).toMatchObject({ class: 'open' });
  });
});

describe('a hook of an extension', () => {
  const extension = {
    name: 'e',
    get directory() {
      return at('.llxprt/extensions/e');
    },
  };
  const ofExtension = (command: string, more: Partial<CommandHookConfig> = {}) =>
    review(command, { extensionPath: extension.directory, extension, ...more });

  beforeEach(async () => {
    await write('.llxprt/extensions/e/scripts/x.mjs', '');
    await write('.llxprt/extensions/e/node_modules/a/index.js', '');
  });

  it.each([
    'node ${extensionPath}/scripts/x.mjs',
    'node "${extensionPath}/scripts/x.mjs"',
    'node "$extensionPath"/scripts/x.mjs',
    'node ${extensionPath}${/}scripts${/}x.mjs',
    'node .llxprt/extensions/e/scripts/x.mjs',
  ])('is pinned with the whole folder of it: %s', async (command) => {
    expect(await ofExtension(command)).toMatchObject({
      class: 'pinned',
      scripts: ['.llxprt/extensions/e/scripts/x.mjs'],
      item: {
        files: {
          '.llxprt/extensions/e/node_modules/a/index.js': expect.any(String),
          '.llxprt/extensions/e/scripts/x.mjs': expect.any(String),
        },
      },
    });
    expect(await ofExtension(X)).toMatchObject({
      class: 'pinned',
      scripts: ['.claude/hooks/x.sh'],
    });
  });

  it('is the same without a shell', async () => {
    expect(await ofExtension('node', { args: ['${extensionPath}/scripts/x.mjs'] })).toMatchObject({
      class: 'pinned',
      scripts: ['.llxprt/extensions/e/scripts/x.mjs'],
    });
  });

  it('is open where that folder is too large, and says so', async () => {
    for (let file = 0; file < 1000; file++) {
      await write(`.llxprt/extensions/e/node_modules/${file}.js`, '');
    }
    const found = await ofExtension('node ${extensionPath}/scripts/x.mjs');
    expect(found).toMatchObject({ class: 'open' });
    expect(found?.covers).toContain(
      'because it is in .llxprt/extensions/e, which holds more than 1000 files',
    );
  });

  it('has a folder that no other hook has', async () => {
    const command = 'node .llxprt/extensions/e/scripts/x.mjs';
    expect(await review(command)).toMatchObject({ class: 'open' });
    const other = { name: 'o', directory: at('.llxprt/extensions/o') };
    expect(await review(command, { extension: other })).toMatchObject({ class: 'open' });
    // Of a hook that no extension brings, this would be a variable of the user.
    expect(await review('node "${extensionPath}/x.mjs"')).toMatchObject({ class: 'open' });
  });

  it('is open where the extension is outside of the project', async () => {
    const outside = { name: 'e', directory: path.join(temporary.path, 'e') };
    const found = await review(X, { extension: outside });
    expect(found?.covers).toContain('belongs to an extension that is outside of the project');
  });
});

it('reads a folder once for all hooks that start something in it', async () => {
  await write('.claude/hooks/large', '');
  await truncate(at('.claude/hooks/large'), 30 * 1024 * 1024);
  const home = path.join(temporary.path, 'home');
  const consent = await HookConsent.read({ workingDir: at('.'), home, trustedLock: '' });
  const hooks = Array.from({ length: 100 }, (_, index) => ({
    event: HookEventName.BeforeTool,
    group: {},
    config: hook(`${X} ${index}`),
  }));
  // Twice as many bytes would be more than a project may have checked.
  const reviews = await consent.review(hooks);
  expect(new Set(reviews.map(({ class: covered }) => covered))).toEqual(new Set(['pinned']));
  expect(new Set(reviews.map(({ status }) => status))).toEqual(new Set(['new']));
});
