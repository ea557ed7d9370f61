import {
  commandNotExecutable,
  commandNotFound,
  interpreterMissing,
  scriptMissing,
  unexpandedReference,
} from './commandRules.js';
import {
  conflictingRewrites,
  duplicateCommand,
  duplicateName,
  emptyHooks,
  hiddenCharacters,
  hooksOff,
  pluginType,
  timeoutTooLong,
  unknownTopLevelKey,
} from './hookRules.js';
import {
  matcherCatastrophic,
  matcherGlob,
  matcherInvalid,
  matcherNeverMet,
  matcherUnanchored,
  matcherUndecided,
  matcherUnknownTool,
  matcherUnused,
} from './matcherRules.js';
import type { Checked, GroupSite, HookSite, Rule, Severity } from './types.js';

type Said = string | undefined | Promise<string | undefined>;

/** THE table of rules. What the loader itself reports is beside it, in {@link loaderSeverities}. */
export const rules: Readonly<Record<string, Rule>> = {
  'hooks-off': { severity: 'warning', check: hooksOff },
  'unknown-key': { severity: 'warning', check: unknownTopLevelKey },
  'empty-hooks': { severity: 'warning', check: emptyHooks },
  'matcher-invalid': eachMatcher('error', matcherInvalid),
  'matcher-catastrophic': eachMatcher('error', matcherCatastrophic),
  'matcher-undecided': eachMatcher('warning', matcherUndecided),
  'matcher-glob': eachMatcher('warning', matcherGlob),
  'matcher-never-met': eachMatcher('warning', matcherNeverMet),
  'matcher-unused': eachMatcher('warning', matcherUnused),
  'matcher-unknown-tool': eachMatcher('warning', matcherUnknownTool),
  'matcher-unanchored': eachMatcher('warning', matcherUnanchored),
  'plugin-type': eachHook('error', 'type', pluginType),
  'command-not-found': eachHook('error', 'command', commandNotFound),
  'command-not-executable': eachHook('error', 'command', commandNotExecutable),
  'interpreter-missing': eachHook('error', 'command', interpreterMissing),
  'script-missing': eachHook('error', 'command', scriptMissing),
  'hidden-characters': { severity: 'warning', check: hiddenCharacters },
  'unexpanded-reference': eachHook('warning', 'command', unexpandedReference),
  'timeout-too-long': eachHook('warning', 'timeout', timeoutTooLong),
  'duplicate-command': eachHook('warning', 'command', duplicateCommand),
  'duplicate-name': eachHook('warning', 'name', duplicateName),
  'conflicting-rewrites': eachHook('warning', 'command', conflictingRewrites),
};

/** How grave it is what the loader reports, by its kind. */
export const loaderSeverities = {
  value: 'error',
  unsupported: 'error',
  'unknown-event': 'error',
  'unknown-key': 'warning',
  'misplaced-key': 'warning',
  'repeated-key': 'warning',
  'unlikely-value': 'warning',
  'no-effect': 'warning',
  untrusted: 'warning',
} as const;

/** A rule about one hook at a time, whose findings are about one of its keys. */
function eachHook(
  severity: Severity,
  key: string,
  say: (site: HookSite, checked: Checked) => Said,
): Rule {
  return {
    severity,
    check: (checked) =>
      collect(
        checked.hooks,
        (site) => say(site, checked),
        (site) => [...site.at, key],
      ),
  };
}

function eachMatcher(severity: Severity, say: (site: GroupSite) => Said): Rule {
  return {
    severity,
    check: ({ groups }) => collect(groups, say, (site) => [...site.at, 'matcher']),
  };
}

async function collect<S extends GroupSite>(
  sites: readonly S[],
  say: (site: S) => Said,
  placeOf: (site: S) => readonly (string | number)[],
) {
  const slips = await Promise.all(
    sites.map(async (site) => {
      const message = await say(site);
      return message === undefined ? [] : [{ file: site.file, at: placeOf(site), message }];
    }),
  );
  return slips.flat();
}
