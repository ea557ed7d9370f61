import type { EventName } from '../../../src/author.js';
import type { JsonSchema } from '../../../src/util/checks.js';
import { events } from '../../../src/protocol/events.js';
import { outputShape, type Shape } from '../../../src/protocol/readHookOutput.js';
import {
  commonInputs,
  commonOutputs,
  eventInputs,
  eventSummaries,
  specificOutputs,
} from './descriptions.js';

/** The JSON Schema of what a hook of one event reads on stdin. Fields that are added later are let through. */
export function stdinSchema(event: EventName): JsonSchema {
  const inputs: Readonly<Record<string, string>> = eventInputs[event];
  const specific = Object.entries(inputs).map(([field, description]) => [
    field,
    { description, ...inputSchema(event, field) },
  ]);
  return {
    title: `What a hook of ${event} reads`,
    description: eventSummaries[event],
    type: 'object',
    properties: {
      ...describeAll(commonInputs, { type: 'string' }),
      hook_event_name: { description: commonInputs.hook_event_name, const: event },
      ...Object.fromEntries(specific),
    },
    required: [...Object.keys(commonInputs), ...Object.keys(inputs)],
  };
}

/** The JSON Schema of what a hook of one event may answer on stdout: the fields that have an effect there. */
export function stdoutSchema(event: EventName): JsonSchema {
  const { hookSpecificOutput, ...common } = outputShape;
  const known: Shape = hookSpecificOutput.fields;
  const descriptions: Readonly<Record<string, string>> = {
    hookEventName: 'The name of the event; has no effect.',
    ...specificOutputs[event],
  };
  const specific = Object.keys(descriptions).map((field) => [field, known[field]]);
  return {
    title: `What a hook of ${event} answers`,
    description: eventSummaries[event],
    ...shapeSchema(common, commonOutputs),
    properties: {
      ...propertiesOf(common, commonOutputs),
      hookSpecificOutput: {
        description: commonOutputs.hookSpecificOutput,
        ...orNull(shapeSchema(Object.fromEntries(specific) as Shape, descriptions)),
      },
    },
  };
}

const { llm_request: requestShape, llm_response: responseShape } =
  outputShape.hookSpecificOutput.fields;

/** The model's data is sent in the format in which hooks answer; everything else is checked as it is sent. */
function inputSchema(event: EventName, field: string): JsonSchema {
  if (field === 'llm_request') return wholeOf(requestShape.fields, ['model', 'messages']);
  if (field === 'llm_response') return wholeOf(responseShape.fields, ['candidates']);
  const checks: Readonly<Record<string, { readonly schema: unknown }>> =
    events[event].fields.schema;
  return checks[field]?.schema as JsonSchema;
}

function wholeOf(shape: Shape, required: readonly string[]): JsonSchema {
  const properties = Object.entries(shape).map(([field, known]) => [
    field,
    'fields' in known ? wholeOf(known.fields, []) : known.schema,
  ]);
  return { type: 'object', properties: Object.fromEntries(properties), required };
}

/** As answers are read: a field is of its type, or null, which says nothing, and unknown fields have no effect. */
function shapeSchema(shape: Shape, descriptions: Readonly<Record<string, string>>): JsonSchema {
  return {
    type: 'object',
    properties: propertiesOf(shape, descriptions),
    additionalProperties: false,
  };
}

function propertiesOf(shape: Shape, descriptions: Readonly<Record<string, string>>): JsonSchema {
  return Object.fromEntries(
    Object.entries(shape).map(([field, known]) => [
      field,
      {
        ...(descriptions[field] !== undefined && { description: descriptions[field] }),
        ...orNull('fields' in known ? shapeSchema(known.fields, {}) : known.schema),
      },
    ]),
  );
}

function orNull(schema: JsonSchema): JsonSchema {
  if (Array.isArray(schema['enum'])) return { enum: [...(schema['enum'] as unknown[]), null] };
  return { ...schema, type: [schema['type'], 'null'] };
}

function describeAll(
  descriptions: Readonly<Record<string, string>>,
  schema: JsonSchema,
): JsonSchema {
  return Object.fromEntries(
    Object.entries(descriptions).map(([field, description]) => [field, { description, ...schema }]),
  );
}
