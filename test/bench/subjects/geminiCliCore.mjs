import { HookEventName, HookSystem, HookType } from '@google/gemini-cli-core';

// Its logger writes to the console, which its agent redirects.
console.debug = () => undefined;

/**
 * The peer, with its telemetry off.
 *
 * @param {object} options as of `hookstack.mjs`; it starts nothing ahead
 * @returns {Promise<import('./hookstack.mjs').Subject>}
 */
export async function openSubject({ hooks, inProcess = 0, cwd }) {
  let looks = 0;
  const system = new HookSystem(createConfig(hooks, cwd));
  await system.initialize();
  for (let index = 0; index < inProcess; index++) {
    const action = async () => {
      looks += 1;
    };
    const hook = { type: HookType.Runtime, name: `look ${index}`, action };
    system.registerHook(hook, HookEventName.BeforeTool);
  }
  return {
    handler: system.getEventHandler(),
    fireBeforeToolTrigger: (toolName, input) => system.fireBeforeToolEvent(toolName, input),
    runTool: async (toolName, input, execute) => {
      await system.fireBeforeToolEvent(toolName, input);
      return execute(input);
    },
    countLooks: () => looks,
  };
}

/** What the peer's hook system asks of its `Config`, as it is without any settings but the hooks. */
function createConfig(hooks, cwd) {
  const config = {
    getHooks: () => hooks,
    getProjectHooks: () => undefined,
    getProjectRoot: () => cwd,
    getExtensions: () => [],
    getDisabledHooks: () => [],
    isTrustedFolder: () => true,
    getSessionId: () => 'bench',
    getWorkingDir: () => cwd,
    getTelemetryEnabled: () => false,
    getTelemetryLogPromptsEnabled: () => false,
    getUsageStatisticsEnabled: () => false,
    sanitizationConfig: {},
    storage: { getPlansDir: () => cwd },
  };
  return Object.assign(config, { config });
}
