import { describe, expect, it, onTestFinished, vi } from 'vitest';
import { surviveCrashes } from '../../src/cli/hook/crash.js';
import { Watchdog } from '../../src/cli/shared/watchdog.js';

it('ends a process that waits for an extension, before its agent takes that for a yes', () => {
  vi.useFakeTimers();
  const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
  const on = vi.spyOn(process, 'on').mockReturnValue(process);
  const once = vi.spyOn(process, 'once').mockReturnValue(process);
  onTestFinished(() => {
    vi.useRealTimers();
    for (const spy of [exit, on, once]) spy.mockRestore();
  });
  // It begins to watch after this test.
  surviveCrashes(new Watchdog({ err: '' }, 1e6, 1e6));
  vi.advanceTimersByTime(590_000);
  expect(exit).not.toHaveBeenCalled();
  vi.advanceTimersByTime(9000);
  expect(exit).toHaveBeenCalled();
});

describe('what an agent waits', () => {
  interface Limits {
    readonly hooks: number;
    readonly all: number;
    readonly blocked: number;
  }
  const DEFAULT: Limits = { hooks: 590_000, all: 597_000, blocked: 598_500 };

  it.each<[string | undefined, Limits]>([
    [undefined, DEFAULT],
    ['60000', { hooks: 50_000, all: 57_000, blocked: 58_500 }],
    ['3000.9', { hooks: 2000, all: 2400, blocked: 2700 }],
    ['1', { hooks: 0, all: 0, blocked: 0 }],
    // What would be longer than agents wait, or is no number, is no way past a guard.
    ...['600001', 'Infinity', '0', '-5', 'ten', ''].map((said): [string, Limits] => [
      said,
      DEFAULT,
    ]),
  ])('%s', async (said, limits) => {
    vi.resetModules();
    vi.stubEnv('HOOKSTACK_TIMEOUT', said);
    onTestFinished(() => void vi.unstubAllEnvs());
    const { LIMITS } = await import('../../src/cli/shared/limits.js');
    expect(LIMITS).toEqual(limits);
  });
});
