import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { createRequire } from 'node:module';
import path from 'node:path';
import type { DetachHooks } from '../../../middleware/runner.js';
import type { Config } from '../../config/config.js';
import { canSendBack, withLate } from '../../core/lateVerdict.js';
import { isAsync } from '../../protocol/events.js';
import type { Received, ReceivedIdentity, ReplyVerdict } from '../../protocol/received.js';
import { HookEventName } from '../../protocol/types.js';
import { ownerOf } from '../../run/asyncSession.js';
import type { DebugLogger } from '../../util/debugLogger.js';
import { errorMessage } from '../../util/errorMessage.js';
import { hostEnvironment } from '../../util/requester.js';
import { AsyncFiles, dropJob, findAsyncFiles, type AsyncJob } from './asyncSession.js';
import { HostLogger, isNewInSession } from './tellPerson.js';

/** Whether events of the project may start hooks that nobody waits for. */
export function hasAsyncHooks(config: Config): boolean {
  const system = config.getHookSystem();
  const hooks = system?.isInitialized() ? system.getAllHooks() : [];
  return hooks.some(({ config: hook, eventName }) => isAsync(hook, eventName));
}

/** Has the async hooks of an event run by a process that stays until they have ended, or the session has. */
export function detachTo(
  options: Omit<AsyncJob['options'], 'cwd'>,
  config: () => Config,
  logger: DebugLogger,
): DetachHooks {
  return async (fired) => {
    try {
      // The directory of an event may be gone, where the same configuration answers a later one.
      const [max, cwd] = [config().getMaxAsyncHooks(), config().getWorkingDir()];
      const owner = ownerOf(fired.event, fired.session ?? {});
      const job = await new AsyncFiles(owner).add({ options: { ...options, cwd }, fired }, max);
      if (job === undefined) {
        logger.warn(
          `The async hooks of ${fired.event} were not started, as ${max} run: make them faster, or raise "maxAsyncHooks"`,
        );
        return;
      }
      await startSupervisor(job).catch((error: unknown) => {
        dropJob(job);
        throw error;
      });
    } catch (error) {
      logger.warn(
        `The async hooks of ${fired.event} could not be started: ${errorMessage(error)}; mend that, or remove "async" from them`,
      );
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

/** Where a session or a sub-agent ends, its async hooks do, whatever the settings say by then. */
export function endWithSession({ event, identity }: Received): void {
  if (event !== HookEventName.SessionEnd || identity.sessionId === undefined) return;
  orWarn(identity, () => findAsyncFiles(identity)?.end('session'));
}

/** The same of a sub-agent, unless it is sent back to work. */
export function endWithHelper(received: Received, { kind }: ReplyVerdict): void {
  const { event, identity } = received;
  const isEnd = event === HookEventName.SubagentStop && identity.agentId !== undefined;
  if (!isEnd || (kind === 'block' && canSendBack(received))) return;
  orWarn(identity, () => findAsyncFiles(identity)?.end('agent'));
}

/**
 * The same verdict with what async hooks of the session have said since. Never throws: what was decided counts.
 *
 * @param told takes what the user is to read
 */
export function withLateOf(
  received: Received,
  verdict: ReplyVerdict,
  told: string[],
): ReplyVerdict {
  const { identity } = received;
  if (identity.sessionId === undefined) return verdict;
  const take = (ifWakes: boolean) => {
    const late = findAsyncFiles(identity)?.take(ifWakes) ?? [];
    told.push(...late.flatMap(({ warnings }) => warnings));
    return late.flatMap(({ answers }) => answers);
  };
  return orWarn(identity, () => withLate(received, verdict, take)) ?? verdict;
}

/** What async hooks leave is worth no verdict. */
function orWarn<T>({ sessionId }: ReceivedIdentity, work: () => T): T | undefined {
  try {
    return work();
  } catch (error) {
    const message = `What async hooks have left cannot be used: ${errorMessage(error)}; mend ~/.llxprt/async, or remove it`;
    if (isNewInSession(sessionId, message)) new HostLogger('llxprt:core:hooks').warn(message);
    return undefined;
  }
}
