import {
  DIALECT_NAMES,
  MOMENTS,
  type CommandHookConfig,
  type HookDefinition,
  type HookOrigin,
  type PersistentOptions,
  type Redaction,
  type When,
} from '../protocol/types.js';
import { MCP_KEYS, PROMPT_KEYS, REMOTE_KEYS } from '../run/sameCommand.js';
import {
  expecting,
  flag,
  list,
  listOfText,
  nonBlankText,
  objectOf,
  oneOf,
  positiveCount,
  readFields,
  text,
  type Field,
  type FieldTable,
  type Report,
} from '../util/checks.js';
import { isExpression, MAX_EXPRESSION_LENGTH } from '../util/limitedRegExp.js';
import { mcpServer, texts } from './mcpServers.js';
import { isRecord, UNSAFE_KEYS } from '../util/records.js';

// To add a key of hooks or of groups, add it to the type in protocol/hookConfig.ts, its check here, and what editors show of
// it in test/schema/build/descriptions.ts; `npx vitest run test/schema -u` writes the published schema.

type GroupFields = Omit<HookDefinition, 'hooks'> & { readonly hooks: readonly unknown[] };
export type FileGroupFields = Omit<GroupFields, 'origin' | 'moment'>;
type SetByRegistry = 'dialect' | 'moment' | 'groupWhen' | 'extensionPath' | 'scope';
export type HookFields = Omit<CommandHookConfig, SetByRegistry>;

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

const processes = expecting<number>(
  'a whole number of 1 to 64',
  (value) => Number.isSafeInteger(value) && Number(value) >= 1 && Number(value) <= 64,
  { type: 'integer', minimum: 1, maximum: 64 },
);
const PERSISTENT = 'true, false or { "processes": 1 to 64, "maxMemory": MB }';
const persistentOptions = objectOf<PersistentOptions>(
  PERSISTENT,
  { processes, maxMemory: positiveCount },
  { isClosed: true },
);
const persistent = expecting<boolean | PersistentOptions>(
  PERSISTENT,
  (value) => typeof value === 'boolean' || persistentOptions.is(value),
  { anyOf: [flag.schema, persistentOptions.schema] },
);

const regularExpression = expecting<string>(
  `a regular expression of at most ${MAX_EXPRESSION_LENGTH} characters`,
  (value) => nonBlankText.is(value) && value.length <= MAX_EXPRESSION_LENGTH && isExpression(value),
  { ...nonBlankText.schema, maxLength: MAX_EXPRESSION_LENGTH },
);

const when = expecting<When>(
  'a permission rule such as "Bash(git push *)", or a list of them',
  (value) => text.is(value) || (listOfText.is(value) && value.length > 0),
  { anyOf: [text.schema, { ...listOfText.schema, minItems: 1 }] },
);
const REDACTIONS = 'a list of { "pattern": a regular expression, "with": a text }';
const redaction = objectOf<Redaction>(
  REDACTIONS,
  { pattern: regularExpression, with: text },
  {
    isClosed: true,
  },
);
const redactions = expecting<readonly Redaction[]>(
  REDACTIONS,
  (value) => list.is(value) && value.length > 0 && value.every((each) => redaction.is(each)),
  { type: 'array', minItems: 1, items: redaction.schema },
);
const fixedFields = expecting<Readonly<Record<string, unknown>>>(
  'an object of arguments',
  (value) => isRecord(value) && !Object.keys(value).some((key) => UNSAFE_KEYS.has(key)),
  { type: 'object', propertyNames: { not: { enum: [...UNSAFE_KEYS] } } },
);
const expression = expecting<string>(
  `an expression in CEL of at most ${MAX_EXPRESSION_LENGTH} characters`,
  (value) => nonBlankText.is(value) && value.length <= MAX_EXPRESSION_LENGTH,
  { ...nonBlankText.schema, maxLength: MAX_EXPRESSION_LENGTH },
);

// Without them a hook would do something else, query another server, or do so as somebody else.
const vitalText: Field<string> = { struct: nonBlankText, vital: true };

