import { spawnSync } from 'node:child_process';
import path from 'node:path';
import { expect, it } from 'vitest';

const SCRIPT = path.resolve(import.meta.dirname, '../package/image.sh');

/**
 * It wants root, buildah, and a mirror of Debian: with `HOOKSTACK_IMAGE=1`. What the Containerfile says is tested without, in
 * deploy.test.ts.
 */
it.runIf(process.env['HOOKSTACK_IMAGE'] === '1')(
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
