import {
  forEachChild,
  parse,
  type Assignment,
  type Command,
  type CompoundList,
  type HereDoc,
  type ParsedScript,
  type Redirection,
  type Statement,
  type SyntaxNode,
  type Word,
  type WordPart,
} from 'unbash';
import { unicodeName } from '../util/unicodeName.js';
import { expandCommand, expandWord, referenceValues, scopeOf } from './expandCommand.js';

/** One program or builtin with its words, as the shell will start it. */
export interface SimpleCommand {
  /** The words after all quoting, with the values of references in them. */
  readonly words: readonly string[];
  /** Variables that are set for it, or for the shell where there are no words: names and values. */
  readonly variables: readonly (readonly [name: string, value: string])[];
  /** Files that it reads from. */
  readonly inputs: readonly string[];
  /** Files that it writes to. */
  readonly outputs: readonly string[];
}

/** Why a command is not known before it runs. */
interface NotKnown {
  /** The end of a sentence "because it …". */
  readonly unknown: string;
  readonly commands?: undefined;
  readonly programs?: undefined;
  readonly singleQuoted?: undefined;
}

export type CommandReading =
  | { readonly commands: readonly SimpleCommand[]; readonly unknown?: undefined }
  | NotKnown;

/** A hook's command as it was written: for a shell, or a program with its arguments. */
export interface WrittenCommand {
  readonly command: string;
  readonly args?: readonly string[] | undefined;
}

/** Absolute paths for which references stand. */
export interface CommandFolders {
  readonly project: string;
  /** For a hook of an extension. */
  readonly extension?: string | undefined;
}

/**
 * Reads a hook's command into the simple commands that it starts, in lists, pipes, groups and conditions. It is
 * understood only if every word is known beforehand: there is no expansion, substitution or pattern in it, no loop, no
 * function, and nothing that shells read differently.
 */
export function readHook(
  { command, args }: WrittenCommand,
  folders: CommandFolders,
): CommandReading {
  const scope = scopeOf(folders.extension);
  const references = referenceValues(folders);
  if (!args) return readCommand(expandCommand(command, scope), new Map(Object.entries(references)));
  const words = [command, ...args].map((each) => expandWord(each, scope, references));
  return { commands: [{ words, variables: [], inputs: [], outputs: [] }] };
}

/** Values of variables by name; they are only read in double quotes. */
type References = ReadonlyMap<string, string>;

/**
 * The same for a command as it is handed to the shell.
 *
 * @returns the commands, or why they are not known; never throws
 */
export function readCommand(command: string, references: References): CommandReading {
  return withTree(command, ({ commands }) => ({
    commands: commands.flatMap((statement) => simpleCommands(statement, references)),
  }));
}

/** What can be told of a command whose words are not all known. */
export type PartialReading =
  | {
      /**
       * The words of the first program and of those that read from it through a pipe. What comes after another operator
       * may never run. A word is `undefined` where only the shell knows what becomes of it.
       */
      readonly programs: readonly (readonly (string | undefined)[])[];
      /** Texts in single quotes, wherever they stand. */
      readonly singleQuoted: readonly string[];
      readonly unknown?: undefined;
    }
  | NotKnown;

/** Reads what a hook's command surely starts; `unknown` only where the parser does not understand it. Never throws. */
export function readHookInPart(hook: WrittenCommand, folders: CommandFolders): PartialReading {
  if (hook.args) {
    const { commands = [] } = readHook(hook, folders);
    return { programs: commands.map(({ words }) => words), singleQuoted: [] };
  }
  const references = new Map(Object.entries(referenceValues(folders)));
  return withTree(expandCommand(hook.command, scopeOf(folders.extension)), (script) => ({
    programs: firstPipeline(script).flatMap((node) =>
      node.type === 'Command' ? [wordsInPart(node, references)] : [],
    ),
    singleQuoted: findSingleQuoted(script),
  }));
}

/** Characters: longer commands are not read. */
const MAX_LENGTH = 8 * 1024;

/** The parser's time grows with their square. */
const MAX_HERE_DOCUMENTS = 20;

/** Control characters, and blanks that are none for a shell. */
const ODD_CHARACTER = /[^\P{Cc}\t\n]|[^\P{White_Space} \t\n]|\p{Cf}|\p{Cs}/u;

class Unknown extends Error {}

function withTree<T>(command: string, read: (script: ParsedScript) => T): T | NotKnown {
  try {
    return read(parseWhole(command));
  } catch (error) {
    return { unknown: error instanceof Unknown ? error.message : 'cannot be read' };
  }
}

function parseWhole(command: string): ParsedScript {
  if (command.length > MAX_LENGTH) throw new Unknown(`is longer than ${MAX_LENGTH} characters`);
  if (command.split('<<').length > MAX_HERE_DOCUMENTS) throw new Unknown('has many here-documents');
  if (command.endsWith('\\')) throw new Unknown('ends with a backslash');
  const odd = ODD_CHARACTER.exec(command)?.[0];
  if (odd !== undefined) {
    throw new Unknown(`holds the character ${unicodeName(odd)}, which shells read differently`);
  }
  const script = parse(command);
  const [error] = script.errors ?? [];
  if (error) throw new Unknown(`is not a complete command (${error.message})`);
  return script;
}

type CommandTree = Statement | Statement['command'] | CompoundList;

