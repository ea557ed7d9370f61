import {
  forEachChild,
  type Assignment,
  type Command,
  type CompoundCommand,
  type ParsedScript,
  type Redirection,
  type Statement,
  type SyntaxNode,
  type Word,
} from 'unbash';
import { requireWhole } from '../shell/parseCommand.js';
import { isExit } from './builtins.js';
import { noteEffects } from './effects.js';
import { only } from './inner.js';
import { printedBy } from './printed.js';
import { literal, type WordValues, type ShellState } from './shellState.js';
import type { ShellWord } from './types.js';
import {
  fieldsOfWord,
  readDocument,
  readWhole,
  readWord,
  toWord,
  type WordContext,
} from './words.js';
import { WrittenFiles } from './writtenFiles.js';

/** Ways in which the words of one command may come out; beyond, they are not known. */
export const MAX_VARIANTS = 16;

/** What goes into a command, besides its words. */
export interface Surroundings {
  readonly text: string;
  readonly reads: readonly ShellWord[];
  readonly writes: readonly ShellWord[];
  /** What it reads from its input, if that is known. */
  readonly stdin: readonly string[] | undefined;
  /** Files of which its input is. */
  readonly stdinFile: ShellWord | undefined;
  /** Variables that are set for it alone. */
  readonly assigned: ReadonlyMap<string, WordValues>;
}

export const ALONE: Surroundings = {
  text: '',
  reads: [],
  writes: [],
  stdin: undefined,
  stdinFile: undefined,
  assigned: new Map(),
};

const isBoth = (redirect: Redirection): boolean =>
  redirect.type === 'Redirect' && redirect.operator.startsWith('&>');

/** Walks through a text as a shell does that takes every branch. */
export abstract class ShellWalker {
  readonly unknown = new Set<string>();
  readonly aliases = new Map<string, readonly string[]>();
  readonly frozen = new Set<string>();
  protected readonly functions = new Map<string, { body: SyntaxNode; source: string }[]>();
  /** The states in which loops, and functions, are left. */
  protected readonly exits: ShellState[][] = [];
  protected readonly written = new WrittenFiles();
  protected source = '';

  doubt(reason: string): void {
    this.unknown.add(reason);
  }

  /** Notes the state in which a loop or a function is left early. */
  leave(state: ShellState): void {
    for (const exits of this.exits) exits.push(state.ifFailed(), state.copy());
  }

  isFunction(name: string): boolean {
    return this.functions.has(name);
  }

  protected within(source: string, read: () => void): void {
    const before = this.source;
    this.source = source;
    read();
    this.source = before;
  }

  protected list(
    statements: readonly Statement[],
    state: ShellState,
    stdin?: readonly string[],
  ): void {
    for (const { command, background } of statements) {
      this.node(command, background ? state.copy() : state, stdin);
      state.settle();
    }
  }

  protected node(node: SyntaxNode, state: ShellState, stdin?: readonly string[]): void {
    switch (node.type) {
      case 'Command':
        this.command(node, state, stdin);
        break;
      case 'AndOr':
        this.andOr(node, state, stdin);
        break;
      case 'Pipeline':
        this.pipeline(node, state, stdin);
        break;
      case 'CompoundList':
        this.list(node.commands, state, stdin);
        break;
      case 'BraceGroup':
        this.list(node.body.commands, state, stdin);
        break;
      case 'Subshell':
        this.list(node.body.commands, state.copy(), stdin);
        break;
      case 'Coproc':
        this.node(node.body, state.copy());
        break;
      case 'Function': {
        const name = node.name.value;
        const known = this.functions.get(name) ?? [];
        this.functions.set(name, [...known, { body: node.body, source: this.source }]);
        break;
      }
      case 'Redirected': {
        this.visit(node, state);
        const redirected = this.redirections(node.redirects, state);
        this.emit([], { ...ALONE, ...redirected, text: this.textOf(node) }, state);
        for (const each of redirected.writes) this.written.write(each, undefined);
        this.node(node.command, state, redirected.stdin ?? stdin);
        break;
      }
      default:
        this.compound(node as CompoundCommand, state, stdin);
    }
  }

