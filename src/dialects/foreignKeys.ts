import { describe, type Report } from '../util/checks.js';
import { isRecord } from '../util/records.js';
import type { Dialect } from './dialect.js';

const FOREIGN_TYPES: ReadonlySet<unknown> = new Set([
  'http',
  'mcp_tool',
  'prompt',
  'agent',
  'runtime',
]);

/** Keys that change nothing here, and what happens instead. */
const IDLE_KEYS: ReadonlyMap<string, string> = new Map([
  ['async', 'the event waits for the hook'],
  ['asyncRewake', 'the event waits for the hook'],
  ['once', 'the hook runs every time'],
  ['statusMessage', 'no such message is shown'],
]);

/**
 * Removes keys that only other agents know from a hook, and reports what that means.
 *
 * @param spoken the dialect of its group
 * @returns the other keys; `undefined` for a hook that would do something else here, and so is left out
 */
export function withoutForeignKeys(
  raw: Record<string, unknown>,
  spoken: Dialect | undefined,
  report: Report,
): Record<string, unknown> | undefined {
  if (raw['type'] === 'http' && spoken?.hasHttpHooks) {
    return withoutForeignKeys(fromHttpHook(raw, report), spoken, report);
  }
  const objections = [...findObjections(raw, spoken)];
  for (const [key, why] of objections) {
    report([key], `the hook is left out: ${why}`, 'unsupported');
  }
  if (objections.length > 0) return undefined;
  for (const [key, instead] of IDLE_KEYS) {
    const value = Object.hasOwn(raw, key) ? raw[key] : undefined;
    if (value !== undefined && value !== false) {
      report([key], `has no effect: ${instead}`, 'no-effect');
    }
  }
  const kept = Object.entries(raw).filter(
    ([key]) => !IDLE_KEYS.has(key) && !(key === 'shell' && raw['args'] !== undefined),
  );
  const { onFailure } = raw;
  const isGuard = spoken?.guardWord !== undefined && onFailure === spoken.guardWord;
  return { ...Object.fromEntries(kept), ...(isGuard && { onFailure: 'deny' }) };
}

const NO_CONDITIONS =
  'there are no conditions here, and without it the hook would run too often; let it look';

function* findObjections(
  raw: Record<string, unknown>,
  spoken: Dialect | undefined,
): Generator<readonly [key: string, why: string]> {
  const { type, shell, args } = raw;
  if (FOREIGN_TYPES.has(type)) {
    yield [
      'type',
      `a hook of the type ${describe(type)} cannot run here, but only commands and remote hooks`,
    ];
    return;
  }
  if (Object.hasOwn(raw, 'if') && raw['if'] !== undefined) yield ['if', NO_CONDITIONS];
  if (typeof shell === 'string' && shell !== 'bash' && args === undefined) {
    yield ['shell', `commands are run by bash, and not by ${describe(shell)}`];
  }
  for (const key of ['command', 'args']) {
    const name = spoken?.missingVariables.find((each) => refersTo(raw[key], each, raw['env']));
    if (name === undefined) continue;
    yield [
      key,
      `it refers to ${name}, which ${spoken?.agent} sets for plugins only; write the path`,
    ];
  }
}

/** Whether a command, or its arguments, needs a variable that is not in the hook's own `env`. */
function refersTo(value: unknown, name: string, env: unknown): boolean {
  if (isRecord(env) && Object.hasOwn(env, name)) return false;
  const reference = new RegExp(String.raw`\$(?:${name}\b|\{${name}\})`);
  return [value].flat().some((word) => typeof word === 'string' && reference.test(word));
}

/** `Bearer` and a variable, as headers name it. */
const BEARER = /^Bearer\s+\$(?:\{(\w+)\}|(\w+))$/iu;
const REFERENCE = /\$(?:\{\w+\}|\w)/u;

/**
 * A hook of another agent that is asked over HTTP, as a remote hook. What it cannot be asked with is reported, and stays:
 * then it fails where it is to be asked, so that a guard denies.
 */
function fromHttpHook(
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
