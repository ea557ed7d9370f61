import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { expect, it } from 'vitest';
import { FLEET_SECRETS, startNats } from '../helpers/natsServer.js';
import { useTempDir } from '../helpers/tempDir.js';

const CLI = path.resolve(import.meta.dirname, '../../dist/cli.cjs');
const directory = useTempDir();

it('a command that has asked over NATS ends, and does not wait for the next question', async () => {
  const nats = await startNats();
  try {
    const settings = path.join(directory.path, 'settings.json');
    const hook = {
      type: 'remote',
      name: 'policy',
      url: `${nats.url}/acme/one`,
      tokenVariable: 'HOOK_TEST_FLEET',
      onFailure: 'deny',
    };
    const hooks = { BeforeTool: [{ hooks: [hook] }] };
    await writeFile(settings, JSON.stringify({ enableHooks: true, hooks }));
    const env = { HOOK_TEST_FLEET: FLEET_SECRETS.one };
    const fired = await execa(
      process.execPath,
      [CLI, 'fire', 'BeforeTool', '--settings', settings],
      {
        env,
        reject: false,
        // A connection without questions is closed after 10 s.
        timeout: 9000,
      },
    );
    expect(fired.exitCode).toBe(2);
    expect(fired.stdout).toContain('got no answer: no policy server is there (no responders)');
  } finally {
    await nats.dispose();
  }
});
