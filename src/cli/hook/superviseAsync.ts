import { rmSync } from 'node:fs';
import { fireHook } from '../../hooks/fireHook.js';
import { errorMessage } from '../../util/errorMessage.js';
import { DebugLogger } from '../../util/debugLogger.js';
import { readTextSync } from '../../util/guardedRead.js';
import { withTrace } from '../shared/withTrace.js';
import { openWorkspace } from '../shared/workspace.js';
import { AsyncFiles, dropJob, runFileOf, sayStillHere, type AsyncJob } from './asyncSession.js';

/** Ms between two looks at what hooks have said, and at whether their session has ended. */
const LOOK_MS = 100;

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
    rmSync(file, { force: true });
    await work(job, run);
  } finally {
    dropJob(file);
  }
}

async function work({ options, fired }: AsyncJob, run: string): Promise<void> {
  const { event, payload, session } = fired;
  const logger = new LateLogger('llxprt:core:hooks');
  const files = new AsyncFiles(session?.sessionId ?? '');
  const needs = { logger, isQuiet: true, startsEachHook: true, asyncHooks: 'only' } as const;
  const { config, settings } = await openWorkspace(options, needs);
  const system = config.getHookSystem();
  const keepWhatIsSaid = () => {
    const answers = system?.takeLate(session) ?? [];
    const warnings = logger.warnings.splice(0);
    // Without a session, nobody comes back for it.
    const isNothing = answers.length + warnings.length === 0 || !session?.sessionId;
    if (isNothing || !sayStillHere(run)) return;
    files.keep({ agent: session.agent, answers, warnings });
  };
  let isOver = false;
  const looking = setInterval(() => {
    keepWhatIsSaid();
    if (isOver || sayStillHere(run)) return;
    isOver = true;
    void system?.endSession(session);
  }, LOOK_MS);
  try {
    await withTrace({ trace: options.trace, fleet: settings.fleet }, config, async () => {
      await fireHook(config, event, payload, { session });
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
