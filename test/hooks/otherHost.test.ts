import assert from 'node:assert/strict';
import { tmpdir } from 'node:os';
import { expect, it } from 'vitest';
import { fireHook, hasHooks } from '../../src/hooks/fireHook.js';
import { HookSystem } from '../../src/hooks/hookSystem.js';
import type { HookGate, HookHost } from '../../src/hooks/host.js';
import { HookEventName, HookType, type HookDefinitions } from '../../src/protocol/types.js';
import { DebugLogger } from '../../src/util/debugLogger.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';

const ANY: HookGate = {
  isSettled: true,
  admit: async (entries) => [...entries],
  shareConsent: () => undefined,
  findObjection: () => undefined,
  warnSkipped: () => undefined,
};

/** A host that is no `Config`: as little as the hook system asks for. */
function createHost(hooks: HookDefinitions): HookHost {
  return {
    getSessionId: () => 'another session',
    getWorkingDir: () => tmpdir(),
    getEnableHooks: () => true,
    getHooks: () => hooks,
    getExtensions: () => [],
    getDisabledHooks: () => [],
    isTrustedFolder: () => true,
    needsConsent: () => false,
    openGate: () => ANY,
    getHookEnvironment: () => ({}),
    getMaxParallelHooks: () => 4,
    getWarmShells: () => 0,
    getDebugLogger: () => new DebugLogger('test'),
    registrations: () => [],
  };
}

it('fires the hooks of a host that is no Config', async () => {
  const command = `jq -c '{decision: "deny", reason: .session_id}'`;
  const host = createHost({ BeforeTool: [{ hooks: [{ type: HookType.Command, command }] }] });
  const system = new HookSystem(host);
  const firing = { ...host, getHookSystem: () => system };
  const payload = { toolName: 'write_file', toolInput: {} };
  const fired = await fireHook(firing, HookEventName.BeforeTool, payload);
  expect(fired?.aggregated.finalOutput).toMatchObject({
    decision: 'deny',
    reason: 'another session',
  });
});

it('denies for its guards where a host gives what is no hook system of this copy', async () => {
  const guard = { type: HookType.Command, command: 'true', onFailure: 'deny' } as const;
  const host: HookHost = {
    ...createHost({ BeforeTool: [{ hooks: [guard] }] }),
    getDebugLogger: () => new RecordingLogger(),
  };
  const system = new Proxy(new HookSystem(host), {});
  const firing = { ...host, getHookSystem: () => system };
  const payload = { toolName: 'write_file', toolInput: {} };
  const fired = await fireHook(firing, HookEventName.BeforeTool, payload);
  expect(fired?.aggregated.finalOutput?.isBlockingDecision()).toBe(true);
  expect(fired?.aggregated.errors[0]?.message).toContain('this copy of hookstack');
  expect(hasHooks(firing, HookEventName.BeforeTool, payload)).toBe(true);
});

it('asks its gate without an effect, and switches a hook off that has changed where it would start', async () => {
  const told: string[] = [];
  const gate: HookGate = {
    ...ANY,
    findObjection: (_config, onObjection) => {
      onObjection('has changed', true);
      return 'was not started, because it has changed';
    },
    warnSkipped: (_entry, reason) => told.push(reason),
  };
  const origin = { scope: 'project' } as const;
  const group = { origin, hooks: [{ type: HookType.Command, command: 'true' } as const] };
  const host: HookHost = { ...createHost({ BeforeTool: [group] }), openGate: () => gate };
  const system = new HookSystem(host, undefined, new RecordingLogger());
  await system.initialize();
  const registry = system.getRegistry();
  const [entry] = registry.getAllHooks();
  assert(entry);
  expect(await registry.findObjection(entry.config)).toContain('has changed');
  expect({ isOn: entry.enabled, told }).toEqual({ isOn: true, told: [] });

  const firing = { ...host, getHookSystem: () => system };
  const payload = { toolName: 'write_file', toolInput: {} };
  const fired = await fireHook(firing, HookEventName.BeforeTool, payload);
  expect(fired?.aggregated.errors[0]?.message).toContain('has changed');
  expect({ isOn: entry.enabled, told }).toEqual({ isOn: false, told: ['has changed'] });
});
