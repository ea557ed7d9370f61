import { findUnmatchableNames, matchesGroup } from './matching.js';
import type { MatcherReading } from '../dialects/dialect.js';
import { suggestName } from '../util/suggestName.js';
import { theirToolNames } from '../dialects/translate.js';
import { dialects, readMatcher, dialectOfMatcher } from '../dialects/dialects.js';
import { events } from '../protocol/events.js';
import { isExpression, MAX_EXPRESSION_LENGTH } from '../util/limitedRegExp.js';
import { referenceToolNames } from '../agent/tools/toolNames.js';
import { findAttacks, hasRecheck } from './attackSearch.js';
import type { Checked, GroupSite, Said } from './types.js';

/** Each of these says what is wrong with the matcher of one group, if anything. */
type MatcherRule = (site: GroupSite, checked: Checked) => Said;

const KNOWN_TOOLS = referenceToolNames;

/** Names of tools that others bring, such as `mcp__github__create_issue`. */
const FOREIGN = /mcp|__/iu;

const NAMES_ONLY = /^(?:[\w-]+(?:\|[\w-]+)*|\((?:\?:)?[\w-]+(?:\|[\w-]+)*\))$/u;

/** Whether two groups may run together, as far as the known tools tell. */
export function mayMatchTogether(a: GroupSite, b: GroupSite): boolean {
  if (a.event !== b.event) return false;
  const { matchOn, subjects = [] } = events[a.event];
  if (matchOn) {
    return (
      a.group.matcher === b.group.matcher || toolsOf(a).some((tool) => toolsOf(b).includes(tool))
    );
  }
  if (subjects.length === 0) return true;
  const sites = [a, b].filter((site) => !isTooLong(site));
  return subjects.some((subject) =>
    sites.every(({ group, event }) => matchesGroup(group, event, { subject })),
  );
}

const matched = new WeakMap<GroupSite['group'], readonly string[]>();

/** Kept, as matchers may be slow and each hook is compared with all others. */
function toolsOf(site: GroupSite): readonly string[] {
  const { group } = site;
  if (isTooLong(site)) return [];
  const known = matched.get(group) ?? KNOWN_TOOLS.filter((tool) => matchesTool(site, tool));
  matched.set(group, known);
  return known;
}

function matchesTool({ group, event }: GroupSite, toolName: string): boolean {
  return matchesGroup(group, event, { toolName });
}

/** A source, reason or trigger that another agent has and this one has not. */
export const matcherNeverMet: MatcherRule = (site) => {
  if (isTooLong(site)) return undefined;
  const { idle, subjects } = findUnmatchableNames(site.group, site.event);
  if (idle.length === 0) return undefined;
  return `waits for ${idle.join(', ')}, which never comes here: ${site.event} has ${subjects.join(', ')}`;
};

export const matcherUnused: MatcherRule = ({ event, group }) => {
  const { matchOn, dialectsMatchOn } = events[event];
  const { dialect, matcher } = group;
  if (!matcher || matcher === '*' || matchOn) return undefined;
  if (dialect && dialectsMatchOn && readMatcher(group, event) !== 'all') return undefined;
  return `has no effect: at ${event} every hook runs; remove it`;
};

export const matcherUnknownTool: MatcherRule = (site) => {
  const matcher = matcherOf(site);
  const expression = expressionOf(site)?.expression;
  if (matcher === undefined || FOREIGN.test(matcher)) return undefined;
  if (expression !== undefined && !isExpression(expression)) return undefined;
  // The tools of another agent are known by its names, whether or not they are here.
  const words = site.group.dialect ? dialects[site.group.dialect].tools : [];
  const tools = [...KNOWN_TOOLS, ...words.map(({ ours }) => ours)];
  if (tools.some((tool) => matchesTool(site, tool))) return undefined;
  const names = tools.flatMap((tool) => words.find(({ ours }) => ours === tool)?.theirs ?? [tool]);
  const agent = site.group.dialect ? undefined : dialectOfMatcher(matcher);
  if (agent !== undefined) return `matches none of the known tools; ${agent}`;
  const hint = suggestName(matcher.replaceAll(/[^\w-]/gu, ''), [...new Set(names)]);
  return `matches none of the known tools; ${hint}`;
};

export const matcherGlob: MatcherRule = (site) => {
  if (!/[\w-]_\*/u.test(expressionOf(site)?.expression ?? '')) return undefined;
  return 'repeats the _ before the *, which is not a wildcard here; write _.* for names that go on';
};

