import { claude } from './claude.js';
import { patchOf, readPatch } from '../tools/patch.js';
import { textOf } from './answers.js';
import type { ArgumentForm, Dialect, EventWords, ToolWords } from './dialect.js';

/** What is otherwise than in Claude Code. */
interface Differences extends Partial<Dialect> {
  readonly agent: string;
  readonly settings: Dialect['settings'];
  /** Of its events, by their names; `null` for one that is not there. */
  readonly rows?: Readonly<Record<string, Partial<EventWords> | null>>;
  /** Its names of tools, by ours. */
  readonly toolNames?: Readonly<Record<string, ToolWords['theirs']>>;
}

const { guardWord: _word, projectVariable: _variable, ...own } = claude;
const { sentOnly: _mod, hasConditions: _condition, constants, ...kept } = own;

/** What is as in Claude Code, wherever an agent's table says nothing else. */
export const common = {
  ...kept,
  otherEvents: [],
  otherTools: [],
  environment: () => ({}),
  missingVariables: [],
  hasHttpHooks: false,
  askedTypes: [],
  plainText: { otherwise: 'nothing' },
  unsupported: {},
  defaultTimeoutMs: { otherwise: 60_000 },
} satisfies Dialect;

/** Rows of agents whose helpers tell nobody when they begin, and which are silent at other moments as well. */
export const NO_MOMENTS = {
  SubagentStart: null,
  PostCompact: null,
  StopFailure: null,
  PostToolBatch: null,
} as const;

/** The format of an agent that speaks nearly that of Claude Code. */
export function likeClaude({ rows = {}, toolNames = {}, ...differences }: Differences): Dialect {
  return {
    ...common,
    constants,
    plainText: kept.plainText,
    unsupported: kept.unsupported,
    defaultTimeoutMs: kept.defaultTimeoutMs,
    events: claude.events.flatMap((words) => {
      const row = rows[words.name];
      return row === null ? [] : [{ ...words, ...row }];
    }),
    tools: claude.tools.map((words) => ({
      ...words,
      theirs: toolNames[words.ours] ?? words.theirs,
    })),
    ...differences,
  };
}

/** A patch of files in the argument of this name. */
export const patchForm = (argument: string): ArgumentForm => ({
  toTheirs: (tool, input) => ({ [argument]: patchOf(tool, input) }),
  toOurs: (input) => readPatch(textOf(input[argument])),
});
