import { once } from 'node:events';
import { rename } from 'node:fs/promises';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import path from 'node:path';
import { describe, expect, vi } from 'vitest';
import { loadSettings } from '../../src/config/settings/settings.js';
import type { CommandHookConfig, HookDefinition } from '../../src/protocol/types.js';
import { hook } from '../helpers/hooks.js';
import { marked } from '../helpers/marked.js';
import { fault, type Host } from './helpers/host.js';
import { allowAll, openProject, SETTINGS } from './helpers/project.js';

function project(hooks: readonly CommandHookConfig[], others: object = {}) {
  const groups: HookDefinition[] = [{ hooks }];
  return { enableHooks: true, hooks: { BeforeTool: groups }, ...others };
}

function remote(url: string): CommandHookConfig {
  return { type: 'remote', command: '', url, name: 'central', onFailure: 'deny' };
}

describe('63 before consent', () => {
  fault(
    '63 hooks of a clone do not run in a host that has not asked for them',
    async ({ host, onTestFinished }) => {
      vi.stubEnv('HOME', path.join(host.directory, 'home'));
      onTestFinished(() => void vi.unstubAllEnvs());
      await host.write(
        SETTINGS,
        project([hook('touch pwned'), hook('exit 2', { onFailure: 'deny' })]),
      );
      const { settings } = await loadSettings({ workingDir: host.directory });
      const { verdict } = await host.callToolOf(host.createConfig(settings));
      expect(verdict).toBe('allowed');
      expect(host.exists('pwned')).toBe(false);
      expect(host.warnings).toEqual([
        '2 hooks of this project skipped until you allow them; to see and allow them, run in the project: hookstack trust',
      ]);
    },
  );

  fault('63 what a host passes in code, and what it trusts, runs', async ({ host }) => {
    await host.write(SETTINGS, project([hook('touch ran')]));
    const { config } = await openProject(host, { trustedFolder: true });
    await host.callToolOf(config);
    expect(host.exists('ran')).toBe(true);
    const { verdict } = await host.callTool([hook('exit 2')]);
    expect(verdict).toBe('blocked');
  });

  fault('63 nothing is started ahead', async ({ host }) => {
    await host.write(SETTINGS, project([hook('touch pwned; cat', { prestart: true })]));
    const { config } = await openProject(host);
    await host.callToolOf(config);
    await host.callToolOf(config);
    expect(host.exists('pwned')).toBe(false);
  });
});

describe('64 after a change', () => {
  fault.for<[string, (host: Host) => Promise<unknown>]>([
    ['the command', (host) => host.write(SETTINGS, project([hook('sh .llxprt/hooks/x.sh more')]))],
    [
      'the matcher',
      (host) => {
        const groups = [{ matcher: '.*', hooks: [hook('sh .llxprt/hooks/x.sh')] }];
        return host.write(SETTINGS, { enableHooks: true, hooks: { BeforeTool: groups } });
      },
    ],
    [
      'the environment',
      (host) =>
        host.write(SETTINGS, project([hook('sh .llxprt/hooks/x.sh', { env: { HOOK_A: 'b' } })])),
    ],
    ["the script's bytes", (host) => host.write('.llxprt/hooks/x.sh', 'touch pwned')],
  ])('64 of %s, the user is asked again', async ([, change], { host }) => {
    await host.write('.llxprt/hooks/x.sh', 'echo ran >> ran');
    await host.write(SETTINGS, project([hook('sh .llxprt/hooks/x.sh')]));
    await allowAll(host);
    await host.callToolOf((await openProject(host)).config);
    expect(host.lines('ran')).toEqual(['ran']);
    expect(host.warnings).toEqual([]);
    await change(host);
    const { config } = await openProject(host);
    for (let call = 0; call < 3; call++) await host.callToolOf(config);
    expect(host.lines('ran')).toEqual(['ran']);
    expect(host.exists('pwned')).toBe(false);
    expect(host.warnings).toEqual([
      expect.stringMatching(
        / is skipped; .*: hookstack trust\. It has changed since it was allowed \(.+\)$/,
      ),
    ]);
  });

  fault(
    '64 in the middle of a session, that hook alone is skipped, and told once',
    async ({ host }) => {
      await host.write('.llxprt/hooks/x.sh', 'echo ran >> ran');
      await host.write(
        SETTINGS,
        project([hook('sh .llxprt/hooks/x.sh'), hook('echo said >> other')]),
      );
      await allowAll(host);
      const { config } = await openProject(host);
      await host.callToolOf(config);
      await host.write('.llxprt/hooks/x.sh', 'touch pwned');
      await host.callToolOf(config);
      await host.callToolOf(config);
      expect(host.exists('pwned')).toBe(false);
      expect(host.lines('ran')).toEqual(['ran']);
      expect(host.lines('other')).toHaveLength(3);
      expect(host.warnings).toEqual([
        expect.stringContaining('The hook "sh .llxprt/hooks/x.sh" is skipped'),
      ]);
    },
  );

  fault('64 a guard denies until it is as it was', async ({ host }) => {
    await host.write('.llxprt/hooks/x.sh', 'true');
    await host.write(SETTINGS, project([hook('sh .llxprt/hooks/x.sh', { onFailure: 'deny' })]));
    await allowAll(host);
    const { config } = await openProject(host);
    expect((await host.callToolOf(config)).verdict).toBe('allowed');
    await host.write('.llxprt/hooks/x.sh', 'touch pwned');
    const { verdict, text } = await host.callToolOf(config);
    expect(verdict).toBe('blocked');
    expect(text).toContain('has changed since it was allowed (.llxprt/hooks/x.sh)');
    expect(text).toContain('hookstack trust');
    await host.write('.llxprt/hooks/x.sh', 'true');
    expect((await host.callToolOf(config)).verdict).toBe('allowed');
    expect(host.exists('pwned')).toBe(false);
  });

  fault.for<[string, (url: string) => CommandHookConfig]>([
    ['another path', (url) => remote(`${url}/other`)],
    ['a command', () => hook('touch pwned', { onFailure: 'deny' })],
    ['no name', (url) => ({ ...remote(`${url}/other`), name: undefined })],
  ])(
    '64 a guard that asks a server denies with %s in its place',
    async ([, change], { host, onTestFinished }) => {
      const asked: unknown[] = [];
      const server = createServer((request, response) => {
        asked.push(request.url);
        const id = request.headers['hookstack-question'];
        response.end(JSON.stringify(marked(id, { decision: 'allow' })));
      });
      await once(server.listen(0, '127.0.0.1'), 'listening');
      onTestFinished(() => (server.closeAllConnections(), void server.close()));
      const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
      const call = async () => host.callToolOf((await openProject(host)).config);
      await host.write(SETTINGS, project([remote(url)]));
      await allowAll(host);
      expect((await call()).verdict).toBe('allowed');
      await host.write(SETTINGS, project([change(url)]));
      expect(await call()).toMatchObject({
        verdict: 'blocked',
        text: expect.stringContaining('has changed since it was allowed'),
      });
      expect(asked).toEqual(['/']);
      expect(host.exists('pwned')).toBe(false);
    },
  );

  fault(
    '64 a command that was started ahead gets no input, and is not started again',
    async ({ host }) => {
      await host.write(
        '.llxprt/hooks/x.sh',
        'echo began >> began; read line; echo "$line" >> read',
      );
      await host.write(SETTINGS, project([hook('sh .llxprt/hooks/x.sh', { prestart: true })]));
      await allowAll(host);
      const { config } = await openProject(host);
      await host.callToolOf(config);
      // What is changed between the look at a file and its start is not seen.
      await vi.waitFor(() => expect(host.lines('began')).toHaveLength(2), { timeout: 10_000 });
      await host.write('.llxprt/hooks/x.sh', 'touch pwned; read line');
      await host.callToolOf(config);
      await host.callToolOf(config);
      expect(host.lines('read')).toHaveLength(1);
      expect(host.exists('pwned')).toBe(false);
    },
  );
});

