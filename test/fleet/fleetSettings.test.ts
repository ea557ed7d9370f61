import { mkdir, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { loadSettings } from '../../src/config/settings/settings.js';
import { joinFleet } from '../../src/fleet/joinFleet.js';
import { useTempDir } from '../helpers/tempDir.js';

const temp = useTempDir();

async function load(scope: 'project' | 'home', fleet: object) {
  const workingDir = path.join(temp.path, 'project');
  const home = path.join(temp.path, 'home');
  const folder = path.join(temp.path, scope, '.llxprt');
  await mkdir(workingDir, { recursive: true });
  await mkdir(folder, { recursive: true });
  await writeFile(path.join(folder, 'settings.json'), JSON.stringify({ fleet }), { mode: 0o600 });
  const systemPath = path.join(temp.path, 'system.json');
  const { settings, problems } = await loadSettings({
    workingDir,
    home,
    systemPath,
    trustProject: true,
  });
  return {
    fleet: settings.fleet,
    problems: problems.map(({ path: at, message }) => [at, message]),
  };
}

async function join(fleet: object): Promise<string[]> {
  const problems: string[] = [];
  const onProblem = (message: string) => problems.push(message);
  const membership = await joinFleet(fleet, { onProblem, flushMs: 1 });
  await membership.close();
  return problems;
}

const MINE = { url: 'nats://127.0.0.1:4222/acme/one', tokenFile: '~/token', record: true };

describe('"fleet" in settings', () => {
  it('counts in the file of the user, and not in that of a project, however trusted', async () => {
    expect(await load('home', MINE)).toEqual({ fleet: MINE, problems: [] });
    expect(await load('project', { ...MINE, url: 'nats://evil.example/acme/one' })).toEqual({
      fleet: MINE,
      problems: [['fleet', expect.stringMatching(/^ignored, as a project cannot say who records/)]],
    });
  });

  it.each([
    [{ ...MINE, record: 1 }, /^expected .*"record": true or false/],
    [{ ...MINE, recrd: true }, /did you mean.*record/],
  ])('that says %j is a problem', async (fleet, problem) => {
    const { problems } = await load('home', fleet);
    expect(problems).toEqual([['fleet', expect.stringMatching(problem)]]);
  });

  it.each([
    [{ ...MINE, url: undefined }, /it has no url/],
    [{ ...MINE, url: 'nats://127.0.0.1:4222' }, /does not say who asks/],
    [
      { ...MINE, url: 'nats://127.0.0.1:4222/policy/one' },
      /who asks: .* no agent is of the team policy/,
    ],
    [{ ...MINE, url: 'nats://127.0.0.1:4222/local/one' }, /or local, which is nobody/],
    [{ ...MINE, url: 'https://policy.example/' }, /the record goes over NATS only/],
    [{ ...MINE, tokenFile: '/nowhere/token' }, /the secret in \/nowhere\/token cannot be used/],
    [{ ...MINE, tokenFile: undefined, tokenVariable: 'NO_SUCH' }, /NO_SUCH .* is not set/],
  ])('of %j is a warning, and no failure', async (fleet, problem) => {
    expect(await join(fleet)).toEqual([
      expect.stringMatching(/^"record" has no effect in "fleet" of the settings: /),
    ]);
    expect((await join(fleet))[0]).toMatch(problem);
  });

  it('does nothing where nothing is to be recorded', async () => {
    expect(await join({ ...MINE, record: false })).toEqual([]);
  });
});
