import {
  forEachChild,
  type Command,
  type ParsedScript,
  type SyntaxNode,
  type Word,
  type WordPart,
} from 'unbash';
import { expandCommand, expandWord, referenceValues, scopeOf } from '../shell/expandCommand.js';
import { parseCommand, UnclearCommand } from '../shell/parseCommand.js';

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

/** What can be told of a command before it runs. */
export interface CommandReading {
  /**
   * The words of the first program and of those that read from it through a pipe. What comes after another operator may
   * never run. A word is `undefined` where only the shell knows what becomes of it.
   */
  readonly programs: readonly (readonly (string | undefined)[])[];
  /** Texts in single quotes, wherever they stand. */
  readonly singleQuoted: readonly string[];
  /** Why the parser does not understand it: the end of a sentence "because it …". */
  readonly unknown?: string;
}

/** Reads what a hook's command surely starts. Never throws. */
export function readHook(
  { command, args }: WrittenCommand,
  folders: CommandFolders,
): CommandReading {
  const scope = scopeOf(folders.extension);
  const references = referenceValues(folders);
  if (args) {
    const words = [command, ...args].map((each) => expandWord(each, scope, references));
    return { programs: [words], singleQuoted: [] };
  }
  try {
    const script = parseCommand(expandCommand(command, scope), MAX_LENGTH, 'refused');
    const values = new Map(Object.entries(references));
    return {
      programs: firstPipeline(script).flatMap((node) =>
        node.type === 'Command' ? [wordsOf(node, values)] : [],
      ),
      singleQuoted: findSingleQuoted(script),
    };
  } catch (error) {
    const unknown = error instanceof UnclearCommand ? error.message : 'cannot be read';
    return { programs: [], singleQuoted: [], unknown };
  }
}

/** Characters: longer commands are not read. */
const MAX_LENGTH = 8 * 1024;

function firstPipeline({ commands: [first] }: ParsedScript) {
  const list = first?.command.type === 'AndOr' ? first.command.commands[0] : first?.command;
  if (list?.type === 'Pipeline') return list.commands;
  return list ? [list] : [];
}

/** Values of variables by name; they are only read in double quotes. */
type References = ReadonlyMap<string, string>;

/** The parser takes arguments such as `name=value` of `export` for assignments. */
function wordsOf({ name, args }: Command, references: References): (string | undefined)[] {
  return [...(name ? [name] : []), ...args].map((each) =>
    each.type === 'Word' ? valueOf(each, references) : undefined,
  );
}

function valueOf({ text, value, parts }: Word, references: References): string | undefined {
  // The parser does not mark a home directory.
  if (/^~|[:=]~/.test(text)) return undefined;
  if (!parts) return plain(text, value);
  return joined(parts.map((part) => partOfWord(part, references)));
}

function joined(parts: readonly (string | undefined)[]): string | undefined {
  return parts.every((part) => part !== undefined) ? parts.join('') : undefined;
}

function partOfWord(part: WordPart, references: References): string | undefined {
  switch (part.type) {
    case 'Literal':
      return plain(part.text, part.value);
    case 'SingleQuoted':
      return part.value;
    case 'DoubleQuoted':
      return joined(
        part.parts.map((each) =>
          each.type === 'Literal' ? quoted(each) : reference(each, references),
        ),
      );
    default:
      return undefined;
  }
}

function reference({ text }: WordPart, references: References): string | undefined {
  const name = /^\$(?:(\w+)|\{(\w+)\})$/.exec(text);
  return references.get(name?.[1] ?? name?.[2] ?? '');
}

/** A piece of a word outside of quotes. */
function plain(text: string, value: string): string | undefined {
  return /[$`*?{}<>()|&;'"]|[[\]]./.test(withoutEscapes(text)) ? undefined : value;
}

/** A piece of a word in double quotes. */
function quoted({ text, value }: { readonly text: string; readonly value: string }) {
  return /`|\$[\w{([*@#?!$-]/.test(withoutEscapes(text)) ? undefined : value;
}

function withoutEscapes(text: string): string {
  return text.replaceAll(/\\[^]/gu, '');
}

function findSingleQuoted(script: ParsedScript): string[] {
  const nodes: SyntaxNode[] = [script];
  for (const node of nodes) forEachChild(node, (child) => nodes.push(child));
  return nodes.flatMap((node) => (node.type === 'SingleQuoted' ? [node.value] : []));
}
