import path from 'node:path';
import { isFleetName, SERVERS_TEAM } from '../../fleet/address.js';
import type { TlsFiles } from '../../fleet/question.js';
import { readSecret } from '../../fleet/secret.js';
import type { FleetSettings } from '../../fleet/fleetSettings.js';
import { tlsOf, type NatsServerOptions } from '../shared/natsServer.js';
import { peopleWithTokens } from '../shared/people/people.js';
import type { PeopleOptions } from '../shared/people/peopleOptions.js';
import { readPeople, signInOption, WAYS, type GivenPeople } from '../shared/people/readPeople.js';
import { printNotice } from '../shared/terminal.js';
import { orUsageError, UsageError } from '../shared/usageError.js';
import { PEOPLE, readTokens, type AccessOptions } from './access.js';
import type { PolicyAnswers } from './answers.js';
import { approvalRoutes } from './approvals/approvalRoutes.js';
import { KvBoard } from './approvals/kvBoard.js';
import { KvSessions } from './approvals/kvSessions.js';
import { PAGE, type Approvers } from './approvals/signIn.js';
import { said, type Listening } from './listening.js';
import { NatsDoor } from './natsDoor.js';
import type { Notices } from './notices.js';

export interface FleetOptions extends NatsServerOptions, PeopleOptions {
  readonly name: string;
  /** Whether what hooks of this server do goes to the record. */
  readonly record: boolean;
}

/** What a server needs to be one of several. */
export interface Fleet extends Pick<GivenPeople, 'needsTwo' | 'senderOf'> {
  readonly url?: string;
  readonly readSecret: () => Promise<string | undefined>;
  readonly tls: TlsFiles;
  readonly name: string;
  readonly approvers?: Approvers | undefined;
}

/** Where what this server does is recorded: as the agent of its name, of a team of servers. */
export function recordOf(options: FleetOptions): FleetSettings | undefined {
  const { nats, name, tokenFile, record } = options;
  if (nats === undefined || !record) return undefined;
  const url = `${nats.replace(/\/$/u, '')}/${SERVERS_TEAM}/${name}`;
  const files = Object.entries({ tokenFile, ...tlsOf(options) }).flatMap(([key, file]) =>
    file === undefined ? [] : [[key, path.resolve(file)] as const],
  );
  return { url, record, ...Object.fromEntries(files) };
}

/** @throws UsageError for options that do not fit, and files that cannot be used */
export async function readFleet(options: FleetOptions, { tokens }: AccessOptions): Promise<Fleet> {
  const { nats: url, tokenFile, name, approvers: file, origin } = options;
  const way = signInOption(options);
  if (url === undefined && (tokenFile !== undefined || way !== undefined)) {
    const option = way ?? '--token-file';
    throw new UsageError(`${option} is of use with NATS only: add --nats nats://HOST:PORT`);
  }
  if (origin !== undefined && way === undefined) {
    throw new UsageError(`--origin is of use with a page only: add ${WAYS}`);
  }
  if (!isFleetName(name)) {
    throw new UsageError('--name is no name for a server: use letters, digits, "-" and "_"');
  }
  const readOwn = () => readSecret(tokenFile === undefined ? {} : { tokenFile });
  await orUsageError(readOwn(), said('--token-file'));
  const { people: given, roles, needsTwo, senderOf } = await readPeople(options, PAGE);
  const reading = file === undefined ? undefined : readTokens(file, PEOPLE);
  const holders = reading && (await orUsageError(reading, said('--approvers')));
  const people = holders ? peopleWithTokens(holders, tokens) : given;
  const approvers = people && { people, roles, sessions: new KvSessions() };
  const common = { readSecret: readOwn, tls: tlsOf(options), name, approvers, senderOf };
  return { ...common, ...(needsTwo && { needsTwo }), ...(url !== undefined && { url }) };
}

/**
 * Opens what comes in over NATS.
 *
 * @returns the door, and the board of questions to people; neither without `--nats`
 * @throws UsageError where there cannot be a connection, or no board for those who are to answer
 */
export async function openFleet(fleet: Fleet, answers: PolicyAnswers, notices: Notices) {
  const { url, tls, approvers, needsTwo, ...others } = fleet;
  if (url === undefined) return {};
  const onWarn = (text: string) => notices.tell('warning', 'nats', text);
  const needsBoard = approvers !== undefined;
  const board = new KvBoard({ log, sessions: approvers?.sessions, needsTwo });
  const opening = NatsDoor.open({ ...others, ...tls, url, answers, board, needsBoard, onWarn });
  return { board, door: await orUsageError(opening, said('--nats')) };
}

/** @returns handles requests to the paths of approvals */
export function routesOf(
  { tls, origin }: Listening,
  { approvers, senderOf }: Fleet,
  board: KvBoard | undefined,
  notices: Notices,
): ReturnType<typeof approvalRoutes> {
  return approvalRoutes({
    board,
    approvers,
    isTls: tls !== undefined,
    origin,
    senderOf,
    log,
    onFault: (text) => notices.tell('error', 'approvals', text),
    onRefused: (text) => notices.tell('warning', 'sign-in', text),
  });
}

/** Who has answered, and who has signed in: each is of importance. */
function log(line: string): void {
  printNotice('note', line, 'approval');
}
