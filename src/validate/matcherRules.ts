import { dialectOfMatcher } from '../hooks/foreignKeys.js';
import { testMatcher } from '../../middleware/planner.js';
import { findUnmatchableNames, matchesGroup } from './matching.js';
import type { MatcherReading } from '../dialects/dialect.js';
import { suggestName } from '../util/suggestName.js';
import { theirToolNames } from '../dialects/translate.js';
import { dialects, readMatcher } from '../dialects/dialects.js';
import { events, isOfTool } from '../protocol/events.js';
import { isExpression, MAX_EXPRESSION_LENGTH } from '../util/limitedRegExp.js';
import { referenceToolNames, SUBAGENT_TOOL } from '../agent/tools/toolNames.js';
import type { GroupSite, Said } from './types.js';

type Expression = Extract<MatcherReading, { expression: string }>;

/** Each of these says what is wrong with the matcher of one group, if anything. */
type MatcherRule = (site: GroupSite) => Said;

const KNOWN_TOOLS = [...referenceToolNames, SUBAGENT_TOOL];

/** Names of tools that others bring, such as `mcp__github__create_issue`. */
const FOREIGN = /mcp|__/iu;

const NAMES_ONLY = /^(?:[\w-]+(?:\|[\w-]+)*|\((?:\?:)?[\w-]+(?:\|[\w-]+)*\))$/u;

/** Whether two groups may run together, as far as the known tools tell. */
export function mayMatchTogether(a: GroupSite, b: GroupSite): boolean {
  if (a.event !== b.event) return false;
  const { subjects = [] } = events[a.event];
  if (isOfTool(a.event)) {
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
  if (matcher === undefined || FOREIGN.test(matcher) || !isOfTool(site.event)) return undefined;
  if (expression !== undefined && !isExpression(expression)) return undefined;
  // The tools of another agent are known by its names, whether or not they are here.
  const spoken = site.group.dialect && dialects[site.group.dialect];
  const { tools: words = [], otherTools = [] } = spoken ?? {};
  const tools = [...KNOWN_TOOLS, ...words.map(({ ours }) => ours), ...otherTools];
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
  if (!NAMES_ONLY.test(matcher) || !isOfTool(site.event)) return undefined;
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

export const matcherCatastrophic: MatcherRule = (site) => {
  const reading = expressionOf(site);
  // Exponential time takes a group that is repeated.
  if (!reading || !/\)[*+{]/u.test(reading.expression)) return undefined;
  const slow = namesToTry(reading.expression).find((name) => isSlow(reading, name));
  if (slow === undefined) return undefined;
  return `takes exponential time for names such as ${JSON.stringify(slow.slice(0, 40))}…, and then counts as not matching; let nothing that repeats contain another repetition`;
};

/** Enough for exponential time to be seen, and no more than a name may have. */
const REPEATS = 48;
const MAX_WORDS = 8;

/** Names of one thing again and again, behind what the expression begins with, with an end that nothing expects. */
function namesToTry(expression: string): string[] {
  const [, begin = ''] = /^\^?([\w-]*)/u.exec(expression) ?? [];
  const words = expression.match(/[a-z\d_-]+/giu)?.slice(0, MAX_WORDS) ?? [];
  const ends = Array.from(expression.matchAll(/\w(?=-\w)|(?<=\w-)\w/gu), ([end]) => end);
  const repeated = new Set(['a', '_', '0', ...words, ...ends.slice(0, 2 * MAX_WORDS)]);
  return [...repeated].flatMap((word) =>
    ['', begin].map((before) => `${before}${word.repeat(REPEATS)}!`),
  );
}

function isSlow(reading: Expression, name: string): boolean {
  let slow = false;
  testMatcher(reading, name, () => (slow = true));
  return slow;
}

/** More are not told apart by a few names that are tried. */
const MAX_REPEATED_GROUPS = 50;

export const matcherUndecided: MatcherRule = (site) => {
  const groups = expressionOf(site)?.expression.match(/\)[*+{]/gu) ?? [];
  if (groups.length > MAX_REPEATED_GROUPS) {
    return `repeats more than ${MAX_REPEATED_GROUPS} groups, and may take for ever for some names, for which it then counts as not matching; simplify it`;
  }
  if (!isTooLong(site)) return undefined;
  return `is longer than ${MAX_EXPRESSION_LENGTH} characters, and may take for ever for some names; a project's is refused; simplify it`;
};

/** What is tested against the names of tools or the kinds of sub-agents, if anything, and if it can be looked at in time. */
function matcherOf({ event, group }: GroupSite): string | undefined {
  const isTested = events[event].matchOn && readMatcher(group, event) !== 'all';
  return isTested && !isTooLong({ group }) ? group.matcher : undefined;
}

/** The same where it is a regular expression, and no list of names. */
function expressionOf(site: GroupSite): Expression | undefined {
  const reading = matcherOf(site) === undefined ? 'all' : readMatcher(site.group, site.event);
  return reading !== 'all' && 'expression' in reading ? reading : undefined;
}

function isTooLong({ group: { matcher = '' } }: Pick<GroupSite, 'group'>): boolean {
  return matcher.length > MAX_EXPRESSION_LENGTH;
}
