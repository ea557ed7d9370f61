import { chmod } from 'node:fs/promises';
import path from 'node:path';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import type { ConfigOptions } from '../../src/config/config.js';
import { HookEventName, type CommandHookConfig } from '../../src/protocol/types.js';
import { hook } from '../helpers/hooks.js';
import { makeTempDir } from '../process/helpers.js';
import { ChangingConfig } from '../helpers/changingConfig.js';
import { compilePackage, fixture, type CompiledPackage } from './helpers/childHost.js';
import { fault, type Host } from './helpers/host.js';
import { allowAll, openProject, writeSettings } from './helpers/project.js';

const GUARD = hook('echo guarded >&2; exit 2', { name: 'guard', onFailure: 'deny' });
const PLAIN = hook('echo plain >&2; exit 2', { name: 'plain' });

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
    expect(host.warnings).toEqual([
      expect.stringMatching(/^The hook "hostile" is skipped\. It is refused: /),
    ]);
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

  fault(
    '72 no descriptor left to read what is allowed: it is read once there are some',
    async ({ host }) => {
      const guard = hook('true', { name: 'guard', onFailure: 'deny' });
      await writeSettings(host, [], [{ hooks: [guard] }]);
      const home = path.join(host.directory, 'home');
      const args = [fixture('consentInShortage.mjs'), compiled.index, host.directory, home];
      const { stdout } = await execa(
        'bash',
        ['-c', 'ulimit -n 200 && exec "$@"', 'bash', 'node', ...args],
        { env: { HOME: home } },
      );
      expect(JSON.parse(stdout)).toMatchObject({
        during: { isSettled: false, states: [{ enabled: false, status: 'refused' }] },
        after: { isSettled: true, states: [{ enabled: true, status: 'allowed' }] },
      });
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

  fault(
    '72 goes on without a guard, and withholds a result from one after the tool',
    async ({ host }) => {
      expect((await host.callToolOf(open(host, [PLAIN]))).verdict).toBe('allowed');
      const config = open(host, []);
      config.hooks = { [HookEventName.AfterTool]: [{ hooks: [GUARD] }] };
      expect((await host.callToolOf(config)).text).toMatch(/withheld.*"guard"/);
    },
  );

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

  fault.for(['isActive', 'scope'])(
    '72 an extension of which "%s" cannot be read keeps no guard from it',
    async (key, { host }) => {
      const hooks = { BeforeTool: [{ hooks: [PLAIN] }] };
      const broken = Object.defineProperty({ name: 'broken', isActive: true, hooks }, key, {
        get: () => {
          throw new Error('unreadable');
        },
      });
      const config = open(host, [GUARD], { extensions: [broken] });
      const { verdict, text } = await host.callToolOf(config);
      expect(verdict).toBe('blocked');
      expect(text).toMatch(/"guard" must not be bypassed.*broken/);
    },
  );
});

describe('a guard that was allowed, and has changed', () => {
  const guard = hook('true', { name: 'mine', onFailure: 'deny' });
  const before = { matcher: 'write_file', hooks: [guard] };

  /** What becomes of calls of both tools after a change of the group. */
  async function callAfter(host: Host, ...groups: readonly object[]) {
    await writeSettings(host, [], [before]);
    await allowAll(host);
    await writeSettings(host, [], groups);
    const { config } = await openProject(host);
    const verdicts = [];
    for (const toolName of ['write_file', 'read_file']) {
      verdicts.push((await host.callToolOf(config, { toolName })).verdict);
    }
    return verdicts;
  }

  fault.for<[string, object]>([
    ['a dialect', { ...before, dialect: 'claude' }],
    ['another dialect', { ...before, dialect: 'gemini' }],
    ['another matcher', { ...before, matcher: 'nothing' }],
    ['onFailure "allow"', { ...before, hooks: [{ ...guard, onFailure: 'allow' }] }],
    ['no onFailure', { ...before, hooks: [hook('true', { name: 'mine' })] }],
    ['the type plugin', { ...before, hooks: [{ ...guard, type: 'plugin' }] }],
    ['a timeout', { ...before, hooks: [{ ...guard, timeout: 1 }] }],
    ['another name', { ...before, hooks: [{ ...guard, name: 'other' }] }],
    ['a huge matcher', { ...before, matcher: 'x|'.repeat(5000) }],
    ['a matcher that never ends', { ...before, matcher: '^(\\w+)+!$' }],
  ])('76 %s: denies what it guarded, and nothing else', async ([, group], { host }) => {
    expect(await callAfter(host, group)).toEqual(['blocked', 'allowed']);
  });

  fault('76 the name of a hook that the user has switched off: denies', async ({ host }) => {
    await writeSettings(host, [], [before]);
    await allowAll(host);
    await writeSettings(host, [], [{ ...before, hooks: [{ ...guard, name: 'off' }] }]);
    const { config } = await openProject(host, { disabledHooks: ['off'] });
    expect((await host.callToolOf(config)).verdict).toBe('blocked');
  });
});

