/** A piece of text that a word of a shell becomes. */
export interface WordValue {
  /** Literally, or a pattern of file names where `\` stands before what is literal. */
  readonly value: string;
  readonly isGlob: boolean;
}

/** What a variable may hold; `undefined` where only the shell knows. */
export type WordValues = readonly WordValue[] | undefined;

/** Values that the shell makes up itself. */
const SPECIAL =
  /^(?:BASH.*|COMP_.*|DIRSTACK|E?UID|EPOCH.*|FUNCNAME|GROUPS|HIST.*|HOSTNAME|LINENO|MAPFILE|OLDPWD|OPT.*|PIPESTATUS|PPID|RANDOM|REPLY|SECONDS|SHELLOPTS|SHLVL|SRANDOM|_)$/u;

const MAX_VALUES = 32;
const MAX_DIRECTORIES = 4;

export const literal = (value: string): WordValue => ({ value, isGlob: false });

/** What is known of a running shell at one place of its text. Copies share what neither changes. */
export class ShellState {
  /** Variables that are assigned in the text. */
  private variables: ReadonlyMap<string, WordValues> = new Map();
  /** Whether any other variable may have been assigned, too. */
  private isOpen = false;
  /** Where commands run, each possible one; `undefined` is anywhere. */
  directories: readonly (string | undefined)[];
  /** Where they run if the last command was a `cd` that failed. */
  failedDirectories: readonly (string | undefined)[] | undefined;
  /** `$1` and so on. */
  positional: readonly WordValues[] | undefined = undefined;

  constructor(
    directory: string | undefined,
    private readonly home: string | undefined,
  ) {
    this.directories = [directory];
  }

  copy(): ShellState {
    const copy = new ShellState(undefined, this.home);
    copy.become(this);
    return copy;
  }

  become(other: ShellState): void {
    this.variables = other.variables;
    this.isOpen = other.isOpen;
    this.directories = other.directories;
    this.failedDirectories = other.failedDirectories;
    this.positional = other.positional;
  }

  /** The state of another shell that starts here; of the variables, only `HOME` is sure to be handed on. */
  child(home: 'same' | 'other'): ShellState {
    const fields = home === 'same' ? this.get('HOME') : undefined;
    const child = new ShellState(undefined, fields?.length === 1 ? fields[0]?.value : undefined);
    child.directories = this.directories;
    child.positional = [];
    return child;
  }

  get(name: string): WordValues {
    if (SPECIAL.test(name)) return undefined;
    if (this.variables.has(name)) return this.variables.get(name);
    if (this.isOpen) return undefined;
    if (name === 'IFS') return [literal(' \t\n')];
    if (name === 'HOME') return this.home === undefined ? undefined : [literal(this.home)];
    if (name !== 'PWD' || this.directories.includes(undefined)) return undefined;
    return this.directories.map((each) => literal(each!));
  }

  set(name: string, fields: WordValues): void {
    this.variables = new Map(this.variables).set(name, fields);
  }

  /** Assigns what may also keep its value. */
  add(name: string, fields: WordValues): void {
    this.set(name, union(this.get(name), fields));
  }

  /** From here on, nothing is known. */
  forget(): void {
    this.forgetVariables();
    this.directories = [undefined];
    this.positional = undefined;
  }

  forgetVariables(): void {
    this.variables = new Map();
    this.isOpen = true;
  }

  assignedNames(): Iterable<string> {
    return this.variables.keys();
  }

  /** After a command: a `cd` may have failed. */
  settle(): void {
    if (!this.failedDirectories) return;
    this.directories = joinDirectories(this.directories, this.failedDirectories);
    this.failedDirectories = undefined;
  }

  /** The state if the last command has failed. */
  ifFailed(): ShellState {
    const failed = this.copy();
    failed.directories = this.failedDirectories ?? this.directories;
    failed.failedDirectories = undefined;
    return failed;
  }

  ifSucceeded(): void {
    this.failedDirectories = undefined;
  }

  /** Takes over what may be otherwise in another state. */
  join(other: ShellState): void {
    this.settle();
    other.settle();
    if (this.variables !== other.variables) {
      const names = new Set([...this.variables.keys(), ...other.variables.keys()]);
      const joined = [...names].map(
        (name) => [name, union(this.get(name), other.get(name))] as const,
      );
      this.variables = new Map(joined);
    }
    this.isOpen ||= other.isOpen;
    this.directories = joinDirectories(this.directories, other.directories);
    if (this.positional !== other.positional) this.positional = undefined;
  }

  /** Forgets what has become otherwise in `later`, and says whether there was anything. */
  forgetChanges(later: ShellState): boolean {
    later.settle();
    const changed = [...later.variables].flatMap(([name, fields]) =>
      sameFields(this.get(name), fields) ? [] : [name],
    );
    for (const name of changed) this.set(name, undefined);
    const moved = later.directories.some((each) => !this.directories.includes(each));
    if (moved) this.directories = joinDirectories(this.directories, [undefined]);
    const shifted = this.positional !== later.positional;
    if (shifted) this.positional = undefined;
    const opened = later.isOpen && !this.isOpen;
    if (opened) this.forgetVariables();
    return changed.length > 0 || moved || shifted || opened;
  }
}

function union(one: WordValues, other: WordValues): WordValues {
  if (one === other) return one;
  if (!one || !other) return undefined;
  const added = other.filter((field) => !one.some((each) => isSame(each, field)));
  return one.length + added.length > MAX_VALUES ? undefined : [...one, ...added];
}

function sameFields(one: WordValues, other: WordValues): boolean {
  if (!one || !other) return one === other;
  return one.length === other.length && one.every((each, index) => isSame(each, other[index]!));
}

const isSame = (one: WordValue, other: WordValue): boolean =>
  one.value === other.value && one.isGlob === other.isGlob;

function joinDirectories(
  one: readonly (string | undefined)[],
  other: readonly (string | undefined)[],
): readonly (string | undefined)[] {
  if (one === other) return one;
  const all = [...new Set([...one, ...other])];
  return all.length > MAX_DIRECTORIES ? [...all.slice(0, MAX_DIRECTORIES), undefined] : all;
}
