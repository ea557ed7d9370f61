import { setTimeout as sleep } from 'node:timers/promises';
import { readApproval, type Approval, type Approver } from '../protocol/approval.js';
import { parseAnswer } from '../protocol/readHookOutput.js';
import { errorMessage } from '../util/errorMessage.js';
import { refusalIn } from './answerMark.js';
import {
  APPROVALS_PATH,
  MAX_QUESTION_BYTES,
  nameNumbers,
  NOBODY_ANSWERED,
  STILL_OPEN,
  type AskedPerson,
  type TakeBack,
} from './approvalEnvelope.js';
import { parseFleetAddress, type FleetAddress } from './address.js';
import { ask } from './ask.js';
import { withFiles } from './files.js';
import type { FleetSettings } from './fleetSettings.js';
import type { FleetAnswer, TlsFiles } from './question.js';
import { readSecret } from './secret.js';

/** What goes to a policy server, and how long to wait for the answer, in ms. */
export interface Posting {
  /** Of the question. The answer has to repeat it. */
  readonly id: string;
  readonly body: string;
  readonly timeoutMs: number;
  readonly signal?: AbortSignal;
}

/** Sends something to any policy server. Rejects where no answer to the same id came. */
export type PostApproval = (posting: Posting) => Promise<FleetAnswer>;

export interface RemoteApproverOptions {
  /** Ms that a server keeps a question before it says that it is still open. Default 10 seconds. */
  readonly waitMs?: number;
  /** Ms that the answer of a server that is alive may take beyond that. Default 5 seconds. */
  readonly graceMs?: number;
}

const DEFAULT_WAIT_MS = 10_000;
const DEFAULT_GRACE_MS = 5000;
/** Ms before the same is asked again; twice as long each time that no answer came. */
const FIRST_PAUSE_MS = 50;
const LONGEST_PAUSE_MS = 2000;
/** The answer of a person in the last second must still arrive. In ms, and at most this part of the time. */
const TRAVEL_MS = 1000;
const TRAVEL_PART = 0.1;
/** Ms until a server has ended a question whose time is over. */
const LAPSE_MS = 1000;
/** For what stands beside the question. */
const ROOM_BYTES = 256;

/**
 * An approver whose people sit at the page of a policy server. A question that gets no answer, since the server was
 * lost, is put again under the same id, to any server, until its time is over.
 *
 * @param post how servers are reached
 */
export function remoteApprover(
  post: PostApproval,
  { waitMs = DEFAULT_WAIT_MS, graceMs = DEFAULT_GRACE_MS }: RemoteApproverOptions = {},
): Approver {
  return async (request, { signal }) => {
    const { expiresAt, ...asked } = request;
    const { id } = asked;
    const text = JSON.stringify(asked, nameNumbers);
    if (Buffer.byteLength(text) > MAX_QUESTION_BYTES - ROOM_BYTES) {
      throw new Error(`it is larger than ${MAX_QUESTION_BYTES / 1024} KB: no person could read it`);
    }
    const time = Math.max(1, expiresAt - Date.now());
    const deadline = performance.now() + time - Math.min(TRAVEL_MS, time * TRAVEL_PART);
    const put = (leftMs: number) => {
      // In the end the server says that nobody has answered, as it alone knows.
      const wait = Math.round(leftMs > waitMs ? waitMs : leftMs + LAPSE_MS);
      const times = { expiresInMs: Math.ceil(leftMs), waitMs: wait };
      const sent: AskedPerson = { ...asked, ...times, asksAgain: true };
      const body = JSON.stringify(sent, nameNumbers);
      return post({ id, body, timeoutMs: wait + graceMs, signal });
    };
    try {
      return await askUntil(deadline, put, signal);
    } catch (error) {
      // Whoever still shows the question takes it away. Where that cannot be said, it lapses.
      const body = JSON.stringify({ takeBack: id } satisfies TakeBack);
      post({ id, body, timeoutMs: graceMs }).catch(() => undefined);
      throw error;
    }
  };
}

