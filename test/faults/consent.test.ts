import { execFileSync } from 'node:child_process';
import { mkdir, rm, symlink, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { describe, expect } from 'vitest';
import type { CommandHookConfig } from '../../src/protocol/types.js';
import { hook } from '../helpers/hooks.js';
import { fault, type Host } from './helpers/host.js';
import { allowAll, openProject, SETTINGS } from './helpers/project.js';

function project(hooks: readonly CommandHookConfig[]) {
  return { enableHooks: true, hooks: { BeforeTool: [{ hooks }] } };
}

/** The verdict of a call with the project's hooks as they are now, and what was written. */
async function call(host: Host) {
  const { config } = await openProject(host);
  return host.callToolOf(config);
}

async function allow(host: Host, ...hooks: CommandHookConfig[]): Promise<void> {
  await host.write(SETTINGS, project(hooks));
  await allowAll(host);
}

describe('74 code beside a script', () => {
  fault('74 a forged file that Python would take for compiled is not read', async ({ host }) => {
    await host.write('.llxprt/hooks/helper.py', 'x = 1\n');
    await host.write(
      '.llxprt/hooks/x.py',
      'import sys, helper\nopen("ran", "a").write("ran\\n")\n',
    );
    await allow(host, hook('python3 .llxprt/hooks/x.py'));
    await call(host);
    // Compiled of other code, and marked as never to be compared with its source.
    const forge = [
      'import py_compile, sys',
      'py_compile.compile("evil.py", cfile=sys.argv[1], invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH)',
    ].join('\n');
    await host.write('evil.py', 'open("pwned", "w")\n');
    const tag = execFileSync('python3', ['-c', 'import sys; print(sys.implementation.cache_tag)'])
      .toString()
      .trim();
    await mkdir(path.join(host.directory, '.llxprt/hooks/__pycache__'), { recursive: true });
    const forged = `.llxprt/hooks/__pycache__/helper.${tag}.pyc`;
    execFileSync('python3', ['-c', forge, forged], { cwd: host.directory });
    const { verdict } = await call(host);
    expect(verdict).toBe('allowed');
    expect(host.lines('ran')).toHaveLength(2);
    expect(host.exists('pwned')).toBe(false);
  });

  fault.for<[string, string, string]>([
    ['a module in place of one of the library', '.llxprt/hooks/json.py', 'open("pwned", "w")\n'],
    ['the folder of a package', '.llxprt/hooks/helper/__init__.py', 'open("pwned", "w")\n'],
    ['what a package.json says', '.llxprt/hooks/package.json', '{"type": "commonjs"}'],
  ])('74 %s asks again', async ([, file, content], { host }) => {
    await host.write('.llxprt/hooks/helper.py', 'x = 1\n');
    await host.write('.llxprt/hooks/x.py', 'import json, helper\n');
    await allow(host, hook('python3 .llxprt/hooks/x.py', { onFailure: 'deny' }));
    expect((await call(host)).verdict).toBe('allowed');
    await host.write(file, content);
    expect((await call(host)).text).toContain(`${file} is new`);
    expect(host.exists('pwned')).toBe(false);
  });

  fault('74 an interpreter of the project in the first line is open', async ({ host }) => {
    await host.write('tools/interpreter', '#!/bin/sh\n', 0o755);
    await host.write('.llxprt/hooks/x', '#!tools/interpreter\n', 0o755);
    await host.write(SETTINGS, project([hook('./.llxprt/hooks/x')]));
    const { config } = await openProject(host);
    await config.getHookSystem()?.initialize();
    const [entry] = config.getHookSystem()?.getAllHooks() ?? [];
    expect(entry?.review).toMatchObject({ class: 'open' });
    expect(entry?.review?.covers).toContain('whose first line names tools/interpreter');
  });
});

describe('75 variables of a hook', () => {
  fault.for([
    'HOME',
    'GIT_DIR',
    'XDG_CONFIG_HOME',
    'NODE_COMPILE_CACHE',
    'PYTHONPYCACHEPREFIX',
    'npm_config_script_shell',
    'TMPDIR',
    'GIT_SSH_COMMAND',
  ])('75 %s is refused, by its name, also where all is trusted', async (name, { host }) => {
    await host.write(SETTINGS, project([hook('touch pwned', { env: { [name]: './evil' } })]));
    for (const options of [{}, { trustedFolder: true }]) {
      const { config } = await openProject(host, options);
      await host.callToolOf(config);
      expect(host.exists('pwned')).toBe(false);
      const [entry] = config.getHookSystem()?.getAllHooks() ?? [];
      expect(entry?.skipped).toBe('refused');
      expect(entry?.review?.reason).toContain(`its "env" sets ${name}`);
    }
  });

  fault(
    '75 a name of which nothing is known makes it open, and says what to do',
    async ({ host }) => {
      await host.write(
        SETTINGS,
        project([hook('sh .llxprt/hooks/x.sh', { env: { MODE: 'strict' } })]),
      );
      const { config } = await openProject(host);
      await config.getHookSystem()?.initialize();
      const [entry] = config.getHookSystem()?.getAllHooks() ?? [];
      expect(entry?.review).toMatchObject({ class: 'open' });
      expect(entry?.review?.covers).toContain('it sets the variable MODE: call it HOOK_MODE');
    },
  );
});

describe('80 what takes long to look at', () => {
  fault('80 a name that many patterns match', async ({ host }) => {
    await host.write(`.llxprt/hooks/${'a'.repeat(250)}`, '');
    await host.write(SETTINGS, project([hook('cat .llxprt/hooks/a*a*a*a*a*a*a*b')]));
    const startedAt = performance.now();
    expect((await call(host)).verdict).toBe('allowed');
    host.measure('looked at in', performance.now() - startedAt, 'ms');
  });

  fault(
    '80 a folder and a large file that many hooks name are looked at once',
    async ({ host }) => {
      await host.write('.llxprt/hooks/x.sh', '');
      await host.write('.llxprt/hooks/large', '');
      await truncate(path.join(host.directory, '.llxprt/hooks/large'), 30 * 1024 * 1024);
      const words = Array.from({ length: 5 }, (_, index) => `w${index}`).join(' ');
      const hooks = Array.from({ length: 300 }, (_, index) =>
        hook(`bash .llxprt/hooks/x.sh ${words} ${index}`),
      );
      await host.write(SETTINGS, project(hooks));
      const { config } = await openProject(host);
      const startedAt = performance.now();
      await config.getHookSystem()?.initialize();
      host.measure('looked at in', performance.now() - startedAt, 'ms');
      const entries = config.getHookSystem()?.getAllHooks() ?? [];
      expect(new Set(entries.map(({ review }) => review?.status))).toEqual(new Set(['new']));
      expect(new Set(entries.map(({ review }) => review?.class))).toEqual(new Set(['pinned']));
    },
  );

  fault('80 a project that brings too much to look at is refused as a whole', async ({ host }) => {
    const scripts = ['.llxprt', '.claude', '.gemini'].map((folder) => `${folder}/hooks/a.sh`);
    for (const script of scripts) {
      await host.write(script, '');
      await truncate(path.join(host.directory, script), 25 * 1024 * 1024);
    }
    const hooks = scripts.map((script) => hook(`bash ${script}`));
    await host.write(SETTINGS, project([hook('touch pwned'), ...hooks]));
    const { config } = await openProject(host);
    await host.callToolOf(config);
    const entries = config.getHookSystem()?.getAllHooks() ?? [];
    expect(new Set(entries.map(({ skipped }) => skipped))).toEqual(new Set(['refused']));
    expect(entries[0]?.review?.reason).toContain('names files of more than 67108864 bytes');
    expect(host.exists('pwned')).toBe(false);
  });
});

describe('85 files whose names look alike', () => {
  fault('85 a link, and a file that is called as a list would show it', async ({ host }) => {
    const at = (file: string) => path.join(host.directory, '.llxprt/hooks', file);
    await host.write('.llxprt/hooks/x.sh', '');
    await host.write('.llxprt/hooks/y', 'a');
    await symlink('y', at('x'));
    await host.write('.llxprt/hooks/x -> y', 'b');
    await allow(host, hook('bash .llxprt/hooks/x.sh', { onFailure: 'deny' }));
    expect((await call(host)).verdict).toBe('allowed');
    await host.write('.llxprt/hooks/x -> y', 'c');
    expect((await call(host)).text).toContain('.llxprt/hooks/x -> y');
    await host.write('.llxprt/hooks/x -> y', 'b');
    expect((await call(host)).verdict).toBe('allowed');
    await rm(at('x'));
    await host.write('.llxprt/hooks/x', 'a');
    expect((await call(host)).verdict).toBe('blocked');
  });

  fault('85 a name that is no UTF-8 makes the hook open', async ({ host }) => {
    await host.write('.llxprt/hooks/x.sh', '');
    const name = Buffer.concat([
      Buffer.from(`${host.directory}/.llxprt/hooks/`),
      Buffer.from([0xff]),
    ]);
    await writeFile(name, '');
    await host.write(SETTINGS, project([hook('bash .llxprt/hooks/x.sh')]));
    const { config } = await openProject(host);
    await config.getHookSystem()?.initialize();
    const [entry] = config.getHookSystem()?.getAllHooks() ?? [];
    expect(entry?.review?.covers).toContain('whose name is no UTF-8');
  });
});