/** A plain name that also matches longer ones, or anchors that hold for one of several names. */
export const matcherUnanchored: MatcherRule = (site) => {
  const matcher = expressionOf(site)?.expression;
  if (matcher === undefined) return undefined;
  if (hasMixedAnchors(matcher)) {
    const names = matcher.replaceAll(/[\^$]/gu, '');
    return `is anchored in part: ^ and $ hold for the name beside them only, and not for all; write ^(${names})$`;
  }
  if (!NAMES_ONLY.test(matcher)) return undefined;
  const names = matcher.replaceAll(/[()?:]/gu, '').split('|');
  const { dialect } = site.group;
  const namesOf = (tool: string) => (dialect ? theirToolNames(dialects[dialect], tool) : [tool]);
  const more = KNOWN_TOOLS.filter(
    (tool) => !namesOf(tool).some((name) => names.includes(name)) && matchesTool(site, tool),
  ).map((tool) => namesOf(tool)[0]);
  if (more.length === 0) return undefined;
  return `is not anchored and also matches ${more.join(', ')}; anchor the names that are meant, such as ^${more[0]}$`;
};

/** Whether `^` or `$` was meant for all of `^a|b$`. A list of names that begin so, as in `^a|^b$`, is not a slip. */
function hasMixedAnchors(matcher: string): boolean {
  if (!/^\^?[\w-]+\$?(?:\|\^?[\w-]+\$?)+$/u.test(matcher)) return false;
  const names = matcher.split('|');
  const begun = names.filter((name) => name.startsWith('^')).length;
  const ended = names.filter((name) => name.endsWith('$')).length;
  return begun === 0 ? ended > 0 && ended < names.length : begun < names.length;
}

export const matcherCatastrophic: MatcherRule = async (site, checked) => {
  const found = (await searchAttacks(checked)).get(site);
  // A name is short: what grows with its square or cube takes no time.
  if (found?.status !== 'vulnerable' || found.complexity.type !== 'exponential') return undefined;
  return `takes exponential time for names such as ${JSON.stringify(found.attack.string.slice(0, 40))}…, and then counts as not matching; let nothing that repeats contain another repetition`;
};

export const matcherUndecided: MatcherRule = async (site, checked) => {
  if (isTooLong(site)) {
    return `is longer than ${MAX_EXPRESSION_LENGTH} characters, and may take for ever for some names; a project's is refused; simplify it`;
  }
  const searched = await searchAttacks(checked);
  const found = searched.get(site);
  if (!searched.has(site) || (found && found.status !== 'unknown')) return undefined;
  if (hasRecheck) {
    return 'could not be decided: it may take for ever for some names, and then counts as not matching; simplify it';
  }
  // One line is enough for all matchers.
  const [first] = searched.keys();
  if (site !== first) return undefined;
  return 'whether this matcher, and others like it, take for ever for some names is not checked, as the package recheck is not installed; run: npm install --save-dev recheck';
};

const searches = new WeakMap<Checked, ReturnType<typeof search>>();

/** Two rules share one search. */
function searchAttacks(checked: Checked): ReturnType<typeof search> {
  const searched = searches.get(checked) ?? search(checked);
  searches.set(checked, searched);
  return searched;
}

async function search({ groups }: Checked) {
  const sites = groups.flatMap((site) => {
    const matcher = expressionOf(site)?.expression ?? '';
    // Exponential time takes a group that is repeated.
    return /\)[*+{]/u.test(matcher) && isExpression(matcher) ? [{ site, matcher }] : [];
  });
  const attacks = await findAttacks(sites.map(({ matcher }) => matcher));
  return new Map(sites.map(({ site, matcher }) => [site, attacks.get(matcher)]));
}

/** What is tested against the names of tools, if anything, and if it can be looked at in time. */
function matcherOf({ event, group }: GroupSite): string | undefined {
  const isTested = events[event].matchOn && readMatcher(group, event) !== 'all';
  return isTested && !isTooLong({ group }) ? group.matcher : undefined;
}

/** The same where it is a regular expression, and no list of names. */
function expressionOf(
  site: GroupSite,
): Extract<MatcherReading, { expression: string }> | undefined {
  const reading = matcherOf(site) === undefined ? 'all' : readMatcher(site.group, site.event);
  return reading !== 'all' && 'expression' in reading ? reading : undefined;
}

function isTooLong({ group: { matcher = '' } }: Pick<GroupSite, 'group'>): boolean {
  return matcher.length > MAX_EXPRESSION_LENGTH;
}
