import { fieldsOf, type AnyCheck, type JsonSchema } from '../../../src/util/checks.js';
import type { EventField } from '../../../src/protocol/defineEvent.js';
import { events } from '../../../src/protocol/events.js';
import { answerFields } from '../../../src/protocol/hookAnswer.js';
import { commonFields } from '../../../src/protocol/hookInput.js';
import type { HookEventName } from '../../../src/protocol/types.js';

/** The JSON Schema of what a hook of one event reads on stdin. Fields that are added later are let through. */
export function stdinSchema(event: HookEventName): JsonSchema {
  const { summary, fields } = events[event];
  const common = Object.entries<EventField>(commonFields).map(([name, field]) =>
    name === 'hook_event_name'
      ? [name, { description: field[1], const: event }]
      : [name, inputSchema(field)],
  );
  const specific = Object.entries(fields).map(([name, field]) => [name, inputSchema(field)]);
  return {
    title: `What a hook of ${event} reads`,
    description: summary,
    type: 'object',
    properties: Object.fromEntries([...common, ...specific]),
    required: [...requiredFields(commonFields), ...Object.keys(fields)],
  };
}

/** The JSON Schema of what a hook of one event may answer on stdout: the fields that have an effect there. */
export function stdoutSchema(event: HookEventName): JsonSchema {
  const { summary, answers } = events[event];
  const { hookSpecificOutput, ...common } = answerFields;
  const [specificCheck, specificWords] = hookSpecificOutput;
  const known = fieldsOf(specificCheck) ?? {};
  const words = { hookEventName: 'The name of the event; has no effect.', ...answers };
  const specific = Object.entries(words).map(([name, said]) => [
    name,
    answerSchema(known[name], said),
  ]);
  return {
    title: `What a hook of ${event} answers`,
    description: summary,
    ...closedObject([
      ...Object.entries(common).map(([name, [check, said]]) => [name, answerSchema(check, said)]),
      ['hookSpecificOutput', { description: specificWords, ...orNull(closedObject(specific)) }],
    ]),
  };
}

/** The model's data is sent in the format in which hooks answer; everything else is checked as it is sent. */
function inputSchema([check, description, how]: EventField): JsonSchema {
  const schema = how?.reads ? wholeOf(how.reads.shape, how.reads.always) : (check.schema as object);
  return { description, ...schema };
}

function requiredFields(fields: Readonly<Record<string, EventField>>): string[] {
  return Object.keys(fields).filter((name) => !fields[name]?.[0].is(undefined));
}

function wholeOf(check: AnyCheck, required: readonly string[]): JsonSchema {
  const fields = fieldsOf(check);
  if (!fields) return check.schema as JsonSchema;
  const properties = Object.entries(fields).map(([name, field]) => [name, wholeOf(field, [])]);
  return { type: 'object', properties: Object.fromEntries(properties), required };
}

/** As answers are read: a field is of its type, or null, which says nothing, and unknown fields have no effect. */
function answerSchema(check: AnyCheck | undefined, description?: string): JsonSchema {
  const fields = check && fieldsOf(check);
  const inner = Object.entries(fields ?? {}).map(([name, field]) => [name, answerSchema(field)]);
  const schema = fields ? closedObject(inner) : (check?.schema as JsonSchema);
  return { ...(description !== undefined && { description }), ...orNull(schema) };
}

function closedObject(properties: readonly unknown[][]): JsonSchema {
  return {
    type: 'object',
    properties: Object.fromEntries(properties as [string, JsonSchema][]),
    additionalProperties: false,
  };
}

function orNull(schema: JsonSchema): JsonSchema {
  if (Array.isArray(schema['enum'])) return { enum: [...(schema['enum'] as unknown[]), null] };
  const { anyOf, type } = schema;
  if (Array.isArray(anyOf)) return { anyOf: [...(anyOf as unknown[]), { type: 'null' }] };
  return { ...schema, type: [type, 'null'] };
}
