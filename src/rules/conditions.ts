import { isOfDomain } from './addresses.js';
import { factsOf, type CallReading, type Named } from './facts.js';
import { readPattern, type Pattern } from './patterns.js';
import type { Place } from './paths.js';
import type { Call, Condition, FoundMatch, StartedCommand } from './types.js';

/** What of a call a pattern has matched. */
interface Match {
  readonly part?: string | undefined;
  readonly doubt?: string | undefined;
  readonly command?: StartedCommand | undefined;
  readonly read?: Place;
  readonly edit?: Place;
  readonly host?: string | undefined;
}

/** Takes a match; `true` ends the search. */
type Accepts = (match: Match) => boolean;

/**
 * Reads a list of patterns: it matches what one of them matches and no `!` pattern does. An exception holds for the command,
 * file or host that was matched, and not for all of the call, so that nothing passes beside what is allowed.
 *
 * @throws Error for a text of which `problemOf` says what is wrong
 */
export function compileWhen(texts: readonly string[]): Condition {
  const patterns = texts.map(readPattern);
  const wanted = patterns.filter(({ isExcept }) => !isExcept);
  const exceptions = patterns.filter(({ isExcept }) => isExcept);
  return new PatternList(wanted, exceptions);
}

class PatternList implements Condition {
  constructor(
    private readonly wanted: readonly Pattern[],
    private readonly exceptions: readonly Pattern[],
  ) {}

  find(call: Call, isGuard: boolean): FoundMatch | undefined {
    const facts = factsOf(call);
    if (this.wanted.length === 0) return isExcepted(this.exceptions, {}, facts) ? undefined : {};
    let doubtful: FoundMatch | undefined;
    for (const pattern of this.wanted) {
      const match = findBest(pattern, facts, isGuard, this.exceptions);
      if (!match) continue;
      const finding = findingOf(pattern, match);
      if (match.doubt === undefined) return finding;
      doubtful ??= finding;
    }
    return doubtful;
  }

  covers(call: Call): FoundMatch | undefined {
    const facts = factsOf(call);
    const isExcluded = this.exceptions.some((each) => findBest(each, facts, true, []));
    if (isExcluded) return undefined;
    const [first] = this.wanted;
    if (!first) return {};
    const whole = this.wanted.find((each) => isWholeCall(each, facts));
    if (whole) return { pattern: whole.text };
    return coversAll(this.wanted, facts) ? { pattern: first.text } : undefined;
  }
}

function findingOf({ text }: Pattern, { part, doubt }: Match): FoundMatch {
  return {
    pattern: text,
    ...(part !== undefined && { part }),
    ...(doubt !== undefined && { doubt }),
  };
}

/** What is certain comes before what is not. */
function findBest(
  pattern: Pattern,
  facts: CallReading,
  isGuard: boolean,
  exceptions: readonly Pattern[],
): Match | undefined {
  let found: Match | undefined;
  search(pattern, facts, isGuard, exceptions, (match) => {
    if (match.doubt !== undefined && !isGuard) return false;
    if (exceptions.length > 0 && isExcepted(exceptions, match, facts)) return false;
    if (match.doubt === undefined || !found) found = match;
    return match.doubt === undefined;
  });
  return found;
}

/** Hands out what a pattern matches, one after the other, until one is accepted. */
function search(
  pattern: Pattern,
  facts: CallReading,
  isGuard: boolean,
  exceptions: readonly Pattern[],
  accepts: Accepts,
): boolean {
  switch (pattern.kind) {
    case 'tool':
    case 'argument':
      return isWholeCall(pattern, facts) && accepts({ part: facts.call.tool });
    case 'command':
      return searchCommands(pattern, facts, accepts);
    case 'read':
    case 'edit':
      return searchFiles(pattern, facts, exceptions, accepts);
    default:
      return searchHosts(pattern.domain, facts, isGuard, accepts);
  }
}

function isWholeCall(pattern: Pattern, { call }: CallReading): boolean {
  if (pattern.kind === 'tool') return pattern.matches(call.tool);
  if (pattern.kind !== 'argument' || !pattern.matches(call.tool)) return false;
  const value = Object.hasOwn(call.input, pattern.name) ? call.input[pattern.name] : undefined;
  return [value].flat().some((each) => isText(each) && pattern.matchesValue(String(each)));
}

function isText(value: unknown): value is string | number | boolean {
  return ['string', 'number', 'boolean'].includes(typeof value);
}

function searchCommands(
  { command: pattern }: Extract<Pattern, { kind: 'command' }>,
  facts: CallReading,
  accepts: Accepts,
): boolean {
  if (facts.texts.length === 0) return false;
  const { program } = pattern;
  if (!facts.mayHold(pattern.literals)) return false;
  const { guess } = facts.uses;
  const commands = program === undefined ? facts.commands : facts.commandsOf(program);
  for (const command of commands) {
    const found = pattern.find(command);
    if (!found) continue;
    const doubt =
      guess ?? (found === 'maybe' ? 'only the shell knows some of its words' : undefined);
    if (accepts({ part: command.text, doubt, command })) return true;
  }
  for (const command of facts.interpreters) {
    if (!pattern.isNamedInCode(command)) continue;
    if (accepts({ part: command.text, doubt: 'its code may start the program', command }))
      return true;
  }
  return searchUnknown(facts, accepts);
}

