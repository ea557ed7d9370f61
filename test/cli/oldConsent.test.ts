import { chmod, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import type { ConsentItem } from '../../src/hooks/entry.js';
import { digestOf, withoutMode } from '../../src/trust/consentItem.js';
import { Cli, group } from './helpers.js';

const cli = new Cli();

type Stored = Omit<ConsentItem, 'files'> & { readonly files: string };

interface Store {
  readonly projects: Readonly<Record<string, readonly Stored[]>>;
  readonly lists: Readonly<Record<string, ConsentItem['files']>>;
}

function toOld({ kind, definition, files, digest }: ConsentItem): ConsentItem {
  return toSecond({ kind, definition, files, digest });
}

/** Without modes. */
function toSecond({ files, ...item }: ConsentItem): ConsentItem {
  const digests = Object.entries(files).map(([name, digest]) => [name, withoutMode(digest)]);
  const old = { ...item, files: Object.fromEntries(digests) as ConsentItem['files'] };
  return { ...old, digest: digestOf(old) };
}

/** What earlier versions wrote: the first one knew neither classes nor consent to settings. */
async function makeOld(file: string, form: number, covers?: ConsentItem['class']): Promise<void> {
  const { projects, lists } = JSON.parse(await readFile(file, 'utf8')) as Store;
  const old = Object.entries(projects).map(([project, items]) => [
    project,
    items.map((item) =>
      (form === 1 ? toOld : toSecond)({
        ...item,
        ...(covers && { class: covers }),
        files: lists[item.files] ?? {},
      }),
    ),
  ]);
  await cli.write(file, { version: form, projects: Object.fromEntries(old) });
}

it('a consent of an earlier form notices another mode once it is renewed, which trust --yes does', async () => {
  await cli.write('.llxprt/hooks/guard.sh', 'exit 2');
  await cli.projectSettings({ BeforeTool: group('sh .llxprt/hooks/guard.sh') });
  await cli.run(['trust', '--yes']);
  const file = join(cli.home, '.llxprt/trusted-hooks.json');
  await makeOld(file, 2);
  const before = await readFile(file, 'utf8');

  const looked = await cli.run(['trust']);
  expect(looked).toMatchObject({
    exitCode: 0,
    stderr: expect.stringContaining(
      '1 hook allowed by an earlier version, without the modes of files; to renew that, run: hookstack trust --yes',
    ),
  });
  expect(await readFile(file, 'utf8')).toBe(before);
  const renewed = await cli.run(['trust', '--yes']);
  expect(renewed.stdout).toContain('Renewed: 1 hook, allowed by an earlier version');
  expect((await cli.run(['trust', '--yes'])).stdout).not.toContain('Renewed');
  await chmod(join(cli.project, '.llxprt/hooks/guard.sh'), 0o755);
  const changed = await cli.run(['trust', '--check']);
  expect(changed.exitCode).toBe(1);
  expect(changed.stdout).toContain('it has changed since it was allowed (.llxprt/hooks/guard.sh)');
});

it('trust, list and explain say of a guard that is open now that nothing but this has changed', async () => {
  const guard = { name: 'filter', onFailure: 'deny' } as const;
  await cli.projectSettings({ BeforeTool: group('jq -e .tool_input', guard) });
  await cli.run(['trust', '--open']);
  const file = join(cli.home, '.llxprt/trusted-hooks.json');
  await makeOld(file, 2, 'pinned');
  const reason =
    'it was allowed when it was covered otherwise (pinned); now only its definition is covered';
  for (const command of [['trust'], ['trust', '--check'], ['list'], ['explain', 'BeforeTool']]) {
    const { stdout } = await cli.run(command);
    expect(stdout).toContain(reason);
    expect(stdout).not.toContain('has changed since');
  }
});

it.each([3, 2, 1])(
  'a consent of the form %i, without settings, counts for hooks beside new settings, which are asked about alone',
  async (form) => {
    const guards = { BeforeTool: group('sh .llxprt/hooks/guard.sh', { name: 'guard' }) };
    await cli.write('.llxprt/hooks/guard.sh', 'exit 2');
    await cli.projectSettings(guards);
    await cli.run(['trust', '--yes']);
    const file = join(cli.home, '.llxprt/trusted-hooks.json');
    if (form < 3) await makeOld(file, form);
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
