import * as command from './commandRules.js';
import * as fleet from './fleetRules.js';
import * as hook from './hookRules.js';
import * as matcher from './matcherRules.js';
import type { Checked, GroupSite, HookSite, Rule, Said, Severity, Slip } from './types.js';

/**
 * THE table of rules. A new one is a function in the file of its concern, a line in here, a line in `docs/cli.md`, and
 * a file in `test/validate/corpus` with the mistake. What the loader itself reports is in {@link loaderSeverities}.
 */
export const rules: Readonly<Record<string, Rule>> = {
  'hooks-off': { severity: 'warning', check: hook.hooksOff },
  'unknown-key': { severity: 'warning', check: hook.unknownTopLevelKey },
  'empty-hooks': { severity: 'warning', check: hook.emptyHooks },
  'matcher-catastrophic': eachMatcher('error', matcher.matcherCatastrophic),
  'matcher-undecided': eachMatcher('warning', matcher.matcherUndecided),
  'matcher-glob': eachMatcher('warning', matcher.matcherGlob),
  'matcher-never-met': eachMatcher('warning', matcher.matcherNeverMet),
  'matcher-unused': eachMatcher('warning', matcher.matcherUnused),
  'matcher-unknown-tool': eachMatcher('warning', matcher.matcherUnknownTool),
  'matcher-unanchored': eachMatcher('warning', matcher.matcherUnanchored),
  'plugin-type': eachHook('error', 'type', hook.pluginType),
  'remote-address': eachHook('error', 'url', hook.remoteAddress),
  'mcp-package': eachHook('error', 'type', hook.mcpPackage),
  'expression-invalid': eachHook('error', 'expr', hook.expressionInvalid),
  'fleet-address': { severity: 'error', check: fleet.fleetAddress },
  'fleet-record': { severity: 'warning', check: fleet.fleetRecord },
  'command-not-understood': eachHook('warning', 'command', command.commandNotUnderstood),
  'command-not-found': eachHook('error', 'command', command.commandNotFound),
  'command-not-executable': eachHook('error', 'command', command.commandNotExecutable),
  'interpreter-missing': eachHook('error', 'command', command.interpreterMissing),
  'script-missing': eachHook('error', 'command', command.scriptMissing),
  'hidden-characters': { severity: 'warning', check: hook.hiddenCharacters },
  'unexpanded-reference': eachHook('warning', 'command', command.unexpandedReference),
  'persistent-shell-line': eachHook('warning', 'persistent', command.persistentShellLine),
  'refused-variable': eachHook('warning', 'env', hook.refusedVariable),
  'timeout-too-long': eachHook('warning', 'timeout', hook.timeoutTooLong),
  'duplicate-command': eachHook('warning', 'command', hook.duplicateCommand),
  'duplicate-name': eachHook('warning', 'name', hook.duplicateName),
  'conflicting-rewrites': eachHook('warning', 'command', hook.conflictingRewrites),
};

/** The severity of the loader's problems, by their kind. */
export const loaderSeverities = {
  value: 'error',
  unsupported: 'error',
  'unknown-event': 'error',
  'unknown-key': 'warning',
  'misplaced-key': 'warning',
  'repeated-key': 'warning',
  'unlikely-value': 'warning',
  'no-effect': 'warning',
  'matcher-invalid': 'error',
  unusable: 'error',
  untrusted: 'warning',
} as const;

/** A rule about one hook at a time, whose findings are about one of its keys. */
function eachHook(
  severity: Severity,
  key: string,
  say: (site: HookSite, checked: Checked) => Said,
): Rule {
  const check = (checked: Checked) => collect(checked.hooks, key, (site) => say(site, checked));
  return { severity, check };
}

/** The same for groups, whose findings are about the matcher. */
function eachMatcher(severity: Severity, say: (site: GroupSite) => Said): Rule {
  const check = ({ groups }: Checked) => collect(groups, 'matcher', say);
  return { severity, check };
}

function collect<S extends GroupSite>(
  sites: readonly S[],
  key: string,
  say: (site: S) => Said,
): Slip[] {
  return sites.flatMap((site) => {
    const message = say(site);
    return message === undefined ? [] : { file: site.file, at: [...site.at, key], message };
  });
}
