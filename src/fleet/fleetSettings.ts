import { flag, nonBlankText, objectOf } from '../util/checks.js';
import type { TlsFiles } from './question.js';
import type { SecretSource } from './secret.js';

/** How the agents of a host belong to a fleet: who records what they do, and who answers questions of theirs. */
export interface FleetSettings extends SecretSource, TlsFiles {
  /** `nats://HOST:PORT/TEAM/AGENT`, or the `https://` address of a policy server. */
  readonly url?: string;
  /** Whether what happens is sent to the record of the fleet. Default false. */
  readonly record?: boolean;
  /** Whether people of the fleet are asked where a hook wants a person. Default false. */
  readonly approvals?: boolean;
}

/** What settings files may say of it. What its url says is checked where it is used. */
export const fleetSettings = objectOf<FleetSettings>(
  '{ "url": "nats://HOST:PORT/TEAM/AGENT", "tokenFile": path, "record": true or false, "approvals": true or false, … }',
  {
    url: nonBlankText,
    tokenFile: nonBlankText,
    tokenVariable: nonBlankText,
    caFile: nonBlankText,
    certFile: nonBlankText,
    keyFile: nonBlankText,
    record: flag,
    approvals: flag,
  },
  { isClosed: true },
);
