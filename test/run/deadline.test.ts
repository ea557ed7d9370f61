import { describe, expect, it } from 'vitest';
import { HookEventName, type CommandHookConfig } from '../../src/index.js';
import { deadlineOf } from '../../src/run/preparedInput.js';
import { run } from '../process/helpers.js';

const { BeforeTool } = HookEventName;

/** A host may give anything. */
function hookWith(timeout: unknown): Pick<CommandHookConfig, 'timeout'> {
  return { timeout } as { timeout: number };
}

describe('deadlineOf', () => {
  it.each([
    [undefined, 60_000],
    [1, 1],
    [0.5, 0.5],
    [1_000, 1_000],
    [2 ** 31 - 1, 2 ** 31 - 1],
    [2 ** 31, 2 ** 31 - 1],
    [Number.MAX_VALUE, 2 ** 31 - 1],
  ])('takes %s as %s ms', (value, timeoutMs) => {
    expect(deadlineOf(hookWith(value), BeforeTool)).toEqual({ timeoutMs });
  });

  it.each([
    [0],
    [-1],
    [Number.NaN],
    [Infinity],
    [-Infinity],
    ['1000'],
    [null],
    [true],
    [{}],
    [10n],
  ])('replaces %s by the default and says so', (value) => {
    const { timeoutMs, problem } = deadlineOf(hookWith(value), BeforeTool);
    expect(timeoutMs).toBe(60_000);
    expect(problem).toMatch(/^timeout is .+, and 60000 ms are used instead: write a number/);
  });

  it('takes the default of the agent for which a hook was written', () => {
    const dialect = 'claude';
    expect(deadlineOf({ dialect }, BeforeTool)).toEqual({ timeoutMs: 600_000 });
    expect(deadlineOf({ ...hookWith('1'), dialect }, BeforeTool).timeoutMs).toBe(600_000);
    expect(deadlineOf({ timeout: 2000, dialect }, BeforeTool)).toEqual({ timeoutMs: 2000 });
  });

  it('quotes a long value only in part', () => {
    expect(deadlineOf(hookWith('9'.repeat(100_000)), BeforeTool).problem?.length).toBeLessThan(200);
  });

  it('returns a deadline that does not fire at once', async () => {
    const { timeoutMs } = deadlineOf({ timeout: 2 ** 31 }, BeforeTool);
    expect(await run('sleep 0.2; echo done', { timeoutMs })).toMatchObject({
      ending: 'exit',
      stdout: 'done\n',
    });
  });
});
