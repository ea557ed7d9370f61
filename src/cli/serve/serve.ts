import { once } from 'node:events';
import { errorMessage } from '../../util/errorMessage.js';
import { oneAtATime } from '../../util/oneAtATime.js';
import { Hangups, watchInterruption } from '../shared/interruption.js';
import { checkPolicies } from '../policy/checkPolicy.js';
import { CurrentPolicy } from '../policy/currentPolicy.js';
import { Masking } from '../policy/masking.js';
import { Shadow } from '../policy/shadow.js';
import { logAs, plural, printNotice, report, type LogFormat } from '../shared/terminal.js';
import { UsageError } from '../shared/usageError.js';
import { withOtlp } from '../shared/withOtlp.js';
import { withTrace } from '../shared/withTrace.js';
import { PolicyAnswers, type Refusal } from './answers.js';
import { replaceApprovers } from './approvals/signIn.js';
import {
  openFleet,
  readFleet,
  recordOf,
  routesOf,
  type Fleet,
  type FleetOptions,
} from './fleetDoors.js';
import { openHttpDoor, type HttpDoor } from './httpDoor.js';
import { readListening, type Listening, type ListeningOptions } from './listening.js';
import { openMetrics } from './metrics.js';
import type { NatsDoor } from './natsDoor.js';
import { Notices } from './notices.js';
import type { ReadyParts } from './readiness.js';

export interface ServeOptions extends ListeningOptions, FleetOptions {
  readonly settings?: string;
  readonly check?: string;
  readonly shadow?: string;
  /** Whether a change of a settings file counts by itself. */
  readonly watch: boolean;
  readonly cwd?: string;
  readonly trace?: string;
  readonly otlp?: string;
  readonly log?: LogFormat;
  /** MiB. */
  readonly maxBody: number;
  readonly maxConcurrent: number;
}

/** For questions that hooks work on when the server is to end, in ms. */
const DRAIN_MS = 30_000;
/** What the log says of refusals. */
const told = (most: number): Partial<Record<Refusal, string>> => ({
  full: `a question was refused, as hooks work on ${most} already, or on half as many of its agent (--max-concurrent)`,
  late: 'hooks had not answered a question by its deadline',
  fault: 'the hooks could not be asked',
});

/** @returns the exit code: 0 once it was ended by a signal; 1 it could not listen, or a file to check is no policy */
export async function serve(options: ServeOptions): Promise<number> {
  const { settings, shadow, check, log } = options;
  logAs(log);
  const listening = await readListening(options);
  const fleet = await readFleet(options, listening.access);
  if (check !== undefined) return checkPolicies(check, options);
  if (settings === undefined) {
    throw new UsageError('Say whose hooks answer: hookstack serve --settings FILE');
  }
  const hangups = new Hangups();
  const masking = new Masking();
  const policy = await CurrentPolicy.open(settings, { ...options, masking });
  let beside: CurrentPolicy | undefined;
  try {
    if (shadow) beside = await CurrentPolicy.open(shadow, { ...options, masking, isShadow: true });
    const recording = { trace: options.trace, fleet: recordOf(options), isServer: true };
    const work = () => listen({ policy, shadow: beside, listening, fleet, hangups }, options);
    return await withOtlp(options.otlp, masking, () => withTrace(recording, masking, work));
  } finally {
    await beside?.close();
    await policy.close();
    hangups.dispose();
  }
}

interface Served {
  readonly policy: CurrentPolicy;
  readonly shadow: CurrentPolicy | undefined;
  readonly listening: Listening;
  readonly fleet: Fleet;
  readonly hangups: Hangups;
}

async function listen(served: Served, options: ServeOptions): Promise<number> {
  const { policy, listening, fleet, hangups } = served;
  const { maxBody, maxConcurrent } = options;
  const notices = new Notices();
  const metrics = await openMetrics(() => answers.inFlight, policy);
  const shadow = served.shadow && new Shadow(served.shadow, maxConcurrent, metrics.shadowed);
  const answers = new PolicyAnswers({
    policy,
    maxConcurrent,
    onAnswered: (answered) => {
      metrics.answered(answered);
      shadow?.ask(answered);
    },
    onRefused: (refusal) => {
      metrics.refused(refusal);
      const text = told(maxConcurrent)[refusal];
      if (text !== undefined) notices.tell('warning', refusal, text);
    },
    onLost: (what) => notices.tell('note', 'lost', what),
  });
  const interruption = watchInterruption();
  let nats: Awaited<ReturnType<typeof openFleet>> = {};
  try {
    nats = await openFleet(fleet, answers, notices);
    const approvals = routesOf(listening, fleet, nats.board, notices);
    const ready = partsOf(served, answers, nats.door);
    const given = { ...listening, answers, ready, metrics, notices, approvals };
    const door = await openHttpDoor({ ...given, maxBody: maxBody * 1024 * 1024 });
    hangups.cause(oneAtATime(() => readAnew(served, options, door)));
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
    shadow?.close();
    interruption.dispose();
  }
}

/** All files that the server was started with. Of one that cannot be used, what it said before goes on to count. */
async function readAnew(served: Served, options: ServeOptions, door: HttpDoor): Promise<void> {
  const { policy, shadow, listening, fleet } = served;
  // None of them waits for the other.
  const policies = Promise.all([policy.reload(), shadow?.reload()]);
  try {
    const { access, tls } = await readListening(options);
    const { approvers } = await readFleet(options, access);
    Object.assign(listening.access, access);
    if (fleet.approvers && approvers) replaceApprovers(fleet.approvers, approvers);
    door.setTls(tls);
  } catch (error) {
    const what = 'approvers, tokens, roles and certificates stay as they were';
    printNotice('error', `${what}: ${errorMessage(error)}`);
  }
  await policies;
}

/** What answers need. A policy that is replaced by none that can be used goes on to count, so that one is always there. */
function partsOf({ policy, shadow }: Served, answers: PolicyAnswers, nats?: NatsDoor): ReadyParts {
  return {
    policy: () => ({ isReady: true, says: policy.state }),
    ...(shadow && { shadow: () => ({ isReady: true, says: shadow.state }) }),
    room: () => ({ isReady: answers.room > 0, says: answers.room }),
    ...(nats && { nats: () => ({ isReady: nats.isConnected(), says: nats.isConnected() }) }),
  };
}
