import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { DetachHooks } from '../../../middleware/runner.js';
import type { Config } from '../../config/config.js';
import { withLate } from '../../core/lateVerdict.js';
import { isAsync } from '../../protocol/events.js';
import type { Received, ReplyVerdict } from '../../protocol/received.js';
import { HookEventName } from '../../protocol/types.js';
import type { DebugLogger } from '../../util/debugLogger.js';
import { errorMessage } from '../../util/errorMessage.js';
import { hostEnvironment } from '../../util/requester.js';
import { AsyncFiles, dropJob, type AsyncJob } from './asyncSession.js';

/** Whether events of the project may start hooks that nobody waits for. */
export function hasAsyncHooks(config: Config): boolean {
  const system = config.getHookSystem();
  const hooks = system?.isInitialized() ? system.getAllHooks() : [];
  return hooks.some(({ config: hook, eventName }) => isAsync(hook, eventName));
}

/** Has the async hooks of an event run by a process that stays until they have ended, or the session has. */
export function detachTo(
  options: AsyncJob['options'],
  maxAsyncHooks: () => number,
  logger: DebugLogger,
): DetachHooks {
  return async (fired) => {
    try {
      const files = new AsyncFiles(fired.session?.sessionId ?? '');
      const max = maxAsyncHooks();
      if (files.countRunning() >= max) {
        logger.warn(
          `The async hooks of ${fired.event} were not started, as those of ${max} events run: make them faster, or raise "maxAsyncHooks"`,
        );
        return;
      }
      const job = files.add({ options, fired });
      await startSupervisor(job).catch((error: unknown) => {
        dropJob(job);
        throw error;
      });
    } catch (error) {
      logger.warn(`The async hooks of ${fired.event} could not be started: ${errorMessage(error)}`);
    }
  };
}

/** It is in a group of its own, so that the end of the agent's hook is not its end. */
async function startSupervisor(job: string): Promise<void> {
  const manifest = createRequire(import.meta.url).resolve('hookstack/package.json');
  const program = path.join(path.dirname(manifest), 'dist', 'cli.cjs');
  const supervisor = spawn(process.execPath, [program, 'resident', 'async', '--job', job], {
    cwd: '/',
    env: { ...hostEnvironment() },
    detached: true,
    stdio: 'ignore',
    windowsHide: true,
  });
  await once(supervisor, 'spawn');
  supervisor.unref();
}

/** Where a session ends, its async hooks do. */
export function endWithSession({ event, identity }: Received): void {
  const { sessionId } = identity;
  if (event !== HookEventName.SessionEnd || sessionId === undefined) return;
  new AsyncFiles(sessionId).end();
}

/** The same verdict with what async hooks of the session have said since. @param told takes what the user is to read */
export function withLateOf(
  received: Received,
  verdict: ReplyVerdict,
  told: string[],
): ReplyVerdict {
  const { sessionId, agent } = received.identity;
  if (sessionId === undefined) return verdict;
  const files = new AsyncFiles(sessionId);
  return withLate(received, verdict, {
    wakes: () => files.find(agent).some(({ late }) => late.answers.some(({ wakes }) => wakes)),
    take: () => {
      const late = files.find(agent).filter(({ claim }) => claim());
      told.push(...late.flatMap((each) => each.late.warnings));
      return late.flatMap((each) => each.late.answers);
    },
  });
}
