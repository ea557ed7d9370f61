import { dialects } from '../dialects/words.js';
import { expandCommand } from '../process/expandCommand.js';
import type { StartOptions } from '../process/startCommand.js';
import { encodeInput } from './encodeInput.js';
import {
  buildHookEnvironment,
  ownVariables,
  type HookEnvironmentPolicy,
} from './hookEnvironment.js';
import type { CommandHookConfig, HookInput } from './types.js';

/** What of an input tells where and for whom a hook runs. */
export type SessionFields = Pick<HookInput, 'cwd' | 'session_id'>;

/** What the hooks of an event have in common: where they run, with which variables, and what they read. */
export interface PreparedInput {
  readonly input: HookInput;
  /** Built when it is first read. */
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** The JSON for stdin, which many hooks may share; or why there is none. */
  readonly stdin: Uint8Array | Error;
}

/**
 * Writes an input as JSON, which fails for one that is cyclic, holds a BigInt, is nested too deeply, or misses one
 * of its fields.
 */
export function prepareInput(input: HookInput, environment: HookEnvironmentPolicy): PreparedInput {
  let built: PreparedInput['env'] | undefined;
  return {
    input,
    get env() {
      return (built ??= buildHookEnvironment(environment, input.cwd));
    },
    stdin: writeInput(input),
  };
}

function writeInput(input: HookInput): PreparedInput['stdin'] {
  try {
    const missing = Object.entries(input).find(([, value]) => value === undefined);
    if (missing) throw new TypeError(`${missing[0]} is undefined`);
    return encodeInput(input);
  } catch (error) {
    return error as Error;
  }
}

/** What is started for a hook, now or ahead of its event. Its environment is read late, when a shell makes ready. */
export function startOptions(
  hook: CommandHookConfig,
  prepared: { readonly input: SessionFields } & Pick<PreparedInput, 'env'>,
): StartOptions {
  const { input } = prepared;
  const spoken = hook.dialect && dialects[hook.dialect];
  const scope = hook.extensionPath === undefined ? 'project' : 'extension';
  return {
    command: expandCommand(hook.command, scope),
    cwd: input.cwd,
    get env() {
      return prepared.env;
    },
    extraEnv: { ...ownVariables(hook, input.cwd), ...spoken?.environment(input) },
  };
}
