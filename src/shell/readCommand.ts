import {
  parse,
  type Assignment,
  type Command,
  type CommandNode,
  type CompoundList,
  type HereDoc,
  type Redirection,
  type Statement,
  type Word,
  type WordPart,
} from 'unbash';

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

/** What a shell command consists of, or why that is only known when it runs. */
export type CommandReading =
  | { readonly commands: readonly SimpleCommand[]; readonly unknown?: undefined }
  | { readonly commands?: undefined; readonly unknown: string };

/** Characters: longer commands are not read. */
const MAX_LENGTH = 8 * 1024;

/** The parser's time grows with their square. */
const MAX_HERE_DOCUMENTS = 20;

/**
 * Reads a shell command into the simple commands that it starts, in lists, pipes, groups and conditions. It is
 * understood only if every word is known beforehand: there is no expansion, substitution or pattern in it, no loop, no
 * function, and nothing that shells read differently.
 *
 * @param command as it is handed to the shell
 * @param references values of variables that are known, which count where they stand in double quotes
 * @returns the commands, or as `unknown` the end of a sentence "because it …"; never throws
 */
export function readCommand(
  command: string,
  references: ReadonlyMap<string, string>,
): CommandReading {
  if (command.length > MAX_LENGTH) return { unknown: `is longer than ${MAX_LENGTH} characters` };
  if (command.split('<<').length > MAX_HERE_DOCUMENTS)
    return { unknown: 'has many here-documents' };
  if (command.endsWith('\\')) return { unknown: 'ends with a backslash' };
  const odd = ODD_CHARACTER.exec(command);
  if (odd)
    return { unknown: `holds the character U+${hex(odd[0])}, which shells read differently` };
  try {
    const { commands, errors } = parse(command);
    if (errors?.length) return { unknown: `is no complete command (${errors[0]?.message})` };
    const found: SimpleCommand[] = [];
    const reader = new Reader(references, found);
    for (const statement of commands) reader.statement(statement);
    return { commands: found };
  } catch (error) {
    if (error instanceof Unknown) return { unknown: error.message };
    return { unknown: 'cannot be read' };
  }
}

/** Control characters, and blanks that are none for a shell. */
const ODD_CHARACTER = /[^\P{Cc}\t\n]|[^\P{White_Space} \t\n]|\p{Cf}|\p{Cs}/u;

function hex(character: string): string {
  return (character.codePointAt(0) ?? 0).toString(16).toUpperCase().padStart(4, '0');
}

/** Why a command is not known beforehand. */
class Unknown extends Error {}

class Reader {
  constructor(
    private readonly references: ReadonlyMap<string, string>,
    private readonly found: SimpleCommand[],
  ) {}

  statement({ command }: Statement): void {
    if (command.type !== 'AndOr') this.#pipeline(command);
    else for (const each of command.commands) this.#pipeline(each);
  }

