import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ConsentItem } from '../../src/hooks/entry.js';
import { digestOf, withoutMode } from '../../src/trust/consentItem.js';
import { Cli, group } from './helpers.js';

const cli = new Cli();

interface Store {
  readonly version: number;
  readonly projects: Readonly<Record<string, readonly ConsentItem[]>>;
}

function toOld({ kind, definition, files }: ConsentItem) {
  const digests = Object.entries(files).map(([name, digest]) => [name, withoutMode(digest)]);
  const item = { kind, definition, files: Object.fromEntries(digests) };
  return { ...item, digest: digestOf(item) };
}

/** What a version wrote that knew neither classes nor consent to settings. */
async function makeOld(file: string): Promise<void> {
  const { projects } = JSON.parse(await readFile(file, 'utf8')) as Store;
  const old = Object.entries(projects).map(([project, items]) => [project, items.map(toOld)]);
  await cli.write(file, { version: 1, projects: Object.fromEntries(old) });
}

it.each([2, 1])(
  'a consent of the form %i, without settings, counts for hooks beside new settings, which are asked about alone',
  async (form) => {
    const guards = { BeforeTool: group('sh .llxprt/hooks/guard.sh', { name: 'guard' }) };
    await cli.write('.llxprt/hooks/guard.sh', 'exit 2');
    await cli.projectSettings(guards);
    await cli.run(['trust', '--yes']);
    const file = join(cli.home, '.llxprt/trusted-hooks.json');
    if (form === 1) await makeOld(file);
    await cli.projectSettings(guards, { disabledHooks: ['noisy'] });

    const fired = await cli.run(['fire', 'BeforeTool']);
    expect(fired.exitCode).toBe(2);
    expect(fired.stderr).toContain(
      'disabledHooks: ignored, as what this file sets has not been allowed yet',
    );
    const check = await cli.run(['trust', '--check']);
    expect(check.stdout).toContain('Settings [new]');
    expect(check.stdout).not.toContain('BeforeTool');
    expect(check.stderr).toContain('not allowed: the settings');
    await cli.run(['trust', '--yes']);
    expect(await cli.run(['fire', 'BeforeTool'])).toMatchObject({ exitCode: 2, stderr: '' });
  },
);
