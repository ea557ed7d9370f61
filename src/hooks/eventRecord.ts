import { areHealthy, hasFailed, type AggregatedHookResult } from '../protocol/hookOutput.js';
import type { DebugLogger } from '../util/debugLogger.js';
import { HookPipelineError } from './errors.js';
import { maskSecrets, type HookEnvironmentPolicy } from '../run/hookEnvironment.js';
import { hookIdentity } from '../protocol/identity.js';
import type { HookEventName, HookExecutionResult } from '../protocol/types.js';

/**
 * Writes the log of an event: one record a hook, and a summary. Failures have had their warning already, so the summary
 * counts those that have one; a block is a verdict, and none. Builds nothing where nobody reads it.
 */
export function recordEvent(
  event: HookEventName,
  aggregated: AggregatedHookResult,
  logger: DebugLogger,
  environment: HookEnvironmentPolicy,
): void {
  if (!logger.isDebugOn) return;
  const fault = aggregated.errors.find((error) => error instanceof HookPipelineError);
  for (const result of aggregated.results) {
    logger.debug(`${event}: hook finished`, describeResult(event, result, environment));
  }
  const failed = aggregated.results.filter(hasFailed).length;
  logger.debug(`${event}: finished`, {
    event,
    hooks: aggregated.results.length,
    succeeded: aggregated.results.length - failed,
    failed,
    durationMs: Math.round(aggregated.totalDuration),
    success: areHealthy(aggregated),
    ...(fault && { error: fault.message }),
  });
}

function describeResult(
  event: HookEventName,
  result: HookExecutionResult,
  environment: HookEnvironmentPolicy,
): object {
  const mask = (text?: string) => text && maskSecrets(text, environment);
  return {
    event,
    hook: hookIdentity(result.hookConfig),
    type: result.hookConfig.type,
    durationMs: Math.round(result.duration),
    success: result.success,
    exitCode: result.exitCode,
    signal: result.signal,
    stdout: mask(result.stdout),
    stderr: mask(result.stderr),
    error: mask(result.error?.message),
  };
}
