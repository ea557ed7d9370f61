import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { resolveShell } from '../../src/process/command/findProgram.js';
import { run, withTempDir } from './helpers.js';

const find = (searchPath: string | undefined) => resolveShell(searchPath, 'linux');

describe('the shell of this machine', () => {
  it('takes the first bash on the search path', async () => {
    await withTempDir(async (directory) => {
      const bash = path.join(directory, 'bash');
      await writeFile(bash, '', { mode: 0o755 });
      expect(find(`/nowhere:${directory}:/usr/bin`).file).toBe(bash);
    });
  });

  it('skips what may not be executed, what is not a file, and relative entries', async () => {
    await withTempDir(async (directory) => {
      await writeFile(path.join(directory, 'bash'), '', { mode: 0o644 });
      await mkdir(path.join(directory, 'sub', 'bash'), { recursive: true });
      const relative = path.relative(process.cwd(), directory);
      const { file } = find(`${directory}:${directory}/sub:${relative}::.`);
      expect(path.dirname(file)).toBe('/bin');
    });
  });

  it.each([[''], [undefined]])('finds one without a search path (%j)', (searchPath) => {
    expect(find(searchPath).file).toMatch(/^\/bin\/(ba)?sh$/);
  });

  it('takes PowerShell on Windows, without a profile, and passes the exit code on', () => {
    const { file, argumentsFor } = resolveShell('C:\\Windows', 'win32');
    expect(file).toBe('powershell.exe');
    expect(argumentsFor('node hook.js')).toEqual([
      '-NoProfile',
      '-NonInteractive',
      '-Command',
      'node hook.js\nexit $LASTEXITCODE',
    ]);
  });
});

describe('resolveShell', () => {
  it('looks only once', () => {
    const searchPath = process.env['PATH'];
    expect(resolveShell(searchPath)).toBe(resolveShell(searchPath));
  });

  it('gives neither a login shell nor an interactive one', async () => {
    const { stdout } = await run('echo $-; shopt -q login_shell && echo login');
    expect(stdout).toMatch(/^[^i\n]+\n$/);
  });
});
