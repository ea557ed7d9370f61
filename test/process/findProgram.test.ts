import { mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { safeSearchPath } from '../../src/process/command/findProgram.js';
import { useTempDir } from '../helpers/tempDir.js';

const temp = useTempDir();
const at = (...parts: string[]) => path.join(temp.path, ...parts);

describe('safeSearchPath', () => {
  it('leaves out where a project could put its programs, and nothing else', async () => {
    const project = at('repo/packages/a');
    const unsafe = [
      '.',
      '',
      'bin',
      project,
      at('repo/packages/a/bin'),
      at('repo/packages/a/node_modules/.bin'),
      at('repo/node_modules/.bin'),
      at('way'),
      at('nowhere'),
    ];
    const safe = ['/usr/bin', at('repo/packages/ab'), at('tools/node_modules/.bin')];
    for (const folder of [...unsafe.slice(4, 7), ...safe.slice(1)]) {
      await mkdir(folder, { recursive: true });
    }
    await symlink(at('repo/packages/a/bin'), at('way'));
    expect(safeSearchPath([...unsafe, ...safe].join(':'), project)).toBe(safe.join(':'));
  });

  it('keeps the programs of a user who works at home', async () => {
    vi.stubEnv('HOME', temp.path);
    onTestFinished(() => void vi.unstubAllEnvs());
    await mkdir(path.join(temp.path, 'bin'));
    const own = [path.join(temp.path, 'bin'), '/usr/bin'].join(':');
    expect(safeSearchPath(own, temp.path)).toBe(own);
    expect(safeSearchPath(own, '/')).toBe(own);
  });
});
