import { execFileSync } from 'node:child_process';
import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { readFile } from '../../../src/agent/tools/fileTools.js';
import { ToolErrorType } from '../../../src/tools/tools.js';
import { runTool, useTemporaryWorkspace } from './temporaryWorkspace.js';

const workspace = useTemporaryWorkspace();

function read(input: Record<string, unknown>) {
  return runTool(readFile, { file_path: 'a.txt', ...input }, workspace);
}

describe('read_file', () => {
  it.each(['one', 'one\n', 'one\r\ntwo\r\n', '\n\n', 'grüße 🎉\n'])(
    'gives the text of %j as it is',
    async (content) => {
      await workspace.write('a.txt', content);
      expect(await read({})).toMatchObject({ llmContent: content, returnDisplay: 'Read a.txt' });
    },
  );

  it('drops a byte order mark', async () => {
    await workspace.write('a.txt', '\uFEFFone');
    expect((await read({})).llmContent).toBe('one');
  });

  it('says that a file is empty', async () => {
    await workspace.write('a.txt', '');
    expect((await read({})).llmContent).toBe('[a.txt is empty]');
  });

  it('gives the lines asked for, and how to read on', async () => {
    await workspace.write('a.txt', 'one\ntwo\nthree\nfour\n');
    expect(await read({ offset: 1, limit: 2 })).toMatchObject({
      llmContent:
        '[a.txt: showing lines 2-3 of 4. To read on, call read_file with offset 3.]\ntwo\nthree\n',
      returnDisplay: 'Read lines 2-3 of 4 from a.txt',
    });
    expect((await read({ offset: 3 })).llmContent).toBe('[a.txt: showing lines 4-4 of 4.]\nfour\n');
  });

  it('gives the first 2000 lines of a long file', async () => {
    await workspace.write('a.txt', 'line\n'.repeat(2001));
    const { llmContent, lines } = await read({});
    expect(llmContent).toContain('[a.txt: showing lines 1-2000 of 2001.');
    expect(lines).toHaveLength(2002);
  });

  it('bounds the characters that it gives', async () => {
    await workspace.write('a.txt', `${'x'.repeat(150_000)}\n`.repeat(2));
    expect((await read({})).llmContent).toContain('showing lines 1-1 of 2. To read on');

    await workspace.write('a.txt', 'x'.repeat(500_000));
    const { llmContent } = await read({});
    expect(llmContent).toContain('showing lines 1-1 of 1, cut after 200000 characters.');
    expect(llmContent.length).toBeLessThan(200_100);
  });

  it('refuses an offset past the end', async () => {
    await workspace.write('a.txt', 'one\n');
    const { error, llmContent } = await read({ offset: 1 });
    expect(error?.type).toBe(ToolErrorType.InvalidParams);
    expect(llmContent).toContain('the argument offset is 1; the last line of a.txt is at 0.');
  });

  it.each([
    ['invalid UTF-8', Uint8Array.of(0x61, 0xff, 0x62)],
    ['a NUL byte', Uint8Array.of(0x61, 0, 0x62)],
  ])('refuses a file with %s', async (_, bytes) => {
    await workspace.write('a.txt', bytes);
    const { error } = await read({});
    expect(error).toEqual({ type: ToolErrorType.Failed, message: 'a.txt is not UTF-8 text.' });
  });

  it('refuses a file over 10 MiB', async () => {
    await workspace.write('a.txt', '');
    await fs.truncate(path.join(workspace.workingDir, 'a.txt'), 10 * 1024 * 1024 + 1);
    expect((await read({})).error?.message).toContain('a.txt is too large: 10485761 bytes');
  });

  it('says what is wrong with a path', async () => {
    await workspace.write('directory/file', '');
    for (const [file_path, message] of [
      ['missing.txt', 'missing.txt does not exist.'],
      ['directory', 'directory is a directory, not a file.'],
      ['directory/file/below', 'directory/file/below does not exist.'],
    ]) {
      expect((await read({ file_path })).error?.message).toBe(message);
    }
  });

  it('does not wait at a named pipe', async () => {
    execFileSync('mkfifo', [path.join(workspace.workingDir, 'pipe')]);
    const { error } = await read({ file_path: 'pipe' });
    expect(error?.message).toBe('pipe is not a regular file.');
  });
});
