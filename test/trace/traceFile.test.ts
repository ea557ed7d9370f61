import { execFileSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import { mkdir, readFile, stat, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { describe, expect, it } from 'vitest';
import { fireHook } from '../../src/hooks/fireHook.js';
import { HookEventName } from '../../src/protocol/types.js';
import { Config } from '../../src/config/config.js';
import { traceToFile } from '../../src/trace/traceFile.js';
import { hook } from '../helpers/hooks.js';
import { useTempDir } from '../helpers/tempDir.js';

const directory = useTempDir();
const inDirectory = (file: string) => path.join(directory.path, file);

/** Fires an event with one hook, and says whether that ran. */
async function fire(): Promise<boolean> {
  const hooks = { [HookEventName.BeforeTool]: [{ hooks: [hook('true')] }] };
  const config = new Config({ enableHooks: true, hooks, workingDir: directory.path });
  const payload = { toolName: 'write_file', toolInput: {} };
  const fired = await fireHook(config, HookEventName.BeforeTool, payload);
  return fired?.aggregated.results[0]?.success ?? false;
}

describe('a trace file', () => {
  it('is made for the user alone, and appended to', async () => {
    const file = inDirectory('trace.jsonl');
    for (const expected of [2, 4]) {
      const trace = traceToFile(file);
      await fire();
      trace.close();
      trace.close();
      expect((await readFile(file, 'utf8')).split('\n')).toHaveLength(expected + 1);
    }
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    // After close(), nothing is written any more.
    await fire();
    expect((await readFile(file, 'utf8')).split('\n')).toHaveLength(5);
  });

  it.each([
    {
      what: 'is a directory',
      make: async () => {
        await mkdir(inDirectory('x'));
        return inDirectory('x');
      },
    },
    { what: 'is in no directory', make: async () => inDirectory('missing/trace.jsonl') },
    {
      what: 'is a pipe that nobody reads',
      make: async () => {
        execFileSync('mkfifo', [inDirectory('pipe')]);
        return inDirectory('pipe');
      },
    },
    { what: 'is on a full disk', make: async () => '/dev/full' },
  ])('that $what is one warning, and the hooks run', async ({ make }) => {
    const file = await make();
    if (file === '/dev/full' && !existsSync(file)) return;
    const problems: string[] = [];
    const trace = traceToFile(file, { onProblem: (message) => problems.push(message) });
    expect([await fire(), await fire()]).toEqual([true, true]);
    trace.close();
    expect(problems).toEqual([expect.stringMatching(/^The trace .+ cannot be written \(E\w+/)]);
  });

  it('is no file that holds something else, which stays as it is', async () => {
    const file = inDirectory('settings.json');
    await writeFile(file, '{"a":1}', { mode: 0o644 });
    const problems: string[] = [];
    const trace = traceToFile(file, { onProblem: (message) => problems.push(message) });
    expect(await fire()).toBe(true);
    trace.close();
    expect(problems).toEqual([expect.stringContaining('holds something else than a trace')]);
    expect(await readFile(file, 'utf8')).toBe('{"a":1}');
    expect((await stat(file)).mode & 0o777).toBe(0o644);
  });

  it('has every span of a process that exits right after', async () => {
    const host = `
      import { Config, executeToolWithHooks, traceToFile } from '${import.meta.dirname}/../../dist/index.js';
      traceToFile('trace.jsonl');
      const config = new Config();
      const execute = async () => ({ llmContent: '', returnDisplay: '' });
      await Promise.all(Array.from({ length: 100 }, () => executeToolWithHooks(config, 'x', {}, execute)));
      process.exit();`;
    await writeFile(inDirectory('host.mjs'), host);
    await execa(process.execPath, ['host.mjs'], { cwd: directory.path });
    const lines = await directory.readLines('trace.jsonl');
    expect(lines).toHaveLength(100);
    for (const line of lines) expect(JSON.parse(line)).toMatchObject({ kind: 'tool', name: 'x' });
  });
});
