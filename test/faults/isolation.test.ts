import { chmod } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { ConfigOptions } from '../../src/config/config.js';
import { HookConsent } from '../../src/config/consent.js';
import { loadSettings } from '../../src/config/settings.js';
import { HookEventName, type CommandHookConfig } from '../../src/hooks/types.js';
import { hook } from '../helpers/hooks.js';
import { makeTempDir } from '../process/helpers.js';
import { ChangingConfig } from './helpers/changingConfig.js';
import { compilePackage, fixture, type CompiledPackage } from './helpers/childHost.js';
import { fault, type Host } from './helpers/host.js';

const SETTINGS = '.llxprt/settings.json';
const GUARD = hook('echo guarded >&2; exit 2', { name: 'guard', onFailure: 'deny' });
const PLAIN = hook('echo plain >&2; exit 2', { name: 'plain' });

/** Writes the settings of the user, and those of the project. */
async function writeSettings(host: Host, ofUser: readonly object[], ofProject: readonly object[]) {
  const user = { enableHooks: true, hooks: { BeforeTool: ofUser } };
  await host.write(`home/${SETTINGS}`, user);
  await host.write(SETTINGS, { hooks: { BeforeTool: ofProject } });
}

/** What a host does that knows nothing of trust, with a home of its own. */
async function openProject(host: Host, options: ConfigOptions = {}) {
  const home = path.join(host.directory, 'home');
  const workingDir = host.directory;
  const systemPath = path.join(host.directory, 'none');
  const { settings } = await loadSettings({ workingDir, home, systemPath });
  const consent = await HookConsent.open({ workingDir, home });
  return { config: host.createConfig({ ...settings, consent, ...options }), consent };
}

/** Allows all hooks of the project, as they are. */
async function allowAll(host: Host): Promise<void> {
  const { config, consent } = await openProject(host);
  await config.getHookSystem()?.initialize();
  const entries = config.getHookSystem()?.getAllHooks() ?? [];
  await consent.allow(entries.flatMap(({ review }) => review ?? []));
  host.logger.records.length = 0;
}

/** Commands that some reader of commands once choked on. */
const HOSTILE: readonly (readonly [string, string])[] = [
  ['20,000 dashes', `true ${'-'.repeat(20_000)}`],
  ['a long word in quotes', `true "${'x'.repeat(60_000)}"`],
  ['many open braces', '{'.repeat(50_000)],
  ['many backslashes', '\\'.repeat(60_001)],
  ['longer than 64 KB', `true ${'a '.repeat(40_000)}`],
];

describe('one hook of a project that cannot be looked at', () => {
  fault.for(HOSTILE)('71 %s: it alone does not run', async ([, command], { host }) => {
    await writeSettings(
      host,
      [{ hooks: [GUARD] }],
      [{ hooks: [hook(command, { name: 'hostile' }), hook('touch pwned', { name: 'other' })] }],
    );
    const { config } = await openProject(host);
    const { verdict, text } = await host.callToolOf(config);
    expect({ verdict, text }).toMatchObject({ verdict: 'blocked', text: 'guarded' });
    const states = config.getHookSystem()?.getAllHooks() ?? [];
    expect(states.map(({ config: { name }, enabled }) => [name, enabled])).toEqual([
      ['hostile', false],
      ['other', false],
      ['guard', true],
    ]);
    expect(host.exists('pwned')).toBe(false);
  });

  fault('71 it is refused by its name, and says why', async ({ host }) => {
    const command = HOSTILE[4]?.[1] ?? '';
    await writeSettings(
      host,
      [{ hooks: [GUARD] }],
      [{ hooks: [hook(command, { name: 'hostile' })] }],
    );
    const { config } = await openProject(host);
    await host.callToolOf(config);
    const [entry] = config.getHookSystem()?.getAllHooks() ?? [];
    expect(entry).toMatchObject({ skipped: 'refused', review: { status: 'refused' } });
    expect(entry?.review?.reason).toContain('longer than 64 KB');
    expect(host.warnings).toEqual([expect.stringMatching(/^The hook "hostile" is skipped;/)]);
    expect(host.warnings[0]?.length).toBeLessThan(300);
  });

  fault('71 its neighbours run as they are allowed', async ({ host }) => {
    const good = hook('echo ran >> ran', { name: 'good' });
    await writeSettings(host, [], [{ hooks: [good] }]);
    await allowAll(host);
    await writeSettings(host, [], [{ hooks: [good, hook(HOSTILE[0]?.[1] ?? '')] }]);
    const { config } = await openProject(host);
    await host.callToolOf(config);
    expect(host.lines('ran')).toEqual(['ran']);
  });

  fault.for(HOSTILE)(
    '71 in place of a guard that was allowed: %s: denies',
    async ([, command], { host }) => {
      await writeSettings(
        host,
        [],
        [{ matcher: 'write_file', hooks: [{ ...GUARD, command: 'true' }] }],
      );
      await allowAll(host);
      await writeSettings(host, [], [{ hooks: [{ ...GUARD, command }] }]);
      const { config } = await openProject(host);
      expect((await host.callToolOf(config)).verdict).toBe('blocked');
      expect((await host.callToolOf(config, { toolName: 'read_file' })).verdict).toBe('allowed');
    },
  );

  fault(
    '71 a look right before the start that fails keeps that hook from starting',
    async ({ host }) => {
      await writeSettings(host, [{ hooks: [PLAIN] }], [{ hooks: [hook('touch pwned')] }]);
      await allowAll(host);
      const { config, consent } = await openProject(host);
      await config.getHookSystem()?.initialize();
      for (const recheck of [
        () => {
          throw new RangeError('no');
        },
        () => Promise.reject(new RangeError('no')),
      ]) {
        consent.recheck = recheck;
        expect(await host.callToolOf(config)).toMatchObject({ verdict: 'blocked', text: 'plain' });
        expect(host.exists('pwned')).toBe(false);
      }
    },
  );
});

