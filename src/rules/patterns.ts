import { CommandPattern } from './commandPattern.js';
import { wildcardTest } from './globs.js';
import { PathPattern } from './pathPattern.js';
import { ARGUMENT, FORM, problemOf } from './patternProblem.js';
import { kindOfTool, knownTools, ourToolNames } from './toolTable.js';

/** A pattern, read once. */
export type Pattern = {
  /** As it was written. */
  readonly text: string;
  /** Whether it begins with `!`. */
  readonly isExcept: boolean;
} & (
  | { readonly kind: 'tool'; readonly matches: (tool: string) => boolean }
  | { readonly kind: 'command'; readonly command: CommandPattern }
  | { readonly kind: 'read' | 'edit'; readonly path: PathPattern }
  | { readonly kind: 'fetch'; readonly domain: string }
  | {
      readonly kind: 'argument';
      readonly matches: (tool: string) => boolean;
      readonly name: string;
      readonly matchesValue: (text: string) => boolean;
    }
);

/**
 * Reads a pattern of tool calls.
 *
 * @throws Error for a text of which `problemOf` says what is wrong
 */
export function readPattern(text: string): Pattern {
  const problem = problemOf(text);
  if (problem !== undefined) throw new Error(`the pattern "${text}" ${problem}`);
  const [, mark, tool = '', argument] = FORM.exec(text.trim()) ?? [];
  const own = { text, isExcept: mark === '!' };
  if (argument === undefined) return { ...own, kind: 'tool', matches: toolTest(tool) };
  const kind = tool === '*' ? undefined : kindOfTool(tool);
  if (kind === 'command') return { ...own, kind, command: new CommandPattern(argument) };
  if (kind === 'fetch')
    return { ...own, kind, domain: argument.slice('domain:'.length).toLowerCase() };
  if (kind === 'read' || kind === 'edit')
    return { ...own, kind, path: new PathPattern(argument.trim()) };
  const [, name = '', value = ''] = ARGUMENT.exec(argument) ?? [];
  return {
    ...own,
    kind: 'argument',
    matches: toolTest(tool),
    name,
    matchesValue: wildcardTest(value),
  };
}

/** Whether a tool, by any name that it has here, is the one that a pattern names. */
function toolTest(pattern: string): (tool: string) => boolean {
  if (pattern === '*') return () => true;
  if (/^mcp__[^*]+$/.test(pattern) && !/^mcp__.+?__./.test(pattern)) {
    const server = pattern.replace(/_*$/, '');
    return (tool) => tool === server || tool.startsWith(`${server}__`);
  }
  const names = pattern.includes('*')
    ? knownTools().filter((name) => wildcardTest(pattern)(name))
    : [pattern];
  const ours = new Set(names.flatMap(ourToolNames));
  for (const name of knownTools()) {
    if (ourToolNames(name).some((each) => ours.has(each))) ours.add(name);
  }
  if (!pattern.includes('*')) return (tool) => ours.has(tool);
  const test = wildcardTest(pattern);
  return (tool) => ours.has(tool) || test(tool);
}
