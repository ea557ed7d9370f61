import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect } from 'vitest';
import { glob } from '../../src/agent/tools/searchTools.js';
import { listDirectory } from '../../src/agent/tools/searchTools.js';
import { searchFileContent } from '../../src/agent/tools/searchTools.js';
import { StepLimit } from '../../src/agent/tools/toolFailure.js';
import { ToolErrorType, type Tool } from '../../src/tools/tools.js';
import { fault, TIMED, type Host } from './helpers/host.js';

/** Backtracks without end over a name of `a` only. */
const HOSTILE = `${'a*'.repeat(20)}b`;

const CALLS: Record<string, { tool: Tool; withGlob: (pattern: string) => object }> = {
  'pattern of glob': { tool: glob, withGlob: (pattern) => ({ pattern }) },
  'include of search_file_content': {
    tool: searchFileContent,
    withGlob: (include) => ({ pattern: 'x', include }),
  },
  'ignore of list_directory': {
    tool: listDirectory,
    withGlob: (ignore) => ({ path: '.', ignore: [ignore] }),
  },
};

async function call(host: Host, tool: Tool, input: object, signal?: AbortSignal) {
  const startedAt = performance.now();
  const result = await tool.execute({ ...input }, { workingDir: host.directory, signal });
  const ms = performance.now() - startedAt;
  host.measure('answer', ms, 'ms');
  return { ...result, ms };
}

describe('81 a search that a model asks for', () => {
  fault.for(Object.keys(CALLS))(
    '81 ends where its glob backtracks: %s',
    async (where, { host }) => {
      await host.write('a'.repeat(250), '');
      const { tool, withGlob } = CALLS[where]!;
      const { error, llmContent } = await call(host, tool, withGlob(HOSTILE));
      expect(error?.type).toBe(ToolErrorType.InvalidParams);
      expect(error?.message).toContain('could not be matched: Script execution timed out');
      expect(llmContent).toContain('Simplify the glob');
    },
  );

  fault.for([
    ['braces', '{a,aa}'.repeat(40)],
    ['repeated groups', `${'+(a|aa)'.repeat(10)}b`],
    ['optional groups', `${'*(a)'.repeat(20)}b`],
    ['a negation', `!(${'*a'.repeat(20)}b)`],
    ['globstars', `${'**/'.repeat(40)}b`],
    ['open braces', '{'.repeat(20_000)],
    ['open groups', '('.repeat(20_000)],
    ['open classes', '['.repeat(20_000)],
    ['nested groups', `${'+('.repeat(5_000)}a${')'.repeat(5_000)}`],
    ['many wildcards', '*a'.repeat(30_000)],
    ['a long one', '*'.repeat(100_000)],
    ['backslashes', '\\'.repeat(60_001)],
    ['a range', '{1..99999999}'],
  ] as const)('81 ends for every kind of glob: %s', async ([, pattern], { host }) => {
    await host.write('a'.repeat(250), '');
    await host.write(`${'a/'.repeat(60)}a`, '');
    const { ms } = await call(host, glob, { pattern });
    expect(ms).toBeLessThan(5_000);
  });

  fault('81 has one limit for all of its files', () => {
    const limit = new StepLimit(50);
    expect(limit.run(() => busy(60))).toBe('done');
    expect(() => limit.run(() => 'more')).toThrow('it takes longer than 50 ms');
  });

  fault(
    '81 ends soon after an abort, however many directories there are',
    TIMED,
    async ({ host }) => {
      await Promise.all(
        Array.from({ length: 3_000 }, async (_, index) => {
          const directory = path.join(host.directory, `${index % 10}`, `${index}`);
          await mkdir(directory, { recursive: true });
          await writeFile(path.join(directory, 'file'), '');
        }),
      );
      const all = await call(host, glob, { pattern: '**/none' });
      const { error, ms } = await call(host, glob, { pattern: '**/none' }, AbortSignal.timeout(1));
      expect(error?.type).toBe(ToolErrorType.Cancelled);
      expect(ms).toBeLessThan(all.ms / 2);
    },
  );
});

function busy(ms: number): string {
  const until = performance.now() + ms;
  while (performance.now() < until);
  return 'done';
}