describe('a host that has run out', () => {
  let compiled: CompiledPackage;
  let removePackage: () => Promise<void>;
  beforeAll(async () => {
    const { directory, remove } = await makeTempDir();
    removePackage = remove;
    compiled = await compilePackage(directory);
    await chmod(directory, 0o755);
  });
  afterAll(() => removePackage());

  async function callTool(host: Host, limit: string, value: string) {
    await writeSettings(
      host,
      [{ hooks: [GUARD] }],
      [{ hooks: [hook('touch pwned', { name: 'other' })] }],
    );
    await chmod(host.directory, 0o777);
    const home = path.join(host.directory, 'home');
    const args = [fixture('firstEvent.mjs'), compiled.index, host.directory, home, limit, value];
    const { stdout } = await execa(
      'bash',
      ['-c', 'ulimit -n 200 && exec "$@"', 'bash', 'node', ...args],
      {
        env: { HOME: home, HOOKSTACK_WARM_SHELLS: '0' },
      },
    );
    expect(host.exists('pwned')).toBe(false);
    return JSON.parse(stdout) as {
      verdicts: string[];
      warnings: string[];
      hooks: { name: string; enabled: boolean; skipped?: string }[];
    };
  }

  fault.for(['0', '1', '3', '9', '12'])(
    "72 %s descriptors left at the first event: the user's guard denies, and is asked once there are more",
    async (left, { host }) => {
      const { verdicts, hooks } = await callTool(host, 'descriptors', left);
      expect(verdicts).toEqual(['blocked', 'blocked', 'blocked']);
      expect(hooks).toEqual([
        { name: 'other', enabled: false, skipped: 'untrusted' },
        { name: 'guard', enabled: true },
      ]);
    },
  );

  fault.runIf(process.getuid?.() === 0)(
    "72 nobody knows the home directory: the user's guard denies, the project's hooks are refused",
    async ({ host }) => {
      const { verdicts, warnings, hooks } = await callTool(host, 'uid', '54321');
      expect(verdicts).toEqual(['blocked', 'blocked', 'blocked']);
      expect(warnings).toContainEqual(
        expect.stringContaining('The hooks of this project are refused'),
      );
      expect(hooks).toContainEqual({ name: 'guard', enabled: true });
      expect(hooks[0]).toMatchObject({ name: 'other', enabled: false });
    },
  );
});

