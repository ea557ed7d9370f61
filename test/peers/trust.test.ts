import { mkdirSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { describe, expect, it } from 'vitest';
import { Config, HookEventName, loadSettings, openConsent } from '../../src/index.js';
import { hook } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';

// What Gemini CLI and LLxprt test of trust in the hooks of a project. Where ours differs, see differences.test.ts.

const temp = useTempDir();
const known = hook('touch "$LLXPRT_PROJECT_DIR/known"', { name: 'known' });
const fresh = hook('touch "$LLXPRT_PROJECT_DIR/fresh"');

/** Opens a project with these hooks for BeforeTool, as a host does that has just started. */
async function open(...hooks: object[]) {
  const workingDir = path.join(temp.path, 'project');
  const home = path.join(temp.path, 'home');
  mkdirSync(path.join(workingDir, '.llxprt'), { recursive: true });
  const settingsFile = path.join(workingDir, '.llxprt/settings.json');
  const written = { enableHooks: true, hooks: { BeforeTool: [{ hooks }] } };
  writeFileSync(settingsFile, JSON.stringify(written), { mode: 0o644 });
  const systemPath = path.join(temp.path, 'none');
  const { settings } = await loadSettings({ workingDir, home, systemPath });
  const consent = await openConsent({ workingDir, home, trustedLock: '' });
  const logger = new RecordingLogger();
  const config = new Config({
    ...settings,
    workingDir,
    enableHooks: true,
    consent,
    debugLogger: logger,
  });
  const system = config.getHookSystem();
  await system?.initialize();
  const entries = system?.getAllHooks() ?? [];
  return {
    statuses: entries.map(({ review, config: { name, command } }) => [
      name ?? command,
      review?.status,
    ]),
    running: entries.filter(({ enabled }) => enabled).map(({ config: { command } }) => command),
    warnings: logger.warnings,
    reviews: entries.flatMap(({ review }) => review ?? []),
    consent,
  };
}

describe('a hook of a project', () => {
  it('is new while nobody has allowed it, at every start, and is told of', async () => {
    for (let start = 0; start < 2; start++) {
      const { statuses, running, warnings } = await open(known, fresh);
      expect(statuses).toEqual([
        ['known', 'new'],
        [fresh.command, 'new'],
      ]);
      expect(running).toEqual([]);
      expect(warnings).toEqual([expect.stringContaining('2 hooks of this project skipped')]);
    }
  });

  it('runs once it is allowed, at later starts too, without a word, and others stay new', async () => {
    const { consent, reviews } = await open(known);
    await consent.allow(reviews, { open: true });
    const later = await open(known);
    expect(later).toMatchObject({ running: [known.command], warnings: [] });
    const both = await open(known, fresh);
    expect(both.statuses).toEqual([
      ['known', 'allowed'],
      [fresh.command, 'new'],
    ]);
  });

  it('has changed with its command, under the same name', async () => {
    const { consent, reviews } = await open(known);
    await consent.allow(reviews, { open: true });
    const { statuses, running } = await open({ ...known, command: 'touch other' });
    expect(statuses).toEqual([['known', 'changed']]);
    expect(running).toEqual([]);
  });
});

describe('a folder', () => {
  const event = HookEventName.BeforeTool;
  const hooksOf = (scope: 'project' | 'user') => ({
    [event]: [{ hooks: [hook('true')], origin: { scope } }],
  });

  it.each([
    ['is trusted runs its hooks', 'project', true, 1],
    ['is not trusted runs none of them', 'project', false, 0],
    ['is not trusted runs the hooks of the user', 'user', false, 1],
  ] as const)('that %s', async (_what, scope, trustedFolder, ran) => {
    const config = new Config({
      enableHooks: true,
      trustedFolder,
      workingDir: temp.path,
      debugLogger: new RecordingLogger(),
      hooks: hooksOf(scope),
    });
    const system = config.getHookSystem();
    await system?.initialize();
    const fired = await system?.getEventHandler().fireBeforeToolEvent('any', {});
    expect(fired).toMatchObject({ success: true });
    expect(fired?.results).toHaveLength(ran);
  });
});
