/**
 * Makes references to the project directory safe if its name holds spaces, quotes, or shell code.
 *
 * References are quoted and never replaced by the directory: the shell expands them from its environment, and does not
 * evaluate the value. Outside quotes `$NAME` and `${NAME}` become `"${NAME}"`, inside double quotes `${NAME}`. In single
 * quotes, comments and here-documents they stay as they are, which is as safe, but the value is split at spaces.
 *
 * @param command a command for `bash -c` or `sh -c`, as the user wrote it
 * @param scope an extension's command may also refer to `extensionPath`, `workspacePath`, `${/}` and the folders of a plugin
 * @returns the command to hand to the shell; expanding it again changes nothing
 */
export function expandCommand(command: string, scope: CommandScope = 'project'): string {
  if (!command.includes('$')) return command;
  if (scope === 'project') return quoteReferences(command, PROJECT_TOKENS);
  // No shell can expand `${/}`.
  return quoteReferences(command.replaceAll('${/}', '/'), EXTENSION_TOKENS);
}

/**
 * Puts the values of references to the project, and to the extension, into a word that no shell reads.
 *
 * @param variables the environment of the command
 */
export function expandWord(
  word: string,
  scope: CommandScope,
  variables: Readonly<Record<string, string | undefined>>,
): string {
  if (!word.includes('$')) return word;
  const names = scope === 'project' ? PROJECT_NAMES : `${EXTENSION_NAMES}|${PLUGIN_NAMES}`;
  const separated = scope === 'project' ? word : word.replaceAll('${/}', '/');
  return separated.replaceAll(
    new RegExp(referenceTo(names), 'g'),
    (reference, bare?: string, braced?: string) => variables[bare ?? braced ?? ''] ?? reference,
  );
}

export type CommandScope = 'project' | 'extension';

export function scopeOf(extensionPath: string | undefined): CommandScope {
  return extensionPath === undefined ? 'project' : 'extension';
}

/** The values of references in the commands of a project, or of an extension. */
export function referenceValues(folders: {
  readonly project: string;
  readonly extension?: string | undefined;
}): Readonly<Record<string, string>> {
  const { project, extension } = folders;
  const values = Object.fromEntries(PROJECT_NAMES.split('|').map((name) => [name, project]));
  return extension === undefined
    ? values
    : { ...values, extensionPath: extension, workspacePath: project };
}

function quoteReferences(command: string, tokens: TokenPatterns): string {
  const frames: Frame[] = [];
  let expanded = '';
  for (let position = 0; position < command.length;) {
    const { closer, quoted } = frames.at(-1) ?? TOP;
    const token = matchAt(quoted ? tokens.quoted : tokens.unquoted, command, position);
    const text = token[0];
    position += text.length;

    const name = token.groups?.['bare'] ?? token.groups?.['braced'];
    if (name !== undefined) {
      expanded += quoted ? `\${${name}}` : `"\${${name}}"`;
      continue;
    }
    expanded += text;
    if (token.groups?.['plain'] !== undefined) continue;
    const opened = FRAMES.get(text);
    if (text === closer) frames.pop();
    else if (opened) frames.push({ quoted, ...opened });
  }
  return expanded;
}

/** A part of the command with its own rules of quoting, up to `closer`. */
interface Frame {
  readonly closer: string;
  readonly quoted: boolean;
}

const TOP: Frame = { closer: '', quoted: false };

/** What opens a frame. What `${` opens is quoted as what is around it. */
const FRAMES: ReadonlyMap<string, Pick<Frame, 'closer'> & Partial<Frame>> = new Map([
  ['"', { closer: '"', quoted: true }],
  ['`', { closer: '`', quoted: false }],
  ['(', { closer: ')', quoted: false }],
  ['$(', { closer: ')', quoted: false }],
  ['${', { closer: '}' }],
]);

// Only makes the walk shorter: without it, each character would be a token.
const PLAIN_WORD = String.raw`[\w./:=,-]+`;
const ESCAPE = String.raw`\\[^]|\$\$`;
const SINGLE_QUOTED = String.raw`\$'(?:\\[^]|[^'\\])*'|'[^']*'`;
const COMMENT = String.raw`(?<![^\s;&|(])#[^\n]*`;
// Quotes mean nothing in a here-document, and where it ends is hard to tell: the rest is left alone.
const HERE_DOCUMENT = '<<<|<<[^]*';
const ANYTHING = '[^]';

/** The tokens outside of double quotes, and inside of them. */
interface TokenPatterns {
  readonly unquoted: RegExp;
  readonly quoted: RegExp;
}

/** The names of the project's directory, as alternatives of a regular expression. */
export const PROJECT_NAMES = 'LLXPRT_PROJECT_DIR|GEMINI_PROJECT_DIR|CLAUDE_PROJECT_DIR';
/** Of an extension that was a plugin of Claude Code, and has them in the environment of its hooks. */
const PLUGIN_NAMES = 'CLAUDE_PLUGIN_ROOT|CLAUDE_PLUGIN_DATA|LLXPRT_PLUGIN_ROOT|LLXPRT_PLUGIN_DATA';
export const EXTENSION_NAMES = `${PROJECT_NAMES}|extensionPath|workspacePath`;
/** A reference to the project or an extension, as a regular expression. */
export const REFERENCE = String.raw`\$(?:${EXTENSION_NAMES})\b|\$\{(?:${EXTENSION_NAMES}|/)\}`;
const PROJECT_TOKENS = tokenPatterns(PROJECT_NAMES);
const EXTENSION_TOKENS = tokenPatterns(`${EXTENSION_NAMES}|${PLUGIN_NAMES}`);

function referenceTo(names: string): string {
  return String.raw`\$(?<bare>${names})\b|\$\{(?<braced>${names})\}`;
}

function tokenPatterns(names: string): TokenPatterns {
  const reference = referenceTo(names);
  const toPattern = (frameEdge: string, plain: readonly string[]) =>
    new RegExp(`${reference}|${frameEdge}|(?<plain>${plain.join('|')})`, 'y');
  return {
    unquoted: toPattern(String.raw`\$?\(|\$\{|["\`)}]`, [
      PLAIN_WORD,
      ESCAPE,
      SINGLE_QUOTED,
      COMMENT,
      HERE_DOCUMENT,
      ANYTHING,
    ]),
    quoted: toPattern(String.raw`\$[({]|["\`}]`, [PLAIN_WORD, ESCAPE, ANYTHING]),
  };
}

function matchAt(pattern: RegExp, text: string, position: number): RegExpExecArray {
  pattern.lastIndex = position;
  const match = pattern.exec(text);
  if (match === null) throw new RangeError(`No token at ${position}: it is past the command's end`);
  return match;
}
