import { HookEventName } from '../../protocol/types.js';

/** A call: a shell command, or a tool with its arguments. */
export type Example = string | readonly [tool: string, input: Readonly<Record<string, unknown>>];

/** A group of hooks, as it stands in settings. */
export interface GuardGroup {
  readonly event: HookEventName;
  readonly group: {
    readonly matcher?: string;
    readonly when?: readonly string[];
    readonly hooks: readonly [Readonly<Record<string, unknown>>];
  };
}

/** An event, and what the hooks of the guard are to say to it. */
export interface GuardTest {
  /** For the name of its file. */
  readonly title: string;
  readonly event: HookEventName;
  readonly input: Readonly<Record<string, unknown>>;
  readonly expect: Readonly<Record<string, unknown>>;
}

/** Hooks that are ready to use. */
export interface Guard {
  /** Of its hooks, too. */
  readonly name: string;
  /** What it does, as a sentence. */
  readonly covers: string;
  /** What it does not hold, as a sentence. */
  readonly misses: string;
  /** @param command starts its script */
  readonly groups: (command: string) => readonly GuardGroup[];
  /** What it runs, for what a rule cannot do. */
  readonly script?: string;
  readonly tests: readonly GuardTest[];
}

const SHELL_TOOL = 'run_shell_command';

/** Patterns, one a line. */
export function lines(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '');
}

/** Commands, one a line, as patterns; a word such as `add|install` stands for several. */
export function commands(text: string): readonly string[] {
  return lines(text)
    .flatMap(withAlternatives)
    .map((line) => `Bash(${line})`);
}

function withAlternatives(line: string): readonly string[] {
  const [first = [], ...words] = line.split(' ').map((word) => word.split('|'));
  return words.reduce<readonly string[]>(
    (heads, ends) => heads.flatMap((head) => ends.map((end) => `${head} ${end}`)),
    first,
  );
}

/** Paths, one a line, as patterns of a kind of tool. */
export function paths(kind: 'Read' | 'Edit', text: string): readonly string[] {
  return lines(text).map((line) => `${kind}(${line})`);
}

/** The input of BeforeTool for a call. */
export function inputOf(call: Example): Readonly<Record<string, unknown>> {
  const [tool, input] = typeof call === 'string' ? [SHELL_TOOL, { command: call }] : call;
  return { tool_name: tool, tool_input: input };
}

/** Tests of BeforeTool; whatever other hooks say to what this one lets pass. */
export function callTests(
  name: string,
  calls: Readonly<Partial<Record<'block' | 'ask' | 'pass', readonly Example[]>>>,
): readonly GuardTest[] {
  return Object.entries(calls).flatMap(([decision, examples]) =>
    examples.map((call) => ({
      title: `${decision}-${typeof call === 'string' ? call : Object.values(call[1]).join(' ')}`,
      event: HookEventName.BeforeTool,
      input: inputOf(call),
      expect: decision === 'pass' ? { exit: { [name]: null } } : { decision },
    })),
  );
}
