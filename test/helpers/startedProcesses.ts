import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import { afterEach, beforeEach } from 'vitest';

/**
 * Counts the processes that this one starts, whoever starts them and whatever for, as Node announces them.
 *
 * @returns how many since the beginning of the test
 */
export function useStartedProcesses(): () => number {
  let started = 0;
  const count = () => {
    started += 1;
  };
  beforeEach(() => {
    started = 0;
    subscribe('child_process', count);
  });
  afterEach(() => {
    unsubscribe('child_process', count);
  });
  return () => started;
}
