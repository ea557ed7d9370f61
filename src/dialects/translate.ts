import path from 'node:path';
import { isDeepStrictEqual } from 'node:util';
import { textOfContent } from '../protocol/hookOutput.js';
import { dropUnsafeKeys, isRecord, UNSAFE_KEYS } from '../util/records.js';
import type { HookEventName, HookPayload } from '../protocol/types.js';
import { recordOf } from './answers.js';
import type { Dialect, OurCall, ToolWords, Words } from './dialect.js';
import type { Received } from '../protocol/received.js';

type Arguments = Readonly<Record<string, unknown>>;

/**
 * The names of a tool that matchers of a dialect are tested against; the first is what its hooks read. Unknown tools keep
 * our name.
 */
export function theirToolNames(dialect: Dialect, ours: string): readonly [string, ...string[]] {
  const { mcpSeparator } = dialect;
  const [, server, tool] = /^mcp__(.+?)__(.+)$/s.exec(ours) ?? [];
  if (server && tool && mcpSeparator !== '__') {
    return [['mcp', server, tool].join(mcpSeparator), ours];
  }
  return wordsOf(dialect, ours)?.theirs ?? [ours];
}

/** Our name of the tool that a dialect calls by any of its names. */
export function ourToolName(dialect: Dialect, theirs: string): string {
  const known = dialect.tools.find((words) => words.theirs.includes(theirs))?.ours;
  if (known !== undefined || dialect.mcpSeparator === '__') return known ?? theirs;
  // No name of a server has the separator in it there.
  return theirs.replace(/^mcp_([^_]+)_([^_].*)$/s, 'mcp__$1__$2');
}

/**
 * Two arguments that a dialect calls by one name, so that its hooks would see one of them only. Of a call that the agent
 * makes, our hooks would read the one, and its tool the other.
 */
export function findClash(
  dialect: Dialect,
  tool: string,
  input: Arguments,
  isReceived = false,
): readonly [ours: string, theirs: string] | undefined {
  const names = isReceived ? wordsOf(dialect, tool)?.arguments : namesOf(dialect, tool);
  const isClash = (pair: readonly string[]) => pair.every((name) => Object.hasOwn(input, name));
  return Object.entries(names ?? {}).find(isClash);
}

export function theirArguments(
  dialect: Dialect,
  tool: string,
  input: Arguments,
  cwd: string,
): Record<string, unknown> {
  const pairs = pairArguments(dialect, tool, input, cwd);
  const theirs = Object.fromEntries(pairs.map(({ theirs: name, value }) => [name, value]));
  return wordsOf(dialect, tool)?.form?.toTheirs(tool, theirs) ?? theirs;
}

/**
 * What a call of an agent is here: several calls where one of its tools does the work of several of ours.
 *
 * @param called its name of the tool
 * @returns `undefined` where its arguments cannot be read
 */
export function ourCalls(
  dialect: Dialect,
  called: string,
  theirInput: Arguments,
): readonly OurCall[] | undefined {
  const form = dialect.tools.find((words) => words.theirs.includes(called))?.form;
  if (form) return form.toOurs(theirInput);
  const tool = ourToolName(dialect, called);
  return [{ tool, input: ourArguments(dialect, tool, theirInput) }];
}

export function ourArguments(
  dialect: Dialect,
  tool: string,
  theirInput: Arguments,
): Record<string, unknown> {
  const names = Object.entries(wordsOf(dialect, tool)?.arguments ?? {});
  const ofTheirs = Object.fromEntries(names.map(([ours, theirs]) => [theirs, ours]));
  const pairs = Object.entries(theirInput);
  return Object.fromEntries(
    pairs.map(([name, value]) => [nameIn(ofTheirs, name, theirInput), value]),
  );
}

/**
 * What a hook of a dialect changed in a tool's arguments, by our names. Arguments that it gave back as it read them are
 * no change, so that they do not undo what another hook does to them.
 *
 * @returns `dropped`: those that it did not give back, where that agent then drops them
 */
export function changedArguments(
  dialect: Dialect,
  tool: string,
  input: Arguments,
  cwd: string,
  returned: Arguments,
): { readonly change: Record<string, unknown>; readonly dropped: readonly string[] } {
  const { form } = wordsOf(dialect, tool) ?? {};
  if (form) {
    const [call, ...others] = form.toOurs(returned) ?? [];
    if (call?.tool !== tool || others.length > 0) throw new Error(OTHER_CALL);
    return changedArguments(withoutForm(dialect), tool, input, cwd, call.input);
  }
  const pairs = pairArguments(dialect, tool, input, cwd);
  const sent = new Map(pairs.map((pair) => [pair.theirs, pair]));
  const renamed = Object.entries(namesOf(dialect, tool));
  const change = Object.entries(returned).flatMap(([theirs, value]) => {
    const known = sent.get(theirs);
    if (known) return isEcho(known.value, value) ? [] : [[known.ours, value] as const];
    const ours = renamed.find(([, name]) => name === theirs)?.[0] ?? theirs;
    return [[ours, value] as const];
  });
  // What JSON does not hold was not read, and what an answer cannot hold cannot be given back.
  const isLeftOut = ({ theirs, value }: ArgumentPair) =>
    !Object.hasOwn(returned, theirs) &&
    !UNSAFE_KEYS.has(theirs) &&
    JSON.stringify(value) !== undefined;
  const dropped = dialect.replacesArguments ? pairs.filter(isLeftOut).map(({ ours }) => ours) : [];
  return { change: Object.fromEntries(change), dropped };
}

