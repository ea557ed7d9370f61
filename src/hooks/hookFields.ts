import {
  DIALECT_NAMES,
  MOMENTS,
  type CommandHookConfig,
  type HookDefinition,
  type HookOrigin,
  type PersistentOptions,
} from '../protocol/types.js';
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
import { isRecord, UNSAFE_KEYS } from '../util/records.js';

// To add a key of hooks or of groups, add it to the type in protocol/hookConfig.ts, its check here, and what editors show of
// it in test/schema/build/descriptions.ts; `npx vitest run test/schema -u` writes the published schema.

type GroupFields = Omit<HookDefinition, 'hooks'> & { readonly hooks: readonly unknown[] };
export type FileGroupFields = Omit<GroupFields, 'origin' | 'moment'>;
/** What only hooks of `type: "remote"` have. */
type RemoteKey =
  | 'url'
  | 'tokenFile'
  | 'tokenVariable'
  | 'caFile'
  | 'certFile'
  | 'keyFile'
  | 'headers';
type SetByRegistry = 'dialect' | 'moment' | 'extensionPath' | 'scope';
type CommandFields = Omit<CommandHookConfig, SetByRegistry | RemoteKey>;
export type PluginFields = Omit<CommandFields, 'command'> & { readonly command?: string };
type EitherField =
  | 'type'
  | 'name'
  | 'description'
  | 'timeout'
  | 'onFailure'
  | 'maxConsecutiveFailures';
export type RemoteFields = Pick<CommandHookConfig, EitherField | RemoteKey> & {
  readonly url: string;
};

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

const texts = expecting<Readonly<Record<string, string>>>(
  `an object of strings with no key named ${[...UNSAFE_KEYS].join(', ')}`,
  (value) =>
    isRecord(value) &&
    Object.entries(value).every(([key, item]) => typeof item === 'string' && !UNSAFE_KEYS.has(key)),
  {
    type: 'object',
    propertyNames: { not: { enum: [...UNSAFE_KEYS] } },
    additionalProperties: text.schema,
  },
);

const PLUGIN_FIELDS: FieldTable<PluginFields> = {
  type: { struct: oneOf('command', 'remote', 'plugin'), required: true },
  command: { struct: text },
  args: {
    struct: listOfText,
    // Without its arguments the command would do something else, so a bad value takes the whole hook.
    vital: true,
  },
  shell: { struct: oneOf('bash'), vital: true },
  name: { struct: text },
  description: { struct: text },
  timeout: timeoutField('milliseconds', (timeout) =>
    timeout < 1000 ? `${timeout} is in milliseconds; did you mean ${timeout * 1000}?` : undefined,
  ),
  env: { struct: texts },
  onFailure: { struct: oneOf('allow', 'deny') },
  maxConsecutiveFailures: { struct: positiveCount },
  prestart: { struct: flag },
  persistent: { struct: persistent },
};

export const COMMAND_FIELDS: FieldTable<CommandFields> = {
  ...PLUGIN_FIELDS,
  command: { ...PLUGIN_FIELDS.command, struct: nonBlankText, required: true },
};

/**
 * The keys of a hook that asks a server. Without the vital ones it would query another server, or with another
 * identity.
 */
export const REMOTE_FIELDS: FieldTable<RemoteFields> = {
  type: PLUGIN_FIELDS.type,
  // A remote hook with a bad url fails when it is queried, so that a guard denies.
  url: { struct: nonBlankText, required: true },
  tokenFile: { struct: nonBlankText, vital: true },
  tokenVariable: { struct: nonBlankText, vital: true },
  caFile: { struct: nonBlankText, vital: true },
  certFile: { struct: nonBlankText, vital: true },
  keyFile: { struct: nonBlankText, vital: true },
  headers: { struct: texts, vital: true },
  name: PLUGIN_FIELDS.name,
  description: PLUGIN_FIELDS.description,
  timeout: PLUGIN_FIELDS.timeout,
  onFailure: PLUGIN_FIELDS.onFailure,
  maxConsecutiveFailures: PLUGIN_FIELDS.maxConsecutiveFailures,
};

/** What one of the three tables gives. */
type AnyFields = PluginFields & Partial<RemoteFields>;

/** The table of the keys that a hook of this type has. */
export function hookFieldsOf(type: unknown) {
  if (type === 'remote') return REMOTE_FIELDS;
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
) {
  const table = { ...hookFieldsOf(raw['type']), ...(timeout && { timeout }) };
  const fields = readFields<AnyFields>(raw, table as FieldTable<AnyFields>, 'hook', report);
  return fields && { ...fields, command: fields.command ?? '' };
}

export const FILE_GROUP_FIELDS: FieldTable<FileGroupFields> = {
  matcher: { struct: text, vital: true },
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