/** Where a text may start anything, all patterns may match. */
function searchUnknown(facts: CallReading, accepts: Accepts): boolean {
  if (facts.texts.length === 0) return false;
  const { unknown } = facts;
  return unknown !== undefined && accepts({ part: facts.texts[0], doubt: unknown });
}

function searchFiles(
  { kind, path }: Extract<Pattern, { kind: 'read' | 'edit' }>,
  facts: CallReading,
  exceptions: readonly Pattern[],
  accepts: Accepts,
): boolean {
  const { guess } = facts.uses;
  for (const { what: place, command } of kind === 'read' ? facts.reads : facts.writes) {
    const skips = (file: Place) =>
      exceptions.length > 0 && isExcepted(exceptions, { [kind]: file, command }, facts);
    const found = path.find(place, skips);
    if (!found) continue;
    const named = place.file.shown ?? place.file.path;
    const part = found.file ? found.file.lexical : named;
    const doubt = found.doubt ?? place.file.doubt ?? guess;
    if (accepts({ part, doubt, command, [kind]: found.file ?? place })) return true;
  }
  return searchUnknown(facts, accepts);
}

function searchHosts(
  domain: string,
  facts: CallReading,
  isGuard: boolean,
  accepts: Accepts,
): boolean {
  const { guess } = facts.uses;
  for (const { what, command } of facts.addresses) {
    const { host, text: part } = what;
    if (host !== undefined && !isOfDomain(host, domain, isGuard)) continue;
    const unknown = host === undefined ? 'the host is not known before it runs' : undefined;
    if (accepts({ part, doubt: unknown ?? guess, command, host })) return true;
  }
  return searchUnknown(facts, accepts);
}

/** Whether exceptions surely hold for what was matched; of a whole call, for all that it does. */
function isExcepted(exceptions: readonly Pattern[], match: Match, facts: CallReading): boolean {
  if (exceptions.some((each) => isWholeCall(each, facts))) return true;
  const { read, edit, command, host } = match;
  if (read && holdsFile(exceptions, 'read', read)) return true;
  if (edit && holdsFile(exceptions, 'edit', edit)) return true;
  if (host !== undefined && holdsHost(exceptions, host)) return true;
  if (command) return holdsCommand(exceptions, command);
  const isPart = read ?? edit ?? host ?? match.doubt;
  return isPart === undefined && holdsAll(exceptions, facts);
}

function holdsCommand(patterns: readonly Pattern[], command: StartedCommand): boolean {
  return patterns.some((each) => each.kind === 'command' && each.command.find(command) === 'yes');
}

function holdsFile(patterns: readonly Pattern[], kind: 'read' | 'edit', place: Place): boolean {
  return patterns.some((each) => each.kind === kind && each.path.holds(place));
}

function holdsHost(patterns: readonly Pattern[], host: string | undefined): boolean {
  return patterns.some(
    (each) => each.kind === 'fetch' && host !== undefined && isOfDomain(host, each.domain, false),
  );
}

/** Whether patterns hold for every command of a call; or, without any, for every file and host. */
function holdsAll(patterns: readonly Pattern[], facts: CallReading): boolean {
  const { uses } = facts;
  if (uses.guess !== undefined) return false;
  if (facts.texts.length > 0) {
    const { commands, unknown } = facts;
    const isAll = commands.every((command) => holdsCommand(patterns, command));
    return unknown === undefined && commands.length > 0 && isAll;
  }
  const { reads, writes, addresses } = facts;
  const all = [
    ...reads.map(({ what }) => holdsFile(patterns, 'read', what)),
    ...writes.map(({ what }) => holdsFile(patterns, 'edit', what)),
    ...addresses.map(({ what }) => holdsHost(patterns, what.host)),
  ];
  return all.length > 0 && all.every(Boolean);
}

/** Builtins that do nothing to anything but the shell. */
const SHELL_ALONE = /^(?:cd|pwd|true|false|:|echo|printf|test|\[)$/;

/** Whether each thing that a call does is allowed by one of the patterns. */
function coversAll(patterns: readonly Pattern[], facts: CallReading): boolean {
  if (facts.texts.length === 0) return holdsAll(patterns, facts);
  if (facts.unknown !== undefined || facts.uses.guess !== undefined) return false;
  const { commands } = facts;
  const isCovered = (command: StartedCommand) =>
    holdsCommand(patterns, command) || SHELL_ALONE.test(command.words[0]?.values?.[0] ?? ':');
  const isStarted = commands.some((command) => holdsCommand(patterns, command));
  const redirected = facts.writes.filter(({ command, what }) => isRedirection(command, what));
  return (
    isStarted &&
    commands.every(isCovered) &&
    redirected.every(({ what }) => holdsFile(patterns, 'edit', what))
  );
}

function isRedirection(command: Named<Place>['command'], { file, lexical }: Place): boolean {
  const isNamed = command?.writes.some(
    ({ text, values = [] }) => values.includes(file.path) || file.shown === text,
  );
  return isNamed === true && !/^\/dev\/(?:null|stdout|stderr)$/.test(lexical);
}
