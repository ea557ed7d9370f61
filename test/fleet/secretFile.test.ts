import { spawnSync } from 'node:child_process';
import { chmod, chown, symlink } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { beforeEach, describe, expect, it } from 'vitest';
import { readSecretFile } from '../../src/fleet/secret.js';
import { isPrivateGroup } from '../../src/util/guardedFile.js';
import { MAIN, Cli } from '../cli/helpers.js';
import { hook } from '../helpers/hooks.js';

const cli = new Cli();
const isRoot = process.getuid?.() === 0;
/** Where it is not, such as in a home of mode 700, no other user can start the program. */
const isForAll =
  isRoot && spawnSync('setpriv', ['--reuid=54321', '--clear-groups', 'cat', MAIN]).status === 0;
/** Of nobody on this machine, and one of them is as `fsGroup` of a pod. */
const [USER, GROUP, FS_GROUP] = [54_321, 54_322, 54_323];

let file = '';

beforeEach(async () => {
  file = await cli.write('tokens', 'acme/one a-token-of-the-first-agent\n');
});

describe('the file of a secret', () => {
  const isForGroup = isRoot || isPrivateGroup(process.getgid?.() ?? -1);
  it.each([0o600, 0o400, ...(isForGroup ? [0o640, 0o440] : [])])(
    'may have mode %o',
    async (mode) => {
      await chmod(file, mode);
      expect(await readSecretFile(file)).toContain('acme/one');
    },
  );

  it.each([0o644, 0o604, 0o444, 0o660, 0o620, 0o650])('must not have mode %o', async (mode) => {
    await chmod(file, mode);
    await expect(readSecretFile(file)).rejects.toThrow(/others can read it: chmod 600/u);
  });

  it.runIf(isRoot)('of a group is for its members, and must not be of somebody else', async () => {
    await chmod(file, 0o640);
    await chown(file, 0, FS_GROUP);
    await expect(readSecretFile(file)).rejects.toThrow('others can read it');
    await chown(file, USER, 0);
    await expect(readSecretFile(file)).rejects.toThrow('others can read it');
  });
});

/** A server of a user without rights. */
async function serve(...groups: number[]) {
  const settings = await cli.settings({ BeforeTool: [{ hooks: [hook('true')] }] });
  for (const each of [cli.home, cli.project, `${cli.project}/..`]) await chmod(each, 0o755);
  await chmod(settings, 0o644);
  const as = [`--reuid=${USER}`, `--regid=${GROUP}`];
  const all = groups.length > 0 ? `--groups=${groups.join(',')}` : '--clear-groups';
  const args = ['serve', '--settings', settings, '--listen', '127.0.0.1:0', '--tokens', file];
  const server = execa('setpriv', [...as, all, process.execPath, MAIN, ...args], {
    cwd: cli.project,
    env: cli.env,
    extendEnv: false,
    reject: false,
  });
  server.stdout.once('data', () => server.kill('SIGTERM'));
  return server;
}

describe.runIf(isForAll)('a server without rights, as in a pod', () => {
  it('reads a secret of root that is for its fsGroup', async () => {
    await chown(file, 0, FS_GROUP);
    await chmod(file, 0o440);
    const { exitCode, stdout } = await serve(FS_GROUP);
    expect({ exitCode, stdout }).toEqual({
      exitCode: 0,
      stdout: expect.stringContaining('listening on http://127.0.0.1:') as string,
    });
    // Kubernetes mounts a link to a link.
    const mounted = path.join(path.dirname(file), 'mounted');
    await symlink(path.basename(file), mounted);
    file = mounted;
    expect(await serve(FS_GROUP)).toMatchObject({ exitCode: 0 });
    expect((await serve()).stderr).toMatch(/--tokens cannot be used: .*(?:EACCES|permission)/u);
  });

  it('refuses one that everybody can read, or that another user owns', async () => {
    await chown(file, 0, FS_GROUP);
    await chmod(file, 0o444);
    expect(await serve(FS_GROUP)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('others can read it: chmod 600') as string,
    });
    await chown(file, GROUP, FS_GROUP);
    await chmod(file, 0o440);
    expect(await serve(FS_GROUP)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('others can read it: chmod 600') as string,
    });
  });

  it.each([
    ['its own', GROUP],
    ['a further one', FS_GROUP],
  ])('refuses one of its user for a group that may have others: %s', async (_which, group) => {
    await chown(file, USER, group);
    await chmod(file, 0o640);
    expect(await serve(FS_GROUP)).toMatchObject({
      exitCode: 2,
      stderr: expect.stringContaining('others can read it: chmod 600') as string,
    });
    await chmod(file, 0o600);
    expect(await serve(FS_GROUP)).toMatchObject({ exitCode: 0 });
  });
});