describe('65 settings that claim trust', () => {
  fault.for<[string, object]>([
    ['for themselves', { trustedFolder: true, trustProject: true, trusted: true, consent: true }],
    [
      'in the name of the user',
      {
        hooks: { BeforeTool: [{ origin: { scope: 'user' }, hooks: [hook('touch pwned')] }] },
      },
    ],
    [
      'by the environment',
      { hookEnvironment: { allow: ['*'] }, env: { HOOKSTACK_TRUST_WORKSPACE: 'true' } },
    ],
  ])('65 %s', async ([, claims], { host }) => {
    await host.write(SETTINGS, project([hook('touch pwned')], claims));
    const { config } = await openProject(host);
    await host.callToolOf(config);
    expect(host.exists('pwned')).toBe(false);
    expect(host.warnings).toEqual([expect.stringContaining('1 hook of this project skipped')]);
  });

  fault('65 by a file of consents, or a lock, of their own', async ({ host }) => {
    await host.write(SETTINGS, project([hook('touch pwned')]));
    await allowAll(host);
    await rename(
      path.join(host.directory, 'home/.llxprt/trusted-hooks.json'),
      path.join(host.directory, '.llxprt/trusted-hooks.json'),
    );
    await host.write('.llxprt/hooks.lock', { version: 1, items: [] });
    const { config } = await openProject(host);
    await host.callToolOf(config);
    expect(host.exists('pwned')).toBe(false);
  });
});

describe('69 which programs a hook finds', () => {
  fault.for(['PATH', 'LD_PRELOAD', 'LD_LIBRARY_PATH', 'NODE_OPTIONS', 'BASH_ENV', 'PYTHONSTARTUP'])(
    '69 %s set by a hook of the project: refused, also where all is trusted',
    async (name, { host }) => {
      await host.write(SETTINGS, project([hook('touch pwned', { env: { [name]: './evil' } })]));
      for (const options of [{}, { trustedFolder: true }]) {
        host.logger.records.length = 0;
        const { config } = await openProject(host, options);
        await host.callToolOf(config);
        expect(host.exists('pwned')).toBe(false);
        expect(host.warnings).toEqual([expect.stringContaining(`its "env" sets ${name}`)]);
      }
    },
  );

  fault.for(['.', '', 'bin', './bin'])(
    '69 the entry %j of PATH: no hook gets it',
    async (entry, { host, onTestFinished }) => {
      vi.stubEnv('PATH', `${entry}:${process.env['PATH']}:${entry}`);
      onTestFinished(() => void vi.unstubAllEnvs());
      for (const file of ['guard', 'bin/guard'])
        await host.write(file, '#!/bin/sh\ntouch pwned', 0o755);
      const { hooks } = await host.callTool([hook('guard; printf %s "$PATH"')]);
      expect(host.exists('pwned')).toBe(false);
      expect(hooks[0]?.stdout?.split(':').every((each) => path.isAbsolute(each))).toBe(true);
      expect(host.warnings[0]).toContain('PATH holds entries that are not absolute');
    },
  );
});
