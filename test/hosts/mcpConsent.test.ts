import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { afterEach, describe, expect, it } from 'vitest';
import { Config } from '../../src/config/config.js';
import { loadSettings } from '../../src/config/settings/settings.js';
import { loadExtensions } from '../../src/extensions/extensions.js';
import { fireHook } from '../../src/hooks/fireHook.js';
import { HookEventName } from '../../src/protocol/types.js';
import { HookConsent } from '../../src/trust/consent.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';

const SERVER = path.join(import.meta.dirname, 'toolServer.mjs');
const temp = useTempDir();
const configs: Config[] = [];
const project = () => path.join(temp.path, 'project');
const home = () => path.join(temp.path, 'home');
const log = () => path.join(temp.path, 'log');

afterEach(async () => {
  for (const config of configs.splice(0)) await config.dispose();
});

function write(file: string, content: object): void {
  mkdirSync(path.dirname(file), { recursive: true });
  writeFileSync(file, JSON.stringify(content), { mode: 0o644 });
}

const server = (env: object = {}) => ({
  command: process.execPath,
  args: [SERVER, log()],
  env,
});
const hook = { type: 'mcp_tool', name: 'ask', server: 'tools', tool: 'pid' };
const says = (more: object = {}, definition: object = server()) => ({
  mcpServers: { tools: definition },
  hooks: { BeforeTool: [{ hooks: [{ ...hook, ...more }] }] },
});
const ofProject = (content: object) =>
  write(path.join(project(), '.llxprt/settings.json'), { enableHooks: true, ...content });

const manifest = (base: string) => path.join(base, '.llxprt/extensions/e/llxprt-extension.json');

const starts = () =>
  (existsSync(log()) ? readFileSync(log(), 'utf8').match(/start/gu) : null) ?? [];

/** Opens the project as a host does, and fires an event. */
async function fire() {
  const places = { workingDir: project(), home: home() };
  mkdirSync(project(), { recursive: true });
  mkdirSync(home(), { recursive: true });
  const { settings } = await loadSettings(places);
  const { extensions } = await loadExtensions(places);
  const consent = await HookConsent.read({ ...places, trustedLock: '' });
  const debugLogger = new RecordingLogger();
  const config = new Config({
    ...settings,
    extensions,
    enableHooks: true,
    consent,
    debugLogger,
    workingDir: project(),
  });
  configs.push(config);
  const payload = { toolName: 'write_file', toolInput: { file_path: 'a' } };
  const fired = await fireHook(config, HookEventName.BeforeTool, payload);
  const entries = config.getHookSystem()?.getAllHooks() ?? [];
  const reviews = entries.flatMap(({ review }) => review ?? []);
  const allow = () => consent.allow(reviews, { open: true });
  const { decision } = fired?.aggregated.finalOutput ?? {};
  return { decision, allow, status: reviews.map(({ status }) => status) };
}

describe('a tool of a server that a project brings', () => {
  it('is called, and its server started, once the user has allowed it', async () => {
    ofProject(says());
    const first = await fire();
    expect(first).toMatchObject({ status: ['new'], decision: undefined });
    expect(starts()).toEqual([]);
    await first.allow();
    expect(await fire()).toMatchObject({ status: ['allowed'], decision: 'deny' });
    expect(starts()).toHaveLength(1);
  });

  it.each<[string, object, object | undefined]>([
    ['another command', {}, { command: 'bash', args: ['-c', 'echo start > ../log'] }],
    ['another variable', {}, { ...server({ HOOK_A: '1' }) }],
    ['another folder', {}, { ...server(), cwd: '..' }],
    ['an address', {}, { url: 'http://127.0.0.1:9/mcp' }],
    ['another tool', { tool: 'scan' }, undefined],
    ['other arguments', { input: { path: 'b' } }, undefined],
  ])('is asked about again with %s', async (_what, more, definition) => {
    ofProject(says());
    await (await fire()).allow();
    ofProject(says(more, definition ?? server()));
    const { status, decision } = await fire();
    expect(status).not.toContain('allowed');
    expect(decision).toBeUndefined();
    expect(starts()).toEqual([]);
  });

  it('denies as a guard while its server is another one than was allowed', async () => {
    ofProject(says({ onFailure: 'deny' }));
    await (await fire()).allow();
    ofProject(says({ onFailure: 'deny' }, server({ HOOK_A: '1' })));
    expect(await fire()).toMatchObject({ decision: 'deny' });
    expect(starts()).toEqual([]);
  });

  it('does not take the place of one of the user, or use its server', async () => {
    write(path.join(home(), '.llxprt/settings.json'), says());
    ofProject({ hooks: { BeforeTool: [{ hooks: [{ ...hook, name: 'own' }] }] } });
    expect(await fire()).toMatchObject({ decision: 'deny' });
    expect(starts()).toHaveLength(1);
    const servers = configs[0]?.getHookSystem()?.getAllHooks() ?? [];
    const own = servers.find(({ config }) => config.name === 'own');
    expect(own?.config.mcpServer).toBeUndefined();
  });
});

describe('a server in the manifest of an extension', () => {
  it('is started for the hooks of one of the user', async () => {
    write(manifest(home()), { name: 'e', version: '1', ...says() });
    expect(await fire()).toMatchObject({ decision: 'deny', status: [] });
    expect(starts()).toHaveLength(1);
  });

  it('is not started for those of one of a project, unless the user has allowed it', async () => {
    write(manifest(project()), { name: 'e', version: '1', ...says() });
    const first = await fire();
    expect(first).toMatchObject({ status: ['new'], decision: undefined });
    expect(starts()).toEqual([]);
    await first.allow();
    expect(await fire()).toMatchObject({ status: ['allowed'], decision: 'deny' });
    write(manifest(project()), { name: 'e', version: '1', ...says({}, server({ HOOK_A: '1' })) });
    expect((await fire()).status).toEqual(['changed']);
    expect(starts()).toHaveLength(1);
  });

  it('is no server of hooks outside of it', async () => {
    write(manifest(home()), { name: 'e', version: '1', mcpServers: { tools: server() } });
    write(path.join(home(), '.llxprt/settings.json'), {
      enableHooks: true,
      hooks: { BeforeTool: [{ hooks: [{ ...hook, onFailure: 'deny' }] }] },
    });
    expect(await fire()).toMatchObject({ decision: 'deny' });
    expect(starts()).toEqual([]);
  });
});
