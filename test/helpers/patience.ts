import { vi } from 'vitest';

/** Ms for a condition to come true: on a busy machine, a second is not enough for a process or a server. */
const PATIENCE_MS = 15_000;

const { waitFor } = vi;
vi.waitFor = (condition, options = {}) => {
  const given = typeof options === 'number' ? { timeout: options } : options;
  return waitFor(condition, { timeout: PATIENCE_MS, ...given });
};