  private compound(node: CompoundCommand, state: ShellState, stdin?: readonly string[]): void {
    switch (node.type) {
      case 'If': {
        this.node(node.clause, state, stdin);
        const rest = state.copy();
        this.node(node.then, state, stdin);
        for (const { clause, then } of node.elif) {
          this.node(clause, rest, stdin);
          const branch = rest.copy();
          this.node(then, branch, stdin);
          state.join(branch);
        }
        if (node.else) this.node(node.else, rest, stdin);
        state.join(rest);
        break;
      }
      case 'Case': {
        for (const part of [node.word, ...node.items.flatMap(({ pattern }) => pattern)]) {
          this.visit(part, state);
        }
        const before = state.copy();
        for (const { body } of node.items) {
          const branch = before.copy();
          branch.join(state);
          this.node(body, branch, stdin);
          state.join(branch);
        }
        break;
      }
      case 'For':
      case 'Select': {
        const words = node.wordlist;
        for (const word of words ?? []) this.visit(word, state);
        const fields = words
          ? this.fieldsOf(words, state)
          : state.positional?.flatMap((each) => each ?? []);
        const known = !words && !state.positional?.every((each) => each) ? undefined : fields;
        const bind = (inner: ShellState) => this.assign(node.name.value, known, inner);
        this.loop(state, (inner) => this.node(node.body, inner, stdin), bind);
        break;
      }
      case 'While':
        this.loop(state, (inner) => {
          this.node(node.clause, inner, stdin);
          inner.settle();
          this.node(node.body, inner, stdin);
        });
        break;
      case 'ArithmeticFor':
        this.loop(state, (inner) => {
          for (const part of [node.initialize, node.test, node.update]) {
            if (part) this.visit(part, inner, true);
          }
          this.node(node.body, inner, stdin);
        });
        break;
      case 'ArithmeticCommand':
        this.visit(node, state);
        // To sh, these are two subshells.
        if (/^[^$`]*[a-z][^$`]*$/i.test(node.body)) this.readIfWhole(node.body, state.copy());
        break;
      default:
        this.visit(node, state);
    }
  }

  /** Once for the first turn, and again for the others if the body changes what it reads. */
  private loop(
    state: ShellState,
    body: (inner: ShellState) => void,
    bind?: (inner: ShellState) => void,
  ): void {
    const turn = (start: ShellState) => {
      const inner = start.copy();
      this.exits.push([]);
      body(inner);
      for (const exit of this.exits.pop()!) inner.join(exit);
      return inner;
    };
    const start = state.copy();
    bind?.(start);
    const first = turn(start);
    state.join(first);
    if (!start.forgetChanges(first)) return;
    bind?.(start);
    state.join(turn(start));
  }

  private andOr(
    node: SyntaxNode & { type: 'AndOr' },
    state: ShellState,
    stdin?: readonly string[],
  ): void {
    const [first, ...others] = node.commands;
    const succeeded = state;
    this.node(first!, succeeded, stdin);
    let failed = succeeded.ifFailed();
    succeeded.ifSucceeded();
    let isLeft = false;
    for (const [index, other] of others.entries()) {
      if (node.operators[index] === '&&') {
        this.node(other, succeeded, stdin);
        failed.join(succeeded.ifFailed());
        succeeded.ifSucceeded();
        isLeft = false;
      } else {
        const instead = failed.copy();
        this.node(other, instead, stdin);
        failed = instead.ifFailed();
        instead.ifSucceeded();
        isLeft = other.type === 'Command' && isExit(other, this);
        if (!isLeft) succeeded.join(instead);
      }
    }
    if (!isLeft) succeeded.join(failed);
  }

  private pipeline(
    node: SyntaxNode & { type: 'Pipeline' },
    state: ShellState,
    stdin?: readonly string[],
  ): void {
    if (node.commands.length === 1) {
      this.node(node.commands[0]!, state, stdin);
      return;
    }
    let input = stdin;
    for (const part of node.commands) {
      const own = state.copy();
      const output = this.printed(part, own);
      this.node(part, own, input);
      input = output;
      if (part === node.commands.at(-1)) state.join(own);
    }
  }

