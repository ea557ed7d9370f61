import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, it } from 'vitest';

const SCRIPT = path.resolve(import.meta.dirname, '../package/image.sh');

const programs = ['buildah', 'debootstrap', 'unshare', 'curl'];
const canBuild =
  process.getuid?.() === 0 &&
  programs.every((each) => spawnSync('sh', ['-c', `command -v ${each}`]).status === 0);

it.runIf(canBuild)(
  'the image is built, and its server answers without rights and with a root that is read-only',
  { timeout: 400_000 },
  () => {
    const { status, stdout, stderr } = spawnSync(SCRIPT, { encoding: 'utf8' });
    expect({ status, stderr }).toMatchObject({ status: 0 });
    expect(stdout).toMatch(/^Uid:\s+10001\s+10001/mu);
    expect(stdout).toMatch(/^CapEff:\s+0+$/mu);
    expect(stdout).toContain('Production is frozen');
  },
);
