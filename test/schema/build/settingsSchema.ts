import { keysOf, type FieldTable, type JsonSchema } from '../../../src/util/checks.js';
import { COMMAND_FIELDS, FILE_GROUP_FIELDS, REMOTE_FIELDS } from '../../../src/hooks/hookFields.js';
import { SCALAR_FIELDS } from '../../../src/config/settings/settingsKeys.js';
import { DIALECT_NAMES, type DialectName, HookEventName } from '../../../src/protocol/types.js';
import { dialects } from '../../../src/dialects/dialects.js';
import { events } from '../../../src/protocol/events.js';
import { groupDescriptions, hookDescriptions, settingsDescriptions } from './descriptions.js';

/** The JSON Schema of settings.json. Keys of the agent itself are let through. */
export function settingsSchema(): JsonSchema {
  return {
    title: 'Settings of hookstack',
    type: 'object',
    properties: {
      $schema: { type: 'string', description: 'The JSON Schema of this file, for editors.' },
      ...propertiesOf(SCALAR_FIELDS, settingsDescriptions),
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
  const { summary, canBlock, matchOn } = events[event];
  const description = [
    summary,
    canBlock ? 'A block prevents it.' : 'A block prevents nothing.',
    matchOn ? 'Matchers are tested against the name of the tool.' : 'Matchers do not count.',
  ].join(' ');
  return [event, { description, type: 'array', items: { $ref: '#/$defs/group' } }];
}

/** The keys that only groups of a dialect may use. */
function describeTheirEvents(name: DialectName): [string, JsonSchema][] {
  const { agent, events: theirs } = dialects[name];
  const described = theirs
    .filter(({ isOnlySent }) => !isOnlySent)
    .toSorted((one, other) => Number('moment' in one) - Number('moment' in other))
    .map(({ event, name: key, moment }) => {
      const what = moment
        ? `An event of ${agent}; here a moment of ${event}`
        : `${event}, as ${agent} calls it`;
      return [key, `${what}.`] as const;
    });
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
  const { hooks, ...others } = propertiesOf(FILE_GROUP_FIELDS, groupDescriptions);
  return {
    description: 'Hooks that share a matcher.',
    type: 'object',
    properties: { ...others, hooks: { ...hooks, items: { $ref: '#/$defs/hook' } } },
    required: requiredKeys(FILE_GROUP_FIELDS),
    additionalProperties: false,
  };
}

function hookSchema(): JsonSchema {
  const { type, command, ...others } = propertiesOf(COMMAND_FIELDS, hookDescriptions);
  const described = propertiesOf(REMOTE_FIELDS, hookDescriptions);
  const remote = Object.entries(described).filter(([key]) => !(key in COMMAND_FIELDS));
  const ofCommands = Object.keys(COMMAND_FIELDS).filter((key) => !(key in REMOTE_FIELDS));
  const ofRemotes = remote.map(([key]) => key);
  return {
    type: 'object',
    // In the order and with the values that an editor is to offer first.
    properties: {
      type: { ...type, default: 'command' },
      command: { type: 'string', description: command?.['description'] },
      ...others,
      ...Object.fromEntries(remote),
    },
    default: { type: 'command', command: '' },
    required: ['type'],
    // A plugin needs no command. Editors offer first what stands in `if`.
    if: { properties: { type: { const: 'command' } } },
    // oxlint-disable-next-line unicorn/no-thenable -- a word of JSON Schema
    then: {
      properties: { command, ...never(ofRemotes) },
      required: requiredKeys(COMMAND_FIELDS),
    },
    else: {
      if: { properties: { type: { const: 'remote' } } },
      // oxlint-disable-next-line unicorn/no-thenable -- a word of JSON Schema
      then: { properties: never(ofCommands), required: requiredKeys(REMOTE_FIELDS) },
      else: { properties: never(ofRemotes) },
    },
    additionalProperties: false,
  };
}

function never(keys: readonly string[]): JsonSchema {
  return Object.fromEntries(keys.map((key) => [key, false]));
}

export function propertiesOf<T extends object>(
  table: FieldTable<T>,
  descriptions: { readonly [K in keyof T]-?: string },
): Record<string, JsonSchema> {
  return Object.fromEntries(
    keysOf(table).map((key) => [
      key,
      { description: descriptions[key], ...table[key].struct.schema },
    ]),
  );
}

export function requiredKeys<T extends object>(table: FieldTable<T>): string[] {
  return keysOf(table).filter((key) => table[key].required);
}
