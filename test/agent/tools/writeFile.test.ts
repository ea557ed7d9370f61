import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { ToolErrorType } from '../../../src/tools/tools.js';
import { writeFile } from '../../../src/agent/tools/fileTools.js';
import { useTemporaryWorkspace } from './temporaryWorkspace.js';

const workspace = useTemporaryWorkspace();

function write(file_path: string, content = 'new') {
  return writeFile.execute({ file_path, content }, workspace);
}

describe('write_file', () => {
  it('creates a file with its parent directories', async () => {
    expect(await write('a/b/c.txt', 'grüße')).toEqual({
      llmContent: 'Created a/b/c.txt (7 bytes).',
      returnDisplay: 'Created a/b/c.txt',
    });
    expect(await workspace.read('a/b/c.txt')).toBe('grüße');
  });

  it('overwrites a file', async () => {
    await workspace.write('a.txt', 'a longer text');
    expect((await write('a.txt')).returnDisplay).toBe('Overwrote a.txt');
    expect(await workspace.read('a.txt')).toBe('new');
  });

  it('writes an empty file', async () => {
    await write('a.txt', '');
    expect(await workspace.read('a.txt')).toBe('');
  });

  it('refuses a directory and what is not a regular file', async () => {
    await workspace.write('directory/file', '');
    execFileSync('mkfifo', [path.join(workspace.workingDir, 'pipe')]);
    expect((await write('directory')).error?.message).toBe('directory is a directory, not a file.');
    expect((await write('pipe')).error?.message).toBe('pipe is not a regular file.');
  });

  it('gives a result when the file system refuses', async () => {
    await workspace.write('file', 'old');
    const { error } = await write('file/below.txt');
    expect(error?.type).toBe(ToolErrorType.Failed);
    expect(error?.message).toMatch(/^write_file failed: .*file/);
    expect(await workspace.read('file')).toBe('old');
  });
});
