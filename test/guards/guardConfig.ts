import { expect } from 'vitest';
import type { Guard } from '../../src/cli/add/guard.js';
import { Config } from '../../src/config/config.js';
import { parseHookDefinitions } from '../../src/hooks/hookSettings.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';

interface GuardOptions {
  /** Starts its script. */
  readonly command?: string;
  /** Variables of its hooks, in the place of those that it writes. */
  readonly env?: Readonly<Record<string, string>>;
}

/** A host with nothing but the hooks of a guard, as they are written into settings. */
export function guardConfig(
  guard: Guard,
  workingDir: string,
  { command = 'true', env }: GuardOptions = {},
): Config {
  const settings: Record<string, object[]> = {};
  for (const { event, group } of guard.groups(command)) {
    const hooks = group.hooks.map((hook) => ({ ...hook, ...(env && { env }) }));
    (settings[event] ??= []).push({ ...group, hooks });
  }
  const { hooks, problems } = parseHookDefinitions(settings);
  expect(problems).toEqual([]);
  return new Config({ enableHooks: true, workingDir, debugLogger: new RecordingLogger(), hooks });
}
