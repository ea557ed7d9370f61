import path from 'node:path';
import { isFleetName } from '../../fleet/address.js';
import type { TlsFiles } from '../../fleet/question.js';
import { readText } from '../../util/guardedRead.js';
import { readSecret } from '../../fleet/secret.js';
import type { FleetSettings } from '../../fleet/fleetSettings.js';
import { tlsOf, type NatsServerOptions } from '../shared/natsServer.js';
import { printNotice } from '../shared/terminal.js';
import { orUsageError, UsageError } from '../shared/usageError.js';
import { admit, PEOPLE, readTokens, type AccessOptions, type Tokens } from './access.js';
import type { PolicyAnswers } from './answers.js';
import { approvalRoutes } from './approvals/approvalRoutes.js';
import { KvBoard, type KvBoardOptions } from './approvals/kvBoard.js';
import { KvSessions } from './approvals/kvSessions.js';
import { OidcPeople } from './approvals/oidc.js';
import { peopleOfProxy, peopleWithTokens, type People } from './approvals/people.js';
import { Roles } from './approvals/roles.js';
import { PAGE } from './approvals/signIn.js';
import { said, type Listening } from './listening.js';
import { NatsDoor } from './natsDoor.js';
import type { Notices } from './notices.js';

export interface FleetOptions extends NatsServerOptions {
  readonly name: string;
  /** Whether what hooks of this server do goes to the record. */
  readonly record: boolean;
  readonly approvers?: string;
  readonly oidc?: string;
  readonly userHeader?: string;
  readonly groupsHeader?: string;
  readonly trustedProxy?: readonly string[];
  readonly roles?: string;
  /** `true`, or names of hooks. */
  readonly fourEyes?: true | readonly string[];
  /** See `ListeningOptions`. */
  readonly origin?: string;
}

/** What a server needs to be one of several. */
export interface Fleet {
  readonly url?: string;
  readonly secret?: string | undefined;
  readonly tls: TlsFiles;
  readonly name: string;
  readonly approvers?: Tokens;
  /** Who may answer, where no file of tokens says so. */
  readonly people?: People;
  readonly roles?: Roles;
  readonly needsTwo?: KvBoardOptions['needsTwo'];
}

/** Where what this server does is recorded: as the agent of its name, of a team of servers. */
export function recordOf(options: FleetOptions): FleetSettings | undefined {
  const { nats, name, tokenFile, record } = options;
  if (nats === undefined || !record) return undefined;
  const url = `${nats.replace(/\/$/u, '')}/${SERVERS}/${name}`;
  const files = Object.entries({ tokenFile, ...tlsOf(options) }).flatMap(([key, file]) =>
    file === undefined ? [] : [[key, path.resolve(file)] as const],
  );
  return { url, record, ...Object.fromEntries(files) };
}

/** The team of all policy servers. */
const SERVERS = 'policy';

/** @throws UsageError for options that do not fit, and files that cannot be used */
export async function readFleet(options: FleetOptions): Promise<Fleet> {
  const { nats: url, tokenFile, name, approvers: file, origin } = options;
  const way = wayOf(options);
  if (url === undefined && (tokenFile !== undefined || way !== undefined)) {
    const option = way ?? '--token-file';
    throw new UsageError(`${option} is of use with NATS only: add --nats nats://HOST:PORT`);
  }
  if (origin !== undefined && way === undefined) {
    throw new UsageError('--origin is of use with a page only: add --approvers FILE');
  }
  if (!isFleetName(name)) {
    throw new UsageError('--name is no name for a server: use letters, digits, "-" and "_"');
  }
  const secret = await orUsageError(
    readSecret(tokenFile === undefined ? {} : { tokenFile }),
    said('--token-file'),
  );
  const approvers =
    file === undefined
      ? undefined
      : await orUsageError(readTokens(file, PEOPLE), said('--approvers'));
  return {
    ...(url !== undefined && { url }),
    secret,
    tls: tlsOf(options),
    name,
    ...(approvers && { approvers }),
    ...(await readPeople(options)),
  };
}

