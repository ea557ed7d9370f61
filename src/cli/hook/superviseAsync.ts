import { rmSync, statSync } from 'node:fs';
import { END_GRACE_MS } from '../../../middleware/asyncHooks.js';
import { Config } from '../../config/config.js';
import { fireHook } from '../../hooks/fireHook.js';
import { channels } from '../../trace/span.js';
import { errorMessage } from '../../util/errorMessage.js';
import { DebugLogger } from '../../util/debugLogger.js';
import { readTextSync } from '../../util/guardedRead.js';
import { notLongAfter } from '../../util/notLongAfter.js';
import { LIMITS } from '../shared/limits.js';
import { withTrace } from '../shared/withTrace.js';
import { ownerOf } from '../../run/asyncSession.js';
import { openWorkspace } from '../shared/workspace.js';
import { AsyncFiles, dropJob, runFileOf, sayStillHere, type AsyncJob } from './asyncSession.js';

/** Ms between two looks at what hooks have said, and at whether their session has ended. */
const LOOK_MS = 100;

/** Ms for middleware that does not heed its signal. */
const GRACE_MS = 3000;

/** Bytes: an event may hold the result of a tool. */
const MAX_JOB_BYTES = 256 * 1024 * 1024;

/** Keeps what runs warn of. What else is wrong, the agent's hook has told. */
class LateLogger extends DebugLogger {
  readonly warnings: string[] = [];

  override extend(part: string): DebugLogger {
    return part === 'runner' ? this : new QuietLogger(this.namespace);
  }

  override warn(message: string): void {
    this.warnings.push(message);
  }
}

class QuietLogger extends DebugLogger {
  override extend(): DebugLogger {
    return this;
  }

  override warn(): void {}
}

/** Runs the async hooks of one event to their ends, or to that of their session. Started by `hookstack hook`. */
export async function superviseAsync(file: string): Promise<void> {
  const run = runFileOf(file);
  try {
    const job = JSON.parse(readTextSync(file, { maxBytes: MAX_JOB_BYTES })) as AsyncJob;
    const startsBy = statSync(file).mtimeMs + END_GRACE_MS;
    rmSync(file, { force: true });
    await work(job, run, startsBy);
  } finally {
    dropJob(file);
  }
}

/** @param startsBy in ms since 1970, when hooks are not started any more whose session has ended meanwhile */
async function work(
  { options, fired, room }: AsyncJob,
  run: string,
  startsBy: number,
): Promise<void> {
  const { event, payload, session } = fired;
  const logger = new LateLogger('llxprt:core:hooks');
  const owner = ownerOf(event, session ?? {});
  const files = new AsyncFiles(owner);
  const { config, settings } = await openWorkspace(options, {
    logger,
    isQuiet: true,
    startsEachHook: true,
    asyncHooks: 'only',
    withMiddleware: true,
    makeConfig: (given) => new Config({ ...given, maxAsyncHooks: room }),
  });
  let left = fired.hooks;
  const isThere = () => sayStillHere(run, left);
  channels.hook.asyncEnd.subscribe(() => (left -= 1));
  const system = config.getHookSystem();
  const keepWhatIsSaid = () => {
    const answers = system?.takeLate(owner) ?? [];
    const warnings = logger.warnings.splice(0);
    // Without a session, nobody comes back for it.
    const isNothing = answers.length + warnings.length === 0 || !owner.sessionId;
    if (isNothing || !isThere()) return;
    const kept = files.keep({ answers, warnings });
    // Its session may have ended just now.
    if (!isThere()) rmSync(kept, { force: true });
  };
  const looking = setInterval(() => {
    keepWhatIsSaid();
    // A hook may start after that, where middleware takes its time.
    if (!isThere()) void system?.endSession(owner);
  }, LOOK_MS);
  try {
    await withTrace({ trace: options.trace, fleet: settings.fleet }, config, async () => {
      const signal = AbortSignal.timeout(LIMITS.hooks);
      if (!isThere() && Date.now() > startsBy) return;
      const firing = Promise.resolve(fireHook(config, event, payload, { session, signal }));
      await notLongAfter(signal, GRACE_MS, firing);
      await system?.untilAsyncEnded();
    });
    keepWhatIsSaid();
  } catch (error) {
    logger.warn(`The async hooks of ${event} could not be run: ${errorMessage(error)}`);
    keepWhatIsSaid();
  } finally {
    clearInterval(looking);
    await config.dispose();
  }
}
