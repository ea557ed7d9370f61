import { chmod, mkdir, rename, rm, stat, symlink, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import type { FileProblem } from '../../src/util/fileProblem.js';
import type { FilesOfProject } from '../../src/cli/shared/workspace.js';
import { RememberedFiles } from '../../src/cli/resident/rememberedFiles.js';
import { Cli } from './helpers.js';

const cli = new Cli();
let reads: number;
let remembered: RememberedFiles;
let read: FilesOfProject;

beforeEach(async () => {
  reads = 0;
  remembered = new RememberedFiles();
  read = {
    settings: {},
    origins: { enableHooks: undefined, disabledHooks: new Map(), approvals: undefined },
    problems: [],
    files: [],
    extensions: [],
  } as unknown as FilesOfProject;
  await cli.projectSettings({});
});

async function look(): Promise<number> {
  await remembered.of(cli.project, async () => {
    reads += 1;
    return read;
  });
  return reads;
}

function settings(): string {
  return join(cli.project, '.llxprt/settings.json');
}

describe('files of settings', () => {
  it('are read once while nothing changes, for each project', async () => {
    expect(await look()).toBe(1);
    expect(await look()).toBe(1);
    await remembered.of(join(cli.project, 'other'), async () => read);
    expect(await look()).toBe(1);
  });

  it('are read again after a change that leaves size and time as they were', async () => {
    await look();
    const { atime, mtime } = await stat(settings());
    await writeFile(settings(), '{"enableHooks":!!!!,"hooks":{}}');
    await utimes(settings(), atime, mtime);
    expect(await look()).toBe(2);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['permissions', () => chmod(settings(), 0o600)],
    ['their end', () => rm(settings())],
    [
      'another file in their place',
      async () => {
        await writeFile(`${settings()}.new`, '{}');
        await rename(`${settings()}.new`, settings());
      },
    ],
    [
      'a link in their place',
      async () => {
        await writeFile(join(cli.project, 'other.json'), '{}');
        await rm(settings());
        await symlink(join(cli.project, 'other.json'), settings());
      },
    ],
    [
      'another folder in the place of theirs',
      async () => {
        await rename(join(cli.project, '.llxprt'), join(cli.project, 'before'));
        await mkdir(join(cli.project, '.llxprt'));
        await writeFile(settings(), '{}');
      },
    ],
    ['a folder of extensions', () => mkdir(join(cli.project, '.llxprt/extensions'))],
  ])('are read again after a change: %s', async (_what, change) => {
    await look();
    await change();
    expect(await look()).toBe(2);
  });

  it('are read each time where one is behind a link, or too large to compare', async () => {
    await writeFile(settings(), `{${' '.repeat(300_000)}}`);
    await look();
    expect(await look()).toBe(2);
    await rename(settings(), join(cli.project, 'other.json'));
    await symlink(join(cli.project, 'other.json'), settings());
    await look();
    expect(await look()).toBe(4);
  });

  it('are read each time where they change meanwhile', async () => {
    await remembered.of(cli.project, async () => {
      await chmod(settings(), 0o600);
      return read;
    });
    expect(await look()).toBe(1);
  });

  it('are read each time where others may write them', async () => {
    await chmod(settings(), 0o664);
    await look();
    expect(await look()).toBe(2);
  });

  it.each<[string, Partial<FilesOfProject>]>([
    ['extensions', { extensions: [{}] } as unknown as FilesOfProject],
    ['consent', { review: { status: 'allowed' } } as unknown as FilesOfProject],
    [
      'what is not allowed',
      { problems: [{ severity: 'warning', kind: 'untrusted' } as FileProblem] },
    ],
    ['refused files', { problems: [{ severity: 'error' } as FileProblem] }],
  ])('are read each time where more than they counts: %s', async (_what, more) => {
    read = { ...read, ...more };
    await look();
    expect(await look()).toBe(2);
  });
});
