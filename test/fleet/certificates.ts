import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import path from 'node:path';

/** Certificates of an authority that only the tests believe, for 127.0.0.1 and for a client. */
export interface Certificates {
  readonly ca: string;
  readonly cert: string;
  readonly key: string;
  readonly clientCert: string;
  readonly clientKey: string;
}

/** Makes them with openssl. */
export function makeCertificates(directory: string, clientName = 'acme/one'): Certificates {
  const at = (name: string) => path.join(directory, name);
  const openssl = (...args: string[]) =>
    execFileSync('openssl', args, { cwd: directory, stdio: 'pipe' });
  const newKey = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes'];
  openssl(
    'req',
    '-x509',
    ...newKey,
    '-keyout',
    'ca.key',
    '-out',
    'ca.pem',
    '-days',
    '2',
    '-subj',
    '/CN=Test CA',
  );
  for (const [name, subject, extension] of [
    ['server', '/CN=127.0.0.1', 'subjectAltName=IP:127.0.0.1,DNS:localhost'],
    ['client', `/CN=${clientName.replaceAll('/', String.raw`\/`)}`, 'extendedKeyUsage=clientAuth'],
  ] as const) {
    writeFileSync(at(`${name}.ext`), extension);
    openssl('req', ...newKey, '-keyout', `${name}.key`, '-out', `${name}.csr`, '-subj', subject);
    openssl(
      'x509',
      '-req',
      '-in',
      `${name}.csr`,
      '-CA',
      'ca.pem',
      '-CAkey',
      'ca.key',
      '-CAcreateserial',
      '-days',
      '2',
      '-out',
      `${name}.pem`,
      '-extfile',
      `${name}.ext`,
    );
  }
  return {
    ca: at('ca.pem'),
    cert: at('server.pem'),
    key: at('server.key'),
    clientCert: at('client.pem'),
    clientKey: at('client.key'),
  };
}
