import type { IncomingMessage } from 'node:http';
import { TLSSocket } from 'node:tls';
import { ASKER_FORM, isAskerName, isFleetName } from '../../fleet/address.js';
import { readSecretFile } from '../../fleet/secret.js';
import { admitLocal, type Rejection } from '../shared/http/admitLocal.js';
import { proofOf, type TokenHolders } from '../shared/people/people.js';

/** Who asks, or why he may not. */
export type Admission = { readonly asker?: string } | Rejection;

/**
 * Connections are limited, and an answer ends its own, where this was not called: nobody holds one who is not known.
 *
 * @param who it is; `undefined` where everybody of this machine may ask
 * @returns whether it has room for one more, if it is one
 */
export type Stay = (who: string | undefined) => boolean;

/** How a server knows who asks. */
export interface AccessOptions {
  /** Others take their place when files are read anew. */
  tokens?: TokenHolders;
  /** Whether TLS has checked a certificate of the client. */
  readonly hasClientCertificates: boolean;
}

/** Shorter ones can be guessed. In characters. */
const MIN_TOKEN = 16;
const MAX_FILE_BYTES = 16 * 1024 * 1024;

/** What the names of a file of tokens are. */
export interface TokenNames {
  /** Completes "the name is". */
  readonly form: string;
  readonly is: (name: string) => boolean;
}

const AGENTS: TokenNames = { form: `TEAM/AGENT, ${ASKER_FORM}`, is: isAskerName };

/** People who answer questions. */
export const PEOPLE: TokenNames = { form: 'NAME, of letters, digits, "-", "_"', is: isFleetName };

/**
 * Reads a file of mode 600 with a line `TEAM/AGENT TOKEN` for each agent. Lines that begin with `#` are comments.
 *
 * @param names what stands in place of `TEAM/AGENT`
 * @throws Error that names the line, and never the token
 */
export async function readTokens(file: string, names = AGENTS): Promise<TokenHolders> {
  const text = await readSecretFile(file, MAX_FILE_BYTES);
  const holders = new Map<string, string>();
  for (const [index, line] of text.split('\n').entries()) {
    const [name = '', token = '', ...more] = line.trim().split(/\s+/u);
    if (name === '' || name.startsWith('#')) continue;
    const proof = proofOf(token);
    const isTaken = holders.has(proof) && 'another line has the same token: give each its own';
    const why = findProblem(names, name, token, more) ?? isTaken;
    if (why) throw new Error(`${file}, line ${index + 1}: ${why}`);
    holders.set(proof, name);
  }
  if (holders.size === 0) throw new Error(`${file} holds no token: write lines NAME TOKEN`);
  return holders;
}

function findProblem(
  names: TokenNames,
  name: string,
  token: string,
  more: readonly string[],
): string | undefined {
  if (!names.is(name)) return `the name is not ${names.form}`;
  if (token === '') return 'there is no token behind the name';
  if (more.length > 0) return 'there is more than a name and a token';
  if (token.length >= MIN_TOKEN) return undefined;
  return `the token has less than ${MIN_TOKEN} characters: write one with openssl rand -hex 32`;
}

const WHO =
  'send Authorization: Bearer TOKEN, with a token of the file that the server was started with';

/** Says who sends a request, before anything of its body is read. */
export function admit(request: IncomingMessage, options: AccessOptions): Admission {
  const { tokens, hasClientCertificates } = options;
  if (!tokens && !hasClientCertificates) return admitLocal(request, false) ?? {};
  const certified = hasClientCertificates ? certifiedName(request) : undefined;
  if (hasClientCertificates && certified === undefined) {
    return { status: 403, error: `The CN of the client certificate is not ${AGENTS.form}` };
  }
  if (!tokens) return { asker: certified };
  const token = /^Bearer +(\S+) *$/iu.exec(request.headers.authorization ?? '')?.[1];
  if (token === undefined) return { status: 401, error: `There is no token: ${WHO}` };
  const asker = tokens.get(proofOf(token));
  if (asker === undefined) return { status: 401, error: `The token is not known: ${WHO}` };
  if (certified === undefined || certified === asker) return { asker };
  return { status: 403, error: 'The token and the client certificate are of two agents' };
}

/** Asking for a certificate takes long, and that of a connection stays the same. */
const certified = new WeakMap<TLSSocket, string | undefined>();

function certifiedName({ socket }: IncomingMessage): string | undefined {
  if (!(socket instanceof TLSSocket) || !socket.authorized) return undefined;
  if (!certified.has(socket)) {
    const name: unknown = socket.getPeerCertificate().subject?.CN;
    certified.set(socket, typeof name === 'string' && isAskerName(name) ? name : undefined);
  }
  return certified.get(socket);
}
