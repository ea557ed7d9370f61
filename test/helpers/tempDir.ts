import { mkdtemp, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach } from 'vitest';

export interface TempDir {
  /** Absolute, without symbolic links. */
  readonly path: string;
  readJson(file: string): Promise<unknown>;
  readLines(file: string): Promise<string[]>;
}

/** Makes a directory before each test of the file, and removes it afterwards. */
export function useTempDir(): TempDir {
  let directory = '';
  beforeEach(async () => {
    directory = await realpath(await mkdtemp(path.join(tmpdir(), 'hookstack-test-')));
  });
  afterEach(() => rm(directory, { recursive: true, force: true }));

  const read = (file: string) => readFile(path.join(directory, file), 'utf8');
  return {
    get path() {
      return directory;
    },
    async readJson(file) {
      return JSON.parse(await read(file)) as unknown;
    },
    async readLines(file) {
      return (await read(file)).split('\n').slice(0, -1);
    },
  };
}
