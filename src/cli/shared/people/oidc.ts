import { hash, randomBytes } from 'node:crypto';
import { dirname, resolve } from 'node:path';
import type * as Oidc from 'openid-client';
import { certificateAdvice } from '../../../fleet/certificates.js';
import { readSecretFile } from '../../../fleet/secret.js';
import { objectOf, text, type Path } from '../../../util/checks.js';
import { errorMessage } from '../../../util/errorMessage.js';
import { isLoopback } from '../../../util/loopback.js';
import { loadOptional } from '../../../util/optionalPackage.js';
import { PeopleFile } from './peopleFile.js';
import { isPersonName, type People, type Person } from './people.js';

interface OidcSettings {
  readonly issuer: string;
  readonly clientId: string;
  /** Beside this file, of mode 600. */
  readonly clientSecretFile: string;
  /** Default `email`. */
  readonly nameClaim?: string;
  /** Default `groups`. */
  readonly groupsClaim?: string;
  /** Default `openid email profile`. */
  readonly scope?: string;
}

const shape = objectOf<OidcSettings>(
  'an object { "issuer", "clientId", "clientSecretFile", "nameClaim", "groupsClaim", "scope" }',
  {
    issuer: text,
    clientId: text,
    clientSecretFile: text,
    nameClaim: text,
    groupsClaim: text,
    scope: text,
  },
  { isClosed: true },
);

/** Below the page: where the provider sends browsers back to. */
export const CALLBACK = '/oidc/callback';

/** Signs people in at an OpenID provider: by a code, with PKCE, state and nonce. */
export class OidcPeople implements People {
  readonly kind = 'oidc';
  #client: Promise<Oidc.Configuration> | undefined;

  private constructor(
    private readonly oidc: typeof Oidc,
    private readonly settings: OidcSettings,
    private readonly secret: string,
    private readonly callback: string,
  ) {}

  /**
   * @param page where browsers find the page of questions
   * @throws Error for what is no such file, and where the package is missing
   */
  static async read(path: string, page: string): Promise<OidcPeople> {
    const file = await PeopleFile.read(path);
    const [failure, said] = shape.validate(file.value);
    if (failure) throw file.fault(failure.path as Path, failure.message);
    const { issuer, clientId, clientSecretFile } = said;
    if (!issuer || !clientId || !clientSecretFile) {
      throw file.fault([], 'it needs "issuer", "clientId" and "clientSecretFile"');
    }
    const { protocol, hostname } = URL.canParse(issuer) ? new URL(issuer) : {};
    if (protocol !== 'https:' && !(hostname !== undefined && isLoopback(hostname))) {
      throw file.fault(['issuer'], 'the issuer is not https');
    }
    const secret = await readSecretFile(resolve(dirname(path), clientSecretFile)).catch((error) => {
      const todo = "write the client's secret into that file, of mode 600, or name another";
      throw file.fault(['clientSecretFile'], `${errorMessage(error)}; ${todo}`);
    });
    const oidc = await loadOptional<typeof Oidc>('openid-client', '--oidc needs');
    return new OidcPeople(oidc, said, secret, `${page}${CALLBACK}`);
  }

  identify(): undefined {
    return undefined;
  }

  refresh(person: Person): Person | undefined {
    return person.proof === this.#proof ? person : undefined;
  }

  /** @returns where to send the browser, and what its cookie has to hold until it comes back */
  async begin(): Promise<{ readonly url: string; readonly seed: string }> {
    const seed = randomBytes(32).toString('base64url');
    const url = this.oidc.buildAuthorizationUrl(await this.#discover(), {
      redirect_uri: this.callback,
      scope: this.settings.scope ?? 'openid email profile',
      code_challenge: await this.oidc.calculatePKCECodeChallenge(partOf(seed, 'verifier')),
      code_challenge_method: 'S256',
      state: partOf(seed, 'state'),
      nonce: partOf(seed, 'nonce'),
    });
    return { url: url.href, seed };
  }

  /**
   * @param query of the request with which the browser comes back
   * @throws Error where nothing proves who it is
   */
  async finish(query: string, seed: string): Promise<Person> {
    const url = new URL(this.callback);
    url.search = query;
    const client = await this.#discover();
    const tokens = await this.oidc.authorizationCodeGrant(client, url, {
      pkceCodeVerifier: partOf(seed, 'verifier'),
      expectedState: partOf(seed, 'state'),
      expectedNonce: partOf(seed, 'nonce'),
      idTokenExpected: true,
    });
    const claims = tokens.claims() as Oidc.IDToken;
    const { nameClaim = 'email', groupsClaim = 'groups' } = this.settings;
    const isWhole = nameClaim in claims && groupsClaim in claims;
    // Many providers say in the token only who it is.
    const more =
      isWhole || client.serverMetadata().userinfo_endpoint === undefined
        ? claims
        : await this.oidc.fetchUserInfo(client, tokens.access_token, claims.sub);
    const groups: unknown = (groupsClaim in claims ? claims : more)[groupsClaim];
    return this.#personOf(claims, nameClaim in claims ? claims : more, groups);
  }

  /** The same `sub` of another issuer is another person. */
  #personOf(claims: Oidc.IDToken, named: Oidc.UserInfoResponse, given: unknown = []): Person {
    const { nameClaim = 'email' } = this.settings;
    const name = named[nameClaim];
    if (!isPersonName(name)) throw new Error(`the claim "${nameClaim}" is no name`);
    if (nameClaim === 'email' && named['email_verified'] !== true) {
      throw new Error('the claim "email_verified" is not true');
    }
    const groups = (Array.isArray(given) ? given : [given]).filter(
      (each): each is string => typeof each === 'string',
    );
    const id = JSON.stringify(['oidc', claims.iss, claims.sub]);
    return { id, name, groups, proof: this.#proof };
  }

  get #proof(): string {
    return JSON.stringify(['oidc', this.settings.issuer, this.settings.clientId]);
  }

  /** Not before somebody signs in: the server has to start without the provider. */
  #discover(): Promise<Oidc.Configuration> {
    const { issuer, clientId } = this.settings;
    const { discovery, allowInsecureRequests, enableNonRepudiationChecks } = this.oidc;
    // The signature of what the provider says is looked at, and not the connection alone.
    const execute = [enableNonRepudiationChecks];
    if (issuer.startsWith('http:')) execute.push(allowInsecureRequests);
    const found = (this.#client ??= discovery(
      new URL(issuer),
      clientId,
      undefined,
      (server, ...sent) => this.#prove(server)(server, ...sent),
      { execute },
    ));
    return found.catch((error: unknown) => {
      this.#client = undefined;
      const { cause } = error as Error;
      const advice = certificateAdvice(cause, 'in NODE_EXTRA_CA_CERTS of the server');
      const todo = advice === undefined ? '' : ` (${advice})`;
      throw new Error(`${issuer} cannot be asked${todo}`, { cause: cause ?? error });
    });
  }

  /** As the provider wants it; most take both. */
  #prove({ token_endpoint_auth_methods_supported: ways }: Oidc.ServerMetadata): Oidc.ClientAuth {
    const { ClientSecretBasic, ClientSecretPost } = this.oidc;
    const isInHeader = ways !== undefined && !ways.includes('client_secret_post');
    return (isInHeader ? ClientSecretBasic : ClientSecretPost)(this.secret);
  }
}

function partOf(seed: string, name: string): string {
  return hash('sha256', `${name} ${seed}`, 'base64url');
}
