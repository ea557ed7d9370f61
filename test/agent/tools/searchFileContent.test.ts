import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { searchFileContent } from '../../../src/agent/tools/searchTools.js';
import { ToolErrorType } from '../../../src/tools/tools.js';
import { runTool, useTemporaryWorkspace } from './temporaryWorkspace.js';

const workspace = useTemporaryWorkspace();

function search(input: Record<string, unknown>) {
  return runTool(searchFileContent, input, workspace);
}

async function linesOf(input: Record<string, unknown>): Promise<readonly string[]> {
  const { lines, error } = await search(input);
  if (error) throw new Error(error.message);
  return lines.slice(1);
}

describe('search_file_content', () => {
  it('gives file, line and text, sorted', async () => {
    await workspace.write('b.txt', 'one\nfoo 1\nfoo 2\n');
    await workspace.write('a/c.txt', '\uFEFFfoo 3\r\n');
    expect(await search({ pattern: '^fo+ \\d$' })).toMatchObject({
      llmContent:
        'Lines matching ^fo+ \\d$ in .: 3\na/c.txt:1: foo 3\nb.txt:2: foo 1\nb.txt:3: foo 2',
      returnDisplay: 'Lines matching ^fo+ \\d$ in .: 3',
    });
  });

  it('does not count a line after the last line break', async () => {
    await workspace.write('a.txt', 'one\n');
    expect(await linesOf({ pattern: '^' })).toEqual(['a.txt:1: one']);
  });

  it('searches one directory or file, under either name of the argument', async () => {
    await workspace.write('src/a.txt', 'foo');
    await workspace.write('b.txt', 'foo');
    for (const target of ['src', 'src/a.txt']) {
      expect(await linesOf({ pattern: 'foo', path: target })).toEqual(['src/a.txt:1: foo']);
      expect(await linesOf({ pattern: 'foo', dir_path: target })).toEqual(['src/a.txt:1: foo']);
    }
  });

  it.each([
    ['*.ts', ['a.ts:1: foo', 'src/b.ts:1: foo']],
    ['src/*', ['src/b.ts:1: foo', 'src/c.js:1: foo']],
    ['*.{js,md}', ['src/c.js:1: foo']],
  ])('searches the files that match %s', async (include, expected) => {
    for (const file of ['a.ts', 'src/b.ts', 'src/c.js']) await workspace.write(file, 'foo');
    expect(await linesOf({ pattern: 'foo', include })).toEqual(expected);
  });

  it('skips .git, node_modules, symbolic links, binary and large files', async () => {
    await fs.writeFile(path.join(workspace.outside, 'secret.txt'), 'foo');
    await fs.symlink(workspace.outside, path.join(workspace.workingDir, 'link'));
    for (const file of ['.git/a', 'node_modules/b', 'c/node_modules/d', '.hidden']) {
      await workspace.write(file, 'foo');
    }
    await workspace.write('binary', 'foo\0');
    await workspace.write('large', `foo${' '.repeat(1024 * 1024)}`);
    expect(await linesOf({ pattern: 'foo' })).toEqual([
      '.hidden:1: foo',
      '[files not searched, being binary, unreadable or over 1 MiB: 2]',
    ]);
  });

  it('shows 200 lines, and says that there are more', async () => {
    await workspace.write('a.txt', 'foo\n'.repeat(200));
    expect(await linesOf({ pattern: 'foo' })).toHaveLength(200);
    await workspace.write('b.txt', 'foo');
    const { llmContent, lines, returnDisplay } = await search({ pattern: 'foo' });
    expect(returnDisplay).toBe('Lines matching foo in .: more than 200');
    expect(lines).toHaveLength(202);
    expect(llmContent).toContain('[only the first 200 are shown; narrow the search]');
  });

  it('shortens long lines', async () => {
    await workspace.write('a.txt', 'x'.repeat(10_000));
    expect(await linesOf({ pattern: 'x' })).toEqual([`a.txt:1: ${'x'.repeat(500)}…`]);
  });

  it('ends a regular expression that backtracks without end', async () => {
    await workspace.write('a.txt', `${'a'.repeat(50)}!`);
    const { error, llmContent } = await search({ pattern: '^(a+)+$' });
    expect(error?.type).toBe(ToolErrorType.InvalidParams);
    expect(error?.message).toContain('/^(a+)+$/ could not be matched: Script execution timed out');
    expect(llmContent).toContain('avoid nested quantifiers');
  });

  it.each(['.', 'a.txt'])('stops searching %s when it is cancelled', async (target) => {
    await workspace.write('a.txt', 'foo');
    const controller = new AbortController();
    const result = searchFileContent.execute(
      { pattern: 'foo', path: target },
      { workingDir: workspace.workingDir, signal: controller.signal },
    );
    controller.abort();
    expect((await result).error?.type).toBe(ToolErrorType.Cancelled);
  });

  it('says what is wrong with a regular expression', async () => {
    const { error } = await search({ pattern: '(a' });
    expect(error?.type).toBe(ToolErrorType.InvalidParams);
    expect(error?.message).toContain('/(a/: Unterminated group');
  });

  it('keeps the user line free of control characters', async () => {
    const { returnDisplay } = await search({ pattern: 'a\u001b[31m\nb' });
    expect(returnDisplay).not.toMatch(/\p{Cc}/u);
  });

  it('refuses a glob that leads out and a path that does not exist', async () => {
    expect((await search({ pattern: 'a', include: '../*' })).error?.message).toContain("'../*'");
    expect((await search({ pattern: 'a', path: 'b' })).error?.message).toBe('b does not exist.');
  });
});
