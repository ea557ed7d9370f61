import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { MAIN } from '../cli/helpers.js';
import { FLEET_SECRETS, startNats, type TestNats } from '../helpers/natsServer.js';
import { useTempDir } from '../helpers/tempDir.js';
import { makeCertificates } from './certificates.js';
import { writeToken } from './recordHelpers.js';

const temp = useTempDir();
const CONFIG = 'test/fixtures/fleet/withoutJetstream.conf';
let nats: TestNats;

beforeAll(async () => void (nats = await startNats()));
afterAll(() => nats.dispose());

type Command = 'collect' | 'trace' | 'serve';

async function run(command: Command, url: string, secret: string = FLEET_SECRETS.policy) {
  const settings = path.join(temp.path, 'settings.json');
  // A server without any hook does not start.
  const hooks = { BeforeTool: [{ hooks: [{ type: 'command', command: 'cat > /dev/null' }] }] };
  writeFileSync(settings, JSON.stringify({ enableHooks: true, hooks }));
  const own = {
    collect: ['--out', path.join(temp.path, 'out'), '--once'],
    trace: [],
    serve: ['--settings', settings, '--listen', '127.0.0.1:0'],
  };
  const tokenFile = writeToken(temp.path, secret);
  const args = [command, '--nats', url, '--token-file', tokenFile, ...own[command]];
  const options = { reject: false, cwd: temp.path, timeout: 20_000 };
  const { exitCode, stderr } = await execa(process.execPath, [MAIN, ...args], options);
  return { exitCode, stderr };
}

describe('what commands of a fleet say of NATS leads on', () => {
  it.each(['collect', 'trace', 'serve'] as const)('%s, where TLS fails', async (command) => {
    const plain = await run(command, nats.url.replace('nats:', 'tls:'));
    expect(plain).toEqual({
      exitCode: 2,
      stderr: expect.stringMatching(/does not support 'tls'; give nats-server a "tls" block/u),
    });
    const files = makeCertificates(temp.path);
    const config = path.join(temp.path, 'tls.conf');
    writeFileSync(config, `tls { cert_file: "${files.cert}", key_file: "${files.key}" }`);
    const secure = await startNats(config);
    onTestFinished(() => secure.dispose());
    const unknown = await run(command, secure.url.replace('nats:', 'tls:'));
    expect(unknown).toEqual({
      exitCode: 2,
      stderr: expect.stringMatching(
        /unable to verify.*; name the authority of its certificate as "caFile" in settings, or with --nats-ca/u,
      ),
    });
  });

  it.each(['collect', 'trace', 'serve'] as const)('%s, with another secret', async (command) => {
    expect(await run(command, nats.url, 'policy:wrong')).toEqual({
      exitCode: 2,
      stderr: expect.stringMatching(
        /does not know this user.*\(Authorization Violation\); compare the user and its secret with/u,
      ),
    });
  });

  it.each([
    ['collect', 1],
    ['trace', 2],
  ] as const)('%s, with the user of an agent, or without JetStream', async (command, exitCode) => {
    expect(await run(command, nats.url, FLEET_SECRETS.one)).toEqual({
      exitCode,
      stderr: expect.stringMatching(/_INBOX.*\); use the user of the policy servers\n?$/u),
    });
    const own = await startNats(CONFIG);
    onTestFinished(() => own.dispose());
    expect(await run(command, own.url)).toEqual({
      exitCode,
      stderr: expect.stringMatching(/jetstream is not enabled\); switch on "jetstream" in the/u),
    });
  });

  it('trace, where nothing is recorded yet', async () => {
    expect(await run('trace', nats.url)).toEqual({
      exitCode: 2,
      stderr: expect.stringMatching(/stream not found\); "hookstack collect" makes it/u),
    });
  });

  it('collect, whose directory is a file', async () => {
    writeFileSync(path.join(temp.path, 'out'), '');
    expect(await run('collect', nats.url)).toEqual({
      exitCode: 2,
      stderr: expect.stringMatching(/--out \S+ is a file; name a directory/u),
    });
  });
});
