import { inspect } from 'node:util';
import * as superstruct from 'superstruct';
import * as checks from '../../util/checks.js';
import { quote } from './printable.js';
import { invalid } from './toolFailure.js';

export interface Parameter<T = unknown> {
  readonly check: checks.Check<T>;
  readonly description: string;
  /** Another accepted name. The model does not see it. */
  readonly alias?: string;
}

// The type of a check is used in both directions, so that no other type holds all checks.
// oxlint-disable-next-line typescript/no-explicit-any
export type ToolParameters = Readonly<Record<string, Parameter<any>>>;

export type Arguments<P extends ToolParameters> = {
  readonly [K in keyof P]: superstruct.Infer<P[K]['check']>;
};

function parameterOf<T>(check: checks.Check<T>) {
  return (description: string, alias?: string): Parameter<T> => ({ check, description, alias });
}

export const text = parameterOf(checks.text);

export const nonEmptyText = parameterOf(
  checks.expecting<string>(
    'a string that is not empty',
    (value) => typeof value === 'string' && value !== '',
    { type: 'string', minLength: 1 },
  ),
);

export const textList = parameterOf(
  checks.expecting<readonly string[]>(
    'a list of strings',
    (value) => checks.listOfText.is(value),
    checks.listOfText.schema,
  ),
);

export const flag = parameterOf(checks.flag);

export function integer(description: string, minimum: number): Parameter<number> {
  const check = checks.expecting<number>(
    `an integer of at least ${minimum}`,
    (value) => Number.isInteger(value) && Number(value) >= minimum,
    { type: 'integer', minimum },
  );
  return { check, description };
}

export function optional<T>(parameter: Parameter<T>): Parameter<T | undefined> {
  return { ...parameter, check: superstruct.optional(parameter.check) };
}

export function describeParameters(parameters: ToolParameters): Record<string, unknown> {
  const entries = Object.entries(parameters);
  const schemas = entries.map(([name, { check, description }]) => {
    return [name, { ...check.schema, description }] as const;
  });
  return {
    type: 'object',
    properties: Object.fromEntries(schemas),
    required: entries.filter(([, { check }]) => !check.is(undefined)).map(([name]) => name),
    additionalProperties: false,
  };
}

/** @throws ToolFailure that names the argument, what was given and what is expected */
export function checkArguments<P extends ToolParameters>(
  toolName: string,
  parameters: P,
  input: Record<string, unknown>,
): Arguments<P> {
  const named = replaceAliases(toolName, parameters, input);
  for (const [name, { check }] of Object.entries(parameters)) {
    const isGiven = Object.hasOwn(named, name);
    if (check.is(isGiven ? named[name] : undefined)) continue;
    const given = isGiven ? `is ${preview(named[name])}` : 'is missing';
    throw invalid(
      `${toolName}: the argument ${name} ${given}; expected ${check.type}.`,
      'Correct the argument and call the tool again.',
    );
  }
  const unknown = Object.keys(named).find((name) => !Object.hasOwn(parameters, name));
  if (unknown === undefined) return named as Arguments<P>;
  throw invalid(
    `${toolName} has no argument ${quote(unknown)}.`,
    `It takes ${Object.keys(parameters).join(', ')}.`,
  );
}

function replaceAliases(
  toolName: string,
  parameters: ToolParameters,
  input: Record<string, unknown>,
): Record<string, unknown> {
  const named = { ...input };
  for (const [name, { alias }] of Object.entries(parameters)) {
    if (alias === undefined || !Object.hasOwn(named, alias)) continue;
    if (Object.hasOwn(named, name)) {
      throw invalid(
        `${toolName}: the arguments ${name} and ${alias} mean the same, and both were given.`,
        `Give ${name} only.`,
      );
    }
    named[name] = named[alias];
    delete named[alias];
  }
  return named;
}

function preview(value: unknown): string {
  return inspect(value, {
    depth: 1,
    maxArrayLength: 5,
    maxStringLength: 100,
    breakLength: Infinity,
  });
}