describe('what the user has allowed cannot be found out', () => {
  const other = hook('true', { name: 'other' });
  const guard = hook('true', { name: 'project guard', onFailure: 'deny' });

  async function openBroken(host: Host) {
    await writeSettings(host, [{ hooks: [hook(':', { name: 'user' })] }], [{ hooks: [other] }]);
    await allowAll(host);
    const { config, consent } = await openProject(host);
    const review = consent.review.bind(consent);
    consent.review = () => Promise.reject(new Error('no descriptors'));
    const callTool = async () => {
      const { hooks } = await host.callToolOf(config);
      return hooks.map(({ hookConfig }) => hookConfig.name);
    };
    return { config, callTool, mend: () => (consent.review = review) };
  }

  fault("72 the user's hooks run, and the next event tries again", async ({ host }) => {
    const { callTool, mend } = await openBroken(host);
    expect(await callTool()).toEqual(['user']);
    expect(await callTool()).toEqual(['user']);
    expect(host.warnings).toEqual([
      expect.stringMatching(/hooks of this project are refused.*no descriptors.*next event/),
    ]);
    mend();
    expect(await callTool()).toEqual(['other', 'user']);
  });

  fault('72 what the host switched off meanwhile stays off', async ({ host }) => {
    const { config, callTool, mend } = await openBroken(host);
    await callTool();
    config.getHookSystem()?.setHookEnabled('user', false);
    mend();
    expect(await callTool()).toEqual(['other']);
  });

  fault('72 a guard that was allowed before denies', async ({ host }) => {
    await writeSettings(host, [], [{ hooks: [guard] }]);
    await allowAll(host);
    const { config, consent } = await openProject(host);
    expect((await host.callToolOf(config)).verdict).toBe('allowed');
    consent.review = () => Promise.reject(new Error('no'));
    consent.recheck = () => Promise.reject(new Error('no'));
    await config.getHookSystem()?.reload();
    expect((await host.callToolOf(config)).verdict).toBe('blocked');
  });
});

describe('a hook system that cannot start', () => {
  class Broken extends ChangingConfig {
    isBroken = true;
    override isTrustedFolder(): boolean {
      if (this.isBroken) throw new Error('broken');
      return super.isTrustedFolder();
    }
  }

  function open(host: Host, hooks: readonly CommandHookConfig[], options: ConfigOptions = {}) {
    const config = new Broken({ ...host.defaults, ...options });
    config.hooks = { BeforeTool: [{ hooks }] };
    return config;
  }

  fault(
    '72 denies where a guard is configured, and the next event tries again',
    async ({ host }) => {
      const config = open(host, [GUARD]);
      const { verdict, text } = await host.callToolOf(config);
      expect(verdict).toBe('blocked');
      expect(text).toMatch(/"guard" must not be bypassed.*broken/);
      config.isBroken = false;
      expect(await host.callToolOf(config)).toMatchObject({ verdict: 'blocked', text: 'guarded' });
    },
  );

  fault('72 the guard of an extension counts, also in the words of a dialect', async ({ host }) => {
    const hooks = { PreToolUse: [{ dialect: 'claude', hooks: [GUARD] }] };
    const extensions = [{ name: 'x', isActive: true, hooks: hooks as object }];
    const config = open(host, [PLAIN], { extensions });
    expect((await host.callToolOf(config)).verdict).toBe('blocked');
  });

  fault('72 goes on without a guard, and at events that cannot be blocked', async ({ host }) => {
    expect((await host.callToolOf(open(host, [PLAIN]))).verdict).toBe('allowed');
    const config = open(host, []);
    config.hooks = { [HookEventName.AfterTool]: [{ hooks: [GUARD] }] };
    expect((await host.callToolOf(config)).verdict).toBe('allowed');
  });

  fault(
    '72 does not block for a guard of a project that is not trusted, or that is switched off',
    async ({ host }) => {
      const config = open(host, []);
      const origin = { scope: 'project', file: '/x' } as const;
      config.hooks = { BeforeTool: [{ hooks: [GUARD], origin }] };
      expect((await host.callToolOf(config)).verdict).toBe('allowed');
      const off = open(host, [GUARD], { disabledHooks: ['guard'] });
      expect((await host.callToolOf(off)).verdict).toBe('allowed');
    },
  );

  fault(
    '72 one extension that cannot be read does not keep the others from it',
    async ({ host }) => {
      const broken = {
        name: 'broken',
        isActive: true,
        get hooks(): never {
          throw new Error('unreadable');
        },
      };
      const config = host.createConfig({
        hooks: { BeforeTool: [{ hooks: [GUARD] }] },
        extensions: [broken],
      });
      expect(await host.callToolOf(config)).toMatchObject({ verdict: 'blocked', text: 'guarded' });
      expect(host.warnings).toEqual([expect.stringContaining('"broken" cannot be read')]);
    },
  );
});
