import path from 'node:path';
import type { Config, ConfigOptions } from '../../../src/config/config.js';
import { HookConsent } from '../../../src/trust/consent.js';
import { loadSettings } from '../../../src/config/settings/settings.js';
import type { Host } from './host.js';

/** Where a project, or a home, has its settings. */
export const SETTINGS = '.llxprt/settings.json';

/** Writes the groups of BeforeTool of the user, and those of the project. */
export async function writeSettings(
  host: Host,
  ofUser: readonly object[],
  ofProject: readonly object[],
): Promise<void> {
  const user = { enableHooks: true, hooks: { BeforeTool: ofUser } };
  await host.write(`home/${SETTINGS}`, user);
  await host.write(SETTINGS, { hooks: { BeforeTool: ofProject } });
}

/** What a host does that knows nothing of trust, with a home of its own. */
export async function openProject(
  host: Host,
  options: ConfigOptions = {},
): Promise<{ config: Config; consent: HookConsent }> {
  const home = path.join(host.directory, 'home');
  const { settings } = await loadSettings({
    workingDir: host.directory,
    home,
    systemPath: path.join(host.directory, 'none'),
  });
  const consent = await HookConsent.read({ workingDir: host.directory, home });
  return { config: host.createConfig({ ...settings, consent, ...options }), consent };
}

/** Allows all hooks of the project, as they are. */
export async function allowAll(host: Host): Promise<void> {
  const { config, consent } = await openProject(host);
  await config.getHookSystem()?.initialize();
  const entries = config.getHookSystem()?.getAllHooks() ?? [];
  await consent.allow(
    entries.flatMap(({ review }) => review ?? []),
    { open: true },
  );
  host.logger.records.length = 0;
}
