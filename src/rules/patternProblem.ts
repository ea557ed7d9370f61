import { nearestName } from '../util/suggestName.js';
import { kindOfTool, knownTools } from './toolTable.js';

export const FORM = /^(!?)\s*([^()!\s]+)(?:\(([^]*)\))?$/;

/**
 * What is wrong with a pattern, and what to do: one or two sentences that follow on its text. `undefined` for one that can be
 * used.
 */
export function problemOf(text: string): string | undefined {
  const [, , tool, argument] = FORM.exec(text.trim()) ?? [];
  if (tool === undefined) return problemOfForm(text);
  const named = problemOfTool(tool, argument);
  if (named !== undefined || argument === undefined) return named;
  if (argument.trim() === '') {
    return `has nothing between its parentheses: write ${tool} alone for all calls of the tool`;
  }
  const kind = tool === '*' ? 'other' : kindOfTool(tool);
  if (kind === 'command') return problemOfCommand(argument);
  if (kind === 'fetch') {
    return /^domain:\S+$/.test(argument) && !/[/:]/.test(argument.slice(7))
      ? undefined
      : `names no domain: write it as ${tool}(domain:example.com), without a scheme, port or path`;
  }
  if (kind === 'read' || kind === 'edit') return problemOfPath(argument);
  return ARGUMENT.test(argument)
    ? undefined
    : `does not say which argument it is about: write it as ${tool}(name:value), in which * is any text`;
}

function problemOfForm(text: string): string {
  if (text.trim() === '')
    return 'is empty: write a tool, such as Bash(git push *), Read(**/.env*) or mcp__server';
  if (/^!\s*!/.test(text.trim())) return 'begins with more than one !: write one, for an exception';
  const isOpen = text.split('(').length !== text.split(')').length;
  return isOpen
    ? 'has a parenthesis that is not closed, or was not opened: write it as Tool(argument)'
    : 'is not of the form Tool or Tool(argument), such as Bash(git push *), Read(**/.env*) or mcp__server';
}

function problemOfTool(tool: string, argument: string | undefined): string | undefined {
  if (tool.includes('*') || tool.startsWith('mcp__') || kindOfTool(tool)) return undefined;
  const known = [...knownTools()];
  if (known.includes(tool)) return undefined;
  const nearest = nearestName(tool, known);
  if (nearest === undefined) return undefined;
  // Another way to write names is a choice.
  const isStyled = tool.includes('_') !== nearest.includes('_');
  const isSlip = argument !== undefined || Math.abs(nearest.length - tool.length) <= 1;
  const isNear = isSlip && isOneApart(tool.toLowerCase(), nearest.toLowerCase());
  return isNear && !isStyled
    ? `names a tool that nobody knows: did you mean '${nearest}'? For a tool of your own by this name, write ${tool}*`
    : undefined;
}

/** Whether one letter was left out, added, or taken for another, or two next ones were swapped. */
function isOneApart(a: string, b: string): boolean {
  const [short, long] = a.length <= b.length ? [a, b] : [b, a];
  let start = 0;
  while (start < short.length && short[start] === long[start]) start++;
  let end = 0;
  while (end < short.length - start && short.at(-1 - end) === long.at(-1 - end)) end++;
  const left = long.length - start - end;
  const isSwapped =
    left === 2 &&
    short.length === long.length &&
    short[start] === long[start + 1] &&
    short[start + 1] === long[start];
  return left <= 1 || isSwapped;
}

function problemOfCommand(argument: string): string | undefined {
  const operator = patternWords(argument).find((word) => /^(?:&&?|\|\|?|;)$/.test(word));
  if (operator !== undefined) {
    return `has ${operator} in it, and is compared with each command of a line by itself: write one pattern for each`;
  }
  const [first = ''] = patternWords(argument);
  if (/^\w+=/.test(first)) {
    return 'begins with an assignment, which is skipped in commands: begin with the program';
  }
  const isOpen = (argument.match(/"/g) ?? []).length % 2 === 1;
  return isOpen ? 'has a quote that is not closed: close it, or leave it out' : undefined;
}

function problemOfPath(argument: string): string | undefined {
  if (argument.startsWith('!')) return 'excludes within the parentheses: write ! before the tool';
  if (/^[A-Za-z]:[\\/]/.test(argument))
    return 'names a drive: write //c/… for a path from the root of the disk';
  if (argument.includes('\\') && !/\\[*?[\]{}()!\\ ]/.test(argument)) {
    return 'has a backslash in it: separate the names of a path by /';
  }
  const open = argument.split('[').length - argument.split(']').length;
  return open === 0
    ? undefined
    : 'has a [ without a ]: close it, or write \\[ for the character itself';
}

export const ARGUMENT = /^([\w.$-]+):([^]*)$/;

const WORD = /"[^"]*"|'[^']*'|\S+/g;

/** The words of a pattern, without quotes. */
export function patternWords(text: string): readonly string[] {
  return (text.match(WORD) ?? []).map((word) => word.replace(/^(["'])([^]*)\1$/, '$2'));
}
