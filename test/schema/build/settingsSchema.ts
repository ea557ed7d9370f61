import { keysOf, type FieldTable, type JsonSchema } from '../../../src/util/checks.js';
import {
  COMMAND_FIELDS,
  FILE_GROUP_FIELDS,
  MCP_TOOL_FIELDS,
  PROMPT_FIELDS,
  REMOTE_FIELDS,
  RULE_FIELDS,
} from '../../../src/hooks/hookFields.js';
import { mcpServer } from '../../../src/hooks/mcpServers.js';
import { SCALAR_FIELDS } from '../../../src/config/settings/settingsKeys.js';
import { DIALECT_NAMES, HookEventName } from '../../../src/protocol/types.js';
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
      mcpServers: {
        description: 'Servers for hooks of the type "mcp_tool" of this file, by name.',
        type: 'object',
        additionalProperties: mcpServer.schema,
      },
      hooks: {
        description: 'Groups of hooks, by event.',
        type: 'object',
        properties: Object.fromEntries([
          ...describeTheirEvents(),
          ...Object.values(HookEventName).map(describeEvent),
        ]),
        additionalProperties: false,
      },
    },
    $defs: { group: groupSchema(), hook: hookSchema() },
  };
}

const MATCHERS: Readonly<Record<string, string>> = {
  toolName: 'Matchers are tested against the name of the tool.',
  agentType: 'Matchers are tested against the kind of the sub-agent.',
};

function describeEvent(event: HookEventName): [string, JsonSchema] {
  const { summary, canBlock, matchOn } = events[event];
  const description = [
    summary,
    canBlock ? 'A block prevents it.' : 'A block prevents nothing.',
    MATCHERS[matchOn ?? ''] ?? 'Matchers do not count.',
  ].join(' ');
  return [event, { description, type: 'array', items: { $ref: '#/$defs/group' } }];
}

/** The keys that only groups of a dialect may use: several agents have events of the same name. */
function describeTheirEvents(): [string, JsonSchema][] {
  const ours = new Set<string>(Object.values(HookEventName));
  const rows = DIALECT_NAMES.flatMap((name) =>
    dialects[name].events
      .filter(({ name: key }) => !ours.has(key))
      .map((words) => ({ ...words, dialect: name, agent: dialects[name].agent })),
  ).toSorted((one, other) => Number('moment' in one) - Number('moment' in other));
  return [...new Set(rows.map(({ name: key }) => key))].map((key) => {
    const known = rows.filter(({ name: theirs }) => theirs === key);
    const { event = '', moment } = known.find(() => true) ?? {};
    const agents = known.map(({ agent }) => agent).join(', ');
    const what = moment
      ? `An event of ${agents}; here a moment of ${event}`
      : `${event}, as it is called by ${agents}`;
    const dialect = { enum: known.map(({ dialect: name }) => name) };
    const items = {
      allOf: [{ $ref: '#/$defs/group' }, { properties: { dialect }, required: ['dialect'] }],
    };
    return [key, { description: `${what}.`, type: 'array', minItems: 1, items }];
  });
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
  const described = [REMOTE_FIELDS, RULE_FIELDS, MCP_TOOL_FIELDS, PROMPT_FIELDS].map((table) =>
    Object.entries(propertiesOf(table, hookDescriptions)),
  );
  const ofOthers = described.flat().filter(([key]) => !(key in COMMAND_FIELDS));
  const all = [...Object.keys(COMMAND_FIELDS), ...ofOthers.map(([key]) => key)];
  const only = (table: object) => never(all.filter((key) => !(key in table)));
  const branch = (name: string, table: typeof COMMAND_FIELDS, otherwise: JsonSchema) => ({
    if: { properties: { type: { const: name } } },
    // oxlint-disable-next-line unicorn/no-thenable -- a word of JSON Schema
    then: {
      properties: { ...(name === 'command' && { command }), ...only(table) },
      required: requiredKeys(table),
    },
    else: otherwise,
  });
  const kinds: readonly (readonly [string, typeof COMMAND_FIELDS])[] = [
    ['command', COMMAND_FIELDS],
    ['remote', REMOTE_FIELDS],
    ['rule', RULE_FIELDS],
    ['mcp_tool', MCP_TOOL_FIELDS],
    ['prompt', PROMPT_FIELDS],
  ];
  // A plugin needs no command.
  const otherwise: JsonSchema = { properties: only(COMMAND_FIELDS) };
  return {
    type: 'object',
    // In the order and with the values that an editor is to offer first.
    properties: {
      type: { ...type, default: 'command' },
      command: { type: 'string', description: command?.['description'] },
      ...others,
      ...Object.fromEntries(ofOthers),
    },
    default: { type: 'command', command: '' },
    required: ['type'],
    // Editors offer first what stands in `if`.
    ...kinds.reduceRight((rest, [name, table]) => branch(name, table, rest), otherwise),
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
