import { EXTENSION_NAMES, type CommandScope, PROJECT_NAMES } from '../shell/expandCommand.js';
import { NOT_PROGRAMS } from '../shell/shellWords.js';

/** Characters. */
const MAX_READ = 1024;

const SINGLE = /'[^']*'/g;
const DOUBLE = /"(?:[^"\\]|\\[^])*"/g;
/** What is expanded in double quotes as well. */
const EXPANSION = /\$\{?\w+\}?|\$[({]|`/g;

/** What a shell does before it starts something, by what stands for it outside of quotes. The first one counts. */
const SIGNS =
  /(?<assigned>^\w+(?==))|(?<redirection>\d?[<>][<>&]*[ \t]*[^\s;|&<>]{0,60})|(?<operator>\|\||&&|[|;&\n()])|(?<comment>(?<=^|\s)#)|(?<expansion>\$\{?\w{1,60}\}?|\$[({]?|`|[*?~]|[[{]\S{0,60})/;

/** Why only the shell knows what a command starts, as the end of "because it …", with what to do. */
export function whyUnclear(command: string, scope: CommandScope): string {
  const names = scope === 'project' ? PROJECT_NAMES : EXTENSION_NAMES;
  const known = new RegExp(String.raw`\$\{(?:${names})\}`, 'g');
  const bare = command
    .slice(0, MAX_READ)
    .trim()
    .replaceAll(SINGLE, 'x')
    .replaceAll(known, 'x')
    .replaceAll(DOUBLE, (quoted) => quoted.match(EXPANSION)?.join('') ?? 'x');
  const variable = SIGNS.exec(bare)?.groups?.['assigned'];
  const other = variable === undefined ? '' : `put it into "env" and call it HOOK_${variable}, or `;
  return `${describeSign(bare)}: ${other}put the line into a script in .llxprt/hooks, and start that`;
}

function describeSign(bare: string): string {
  const { assigned, redirection, operator, comment, expansion } = SIGNS.exec(bare)?.groups ?? {};
  if (assigned !== undefined) return `sets the variable ${assigned}`;
  if (redirection !== undefined) return `has a redirection (${redirection})`;
  if (operator === '|') return 'has a pipe';
  if (operator !== undefined) return `has ${operator === '\n' ? 'several lines' : `"${operator}"`}`;
  if (comment !== undefined) return 'has a comment';
  if (expansion !== undefined) return `expands "${expansion}"`;
  const [word = ''] = bare.split(/\s/, 1);
  if (NOT_PROGRAMS.has(word)) return `begins with ${word}, which is a part of the shell`;
  return 'is a line of which only the shell knows what it starts';
}