  private command(node: Command, state: ShellState, stdin?: readonly string[]): void {
    const isPlain =
      node.prefix.length === 0 && node.suffix.every((each) => each.type === 'Word' && !each.parts);
    if (!isPlain || node.name?.parts) this.visit(node, state);
    const assignments = node.prefix.filter((each) => each.type === 'Assignment');
    const { redirects } = node;
    const surroundings: Surroundings = {
      ...ALONE,
      text: this.textOf(node),
      stdin,
      ...(redirects.length > 0 ? this.redirections(redirects, state) : {}),
    };
    if (!node.name) {
      for (const each of assignments) this.assignment(each, state, redirects.length > 0);
      if (redirects.length > 0) this.emit([], surroundings, state);
      return;
    }
    const assigned = new Map(assignments.map((each) => [each.name, this.valueOf(each, state)]));
    for (const [name, fields] of assigned) this.examineValue(name, fields, state);
    for (const words of this.variants([node.name, ...node.args], state)) {
      this.start(words, { ...surroundings, assigned }, state);
    }
    // To sh, `a &> f b` is `a & > f b`.
    for (const { pos } of redirects.filter((each) => isBoth(each))) {
      const after = node.args.filter((each) => each.pos > pos);
      if (after.length === 0) continue;
      for (const words of this.variants(after, state)) this.start(words, surroundings, state);
    }
  }

  /** The lists of words that a command may have. */
  protected variants(
    parts: readonly (Word | Assignment)[],
    state: ShellState,
  ): readonly (readonly ShellWord[])[] {
    const context = this.contextOf(state);
    let lists: ShellWord[][] = [[]];
    for (const part of parts) {
      const shapes =
        part.type === 'Word' ? readWord(part, context) : [[this.assignmentWord(part, state)]];
      const [shape] = shapes;
      if (shapes.length === 1) {
        for (const list of lists) list.push(...shape!);
      } else if (lists.length * shapes.length > MAX_VARIANTS) {
        for (const list of lists) list.push({ text: part.text, isSplit: true });
      } else {
        lists = lists.flatMap((list) => shapes.map((each) => [...list, ...each]));
      }
    }
    return lists;
  }

  /** `name=value` after `export`, `alias` and the like. */
  protected assignmentWord(node: Assignment, state: ShellState): ShellWord {
    const fields = node.index || node.append ? undefined : this.valueOf(node, state);
    const { text, name } = node;
    return fields
      ? toWord(
          text,
          fields.map((each) => ({ ...each, value: `${name}=${each.value}` })),
        )
      : { text };
  }

  /** Walks through the substitutions in words and expressions, and notes what those assign. */
  private visit(node: SyntaxNode, state: ShellState, isSelf = false): void {
    const look = (child: SyntaxNode): void => {
      if (child.type === 'Script') {
        this.substitution(child, state);
        return;
      }
      noteEffects(child, state, this);
      if (!(child.type === 'Word' && !child.parts)) forEachChild(child, look);
    };
    if (isSelf) look(node);
    else {
      noteEffects(node, state, this);
      forEachChild(node, (child) => {
        if (node.type !== 'Redirected' || child !== node.command) look(child);
      });
    }
  }

  private substitution(script: ParsedScript, state: ShellState): void {
    requireWhole(script);
    this.within(script.source ?? this.source, () => this.list(script.commands, state.copy()));
  }

  private redirections(redirects: readonly Redirection[], state: ShellState) {
    const reads: ShellWord[] = [];
    const writes: ShellWord[] = [];
    let stdin: readonly string[] | undefined;
    let stdinFile: ShellWord | undefined;
    for (const redirect of redirects) {
      if (redirect.descriptor?.type === 'FileDescriptorVariable')
        state.set(redirect.descriptor.name, undefined);
      const isInput =
        !redirect.descriptor ||
        (redirect.descriptor.type === 'FileDescriptor' && redirect.descriptor.value === 0);
      if (redirect.type === 'HereDoc') {
        if (isInput) stdin = this.document(redirect, state);
        continue;
      }
      if (!redirect.target) continue;
      if (redirect.type === 'HereString') {
        if (isInput)
          stdin = readWhole(redirect.target, this.contextOf(state))?.flatMap((each) =>
            each.isGlob ? [] : [`${each.value}\n`],
          );
        continue;
      }
      const shapes = readWord(redirect.target, this.contextOf(state));
      const [word] =
        shapes.length === 1 && shapes[0]!.length === 1
          ? shapes[0]!
          : [{ text: redirect.target.text }];
      const isCopy = redirect.operator.endsWith('&') && /^(?:\d+-?|-)$/.test(only(word!) ?? '');
      if (isCopy) continue;
      if (redirect.operator.startsWith('<')) {
        reads.push(word!);
        if (isInput) [stdin, stdinFile] = [undefined, word];
      }
      if (redirect.operator.includes('>')) {
        writes.push(word!);
      }
    }
    return { reads, writes, ...(stdin || stdinFile ? { stdin, stdinFile } : {}) };
  }

