import { inspect } from 'node:util';
import { dialects } from '../dialects/dialects.js';
import { DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS } from '../process/command/limits.js';
import type { CommandHookConfig, HookEventName } from '../protocol/types.js';

/** How long a hook may run. */
export interface Deadline {
  /** At most 2^31 - 1. */
  readonly timeoutMs: number;
  /** A sentence for a warning, where the hook's own `timeout` cannot be used. */
  readonly problem?: string;
}

/**
 * How long a hook may run at an event: what its settings say, else the default of the agent that it was written for. The one
 * place that knows: whoever runs, lists or waits for a hook calls it.
 */
export function deadlineOf(
  { timeout, dialect }: Pick<CommandHookConfig, 'timeout' | 'dialect'>,
  event: HookEventName,
): Deadline {
  if (isUsable(timeout)) return { timeoutMs: Math.min(timeout, MAX_TIMEOUT_MS) };
  const limits = dialect && dialects[dialect].defaultTimeoutMs;
  const timeoutMs = limits ? (limits[event] ?? limits.otherwise) : DEFAULT_TIMEOUT_MS;
  if (timeout === undefined) return { timeoutMs };
  const problem =
    `timeout is ${inspect(timeout, INSPECT_BRIEFLY)}, and ${timeoutMs} ms are used instead: ` +
    'write a number of milliseconds above 0';
  return { timeoutMs, problem };
}

/** A host that gives its hooks in code may give anything. */
function isUsable(timeout: unknown): timeout is number {
  return typeof timeout === 'number' && Number.isFinite(timeout) && timeout > 0;
}

const INSPECT_BRIEFLY = { depth: 0, breakLength: Infinity, maxStringLength: 40, maxArrayLength: 3 };
