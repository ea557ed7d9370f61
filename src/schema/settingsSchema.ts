import type { FieldTable, JsonSchema } from '../util/checks.js';
import { COMMAND_FIELDS, FILE_GROUP_FIELDS } from '../hooks/hookSettings.js';
import type { Settings } from '../config/settings/settings.js';
import { SCALAR_FIELDS } from '../config/settings/settingsLayer.js';
import { DIALECT_NAMES, type DialectName, HookEventName, type CommandHookConfig, type HookDefinition } from '../protocol/types.js';
import { dialects } from '../dialects/dialects.js';
import { events } from '../protocol/events.js';
import { eventSummaries } from './descriptions.js';

type Descriptions<T> = { readonly [K in keyof T]-?: string };

const topLevel: Descriptions<Omit<Settings, 'hooks'>> = {
  enableHooks: 'Hooks run only where this is true. Default: false.',
  disabledHooks: 'Hooks that do not run: their names, or the commands of those without one.',
  afterModelDisplay:
    'When the answer of the model is shown: "stream", as it arrives, or "hold", once the AfterModel hooks have answered. Default: "stream".',
  maxStopHookRetries:
    'How often in a row AfterAgent hooks may send the agent back to work. Default: 3.',
  hookEnvironment:
    'Which environment variables hooks get. "inherit": "all" passes everything but what "redact" names, "none" passes what "allow" names. Patterns may hold *; "@secrets" stands for the usual names of secrets. Default: all.',
  maxParallelHooks:
    'Hook processes that may run at a time for one event; the others wait. Default: 16.',
  hooksRunner:
    'How hooks are started. "warmShells": shells that are kept ready for the next event; 0 keeps none. Default: 16.',
};

const group: Descriptions<Omit<HookDefinition, 'origin' | 'moment'>> = {
  matcher:
    'A JavaScript regular expression for the name of the tool, not anchored: write ^write_file$ for exactly one tool. Missing, "" and "*" match every tool.',
  sequential:
    'One after the other, each reading what the one before changed. Holds for all hooks of the event. Default: false, all at the same time.',
  dialect:
    'The agent that the hooks were written for, when it is another one: "claude" for Claude Code, "gemini" for Gemini CLI. Matcher, timeout and formats are as that agent reads them.',
  hooks: 'The hooks of this group, in order.',
};

const hook: Descriptions<Omit<CommandHookConfig, 'dialect' | 'moment' | 'extensionPath' | 'ofProject'>> = {
  type: '"command" runs a shell command. "plugin" is accepted as well, but cannot be run.',
  command:
    'A shell command; it runs in the project. It reads the event on stdin as JSON, and answers with JSON on stdout, or with exit code 2 to block. $LLXPRT_PROJECT_DIR names the project.',
  args: 'Arguments of the program that "command" names, which is then started without a shell. Nothing is expanded but references to the project.',
  shell: 'The shell that runs the command: "bash" is the only one. Default: "bash".',
  name: 'For lists, messages and disabledHooks. Default: the command.',
  description: 'What the hook is for.',
  timeout: 'Milliseconds until the hook is ended; seconds in groups with "dialect": "claude". Default: 60000; in a dialect, that of its agent.',
  env: 'Added to the environment of the hook.',
  onFailure:
    'What a failure of the hook means for the operation: "allow", it goes on, or "deny", it is blocked. Default: "allow".',
  maxConsecutiveFailures: 'Failures in a row after which the hook is switched off. Default: never.',
  prestart:
    'Start the command before its event comes, so that it waits on its stdin. For commands that do nothing before they read it. Default: false.',
};

/** The JSON Schema of settings.json. Keys of the agent itself are let through. */
export function settingsSchema(): JsonSchema {
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: 'Settings of hookstack',
    type: 'object',
    properties: {
      $schema: { type: 'string', description: 'The JSON Schema of this file, for editors.' },
      ...propertiesOf(SCALAR_FIELDS, topLevel),
      hooks: {
        description: 'Groups of hooks, by event.',
        type: 'object',
        properties: Object.fromEntries([
          ...DIALECT_NAMES.flatMap(describeTheirEvents),
          ...Object.values(HookEventName).map(describeEvent),
        ]),
        additionalProperties: false,
      },
    },
    $defs: { group: groupSchema(), hook: hookSchema() },
  };
}

function describeEvent(event: HookEventName): [string, JsonSchema] {
  const { canBlock, matchOn } = events[event];
  const description = [
    eventSummaries[event],
    canBlock ? 'A block prevents it.' : 'A block prevents nothing.',
    matchOn ? 'Matchers are tested against the name of the tool.' : 'Matchers do not count.',
  ].join(' ');
  return [event, { description, type: 'array', items: { $ref: '#/$defs/group' } }];
}

/** The keys that only groups of a dialect may use. */
function describeTheirEvents(name: DialectName): [string, JsonSchema][] {
  const { agent, events: theirs, moments } = dialects[name];
  const described = [
    ...Object.entries(theirs).map(([ours, key]) => [key, `${ours}, as ${agent} calls it.`] as const),
    ...Object.values(moments).map(
      ({ event, name: key }) => [key, `An event of ${agent}; here a moment of ${event}.`] as const,
    ),
  ];
  return described.map(([key, description]) => [
    key,
    {
      description,
      type: 'array',
      minItems: 1,
      items: {
        allOf: [
          { $ref: '#/$defs/group' },
          { properties: { dialect: { const: name } }, required: ['dialect'] },
        ],
      },
    },
  ]);
}

function groupSchema(): JsonSchema {
  const { hooks, ...others } = propertiesOf(FILE_GROUP_FIELDS, group);
  return {
    description: 'Hooks that share a matcher.',
    type: 'object',
    properties: { ...others, hooks: { ...hooks, items: { $ref: '#/$defs/hook' } } },
    required: requiredKeys(FILE_GROUP_FIELDS),
    additionalProperties: false,
  };
}

function hookSchema(): JsonSchema {
  const { command, ...others } = propertiesOf(COMMAND_FIELDS, hook);
  return {
    type: 'object',
    properties: { ...others, command: { type: 'string', description: command?.['description'] } },
    required: ['type'],
    // A plugin needs no command.
    if: { properties: { type: { const: 'plugin' } } },
    else: { properties: { command }, required: requiredKeys(COMMAND_FIELDS) },
    additionalProperties: false,
  };
}

function propertiesOf<T>(
  table: FieldTable<T>,
  descriptions: Descriptions<T>,
): Record<string, JsonSchema> {
  const keys = Object.keys(table) as (keyof T & string)[];
  return Object.fromEntries(
    keys.map((key) => [key, { description: descriptions[key], ...table[key].struct.schema }]),
  );
}

function requiredKeys<T>(table: FieldTable<T>): string[] {
  const keys = Object.keys(table) as (keyof T & string)[];
  return keys.filter((key) => table[key].required);
}