  private document({ delimiter, body }: Redirection & { type: 'HereDoc' }, state: ShellState) {
    if (delimiter?.quoted) return [body.text];
    if (!body.parts) return [body.text.replaceAll(/\\(?:\n|([$`\\]))/g, '$1')];
    return readDocument(body.parts, this.contextOf(state));
  }

  /** What a command prints, if it is a simple one that tells. */
  private printed(node: SyntaxNode, state: ShellState): readonly string[] | undefined {
    if (node.type !== 'Command' || node.prefix.length > 0 || !node.name) return undefined;
    const [words, more] = this.variants([node.name, ...node.args], state);
    if (more || !words?.every(({ values, isGlob }) => values && !isGlob)) return undefined;
    const [program, ...rest] = words.map(only);
    if (program === undefined || this.functions.has(program) || this.aliases.has(program))
      return undefined;
    const redirected = this.redirections(node.redirects, state);
    if (redirected.reads.length > 0 || redirected.writes.length > 0) return undefined;
    if (program === 'cat' && (rest.length === 0 || (rest.length === 1 && rest[0] === '-')))
      return redirected.stdin;
    if (program === 'pwd' && rest.length === 0 && !state.directories.includes(undefined))
      return state.directories as string[];
    return words.length < 20 ? printedBy(program, words.slice(1)) : undefined;
  }

  private contextOf(state: ShellState): WordContext {
    return {
      state,
      outputOf: (script) => {
        const statement = script?.commands.length === 1 ? script.commands[0] : undefined;
        return statement && this.printed(statement.command, state);
      },
    };
  }

  private fieldsOf(words: readonly Word[], state: ShellState): WordValues {
    const lists = this.variants(words, state);
    const all = lists.flat().map(fieldsOfWord);
    return all.every((each) => each) ? all.flatMap((each) => each!) : undefined;
  }

  private assignment(node: Assignment, state: ShellState, isUnsure: boolean): void {
    const fields = this.valueOf(node, state);
    this.examineValue(node.name, fields, state);
    if (isUnsure) state.add(node.name, fields);
    else this.assign(node.name, fields, state);
  }

  /** Sets a variable, unless it has attributes that change what it takes. */
  assign(name: string, fields: WordValues, state: ShellState): void {
    state.set(name, this.frozen.has(name) || (fields && fields.length > 32) ? undefined : fields);
  }

  private valueOf({ value, append, index, name }: Assignment, state: ShellState): WordValues {
    if (value.type === 'ArrayValue' || index) return undefined;
    const fields = readWhole(value, this.contextOf(state));
    if (!append) return fields;
    const before = state.get(name);
    if (!fields || !before || before.length * fields.length > MAX_VARIANTS) return undefined;
    if ([...fields, ...before].some(({ isGlob }) => isGlob)) return undefined;
    return before.flatMap((each) => fields.map((field) => literal(each.value + field.value)));
  }

  private textOf({ pos, end }: SyntaxNode): string {
    return this.source.slice(pos, end);
  }

  /** Notes a command, and all that it starts itself. */
  protected abstract start(
    words: readonly ShellWord[],
    surroundings: Surroundings,
    state: ShellState,
  ): void;

  /** Lists what a text starts if it is one for a shell, without a doubt if not. */
  protected abstract readIfWhole(text: string, state: ShellState): void;

  /** Notes a command. */
  protected abstract emit(
    words: readonly ShellWord[],
    surroundings: Surroundings,
    state: ShellState,
  ): void;

  /** Looks at the value that a variable is given. */
  abstract examineValue(name: string, fields: WordValues, state: ShellState): void;
}
