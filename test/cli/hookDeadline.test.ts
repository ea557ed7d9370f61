import { expect, it, onTestFinished, vi } from 'vitest';
import { surviveCrashes } from '../../src/cli/hook/crash.js';

it('ends a process that waits for an extension, before its agent takes that for a yes', () => {
  vi.useFakeTimers();
  const exit = vi.spyOn(process, 'exit').mockReturnValue(undefined as never);
  const on = vi.spyOn(process, 'on').mockReturnValue(process);
  const once = vi.spyOn(process, 'once').mockReturnValue(process);
  onTestFinished(() => {
    vi.useRealTimers();
    for (const spy of [exit, on, once]) spy.mockRestore();
  });
  surviveCrashes();
  vi.advanceTimersByTime(590_000);
  expect(exit).not.toHaveBeenCalled();
  vi.advanceTimersByTime(9000);
  expect(exit).toHaveBeenCalled();
});
