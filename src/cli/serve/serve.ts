import type { Config } from '../../config/config.js';
import { errorMessage } from '../../util/errorMessage.js';
import { watchInterruption } from '../shared/interruption.js';
import { plural, printLine, printNotice } from '../shared/terminal.js';
import { UsageError } from '../shared/usageError.js';
import { withTrace } from '../shared/withTrace.js';
import { openWorkspace } from '../shared/workspace.js';
import { whyHooksAreOff } from '../shared/hookColumns.js';
import { PolicyAnswers, type Refusal } from './answers.js';
import { FleetDoors, readFleet, recordOf, type Fleet, type FleetOptions } from './fleetDoors.js';
import { openHttpDoor } from './httpDoor.js';
import { readListening, type Listening, type ListeningOptions } from './listening.js';
import { openMetrics } from './metrics.js';
import { Notices } from './notices.js';

export interface ServeOptions extends ListeningOptions, FleetOptions {
  readonly settings?: string;
  readonly cwd?: string;
  readonly trace?: string;
  /** MiB. */
  readonly maxBody: number;
  readonly maxConcurrent: number;
}

/** No question takes longer, in ms: as long as agents wait for a hook. */
const LONGEST_MS = 600_000;
/** For questions that hooks work on when the server is to end, in ms. */
const DRAIN_MS = 30_000;

/** @returns the exit code: 0 once it was ended by a signal; 1 it could not listen */
export async function serve(options: ServeOptions): Promise<number> {
  const { settings, cwd } = options;
  if (settings === undefined) {
    throw new UsageError('Say whose hooks answer: hookstack serve --settings FILE');
  }
  const listening = await readListening(options);
  const fleet = await readFleet(options);
  const { config, origins } = await openWorkspace({ settings, cwd });
  if (!config.getEnableHooks()) {
    const why = whyHooksAreOff(origins.enableHooks?.file);
    throw new UsageError(`No hook would answer, as ${why}: write "enableHooks": true into it`);
  }
  try {
    await config.getHookSystem()?.initialize();
    const recording = { trace: options.trace, fleet: recordOf(options) };
    return await withTrace(recording, config, () => listen(config, listening, fleet, options));
  } finally {
    await config.dispose();
  }
}

async function listen(
  config: Config,
  listening: Listening,
  fleet: Fleet,
  { maxBody, maxConcurrent }: ServeOptions,
): Promise<number> {
  const notices = new Notices();
  const metrics = await openMetrics(() => answers.inFlight);
  const doors = await FleetDoors.open(fleet, notices);
  const answers = new PolicyAnswers({
    config,
    ...(doors.shared && { shared: doors.shared }),
    maxConcurrent,
    longestMs: LONGEST_MS,
    onAnswered: metrics.answered,
    onRefused: (refusal) => {
      metrics.refused(refusal);
      tellRefusal(notices, refusal, maxConcurrent);
    },
    onLost: (what) => notices.tell('note', 'lost', what),
  });
  const interruption = watchInterruption();
  const limits = { maxBody: maxBody * 1024 * 1024, longestMs: LONGEST_MS };
  try {
    await doors.answerWith(answers);
    const approvals = doors.routes(listening);
    const door = await openHttpDoor({
      ...listening,
      ...limits,
      answers,
      metrics,
      notices,
      approvals,
    });
    printLine(`hookstack serve: listening on ${door.url}`);
    await aborted(interruption.signal);
    printNotice(
      'note',
      `${errorMessage(interruption.signal.reason)}: no more questions are taken, and ${plural(answers.inFlight, 'question')} in flight ${answers.inFlight === 1 ? 'has' : 'have'} ${DRAIN_MS / 1000} s`,
    );
    await Promise.all([doors.close(), answers.drain(DRAIN_MS)]);
    await door.close();
    return 0;
  } finally {
    await doors.close();
    interruption.dispose();
  }
}

function tellRefusal(notices: Notices, refusal: Refusal, maxConcurrent: number): void {
  const told: Partial<Record<Refusal, string>> = {
    full: `a question was refused, as hooks work on ${maxConcurrent} already, or on half as many of its agent (--max-concurrent)`,
    late: 'hooks had not answered a question by its deadline',
    fault: 'the hooks could not be asked',
  };
  const text = told[refusal];
  if (text !== undefined) notices.tell('warning', refusal, text);
}

function aborted(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    if (signal.aborted) resolve();
    else signal.addEventListener('abort', () => resolve(), { once: true });
  });
}
