import { describe, type Report } from '../util/checks.js';
import { isRecord } from '../util/records.js';

/** `Bearer` and a variable, as headers name it. */
const BEARER = /^Bearer\s+\$(?:\{(\w+)\}|(\w+))$/iu;
const REFERENCE = /\$(?:\{\w+\}|\w)/u;

/**
 * A hook of another agent that is asked over HTTP, as a remote hook.
 *
 * @returns the keys of the remote hook; `undefined` where it would ask in another way than was meant, which is reported
 */
export function fromHttpHook(
  raw: Readonly<Record<string, unknown>>,
  report: Report,
): Record<string, unknown> | undefined {
  const { headers = {}, allowedEnvVars = [], type: _type, ...others } = raw;
  if (!isRecord(headers)) {
    report(
      ['headers'],
      `the hook is left out: expected an object, got ${describe(headers)}`,
      'unsupported',
    );
    return undefined;
  }
  const { url } = raw;
  if (typeof url === 'string' && /^http:\/\//iu.test(url) && !LOCAL.test(url)) {
    report(['url'], `the hook is left out: ${NO_TLS}`, 'unsupported');
    return undefined;
  }
  const allowed: readonly unknown[] = Array.isArray(allowedEnvVars) ? allowedEnvVars : [];
  const kept: Record<string, unknown> = {};
  let tokenVariable: string | undefined;
  for (const [name, value] of Object.entries(headers)) {
    const [, braced, plain] = (typeof value === 'string' && BEARER.exec(value)) || [];
    const variable = braced ?? plain;
    if (
      name.toLowerCase() === 'authorization' &&
      variable !== undefined &&
      allowed.includes(variable)
    ) {
      tokenVariable = variable;
    } else if (typeof value === 'string' && REFERENCE.test(value)) {
      report(['headers', name], `the hook is left out: ${ONLY_BEARER}`, 'unsupported');
      return undefined;
    } else kept[name] = value;
  }
  return {
    ...others,
    type: 'remote',
    ...(tokenVariable !== undefined && { tokenVariable }),
    ...(Object.keys(kept).length > 0 && { headers: kept }),
  };
}

const LOCAL = /^http:\/\/(?:localhost|127(?:\.\d{1,3}){3}|\[::1\])(?:[:/?#]|$)/iu;
const NO_TLS =
  'it asks another machine without TLS, where everybody in between can read and answer; write https://';

const ONLY_BEARER =
  'of variables, only "Authorization": "Bearer $NAME" is filled in, where "allowedEnvVars" lists NAME; write the value, or put the token into a file and name it as "tokenFile" of a hook of the type "remote"';