async function openAllowed(host: Host, ofUser: object, ofProject: object) {
  await writeSettings(host, [ofUser], [ofProject]);
  await allowAll(host);
  return openProject(host);
}

describe('the same command of the user and of the project', () => {
  const command = 'sleep 0.2; echo denied >&2; exit 2';
  const own = hook(command, { name: 'own' });

  fault.for<[string, object, object]>([
    ['a short timeout', { hooks: [own] }, { hooks: [{ ...own, timeout: 1 }] }],
    [
      'no onFailure',
      { hooks: [hook('kill -9 $$', { onFailure: 'deny' })] },
      { hooks: [hook('kill -9 $$')] },
    ],
    [
      'onFailure "allow"',
      { hooks: [hook('kill -9 $$', { onFailure: 'deny' })] },
      { hooks: [hook('kill -9 $$', { onFailure: 'allow', maxConsecutiveFailures: 1 })] },
    ],
    [
      'other blanks',
      { hooks: [hook('grep -q . nothing', { onFailure: 'deny' })] },
      { hooks: [hook('grep  -q .\tnothing ')] },
    ],
  ])(
    "77 %s in the project's copy changes nothing of the user's",
    async ([, ofUser, ofProject], { host }) => {
      const { config } = await openAllowed(host, ofUser, ofProject);
      for (let call = 0; call < 2; call++) {
        const { verdict, hooks } = await host.callToolOf(config);
        expect(verdict).toBe('blocked');
        expect(hooks).toHaveLength(1);
      }
    },
  );

  fault(
    "77 a project's copy that is not allowed any more does not take the user's with it",
    async ({ host }) => {
      const guard = hook('sh x.sh', { name: 'own' });
      await host.write('x.sh', 'echo denied >&2; exit 2');
      const { config } = await openAllowed(
        host,
        { hooks: [guard] },
        { hooks: [{ ...guard, name: 'copy' }] },
      );
      await host.write('x.sh', 'echo changed >&2; exit 2');
      expect(await host.callToolOf(config)).toMatchObject({ verdict: 'blocked', text: 'changed' });
    },
  );

  fault('77 the project may make it a guard', async ({ host }) => {
    const failing = hook('kill -9 $$', { name: 'own' });
    const { config } = await openAllowed(
      host,
      { hooks: [failing] },
      { hooks: [{ ...failing, onFailure: 'deny' }] },
    );
    const { verdict, hooks } = await host.callToolOf(config);
    expect(verdict).toBe('blocked');
    expect(hooks.map(({ hookConfig: { name } }) => name)).toEqual(['own']);
  });

  fault("77 where only the project's matches, it runs as the project has it", async ({ host }) => {
    const { config } = await openAllowed(
      host,
      { matcher: 'read_file', hooks: [own] },
      { hooks: [hook(command, { name: 'copy' })] },
    );
    const { hooks } = await host.callToolOf(config);
    expect(hooks.map(({ hookConfig: { name } }) => name)).toEqual(['copy']);
  });

  fault('77 results come in the order of the plan', async ({ host }) => {
    await writeSettings(
      host,
      [{ hooks: [hook('true', { name: 'own' }), hook(':', { name: 'last' })] }],
      [{ hooks: [hook('true', { name: 'copy' }), hook('pwd', { name: 'first' })] }],
    );
    await allowAll(host);
    const { config } = await openProject(host);
    const { hooks } = await host.callToolOf(config);
    expect(hooks.map(({ hookConfig: { name } }) => name)).toEqual(['first', 'own', 'last']);
  });
});
