import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { ResultPromise } from 'execa';
import { describe, expect, it, vi } from 'vitest';
import { isRunning, readPids } from '../process/helpers.js';
import { answer, Cli, group, parseLines } from './helpers.js';

const cli = new Cli();
const FOREVER_MS = 2 ** 31 - 1;
const PATIENCE = { timeout: 10_000 };

/** Starts a run whose model does not answer. */
function startRun(responses: string, settings: string): ResultPromise {
  const args = ['run', 'Go', '--responses', responses, '--settings', settings];
  return cli.start([...args, '--output-format', 'stream-json'], { timeout: 20_000 });
}

function recordSilence(): Promise<string> {
  return cli.record({ ...answer('never'), delayMs: FOREVER_MS });
}

async function waitForFile(file: string): Promise<void> {
  await vi.waitFor(() => expect(existsSync(join(cli.project, file))).toBe(true), PATIENCE);
}

describe('a run', () => {
  it.each(['SIGINT', 'SIGTERM'] as const)('ends with its result on %s', async (signal) => {
    const settings = await cli.settings({ BeforeAgent: group('touch started') });
    const run = startRun(await recordSilence(), settings);
    await waitForFile('started');
    run.kill(signal);
    const { exitCode, stdout } = await run;
    expect(exitCode).toBe(1);
    expect(parseLines(String(stdout)).at(-1)).toMatchObject({
      type: 'result',
      error: { message: `Interrupted by ${signal}` },
    });
  });

  it.each([
    { signal: 'SIGINT', code: 130 },
    { signal: 'SIGTERM', code: 143 },
  ] as const)('ends at once on the second $signal, with its hooks', async ({ signal, code }) => {
    const settings = await cli.settings({
      BeforeAgent: group('touch started'),
      SessionEnd: group('echo $$ > pid; exec sleep 60'),
    });
    const run = startRun(await recordSilence(), settings);
    await waitForFile('started');
    run.kill(signal);
    const [pid = 0] = await readPids(join(cli.project, 'pid'), 1);
    expect(isRunning(pid)).toBe(true);
    run.kill(signal);
    const { exitCode } = await run;
    expect(exitCode).toBe(code);
    await vi.waitFor(() => expect(isRunning(pid)).toBe(false), PATIENCE);
  });

  it('ends when nobody reads its output any more', async () => {
    const responses = await cli.record({
      ...answer(...Array.from({ length: 10_000 }, (_, index) => `${index} `)),
      delayMs: 5,
    });
    const run = cli.start(['run', 'Go', '--responses', responses], { timeout: 20_000 });
    run.stdout?.once('data', () => run.stdout?.destroy());
    const { exitCode, stderr } = await run;
    expect(stderr).toBe('');
    expect(exitCode).toBe(141);
  });
});