function simpleCommands(node: CommandTree, references: References): SimpleCommand[] {
  const within = (child: CommandTree) => simpleCommands(child, references);
  switch (node.type) {
    case 'Command':
      return [simpleCommand(node, references)];
    case 'Redirected': {
      const files = redirections(node.redirects, references);
      return [...within(node.command), { words: [], variables: [], ...files }];
    }
    case 'Statement':
      return within(node.command);
    case 'AndOr':
    case 'Pipeline':
    case 'CompoundList':
      return node.commands.flatMap(within);
    case 'Subshell':
    case 'BraceGroup':
      return within(node.body);
    case 'If': {
      const branches = [node, ...node.elif].flatMap(({ clause, then }) => [clause, then]);
      return [...branches, ...(node.else ? [node.else] : [])].flatMap(within);
    }
    default:
      throw new Unknown(`has a part of which only the shell knows what it runs (${node.type})`);
  }
}

function simpleCommand(
  { name, prefix, args, redirects }: Command,
  references: References,
): SimpleCommand {
  const words = [...(name ? [name] : []), ...args].map((each) => argument(each, references));
  const variables = prefix.flatMap((each) =>
    each.type === 'Assignment' ? [assignment(each, references)] : [],
  );
  return { words, variables, ...redirections(redirects, references) };
}

/** The parser takes arguments such as `name=value` of `export` for assignments. */
function argument(node: Word | Assignment, references: References): string {
  if (node.type === 'Word') return word(node, references);
  throw new Unknown(`declares a variable (${node.name})`);
}

function assignment(
  { name, value, index, append }: Assignment,
  references: References,
): readonly [string, string] {
  if (value.type !== 'Word' || index || append) throw new Unknown(`computes the variable ${name}`);
  return [name, word(value, references)];
}

function redirections(
  redirects: readonly Redirection[],
  references: References,
): Pick<SimpleCommand, 'inputs' | 'outputs'> {
  const inputs: string[] = [];
  const outputs: string[] = [];
  for (const redirect of redirects) {
    if (redirect.descriptor && redirect.descriptor.type !== 'FileDescriptor') {
      throw new Unknown(`keeps a descriptor in the variable ${redirect.descriptor.name}`);
    }
    if (redirect.type === 'HereDoc') {
      checkHereDocument(redirect);
      continue;
    }
    const target = redirect.target ? word(redirect.target, references) : '';
    if (redirect.type === 'HereString') continue;
    const { operator } = redirect;
    const isDescriptor = operator.endsWith('&') && /^(?:\d+|-)$/.test(target);
    if (isDescriptor) continue;
    if (operator === '<' || operator === '<>') inputs.push(target);
    if (operator !== '<') outputs.push(target);
  }
  return { inputs, outputs };
}

function checkHereDocument({ delimiter, body, closing }: HereDoc): void {
  if (!closing || !/^(?:(['"])[\w.-]+\1|[\w.-]+)$/.test(delimiter?.text ?? '')) {
    throw new Unknown('has a here-document whose end is not clear');
  }
  if (!delimiter?.quoted && /[$`\\]/.test(body.text)) {
    throw new Unknown('has a here-document that the shell expands: quote its delimiter');
  }
}

function word({ text, value, parts }: Word, references: References): string {
  // The parser does not mark a home directory.
  if (/^~|[:=]~/.test(text)) throw expanded(text);
  if (!parts) return plain(text, value);
  return parts.map((part) => partOfWord(part, references)).join('');
}

function partOfWord(part: WordPart, references: References): string {
  switch (part.type) {
    case 'Literal':
      return plain(part.text, part.value);
    case 'SingleQuoted':
      return part.value;
    case 'DoubleQuoted':
      return part.parts
        .map((child) => (child.type === 'Literal' ? quoted(child) : reference(child, references)))
        .join('');
    default:
      throw expanded(part.text);
  }
}

function reference(part: WordPart, references: References): string {
  const name = /^\$(?:(\w+)|\{(\w+)\})$/.exec(part.text);
  const value = references.get(name?.[1] ?? name?.[2] ?? '');
  if (value === undefined) throw expanded(part.text);
  return value;
}

/** A piece of a word outside of quotes. */
function plain(text: string, value: string): string {
  if (/[$`*?{}<>()|&;'"]|[[\]]./.test(text.replaceAll(/\\[^]/gu, ''))) throw expanded(text);
  return value;
}

/** A piece of a word in double quotes. */
function quoted({ text, value }: { readonly text: string; readonly value: string }): string {
  if (/`|\$[\w{([*@#?!$-]/.test(text.replaceAll(/\\[^]/gu, ''))) throw expanded(text);
  return value;
}

function expanded(text: string): Unknown {
  return new Unknown(
    `expands ${JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text)}`,
  );
}

function firstPipeline({ commands: [first] }: ParsedScript) {
  const list = first?.command.type === 'AndOr' ? first.command.commands[0] : first?.command;
  if (list?.type === 'Pipeline') return list.commands;
  return list ? [list] : [];
}

function wordsInPart({ name, args }: Command, references: References): (string | undefined)[] {
  return [...(name ? [name] : []), ...args].map((each) => {
    try {
      return argument(each, references);
    } catch (error) {
      if (error instanceof Unknown) return undefined;
      throw error;
    }
  });
}

function findSingleQuoted(script: ParsedScript): string[] {
  const nodes: SyntaxNode[] = [script];
  for (const node of nodes) forEachChild(node, (child) => nodes.push(child));
  return nodes.flatMap((node) => (node.type === 'SingleQuoted' ? [node.value] : []));
}
