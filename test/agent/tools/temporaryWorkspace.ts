import fs from 'node:fs/promises';
import os from 'node:os';
import path from 'node:path';
import { afterEach, beforeEach } from 'vitest';
import type { Tool, ToolContext } from '../../../src/tools/tools.js';

/** A working directory of its own for every test, beside a directory that tools must not reach. */
export interface TemporaryWorkspace {
  readonly workingDir: string;
  readonly outside: string;
  write(file: string, content: string | Uint8Array): Promise<void>;
  read(file: string): Promise<string>;
}

/** Creates a workspace before each test of the file, and removes it afterwards. */
export function useTemporaryWorkspace(): TemporaryWorkspace {
  let base = '';
  beforeEach(async () => {
    base = await fs.realpath(await fs.mkdtemp(path.join(os.tmpdir(), 'hookstack-tools-')));
    await fs.mkdir(path.join(base, 'work'));
    await fs.mkdir(path.join(base, 'outside'));
  });
  afterEach(() => fs.rm(base, { recursive: true, force: true }));

  return {
    get workingDir() {
      return path.join(base, 'work');
    },
    get outside() {
      return path.join(base, 'outside');
    },
    async write(file, content) {
      const target = path.join(base, 'work', file);
      await fs.mkdir(path.dirname(target), { recursive: true });
      await fs.writeFile(target, content);
    },
    read(file) {
      return fs.readFile(path.join(base, 'work', file), 'utf8');
    },
  };
}

/** Runs a tool that answers in plain text, and splits the answer into lines as well. */
export async function runTool(tool: Tool, input: Record<string, unknown>, context: ToolContext) {
  const result = await tool.execute(input, context);
  const { llmContent } = result;
  if (typeof llmContent !== 'string') throw new TypeError(`${tool.name} did not answer in text`);
  return { ...result, llmContent, lines: llmContent.split('\n') };
}