  #pipeline(node: Exclude<Statement['command'], { type: 'AndOr' }>): void {
    if (node.type !== 'Pipeline') this.#command(node);
    else for (const each of node.commands) this.#command(each);
  }

  #list({ commands }: CompoundList): void {
    for (const statement of commands) this.statement(statement);
  }

  #command(node: CommandNode): void {
    switch (node.type) {
      case 'Command':
        this.found.push(this.#simple(node));
        return;
      case 'Redirected': {
        this.#command(node.command);
        const { inputs, outputs } = this.#redirections(node.redirects);
        this.found.push({ words: [], variables: [], inputs, outputs });
        return;
      }
      case 'Subshell':
      case 'BraceGroup':
        this.#list(node.body);
        return;
      case 'If':
        for (const { clause, then } of [node, ...node.elif]) {
          this.#list(clause);
          this.#list(then);
        }
        if (node.else) this.#list(node.else);
        return;
      default:
        throw new Unknown(`has a part of which only the shell knows what it runs (${node.type})`);
    }
  }

  #simple({ name, prefix, args, redirects }: Command): SimpleCommand {
    const words: string[] = name ? [this.#word(name)] : [];
    for (const argument of args) words.push(this.#argument(argument));
    const variables = prefix.flatMap((each) =>
      each.type === 'Assignment' ? [this.#assignment(each)] : [],
    );
    return { words, variables, ...this.#redirections(redirects) };
  }

  /** An argument such as `name=value` of `export` counts as an assignment; as a word it is what it looks like. */
  #argument(argument: Word | Assignment): string {
    if (argument.type === 'Word') return this.#word(argument);
    throw new Unknown(`declares a variable (${argument.name})`);
  }

  #assignment({ name, value, index, append }: Assignment): readonly [string, string] {
    if (value.type !== 'Word' || index || append)
      throw new Unknown(`computes the variable ${name}`);
    return [name, this.#word(value)];
  }

  #redirections(redirects: readonly Redirection[]): Pick<SimpleCommand, 'inputs' | 'outputs'> {
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
      const target = redirect.target ? this.#word(redirect.target) : '';
      if (redirect.type === 'HereString') continue;
      const { operator } = redirect;
      const isDescriptor = operator.endsWith('&') && /^(?:\d+|-)$/.test(target);
      if (isDescriptor) continue;
      if (operator === '<' || operator === '<>') inputs.push(target);
      if (operator !== '<') outputs.push(target);
    }
    return { inputs, outputs };
  }

  #word(word: Word): string {
    const text = word.parts
      ? word.parts.map((part) => this.#part(part)).join('')
      : plain(word.text, word.value);
    // The parser does not tell of a home directory.
    if (/^~|[:=]~/.test(word.text)) throw new Unknown(`expands ${excerpt(word.text)}`);
    return text;
  }

  #part(part: WordPart): string {
    switch (part.type) {
      case 'Literal':
        return plain(part.text, part.value);
      case 'SingleQuoted':
        return part.value;
      case 'DoubleQuoted':
        return part.parts
          .map((child) => (child.type === 'Literal' ? quoted(child) : this.#reference(child)))
          .join('');
      default:
        throw new Unknown(`expands ${excerpt(part.text)}`);
    }
  }

  #reference(part: WordPart): string {
    const name =
      part.type === 'SimpleExpansion'
        ? part.text.slice(1)
        : part.type === 'ParameterExpansion' && /^\$\{\w+\}$/.test(part.text)
          ? part.parameter
          : undefined;
    const value = name === undefined ? undefined : this.references.get(name);
    if (value === undefined) throw new Unknown(`expands ${excerpt(part.text)}`);
    return value;
  }
}

function checkHereDocument({ delimiter, body, closing }: HereDoc): void {
  if (!closing || !/^(?:(['"])[\w.-]+\1|[\w.-]+)$/.test(delimiter?.text ?? '')) {
    throw new Unknown('has a here-document whose end is not clear');
  }
  if (!delimiter?.quoted && /[$`\\]/.test(body.text)) {
    throw new Unknown('has a here-document that the shell expands: quote its delimiter');
  }
}

/** A piece of a word outside of quotes. */
function plain(text: string, value: string): string {
  if (/[$`*?{}<>()|&;'"]|[[\]]./.test(text.replaceAll(/\\[^]/gu, ''))) {
    throw new Unknown(`expands ${excerpt(text)}`);
  }
  return value;
}

/** A piece of a word in double quotes. */
function quoted({ text, value }: { readonly text: string; readonly value: string }): string {
  if (/`|\$[\w{([*@#?!$-]/.test(text.replaceAll(/\\[^]/gu, ''))) {
    throw new Unknown(`expands ${excerpt(text)}`);
  }
  return value;
}

function excerpt(text: string): string {
  return JSON.stringify(text.length > 40 ? `${text.slice(0, 40)}…` : text);
}
