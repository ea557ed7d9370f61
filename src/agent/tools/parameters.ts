import { inspect } from 'node:util';
import * as superstruct from 'superstruct';
import { fail, type Outcome } from './outcome.js';
import { quote } from './printable.js';
import { ToolErrorType } from '../../tools/tools.js';

// superstruct does not export its own name for this type.
type AnyStruct = Parameters<typeof superstruct.object>[0][string];

/** One parameter of a tool: how it is checked, and how it is described to the model. */
export interface Parameter<S extends AnyStruct = AnyStruct> {
  readonly struct: S;
  readonly jsonSchema: Readonly<Record<string, unknown>>;
  /** Completes the sentence "expected …". */
  readonly expected: string;
  /** Another name under which the argument is accepted; the model is not told of it. */
  readonly alias?: string;
}

/** The parameters of a tool by name. */
export type ToolParameters = Readonly<Record<string, Parameter>>;

/** The checked arguments for `P`. */
export type Arguments<P extends ToolParameters> = {
  readonly [K in keyof P]: superstruct.Infer<P[K]['struct']>;
};

/** A string, possibly empty. */
export function text(description: string) {
  return {
    struct: superstruct.string(),
    jsonSchema: { type: 'string', description },
    expected: 'a string',
  };
}

/** A string of at least one character. */
export function nonEmptyText(description: string) {
  return {
    struct: superstruct.nonempty(superstruct.string()),
    jsonSchema: { type: 'string', minLength: 1, description },
    expected: 'a string that is not empty',
  };
}

/** A list of strings. */
export function textList(description: string) {
  return {
    struct: superstruct.array(superstruct.string()),
    jsonSchema: { type: 'array', items: { type: 'string' }, description },
    expected: 'a list of strings',
  };
}

/** An integer of at least `minimum`. */
export function integer(description: string, minimum: number) {
  return {
    struct: superstruct.min(superstruct.integer(), minimum),
    jsonSchema: { type: 'integer', minimum, description },
    expected: `an integer of at least ${minimum}`,
  };
}

/** `true` or `false`. */
export function flag(description: string) {
  return {
    struct: superstruct.boolean(),
    jsonSchema: { type: 'boolean', description },
    expected: 'true or false',
  };
}

/** Makes a parameter one that may be left out. */
export function optional<T, S>(parameter: Parameter<superstruct.Struct<T, S>>) {
  return { ...parameter, struct: superstruct.optional(parameter.struct) };
}

/** The JSON schema of a tool's input, for `FunctionDeclaration.parametersJsonSchema`. */
export function describeParameters(parameters: ToolParameters): Record<string, unknown> {
  const entries = Object.entries(parameters);
  return {
    type: 'object',
    properties: Object.fromEntries(entries.map(([name, { jsonSchema }]) => [name, jsonSchema])),
    required: entries.filter(([, parameter]) => isRequired(parameter)).map(([name]) => name),
    additionalProperties: false,
  };
}

/** Checks what the model passed in; a failure names the argument, what was given and what is expected. */
export function checkArguments<P extends ToolParameters>(
  toolName: string,
  parameters: P,
  input: Record<string, unknown>,
): Outcome<Arguments<P>> {
  const named = replaceAliases(toolName, parameters, input);
  if (named.failure) return named;

  const structs = Object.entries(parameters).map(([name, { struct }]) => [name, struct] as const);
  const [error, value] = superstruct.validate(
    named.value,
    superstruct.object(Object.fromEntries(structs)),
  );
  if (error) return explain(toolName, parameters, named.value, String(error.path[0]));
  return { value: value as Arguments<P> };
}

function isRequired({ struct }: Parameter): boolean {
  return !struct.is(undefined);
}

function replaceAliases(
  toolName: string,
  parameters: ToolParameters,
  input: Record<string, unknown>,
): Outcome<Record<string, unknown>> {
  const named = { ...input };
  for (const [name, { alias }] of Object.entries(parameters)) {
    if (alias === undefined || !Object.hasOwn(named, alias)) continue;
    if (Object.hasOwn(named, name)) {
      return refuse(
        `${toolName}: the arguments ${name} and ${alias} mean the same, and both were given.`,
        `Give ${name} only.`,
      );
    }
    named[name] = named[alias];
    delete named[alias];
  }
  return { value: named };
}

function explain(
  toolName: string,
  parameters: ToolParameters,
  input: Record<string, unknown>,
  name: string,
) {
  const parameter = Object.hasOwn(parameters, name) ? parameters[name] : undefined;
  if (!parameter) {
    return refuse(
      `${toolName} has no argument ${quote(name)}.`,
      `It takes ${Object.keys(parameters).join(', ')}.`,
    );
  }
  const given = Object.hasOwn(input, name) ? `is ${preview(input[name])}` : 'is missing';
  return refuse(
    `${toolName}: the argument ${name} ${given}; expected ${parameter.expected}.`,
    'Correct the argument and call the tool again.',
  );
}

function refuse(message: string, nextStep: string) {
  return { failure: fail(ToolErrorType.InvalidParams, message, nextStep) };
}

function preview(value: unknown): string {
  return inspect(value, {
    depth: 1,
    maxArrayLength: 5,
    maxStringLength: 100,
    breakLength: Infinity,
  });
}