async function askUntil(
  deadline: number,
  put: (leftMs: number) => Promise<FleetAnswer>,
  signal: AbortSignal,
): Promise<Approval> {
  let pause = FIRST_PAUSE_MS;
  let said: Approval | string = NOBODY_ANSWERED;
  for (let left = deadline - performance.now(); left > 0; left = deadline - performance.now()) {
    signal.throwIfAborted();
    said = await put(left).then(readPosted, errorMessage);
    if (typeof said !== 'string') return said;
    // Also once it is still open: who says that at once is not asked without end.
    pause = said === NOBODY_ANSWERED ? FIRST_PAUSE_MS : Math.min(2 * pause, LONGEST_PAUSE_MS);
    await sleep(Math.min(pause, left), undefined, { signal });
  }
  throw new Error(said === NOBODY_ANSWERED ? said : `no policy server took it: ${said}`);
}

/**
 * @returns or else why it is to be asked again
 * @throws Error where asking again is of no use
 */
function readPosted({ status, text }: FleetAnswer): Approval | string {
  if (status === STILL_OPEN) return NOBODY_ANSWERED;
  const why = refusalIn(text) ?? 'it said no more';
  if (status >= 500 || status === 429) return `status ${status}: ${why}`;
  if (status !== 200) throw new Error(`the policy server refused it (${status}): ${why}`);
  const approval = readApproval(parseAnswer(text));
  if (typeof approval === 'string') throw new Error(`the answer cannot be read (${approval})`);
  // Nobody's answer is no person's.
  if (approval.by === undefined) throw new Error(approval.reason ?? NOBODY_ANSWERED);
  return approval;
}

/** An answer of more bytes is none. */
const MAX_ANSWER_BYTES = 64 * 1024;

/**
 * How the policy servers at an address are reached.
 *
 * @param options.secret a bearer token over HTTP; over NATS as `SecretSource` says
 */
export function postTo(
  address: FleetAddress,
  { secret, ...tls }: TlsFiles & { readonly secret?: string | undefined },
): PostApproval {
  const to = address.kind === 'http' ? { ...address, url: approvalsAt(address.url) } : address;
  return async ({ id, body, timeoutMs, signal }) => {
    const late = AbortSignal.timeout(Math.ceil(timeoutMs));
    const asking = {
      body: new TextEncoder().encode(body),
      question: { id, timeoutMs },
      secret,
      tls,
      maxAnswerBytes: MAX_ANSWER_BYTES,
      signal: signal ? AbortSignal.any([signal, late]) : late,
    };
    return ask(to, asking, 'approve');
  };
}

function approvalsAt(base: URL): URL {
  const url = new URL(base);
  // What is written as the url of a remote hook names the same server.
  url.pathname = `${url.pathname.replace(/(?:\/v1\/events)?\/?$/u, '')}${APPROVALS_PATH}`;
  return url;
}

/**
 * Has questions of hooks answered by the people of a fleet, on the page of its policy servers.
 *
 * @param settings `settings.fleet`
 * @returns for the option `approver` of `Config`; `undefined` where `approvals` is not true. What is wrong with the
 *   settings, or with the servers, is a no
 */
export function fleetApprover(settings: FleetSettings | undefined): Approver | undefined {
  if (!settings?.approvals) return undefined;
  const { url, ...others } = settings;
  return async (request, options) => {
    if (url === undefined) {
      throw new Error('"fleet" in the settings has no url: write nats://HOST:PORT/TEAM/AGENT');
    }
    // Each time anew: the secret may have been replaced.
    const { caFile, certFile, keyFile, ...source } = withFiles(others);
    const secret = await readSecret(source);
    const post = postTo(parseFleetAddress(url), { secret, caFile, certFile, keyFile });
    return remoteApprover(post)(request, options);
  };
}
