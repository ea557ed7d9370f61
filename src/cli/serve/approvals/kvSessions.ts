import { createHmac, hash, randomBytes } from 'node:crypto';
import type { KV } from '@nats-io/kv';
import type { NatsConnection } from '@nats-io/transport-node';
import { absent } from '../../../fleet/natsConnection.js';
import { parseAnswer } from '../../../protocol/readHookOutput.js';
import { listOfText, objectOf, text } from '../../../util/checks.js';
import type { Person } from '../../shared/people/people.js';
import { openBucket } from './kvBucket.js';

/** Somebody who is signed in. */
export interface ApproverSession extends Person {
  /** What the cookie holds. */
  readonly secret: string;
}

const person = objectOf<Person>('a session', {
  id: text,
  name: text,
  groups: listOfText,
  proof: text,
});

const LIFETIME_MS = 12 * 3_600_000;
const BUCKET = 'hookstack_sessions';
const MAX_BUCKET_BYTES = 16 * 1024 * 1024;
const MAX_SESSION_BYTES = 32 * 1024;

/** Who is signed in, in a bucket of NATS, which all servers read: under the digest of what the cookie holds. */
export class KvSessions {
  readonly lifetimeS = LIFETIME_MS / 1000;
  #bucket: KV | undefined;
  /** All servers of a fleet have the same, and two fleets of one host do not, whose cookies a browser sends to both. */
  cookieName = '';

  /** Opens the bucket. Until then nobody can sign in. Idempotent. */
  async begin(nc: NatsConnection): Promise<void> {
    if (this.#bucket) return;
    const limits = { max_bytes: MAX_BUCKET_BYTES, maxValueSize: MAX_SESSION_BYTES };
    const kv = await openBucket(nc, BUCKET, { ttl: LIFETIME_MS, ...limits });
    const { created } = (await kv.status()).streamInfo;
    this.cookieName = `hookstack_${digestOf(created).slice(0, 12)}`;
    this.#bucket = kv;
  }

  async start(who: Person): Promise<ApproverSession> {
    const secret = randomBytes(32).toString('base64url');
    const { id, name, groups, proof } = who;
    await this.#kv.create(digestOf(secret), JSON.stringify({ id, name, groups, proof }));
    return { ...who, secret };
  }

  async find(secret: string | undefined): Promise<ApproverSession | undefined> {
    if (secret === undefined || !/^[\w-]{43}$/u.test(secret)) return undefined;
    const who = readPerson((await this.#kv.get(digestOf(secret)))?.string());
    return who && { ...who, secret };
  }

  /** At all servers. */
  async end({ secret }: ApproverSession): Promise<void> {
    await this.#kv.delete(digestOf(secret));
  }

  /** The same of all that `isOver` says. */
  async endWhere(isOver: (who: Person) => boolean): Promise<void> {
    for await (const key of await this.#kv.keys()) {
      const who = readPerson((await this.#kv.get(key))?.string());
      if (!who || isOver(who)) await this.#kv.delete(key);
    }
  }

  /**
   * @param onEnd called once a session was ended, at any server
   * @returns stops that
   */
  async watch({ secret }: ApproverSession, onEnd: () => void): Promise<() => void> {
    const entries = await this.#kv.watch({ key: digestOf(secret) });
    const read = async () => {
      for await (const { operation } of entries) if (operation !== 'PUT') onEnd();
    };
    read().catch(onEnd);
    return () => entries.stop();
  }

  get #kv(): KV {
    if (this.#bucket) return this.#bucket;
    throw absent('ECONNRESET', 'NATS, or its JetStream, is not there yet');
  }
}

function readPerson(stored: string | undefined): Person | undefined {
  const said = parseAnswer(stored ?? '');
  return person.is(said) && Object.keys(said).length === 4 ? said : undefined;
}

function digestOf(secret: string): string {
  return hash('sha256', secret);
}

/** What only who has this session, or a server that he asks, can know of a text. */
export function sealOf({ secret }: ApproverSession, said: string): string {
  return createHmac('sha256', secret).update(said).digest('base64url');
}
