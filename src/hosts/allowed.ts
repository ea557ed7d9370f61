import { isDeepStrictEqual } from 'node:util';
import type { GenerateContentParameters } from '@google/genai';
import type { Config } from '../config/config.js';
import { notAllowed } from '../core/coreToolScheduler.js';
import type { ModelTurn } from '../core/modelCall.js';
import { engineOf } from '../hooks/fireHook.js';
import { allowedNames } from '../protocol/allowedTools.js';
import { HookEventName } from '../protocol/types.js';
import { isRecord } from '../util/records.js';
import { textOf } from './shared.js';

/** The tools that an answer may call, as it is carried with its calls through what a host stores. */
export type Allowed = readonly string[] | 'all';

/**
 * A host's request for hooks and middleware. The choice of tools is their own, as middleware may change it in place, and
 * what it restricts must not pass for what the host itself chose.
 */
export function toLookedAt(given: GenerateContentParameters): GenerateContentParameters {
  const toolConfig = structuredClone(given.config?.toolConfig);
  return { ...given, config: { ...given.config, ...(toolConfig && { toolConfig }) } };
}

/** Whether hooks or middleware chose other tools than the host. */
export function isChoiceChanged(
  given: GenerateContentParameters,
  changed: GenerateContentParameters,
): boolean {
  return !isDeepStrictEqual(changed.config?.toolConfig, given.config?.toolConfig);
}

/** The tools that a request lets the model call which hooks and middleware have seen; `undefined` where they left the choice of tools as it was. */
export function namesLeft(
  given: GenerateContentParameters,
  changed: GenerateContentParameters,
): readonly string[] | undefined {
  return isChoiceChanged(given, changed) ? allowedNames(changed) : undefined;
}

/**
 * What the calls of an answer carry; `undefined` where nobody but the host itself restricts tools.
 *
 * @param given the host's request
 */
export function allowedBy(
  config: Config,
  given: GenerateContentParameters,
  { request }: Pick<ModelTurn, 'request'>,
): Allowed | undefined {
  return mayRestrict(config) ? (allowedNames(request) ?? 'all') : namesLeft(given, request);
}

/** Hooks that may restrict tools are asked about each request. So a call that carries nothing is none that they know. */
export function mayRestrict(config: Config): boolean {
  try {
    const registry = engineOf(config.getHookSystem())?.registry;
    if (!registry) return false;
    return (
      !registry.isSettled() ||
      registry.getHooksForEvent(HookEventName.BeforeToolSelection).length > 0
    );
  } catch {
    return true;
  }
}

/** Reads what a call carries under our name in the data of a provider. */
export function readAllowed(data: unknown): Allowed | undefined {
  const mark = isRecord(data) ? data['hookstack'] : undefined;
  const allowed = isRecord(mark) ? mark['allowedTools'] : undefined;
  if (allowed === 'all') return allowed;
  return Array.isArray(allowed) ? allowed.map(String) : undefined;
}

/**
 * Why a call that may have waited for long must not run, as the model is to read it.
 *
 * @param name of the tool that would run
 * @param carried by the call
 */
export async function refusalOfCall(
  config: Config,
  name: string,
  carried: Allowed | undefined,
): Promise<string | undefined> {
  // It may be the first that happens in this process. What fails here leaves it open which hooks there are.
  if (carried === undefined)
    await config
      .getHookSystem()
      ?.initialize()
      .catch(() => undefined);
  if (carried === undefined && mayRestrict(config)) {
    return `The tool "${name}" was not run: hooks restrict the tools, and it is not known any more whether this call is allowed. Call the tool again.`;
  }
  return whyNotAllowed(name, carried);
}

/** Why an answer may not call what has this name, as the model is to read it. */
export function whyNotAllowed(name: string, allowed: Allowed | undefined): string | undefined {
  const refusal = notAllowed(name, allowed === 'all' ? undefined : allowed);
  return refusal && textOf(refusal);
}
