import {
  DIALECT_NAMES,
  MOMENTS,
  type CommandHookConfig,
  type HookDefinition,
  type HookOrigin,
} from '../protocol/types.js';
import {
  expecting,
  flag,
  list,
  listOfText,
  nonBlankText,
  oneOf,
  positiveCount,
  text,
  type DescribedTable,
  type Field,
  type FieldTable,
} from '../util/checks.js';
import { isRecord, UNSAFE_KEYS } from '../util/records.js';

// To add a key of hooks or of groups, add it to the type in protocol/types.ts, and here its check and what editors show
// of it; `npx vitest run test/schema -u` writes the published schema.

type GroupFields = Omit<HookDefinition, 'hooks'> & { readonly hooks: readonly unknown[] };
export type FileGroupFields = Omit<GroupFields, 'origin' | 'moment'>;
type CommandFields = Omit<CommandHookConfig, 'dialect' | 'moment' | 'extensionPath' | 'ofProject'>;
export type PluginFields = Omit<CommandFields, 'command'> & { readonly command?: string };

const originScope = oneOf<HookOrigin['scope']>('project', 'user', 'system', 'file', 'extension');

function timeoutField(
  unit: string,
  advise: (timeout: number) => string | undefined,
): Field<number> {
  return {
    struct: expecting<number>(
      `a number of ${unit} above 0`,
      (value) => Number.isFinite(value) && Number(value) > 0,
      { type: 'number', exclusiveMinimum: 0 },
    ),
    advise,
  };
}

/** The timeout of a hook in a dialect that counts seconds. */
export const SECONDS = timeoutField('seconds', (timeout) =>
  timeout >= 1000 ? `${timeout} is in seconds here; did you mean ${timeout / 1000}?` : undefined,
);

export const PLUGIN_FIELDS: DescribedTable<PluginFields> = {
  type: {
    struct: oneOf('command', 'plugin'),
    required: true,
    description: '"command" runs a shell command. "plugin" is accepted as well, but cannot be run.',
  },
  command: {
    struct: text,
    description:
      'A shell command; it runs in the project. It reads the event on stdin as JSON, and answers with JSON on stdout, or with exit code 2 to block. $LLXPRT_PROJECT_DIR names the project.',
  },
  args: {
    struct: listOfText,
    // Without its arguments it would be another hook.
    vital: true,
    description:
      'Arguments of the program that "command" names, which is then started without a shell. Nothing is expanded but references to the project.',
  },
  shell: {
    struct: oneOf('bash'),
    vital: true,
    description: 'The shell that runs the command: "bash" is the only one. Default: "bash".',
  },
  name: {
    struct: text,
    description: 'For lists, messages and disabledHooks. Default: the command.',
  },
  description: { struct: text, description: 'What the hook is for.' },
  timeout: {
    ...timeoutField('milliseconds', (timeout) =>
      timeout < 1000 ? `${timeout} is in milliseconds; did you mean ${timeout * 1000}?` : undefined,
    ),
    description:
      'Milliseconds until the hook is ended; seconds in groups with "dialect": "claude". Default: 60000; in a dialect, that of its agent.',
  },
  env: {
    struct: expecting<Readonly<Record<string, string>>>(
      `an object of strings with no key named ${[...UNSAFE_KEYS].join(', ')}`,
      (value) =>
        isRecord(value) &&
        Object.entries(value).every(
          ([key, item]) => typeof item === 'string' && !UNSAFE_KEYS.has(key),
        ),
      {
        type: 'object',
        propertyNames: { not: { enum: [...UNSAFE_KEYS] } },
        additionalProperties: text.schema,
      },
    ),
    description: 'Added to the environment of the hook.',
  },
  onFailure: {
    struct: oneOf('allow', 'deny'),
    description:
      'What a failure of the hook means for the operation: "allow", it goes on, or "deny", it is blocked. Default: "allow".',
  },
  maxConsecutiveFailures: {
    struct: positiveCount,
    description: 'Failures in a row after which the hook is switched off. Default: never.',
  },
  prestart: {
    struct: flag,
    description:
      'Start the command before its event comes, so that it waits on its stdin. For commands that do nothing before they read it. Default: false.',
  },
};

export const COMMAND_FIELDS: DescribedTable<CommandFields> = {
  ...PLUGIN_FIELDS,
  command: { ...PLUGIN_FIELDS.command, struct: nonBlankText, required: true },
};

export const FILE_GROUP_FIELDS: DescribedTable<FileGroupFields> = {
  matcher: {
    struct: text,
    vital: true,
    description:
      'A JavaScript regular expression for the name of the tool, not anchored: write ^write_file$ for exactly one tool. Missing, "" and "*" match every tool.',
  },
  sequential: {
    struct: flag,
    description:
      'One after the other, each reading what the one before changed. Holds for all hooks of the event. Default: false, all at the same time.',
  },
  dialect: {
    struct: oneOf(...DIALECT_NAMES),
    vital: true,
    description:
      'The agent that the hooks were written for, when it is another one: "claude" for Claude Code, "gemini" for Gemini CLI. Matcher, timeout and formats are as that agent reads them.',
  },
  hooks: {
    struct: list,
    required: true,
    description: 'The hooks of this group, in order.',
  },
};

/** The keys of a group that was loaded earlier, or is given in code. */
export const GROUP_FIELDS: FieldTable<GroupFields> = {
  ...FILE_GROUP_FIELDS,
  moment: { struct: oneOf(...MOMENTS), vital: true },
  origin: {
    struct: expecting<HookOrigin>(
      'the origin of loaded settings',
      (value) =>
        isRecord(value) &&
        originScope.is(value['scope']) &&
        (value['file'] === undefined || text.is(value['file'])),
    ),
    vital: true,
  },
};
