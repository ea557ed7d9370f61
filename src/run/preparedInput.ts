import { dialects } from '../dialects/dialects.js';
import { errorMessage } from '../util/errorMessage.js';
import { expandCommand, expandWord } from '../shell/expandCommand.js';
import type { StartOptions } from '../process/startCommand.js';
import { encodeInput } from '../protocol/encodeInput.js';
import {
  buildHookEnvironment,
  ownVariables,
  type HookEnvironmentPolicy,
} from './hookEnvironment.js';
import { isTooDeep, TOO_DEEP } from '../util/records.js';
import type { CommandHookConfig, HookInput } from '../protocol/types.js';

/** What of an input tells where and for whom a hook runs. */
export type SessionFields = Pick<HookInput, 'cwd' | 'session_id'>;

/** What a hook reads; or why that cannot be written. */
export type Stdin = Uint8Array | Error;

/** What the hooks of an event have in common: where they run, with which variables, and what they read. */
export interface PreparedInput {
  readonly input: HookInput;
  /** Built when it is first read. */
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** The JSON for stdin, which many hooks may share; or why there is none. */
  readonly stdin: Stdin;
}

/** Writes an input as JSON, once for all hooks that read it. */
export function prepareInput(input: HookInput, environment: HookEnvironmentPolicy): PreparedInput {
  let built: PreparedInput['env'] | undefined;
  return {
    input,
    get env() {
      return (built ??= buildHookEnvironment(environment, input.cwd));
    },
    stdin: writeInput(() => withAllFields(input)),
  };
}

function withAllFields(input: HookInput): HookInput {
  const missing = Object.entries(input).find(([, value]) => value === undefined);
  if (missing) throw new TypeError(`${missing[0]} is undefined`);
  return input;
}

/**
 * Writes what hooks read as JSON, which fails for what is cyclic, holds a BigInt, or is nested too deeply.
 *
 * @param build makes what is to be written; it may throw as well
 */
export function writeInput(build: () => object): Stdin {
  try {
    const input = build();
    const deep = Object.entries(input).find(([, value]) => isTooDeep(value));
    if (deep) throw new RangeError(`${deep[0]} is ${TOO_DEEP}`);
    return encodeInput(input);
  } catch (error) {
    return new Error(`its input is no JSON: ${errorMessage(error)}`, { cause: error });
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
  const told = spoken?.environment({ cwd: input.cwd, session_id: asVariable(input.session_id) });
  const extraEnv = { ...ownVariables(hook, input.cwd), ...told };
  const expand = (word: string) => expandWord(word, scope, { ...prepared.env, ...extraEnv });
  const { command, args } = hook;
  return {
    ...(args
      ? { command: expand(command), args: args.map(expand) }
      : { command: expandCommand(command, scope) }),
    cwd: input.cwd,
    get env() {
      return prepared.env;
    },
    extraEnv,
  };
}

/** A host may call its session anything, and a variable cannot hold this character. */
function asVariable(value: unknown): string {
  return String(value).replaceAll('\0', '');
}
