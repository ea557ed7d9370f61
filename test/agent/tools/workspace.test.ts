import fs from 'node:fs/promises';
import path from 'node:path';
import { assert, describe, expect, it } from 'vitest';
import { ToolFailure } from '../../../src/agent/tools/toolFailure.js';
import { ToolErrorType } from '../../../src/tools/tools.js';
import { resolveInWorkspace } from '../../../src/agent/tools/workspace.js';
import { useTemporaryWorkspace } from './temporaryWorkspace.js';

const workspace = useTemporaryWorkspace();

function resolve(given: string) {
  return resolveInWorkspace(given, workspace.workingDir);
}

async function refusalOf(given: string): Promise<ToolFailure> {
  const failure: unknown = await resolve(given).catch((error: unknown) => error);
  assert(failure instanceof ToolFailure);
  return failure;
}

describe('resolveInWorkspace', () => {
  it.each([
    ['', '.'],
    ['.', '.'],
    ['new.txt', 'new.txt'],
    ['a/b/../new.txt', 'a/new.txt'],
    ['..hidden', '..hidden'],
  ])('resolves %j to %j', async (given, shown) => {
    const real = path.join(workspace.workingDir, shown);
    expect(await resolve(given)).toEqual({ real, shown });
  });

  it('accepts an absolute path inside', async () => {
    const real = path.join(workspace.workingDir, 'a.txt');
    expect((await resolve(real)).shown).toBe('a.txt');
  });

  it('resolves symbolic links that stay inside', async () => {
    await workspace.write('real/a.txt', '');
    await fs.symlink('real', path.join(workspace.workingDir, 'link'));
    expect((await resolve('link/a.txt')).shown).toBe('real/a.txt');
    expect((await resolve('link/new/b.txt')).shown).toBe('real/new/b.txt');
  });

  it('accepts a working directory that is itself a symbolic link', async () => {
    const link = path.join(workspace.outside, 'link');
    await fs.symlink(workspace.workingDir, link);
    const resolved = await resolveInWorkspace(path.join(link, 'a.txt'), link);
    expect(resolved).toEqual({ real: path.join(workspace.workingDir, 'a.txt'), shown: 'a.txt' });
  });

  it.each([
    ['..', 'is outside of the working directory'],
    ['../outside/a.txt', 'is outside of the working directory'],
    ['a/../../outside', 'is outside of the working directory'],
    ['../work-2/a.txt', 'is outside of the working directory'],
    ['/', 'is outside of the working directory'],
    ['a\0.txt', 'contains a NUL byte'],
  ])('refuses %j', async (given, why) => {
    const failure = await refusalOf(given);
    expect(failure.type).toBe(ToolErrorType.InvalidParams);
    expect(failure.message).toContain(why);
    expect(failure.message).toContain(workspace.workingDir);
    expect(failure.message).toContain(given.replace('\0', '\\x00'));
  });

  it.each(['link', 'link/there.txt', 'link/not/there.txt', 'link/../link/there.txt'])(
    'refuses %s through a symbolic link that leads out',
    async (given) => {
      await fs.writeFile(path.join(workspace.outside, 'there.txt'), '');
      await fs.symlink('../outside', path.join(workspace.workingDir, 'link'));
      const failure = await refusalOf(given);
      expect(failure.message).toContain('is outside of the working directory');
    },
  );

  it.each(['dangling', 'dangling/a.txt'])(
    'refuses %s, whose target does not exist',
    async (given) => {
      await fs.symlink('../outside/new.txt', path.join(workspace.workingDir, 'dangling'));
      const failure = await refusalOf(given);
      expect(failure.message).toContain('symbolic link whose target does not exist');
    },
  );

  it('escapes control characters in what it shows', async () => {
    expect((await resolve('a\nb\u001b[31m.txt')).shown).toBe(String.raw`'a\nb\x1B[31m.txt'`);
  });
});
