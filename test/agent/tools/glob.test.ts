import fs from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { glob } from '../../../src/agent/tools/searchTools.js';
import { ToolErrorType } from '../../../src/tools/tools.js';
import { runTool, useTemporaryWorkspace } from './temporaryWorkspace.js';

const workspace = useTemporaryWorkspace();

/** Writes files, each of them a minute older than the one before it. */
async function writeFiles(files: readonly string[]): Promise<void> {
  for (const [index, file] of files.entries()) {
    await workspace.write(file, '');
    const time = new Date(Date.UTC(2024, 0, 1, 12, -index));
    await fs.utimes(path.join(workspace.workingDir, file), time, time);
  }
}

async function find(input: Record<string, unknown>): Promise<readonly string[]> {
  const { lines, error } = await runTool(glob, input, workspace);
  if (error) throw new Error(error.message);
  return lines.slice(1);
}

describe('glob', () => {
  it('gives the files that match, newest first', async () => {
    await writeFiles(['src/b.ts', 'src/a.ts', 'z.ts', 'src/a.js']);
    expect(await glob.execute({ pattern: '**/*.ts' }, workspace)).toEqual({
      llmContent: 'Files matching **/*.ts in .: 3\nsrc/b.ts\nsrc/a.ts\nz.ts',
      returnDisplay: 'Files matching **/*.ts in .: 3',
    });
  });

  it('sorts files of the same age by path', async () => {
    await writeFiles(['b', 'c', 'a']);
    const time = new Date(0);
    for (const file of ['a', 'b', 'c']) {
      await fs.utimes(path.join(workspace.workingDir, file), time, time);
    }
    expect(await find({ pattern: '*' })).toEqual(['a', 'b', 'c']);
  });

  it('searches below path, under either name of the argument', async () => {
    await writeFiles(['src/a.ts', 'a.ts']);
    expect(await find({ pattern: '*.ts', path: 'src' })).toEqual(['src/a.ts']);
    expect(await find({ pattern: '*.ts', dir_path: 'src' })).toEqual(['src/a.ts']);
  });

  it('finds hidden files, and skips .git and node_modules', async () => {
    await writeFiles([
      '.env',
      '.git/config',
      'node_modules/x/a.js',
      'src/node_modules/b.js',
      'c.js',
    ]);
    expect(await find({ pattern: '**' })).toEqual(['.env', 'c.js']);
    expect(await find({ pattern: 'node_modules/**' })).toEqual([]);
  });

  it('ignores case unless told otherwise, in directories too', async () => {
    await writeFiles(['Src/A.ts']);
    expect(await find({ pattern: 'src/*.TS' })).toEqual(['Src/A.ts']);
    expect(await find({ pattern: 'src/*.TS', case_sensitive: true })).toEqual([]);
    expect(await find({ pattern: 'Src/*.ts', case_sensitive: true })).toEqual(['Src/A.ts']);
  });

  it.each(['**', 'link/*', 'l*/*', '{link,x}/*', 'file', 'l\\ink/*'])(
    'does not follow symbolic links for %s',
    async (pattern) => {
      await fs.writeFile(path.join(workspace.outside, 'secret.txt'), '');
      await fs.symlink(workspace.outside, path.join(workspace.workingDir, 'link'));
      await fs.symlink(
        path.join(workspace.outside, 'secret.txt'),
        path.join(workspace.workingDir, 'file'),
      );
      expect(await find({ pattern })).toEqual([]);
    },
  );

  it.each(['../*', '..*/*', './../*', 'a/../../*', '/etc/*', '!../*', '!/etc/*'])(
    'refuses %s',
    async (pattern) => {
      const { error } = await glob.execute({ pattern }, workspace);
      expect(error?.type).toBe(ToolErrorType.InvalidParams);
      expect(error?.message).toContain(`'${pattern}'`);
    },
  );

  it.each(['{..,.}/*', '\\../*', '{../outside,x}/*', '@(..)/*', '[.][.]/*'])(
    'finds nothing outside with %s',
    async (pattern) => {
      await fs.writeFile(path.join(workspace.outside, 'secret.txt'), '');
      const { llmContent } = await glob.execute({ pattern }, workspace);
      expect(llmContent).not.toContain('secret.txt');
    },
  );

  it('says that nothing matches', async () => {
    const { llmContent, error } = await glob.execute({ pattern: '*.ts' }, workspace);
    expect(error).toBeUndefined();
    expect(llmContent).toBe('Files matching *.ts in .: 0');
  });
});