const OTHER_CALL = 'gave back arguments that are another call than the one that it read';

function withoutForm(dialect: Dialect): Dialect {
  return { ...dialect, tools: dialect.tools.map(({ form: _form, ...words }) => words) };
}

/**
 * What an agent is to run its tool with, by its names; what nobody changed stays as it came.
 *
 * @param given the arguments as it sent them
 */
export function receivedArguments(
  dialect: Dialect,
  { payload, identity }: Received,
  given: Arguments,
  changed: Arguments,
): {
  /** All arguments. */
  readonly all: Record<string, unknown>;
  /** Those that have another value than before. */
  readonly changed: Record<string, unknown>;
  readonly dropped: readonly string[];
} {
  const { toolName: tool, toolInput } = payload as HookPayload<HookEventName.BeforeTool>;
  const cwd = identity.cwd ?? process.cwd();
  const before = theirArguments(dialect, tool, toolInput, cwd);
  const wanted = Object.entries(theirArguments(dialect, tool, changed, cwd));
  const isSame = (values: Arguments, name: string, value: unknown) =>
    Object.hasOwn(given, name) && isDeepStrictEqual(values[name], value);
  const all = wanted.map(
    ([name, value]) => [name, isSame(before, name, value) ? given[name] : value] as const,
  );
  const names = new Set(all.map(([name]) => name));
  return {
    all: Object.fromEntries(all),
    changed: Object.fromEntries(all.filter(([name, value]) => !isSame(given, name, value))),
    dropped: Object.keys(given).filter((name) => !names.has(name)),
  };
}

/** Whether a hook has returned what it read. JSON does not hold every value, nor an answer every key. */
function isEcho(sent: unknown, returned: unknown): boolean {
  const read: unknown = JSON.parse(JSON.stringify(sent) ?? 'null');
  return isDeepStrictEqual(dropUnsafeKeys(read), returned);
}

export function theirResponse(
  dialect: Dialect,
  tool: string,
  response: Arguments,
  theirInput: Arguments,
): Record<string, unknown> {
  return { ...response, ...wordsOf(dialect, tool)?.response?.(response, theirInput) };
}

/**
 * The text for the model where a hook of a dialect replaced a tool's result; `undefined` where it gave back what it had
 * read. Of an answer that repeats fields of ours, only the agent's own fields count.
 *
 * @param sent the result as the hook read it
 */
export function toolOutputText(
  dialect: Dialect,
  tool: string,
  sent: Arguments,
  value: unknown,
): string | undefined {
  if (!isRecord(value)) return textOfContent(value);
  const read: unknown = JSON.parse(JSON.stringify(sent));
  if (isDeepStrictEqual(read, value) || !isRecord(read)) return undefined;
  const { llmContent, returnDisplay: _, metadata: _facts, error: _fault, ...theirs } = value;
  if (llmContent !== undefined && !isDeepStrictEqual(read['llmContent'], llmContent)) {
    return textOfContent(llmContent);
  }
  const text = wordsOf(dialect, tool)?.output?.(theirs);
  return text ?? textOfContent(Array.isArray(theirs['content']) ? theirs['content'] : theirs);
}

/** A text in the form of the tool's result: another form is ignored there, and the result is read as it was. */
export function replacementOf(
  dialect: Dialect,
  { payload, fields }: Received,
  text: string,
): unknown {
  const { toolName } = payload as HookPayload<HookEventName.AfterTool>;
  const given = fields['tool_response'];
  const blocks = [{ type: 'text', text }];
  if (typeof given === 'string') return text;
  if (Array.isArray(given)) return blocks;
  const known = wordsOf(dialect, toolName)?.replacement;
  if (known) return known(text, recordOf(given), recordOf(fields['tool_input']));
  if (!toolName.startsWith('mcp__')) return undefined;
  return isRecord(given) && Array.isArray(given['content']) ? { content: blocks } : text;
}

interface ArgumentPair {
  readonly ours: string;
  readonly theirs: string;
  /** As the hook reads it. */
  readonly value: unknown;
}

function pairArguments(
  dialect: Dialect,
  tool: string,
  input: Arguments,
  cwd: string,
): readonly ArgumentPair[] {
  const names = namesOf(dialect, tool);
  const paths = wordsOf(dialect, tool)?.paths;
  return Object.entries(input).map(([ours, value]) => {
    const theirs = nameIn(names, ours, input);
    const isPath = typeof value === 'string' && value !== '' && paths?.includes(theirs);
    return { ours, theirs, value: isPath ? path.resolve(cwd, value) : value };
  });
}

/** An argument is renamed unless that would hide another one. */
function nameIn(names: Words, name: string, input: Arguments): string {
  // An argument may have the name of something that every object has, such as `constructor`.
  const other = Object.hasOwn(names, name) ? names[name] : undefined;
  return other === undefined || Object.hasOwn(input, other) ? name : other;
}

function namesOf(dialect: Dialect, tool: string): Words {
  const words = wordsOf(dialect, tool);
  return { ...words?.hostArguments, ...words?.arguments };
}

function wordsOf(dialect: Dialect, ours: string): ToolWords | undefined {
  return dialect.tools.find((words) => words.ours === ours);
}
