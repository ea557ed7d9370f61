import { once } from 'node:events';
import type { Config } from '../../config/config.js';
import { isFault } from '../../hooks/givenHooks.js';
import { errorMessage } from '../../util/errorMessage.js';
import { watchInterruption } from '../shared/interruption.js';
import { logAs, plural, printNotice, report, type LogFormat } from '../shared/terminal.js';
import { UsageError } from '../shared/usageError.js';
import { withOtlp } from '../shared/withOtlp.js';
import { withTrace } from '../shared/withTrace.js';
import type { Settings } from '../../config/settings/settingsKeys.js';
import { openWorkspace, type Workspace } from '../shared/workspace.js';
import { whyHooksAreOff } from '../shared/hookColumns.js';
import { PolicyAnswers, type Refusal } from './answers.js';
import {
  openFleet,
  readFleet,
  recordOf,
  routesOf,
  type Fleet,
  type FleetOptions,
} from './fleetDoors.js';
import { openHttpDoor } from './httpDoor.js';
import { readListening, type Listening, type ListeningOptions } from './listening.js';
import { openMetrics } from './metrics.js';
import { Notices } from './notices.js';

export interface ServeOptions extends ListeningOptions, FleetOptions {
  readonly settings?: string;
  readonly cwd?: string;
  readonly trace?: string;
  readonly otlp?: string;
  readonly log?: LogFormat;
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
  const { settings, cwd, log } = options;
  logAs(log);
  if (settings === undefined) {
    throw new UsageError('Say whose hooks answer: hookstack serve --settings FILE');
  }
  const listening = await readListening(options);
  const fleet = await readFleet(options);
  const workspace = await openWorkspace({ settings, cwd });
  const { config, origins } = workspace;
  if (!config.getEnableHooks()) {
    const why = whyHooksAreOff(origins.enableHooks?.file);
    throw new UsageError(`No hook would answer, as ${why}: write "enableHooks": true into it`);
  }
  try {
    await config.getHookSystem()?.initialize();
    requireHooks(workspace, settings);
    await workspace.watch({ strict: true, requireUsable: (now) => requireSomeHook(now, settings) });
    const recording = { trace: options.trace, fleet: recordOf(options) };
    return await withOtlp(options.otlp, config, () =>
      withTrace(recording, config, () => listen(config, listening, fleet, options)),
    );
  } finally {
    await config.dispose();
  }
}

/** Agents take the answer of a server for a yes of all that its settings say. */
function requireHooks({ config, problems }: Workspace, settings: string): void {
  const faults = problems
    .filter(({ path }) => path === '' || /^hooks\b/u.test(path))
    .filter(isFault);
  if (faults.length > 0) {
    const places = faults.map(({ line, column }) => `${settings}:${line}:${column}`).join(', ');
    throw new UsageError(
      `The server does not start, as not all of its hooks would run as they are written; correct what is told above: ${places}`,
    );
  }
  const hooks = config.getHookSystem()?.getAllHooks() ?? [];
  if (hooks.some(({ enabled }) => enabled)) return;
  const advice = hooks.length > 0 ? 'take one out of its disabledHooks' : 'add one';
  throw new UsageError(`The server does not start, as no hook of ${settings} would run: ${advice}`);
}

/** The same of settings that have changed while the server runs: then those before go on to count. */
function requireSomeHook({ enableHooks, hooks }: Settings, file: string): void {
  if (!enableHooks)
    throw new Error(`no hook of ${file} would run: write "enableHooks": true into it`);
  if (Object.keys(hooks).length === 0)
    throw new Error(`${file} has no hook: add one, or end the server`);
}

async function listen(
  config: Config,
  listening: Listening,
  fleet: Fleet,
  { maxBody, maxConcurrent }: ServeOptions,
): Promise<number> {
  const notices = new Notices();
  const metrics = await openMetrics(() => answers.inFlight);
  const answers = new PolicyAnswers({
    config,
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
  let nats: Awaited<ReturnType<typeof openFleet>> = {};
  const limits = { maxBody: maxBody * 1024 * 1024, longestMs: LONGEST_MS };
  try {
    nats = await openFleet(fleet, answers, notices);
    const approvals = routesOf(fleet, listening, nats.board, notices);
    const door = await openHttpDoor({
      ...listening,
      ...limits,
      answers,
      metrics,
      notices,
      approvals,
    });
    report('listening', `hookstack serve: listening on ${door.url}`);
    const { signal } = interruption;
    if (!signal.aborted) await once(signal, 'abort');
    printNotice(
      'note',
      `${errorMessage(signal.reason)}: no more questions are taken, and ${plural(answers.inFlight, 'question')} in flight ${answers.inFlight === 1 ? 'has' : 'have'} ${DRAIN_MS / 1000} s`,
      'draining',
    );
    await Promise.all([nats.door?.close(), answers.drain(DRAIN_MS)]);
    await door.close();
    return 0;
  } finally {
    await nats.door?.close();
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
