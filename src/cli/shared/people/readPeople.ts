import type { AskingHook } from '../../../protocol/approval.js';
import { orUsageError, UsageError } from '../usageError.js';
import { OidcPeople } from './oidc.js';
import { peopleOfProxy, type People } from './people.js';
import { readPeopleText } from './peopleFile.js';
import type { PeopleOptions } from './peopleOptions.js';
import { Roles } from './roles.js';
import { senderBehind, senderOf } from './senders.js';

/** Who may sign in, where no file of tokens says so, and what they may do. */
export interface GivenPeople {
  readonly people?: People;
  readonly roles?: Roles;
  readonly senderOf: typeof senderOf;
  readonly needsTwo?: (request: { readonly hooks: readonly AskingHook[] }) => boolean;
}

/** What to give so that people can sign in. */
export const WAYS = '--approvers FILE, --oidc FILE or --user-header NAME';

/**
 * The option that says how people sign in: one way, so that nobody is two people.
 *
 * @throws UsageError for options that do not fit
 */
export function signInOption(options: PeopleOptions): string | undefined {
  const { approvers, oidc, userHeader, groupsHeader, trustedProxy, roles, fourEyes } = options;
  const ways = Object.entries({ approvers, oidc, 'user-header': userHeader });
  const [way, more] = ways.filter(([, value]) => value !== undefined).map(([key]) => `--${key}`);
  if (more !== undefined) {
    throw new UsageError(`${way} and ${more} are two ways to sign in: take one`);
  }
  if (groupsHeader !== undefined && userHeader === undefined) {
    throw new UsageError('--groups-header is of use with --user-header only');
  }
  if (trustedProxy !== undefined && options.origin === undefined) {
    throw new UsageError('--trusted-proxy is of use behind a proxy only: add --origin URL');
  }
  if ((roles ?? fourEyes) !== undefined && way === undefined) {
    throw new UsageError(`--roles and --four-eyes are of use with a page only: add ${WAYS}`);
  }
  const isClosed = roles !== undefined && options.origin !== undefined;
  if (way === undefined || way === '--approvers' || isClosed) return way;
  throw new UsageError(
    `${way} lets in whoever can sign in: say with --roles FILE who may answer, and with --origin URL where browsers find the page`,
  );
}

/**
 * Reads the files that the options name.
 *
 * @param page its path
 * @throws UsageError for one that cannot be used
 */
export async function readPeople(options: PeopleOptions, page: string): Promise<GivenPeople> {
  const { oidc, origin = '', userHeader, groupsHeader, fourEyes } = options;
  const proxies = options.trustedProxy ?? ['127.0.0.1', '::1'];
  const readSender = async () => (origin === '' ? senderOf : senderBehind(proxies));
  const sender = await orUsageError(
    readSender(),
    (why) => `--trusted-proxy cannot be used: ${why}`,
  );
  const read = async () => {
    if (oidc !== undefined) return OidcPeople.read(oidc, `${new URL(origin).origin}${page}`);
    if (userHeader === undefined) return undefined;
    return peopleOfProxy({ userHeader, groupsHeader, proxies });
  };
  const people = await orUsageError(read(), (why) => `--oidc cannot be used: ${why}`);
  const reading = options.roles === undefined ? undefined : readRoles(options.roles);
  const roles = reading && (await orUsageError(reading, (why) => `--roles cannot be used: ${why}`));
  return {
    senderOf: sender,
    ...(people && { people }),
    ...(roles && { roles }),
    ...(fourEyes && {
      needsTwo: ({ hooks }) =>
        fourEyes === true ||
        hooks.some(({ name, decidedBy = [] }) =>
          [name, ...decidedBy].some((each) => fourEyes.includes(each)),
        ),
    }),
  };
}

async function readRoles(file: string): Promise<Roles> {
  return new Roles(await readPeopleText(file), file);
}
