import { errorCode, errorMessage } from '../util/errorMessage.js';
import { readTextSync } from '../util/guardedRead.js';
import type { TlsFiles } from './question.js';

/**
 * What to do where the certificate of a server is not believed: the server runs, so that looking after it is of no help.
 *
 * @param where an authority is named
 * @returns what ends a sentence; `undefined` for other errors
 */
export function certificateAdvice(error: unknown, where: string): string | undefined {
  const code = String(errorCode(error));
  if (UNKNOWN_AUTHORITY.has(code)) return `name the authority of its certificate ${where}`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID')
    return 'write a name of its certificate into the url';
  return code === 'CERT_HAS_EXPIRED' ? 'renew its certificate' : undefined;
}

const UNKNOWN_AUTHORITY: ReadonlySet<string> = new Set([
  'DEPTH_ZERO_SELF_SIGNED_CERT',
  'SELF_SIGNED_CERT_IN_CHAIN',
  'UNABLE_TO_VERIFY_LEAF_SIGNATURE',
  'UNABLE_TO_GET_ISSUER_CERT',
  'UNABLE_TO_GET_ISSUER_CERT_LOCALLY',
]);

/** What files of TLS say, read each time that it is asked for: they are replaced while this process runs. */
export function certificatesOf({ caFile, certFile, keyFile }: TlsFiles) {
  return {
    get ca() {
      return readIfNamed(caFile);
    },
    get cert() {
      return readIfNamed(certFile);
    },
    get key() {
      return readIfNamed(keyFile);
    },
  };
}

/** @throws Error for a file that cannot be read */
function readIfNamed(file: string | undefined): string | undefined {
  try {
    return file === undefined ? undefined : readTextSync(file);
  } catch (cause) {
    const why = `a file of its certificates cannot be read: ${errorMessage(cause)}`;
    throw new Error(why, { cause });
  }
}
