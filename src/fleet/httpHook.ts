import type { Report } from '../util/checks.js';
import { isRecord } from '../util/records.js';

/** `Bearer` and a variable, as headers name it. */
const BEARER = /^Bearer\s+\$(?:\{(\w+)\}|(\w+))$/iu;
const REFERENCE = /\$(?:\{\w+\}|\w)/u;

/**
 * A hook of another agent that is asked over HTTP, as a remote hook. What it cannot be asked with is reported, and stays:
 * then it fails where it is to be asked, so that a guard denies.
 */
export function fromHttpHook(
  raw: Readonly<Record<string, unknown>>,
  report: Report,
): Record<string, unknown> {
  const { headers = {}, allowedEnvVars, type: _type, ...others } = raw;
  if (!isRecord(headers)) return { ...others, type: 'remote', headers };
  const allowed: readonly unknown[] = Array.isArray(allowedEnvVars) ? allowedEnvVars : [];
  const kept: Record<string, unknown> = {};
  let tokenVariable: string | undefined;
  for (const [name, value] of Object.entries(headers)) {
    const variable = name.toLowerCase() === 'authorization' ? bearerOf(value) : undefined;
    if (variable !== undefined && allowed.includes(variable)) tokenVariable = variable;
    else kept[name] = value;
    if (name in kept && hasReference(value)) {
      report(['headers', name], `the hook cannot be asked: ${ONLY_BEARER}`, 'unsupported');
    }
  }
  return {
    ...others,
    type: 'remote',
    ...(tokenVariable !== undefined && { tokenVariable }),
    ...(Object.keys(kept).length > 0 && { headers: kept }),
  };
}

function bearerOf(value: unknown): string | undefined {
  const [, braced, plain] = (typeof value === 'string' && BEARER.exec(value)) || [];
  return braced ?? plain;
}

/**
 * Refuses what a hook of another agent would have filled in.
 *
 * @throws Error that names the header
 */
export function requireNoReferences(headers: Readonly<Record<string, unknown>> = {}): void {
  const open = Object.keys(headers).find((name) => hasReference(headers[name]));
  if (open !== undefined) throw new Error(`its header ${open} names a variable: ${ONLY_BEARER}`);
}

function hasReference(value: unknown): boolean {
  return typeof value === 'string' && REFERENCE.test(value);
}

const ONLY_BEARER =
  'of variables, only "Authorization": "Bearer $NAME" is filled in, where "allowedEnvVars" lists NAME; write the value, or put the token into a file and name it as "tokenFile" of a hook of the type "remote"';
