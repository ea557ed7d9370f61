import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { listDirectory } from '../../../src/agent/tools/searchTools.js';
import { ToolErrorType } from '../../../src/tools/tools.js';
import { runTool, useTemporaryWorkspace } from './temporaryWorkspace.js';

const workspace = useTemporaryWorkspace();

function list(input: Record<string, unknown>) {
  return runTool(listDirectory, input, workspace);
}

describe('list_directory', () => {
  it('lists directories first, each group sorted', async () => {
    for (const file of ['b.txt', '.env', 'z/file', 'a/file']) await workspace.write(file, '');
    await fs.symlink('a', path.join(workspace.workingDir, 'link'));
    expect(await list({ path: '.' })).toMatchObject({
      llmContent: 'Entries of .: 5\na/\nz/\n.env\nb.txt\nlink@',
      returnDisplay: 'Entries of .: 5',
    });
  });

  it('lists an empty directory, under either name of the argument', async () => {
    await fs.mkdir(path.join(workspace.workingDir, 'empty'));
    const result = await list({ path: 'empty' });
    expect(result.llmContent).toBe('Entries of empty: 0');
    expect(await list({ dir_path: 'empty' })).toEqual(result);
  });

  it.each([
    [['*.log'], ['dist/', 'src/', 'a.txt']],
    [['**/*.log'], ['dist/', 'src/', 'a.txt']],
    [['dist', '*.{log,txt}'], ['src/']],
    [['dist/**'], ['src/', 'a.log', 'a.txt']],
    [['src/*'], ['dist/', 'src/', 'a.log', 'a.txt']],
  ])('leaves out what matches %j', async (ignore, expected) => {
    for (const file of ['a.log', 'a.txt', 'dist/x', 'src/a.log']) await workspace.write(file, '');
    const { llmContent, lines } = await list({ path: '.', ignore });
    expect(lines.slice(1)).toEqual(expected);
    const ignored = 4 - expected.length;
    expect(llmContent.includes(`(${ignored} ignored)`)).toBe(ignored > 0);
  });

  it.each(['../*', '/etc/*', 'a/../../*', '..*'])('refuses to ignore %s', async (pattern) => {
    const { error } = await list({ path: '.', ignore: [pattern] });
    expect(error?.type).toBe(ToolErrorType.InvalidParams);
    expect(error?.message).toContain(`'${pattern}'`);
  });

  it('keeps a name with a line break on one line', async () => {
    await workspace.write('a\nb', '');
    expect((await list({ path: '.' })).llmContent).toBe("Entries of .: 1\n'a\\nb'");
  });

  it('shows at most 1000 entries', async () => {
    await Promise.all(Array.from({ length: 1002 }, (_, i) => workspace.write(`file-${i}`, '')));
    const { lines } = await list({ path: '.' });
    expect(lines.at(-1)).toBe('[2 more not shown; narrow the request]');
  });

  it('refuses what is not a directory', async () => {
    await workspace.write('a.txt', '');
    expect((await list({ path: 'a.txt' })).error?.message).toBe('a.txt is not a directory.');
    expect((await list({ path: 'missing' })).error?.message).toBe('missing does not exist.');
  });
});
