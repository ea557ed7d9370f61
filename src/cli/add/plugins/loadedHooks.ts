import { ExtensionBudget } from '../../../extensions/extensionManifest.js';
import { hookIdentity } from '../../../protocol/identity.js';
import { harmOf, itemOfHook, type ProjectHook } from '../../../trust/consentItem.js';
import type { ConsentItem } from '../../../hooks/entry.js';
import { parseJsonDocument } from '../../../util/jsonDocument.js';
import { isRecord } from '../../../util/records.js';
import { asLoaded } from '../../init/starterFiles.js';
import { toOneLine } from '../../shared/terminal.js';
import { UsageError } from '../../shared/usageError.js';
import { PLUGIN_VARIABLES } from './plugin.js';

/**
 * The hooks of the manifest that is written for a plugin, each as consent to a hook of a project shows it.
 *
 * @param manifest its text
 */
export function itemsIn(manifest: string): ConsentItem[] {
  return hooksIn(manifest).map((hook) => itemOfHook(hook, { class: 'open', files: {} }));
}

/**
 * What a project may not have, no plugin may either.
 *
 * @throws UsageError that names the hook
 */
export function requireHarmless(plugin: string, manifest: string): void {
  const document = parseJsonDocument(manifest);
  const value = isRecord(document.value) ? document.value : {};
  const budget = new ExtensionBudget();
  budget.spend({ status: 'read', text: manifest, document, value });
  if (budget.isSpent) {
    throw new UsageError(
      `"${plugin}" is not taken over: its hooks are more than the extensions of a project may hold`,
    );
  }
  for (const hook of hooksIn(manifest)) {
    const harm = harmOf(hook);
    if (harm === undefined) continue;
    const name = toOneLine(hookIdentity(hook.config));
    throw new UsageError(
      `"${plugin}" is not taken over: its hook "${name}" (${hook.event}) is refused: ${harm}`,
    );
  }
}

/** Without the variables that all hooks of plugins get. */
function hooksIn(manifest: string): ProjectHook[] {
  const { value } = parseJsonDocument(manifest);
  if (!isRecord(value)) return [];
  return asLoaded(value['hooks'], value['mcpServers']).map(({ config, ...hook }) => {
    const own = Object.entries(config.env ?? {}).filter(([name]) => !PLUGIN_VARIABLES.has(name));
    const env = own.length > 0 ? Object.fromEntries(own) : undefined;
    return { ...hook, config: { ...config, env } };
  });
}