/** Every key of a hook. Which of them one has depends on its type. */
const HOOK_FIELDS: FieldTable<HookFields> = {
  type: {
    struct: oneOf('command', 'rule', 'remote', 'mcp_tool', 'prompt', 'plugin'),
    required: true,
  },
  command: { struct: nonBlankText, required: true },
  args: { struct: listOfText, vital: true },
  shell: { struct: oneOf('bash'), vital: true },
  // A remote hook with a bad url fails when it is queried, so that a guard denies.
  url: { struct: nonBlankText, required: true },
  tokenFile: vitalText,
  tokenVariable: vitalText,
  caFile: vitalText,
  certFile: vitalText,
  keyFile: vitalText,
  headers: { struct: texts, vital: true },
  server: { struct: nonBlankText, required: true },
  tool: { struct: nonBlankText, required: true },
  input: { struct: fixedFields, vital: true },
  mcpServer: { struct: mcpServer, vital: true },
  prompt: { struct: nonBlankText, required: true },
  model: vitalText,
  name: { struct: text },
  description: { struct: text },
  timeout: timeoutField('milliseconds', (timeout) =>
    timeout < 1000 ? `${timeout} is in milliseconds; did you mean ${timeout * 1000}?` : undefined,
  ),
  env: { struct: texts },
  // Without it the hook would run too often; a rule would do something else without any of the others.
  when: { struct: when, vital: true },
  decision: { struct: oneOf('allow', 'ask', 'deny'), vital: true },
  reason: { struct: text },
  redact: { struct: redactions, vital: true },
  set: { struct: fixedFields, vital: true },
  expr: { struct: expression, vital: true },
  onFailure: { struct: oneOf('allow', 'deny') },
  maxConsecutiveFailures: { struct: positiveCount },
  prestart: { struct: flag },
  persistent: { struct: persistent },
  async: { struct: flag },
  asyncRewake: { struct: flag },
  rewakeMessage: { struct: text },
};

const OF_COMMANDS = [
  'command',
  'args',
  'shell',
  'env',
  'prestart',
  'persistent',
  'async',
  'asyncRewake',
  'rewakeMessage',
];
const OF_RULES = ['decision', 'reason', 'redact', 'set', 'expr'];
const OF_KINDS = [OF_COMMANDS, REMOTE_KEYS, OF_RULES, MCP_KEYS, PROMPT_KEYS];
const OF_ALL_BUT_RULES = ['timeout', 'maxConsecutiveFailures'];

export const COMMAND_FIELDS = fieldsOfKind(OF_COMMANDS);
export const REMOTE_FIELDS = fieldsOfKind(REMOTE_KEYS);
export const RULE_FIELDS = fieldsOfKind(OF_RULES, OF_ALL_BUT_RULES);
export const MCP_TOOL_FIELDS = fieldsOfKind(MCP_KEYS);
export const PROMPT_FIELDS = fieldsOfKind(PROMPT_KEYS);
const PLUGIN_FIELDS = { ...COMMAND_FIELDS, command: { struct: text } };

/** @param without keys that all other kinds have */
function fieldsOfKind(
  own: readonly string[],
  without: readonly string[] = [],
): FieldTable<HookFields> {
  const others = new Set([...OF_KINDS.filter((keys) => keys !== own).flat(), ...without]);
  const fields = Object.entries(HOOK_FIELDS).filter(([key]) => !others.has(key));
  return Object.fromEntries(fields) as unknown as FieldTable<HookFields>;
}

/** The table of the keys that a hook of this type has. */
export function hookFieldsOf(type: unknown) {
  if (type === 'remote') return REMOTE_FIELDS;
  if (type === 'rule') return RULE_FIELDS;
  if (type === 'mcp_tool') return MCP_TOOL_FIELDS;
  if (type === 'prompt') return PROMPT_FIELDS;
  return type === 'plugin' ? PLUGIN_FIELDS : COMMAND_FIELDS;
}

/**
 * A hook as it is written, by the table of its type. `undefined` where it cannot be used.
 *
 * @param timeout where its unit is not ms
 */
export function readHookFields(
  raw: Readonly<Record<string, unknown>>,
  report: Report,
  timeout?: Field<number>,
): CommandHookConfig | undefined {
  const known = hookFieldsOf(raw['type']) as FieldTable<HookFields>;
  const table = timeout ? { ...known, timeout } : known;
  const fields = readFields<HookFields>(raw, table, 'hook', report);
  return fields && { ...fields, command: fields.command ?? '' };
}

export const FILE_GROUP_FIELDS: FieldTable<FileGroupFields> = {
  matcher: { struct: text, vital: true },
  when: { struct: when, vital: true },
  sequential: { struct: flag },
  dialect: { struct: oneOf(...DIALECT_NAMES), vital: true },
  hooks: { struct: list, required: true },
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