/** How people sign in: one way, so that nobody is two people. */
function wayOf({ approvers, oidc, userHeader, ...others }: FleetOptions): string | undefined {
  const ways = Object.entries({ approvers, oidc, 'user-header': userHeader });
  const [way, more] = ways.filter(([, value]) => value !== undefined).map(([key]) => `--${key}`);
  if (more !== undefined)
    throw new UsageError(`${way} and ${more} are two ways to sign in: take one`);
  const { origin, roles, fourEyes, groupsHeader, trustedProxy } = others;
  const needless = Object.entries({ groupsHeader, trustedProxy }).some(([, value]) => value);
  if (needless && userHeader === undefined) {
    throw new UsageError('--groups-header and --trusted-proxy are of use with --user-header only');
  }
  if ((roles !== undefined || fourEyes) && way === undefined) {
    throw new UsageError(
      '--roles and --four-eyes are of use with a page only: add --approvers FILE',
    );
  }
  if (way === undefined || way === '--approvers') return way;
  if (roles !== undefined && origin !== undefined) return way;
  throw new UsageError(
    `${way} lets in whoever can sign in: say with --roles FILE who may answer, and with --origin URL where browsers find the page`,
  );
}

async function readPeople(options: FleetOptions): Promise<Partial<Fleet>> {
  const { oidc, origin = '', userHeader, groupsHeader, trustedProxy, fourEyes } = options;
  const read = async () => {
    if (oidc !== undefined) return OidcPeople.read(oidc, `${new URL(origin).origin}${PAGE}`);
    if (userHeader === undefined) return undefined;
    const proxies = trustedProxy ?? ['127.0.0.1', '::1'];
    return peopleOfProxy({ userHeader, groupsHeader, proxies });
  };
  const people = await orUsageError(
    read(),
    said(oidc === undefined ? '--trusted-proxy' : '--oidc'),
  );
  const roles =
    options.roles === undefined
      ? undefined
      : await orUsageError(readRoles(options.roles), said('--roles'));
  return {
    ...(people && { people }),
    ...(roles && { roles }),
    ...(fourEyes && {
      needsTwo: ({ hooks }) =>
        fourEyes === true || hooks.some(({ name }) => fourEyes.includes(name)),
    }),
  };
}

/** Reads who may answer what. */
export async function readRoles(file: string): Promise<Roles> {
  return new Roles(await readText(file));
}

/**
 * Opens what comes in over NATS.
 *
 * @returns the door, and the board of questions to people; neither without `--nats`
 * @throws UsageError where there cannot be a connection, or no board for those who are to answer
 */
export async function openFleet(fleet: Fleet, answers: PolicyAnswers, notices: Notices) {
  const { url, tls, approvers, people, needsTwo, ...others } = fleet;
  if (url === undefined) return {};
  const sessions = new KvSessions();
  const onWarn = (text: string) => notices.tell('warning', 'nats', text);
  const needsBoard = approvers !== undefined || people !== undefined;
  const board = new KvBoard({
    log,
    ...(needsBoard && { sessions }),
    ...(needsTwo && { needsTwo }),
  });
  const opening = NatsDoor.open({ ...others, ...tls, url, answers, board, needsBoard, onWarn });
  return { board, sessions, door: await orUsageError(opening, said('--nats')) };
}

/** @returns handles requests to the paths of approvals */
export function routesOf(
  fleet: Fleet,
  { access, tls, origin }: Listening,
  { board, sessions }: Partial<Awaited<ReturnType<typeof openFleet>>>,
  notices: Notices,
): ReturnType<typeof approvalRoutes> {
  const { approvers, roles } = fleet;
  const people = fleet.people ?? (approvers && tokenPeople(approvers, access));
  return approvalRoutes({
    board,
    approvers: people && sessions && { people, sessions, roles },
    isTls: tls !== undefined,
    origin,
    askerOf: (request) => {
      const admission = admit(request, access);
      if (!('error' in admission)) return admission.asker ?? LOCAL;
      const from = request.socket.remoteAddress ?? 'somebody who has gone';
      const text = `a question was refused: ${admission.error} (from ${from})`;
      notices.tell('warning', 'access', text);
      return undefined;
    },
    log,
  });
}

/** Who asks must not answer, also where both were given the same token. */
function tokenPeople(approvers: Tokens, { tokens }: AccessOptions): People {
  return peopleWithTokens({
    nameOf: (token) => (tokens?.nameOf(token) ? undefined : approvers.nameOf(token)),
    nameOfProof: (proof) => (tokens?.nameOfProof(proof) ? undefined : approvers.nameOfProof(proof)),
    onReplaced: (listener) => approvers.onReplaced(listener),
  });
}

/** Who asks without credentials, on this machine. */
const LOCAL = 'local';

/** Who has answered, and who has signed in: each is of importance. */
function log(line: string): void {
  printNotice('note', line);
}
