import { join } from 'node:path';
import { safeSearchPath } from '../process/command/findProgram.js';
import { describe } from '../util/checks.js';
import { findHome } from '../util/homeDirectory.js';
import { dialects } from '../dialects/dialects.js';
import { expandCommand, expandWord } from '../shell/expandCommand.js';
import type { StartOptions } from '../process/command/execution.js';
import { PERSISTENT_VARIABLE } from '../process/persistent/lines.js';
import { encodeInput } from './encodeInput.js';
import { inherited, type HookEnvironmentPolicy } from './hookEnvironment.js';
import { findUnwritable } from '../util/findUnwritable.js';
import { isTooDeep, MAX_NESTING } from '../util/records.js';
import { DEFAULT_TIMEOUT_MS, MAX_TIMEOUT_MS } from '../process/command/limits.js';
import type {
  CommandHookConfig,
  DialectName,
  HookEventName,
  HookInput,
} from '../protocol/types.js';

/** The fields of an input that say where and for whom a hook runs. */
export type SessionFields = Pick<HookInput, 'cwd' | 'session_id'>;

/** What a hook reads; or why that cannot be written. */
export type Stdin = Uint8Array | Error;

/** The model gave one argument twice, under two names, so that a hook might read the other one. */
export class AmbiguousInput extends Error {
  override readonly name = 'AmbiguousInput';
}

/** What the hooks of an event have in common: where they run, with which variables, and what they read. */
export interface PreparedInput {
  readonly input: HookInput;
  /** Where the processes run, whatever `cwd` they read. */
  readonly directory: string;
  /** Built when it is first read. */
  readonly env: Readonly<NodeJS.ProcessEnv>;
  /** The JSON for stdin, which many hooks may share; or why there is none. Built when it is first read. */
  readonly stdin: Stdin;
  /** What rules know of the call already. */
  call?: object | undefined;
}

/** Where hooks run, and with which variables of the host. */
export interface HookPlace {
  readonly environment: HookEnvironmentPolicy;
  /** The directory in which they were configured, and allowed. Default: the `cwd` that they read. */
  readonly directory?: () => string;
}

/**
 * Writes an input as JSON, once for all hooks that read it.
 *
 * @param call what rules know of it already
 */
export function prepareInput(input: HookInput, place: HookPlace, call?: object): PreparedInput {
  return new InputOfHooks(input, place, call);
}

/** A class, as V8 takes long for a literal with getters. */
class InputOfHooks implements PreparedInput {
  readonly directory: string;
  #env: PreparedInput['env'] | undefined;
  #stdin: Stdin | undefined;

  constructor(
    readonly input: HookInput,
    private readonly place: HookPlace,
    public call: object | undefined,
  ) {
    this.directory = place.directory?.() ?? input.cwd;
  }

  get env(): PreparedInput['env'] {
    return (this.#env ??= buildHookEnvironment(this.place.environment, this.directory));
  }

  get stdin(): Stdin {
    return (this.#stdin ??= writeInput(this.input));
  }
}

/**
 * Writes what hooks read as JSON, which fails for what is cyclic, holds a BigInt, or is nested too deeply.
 *
 * @param given what is to be written, which must have all of its fields; or what makes it, and may throw as well
 */
export function writeInput(given: object | (() => object)): Stdin {
  let input: object = {};
  try {
    input = typeof given === 'function' ? given() : given;
    const values: unknown[] = Object.values(input);
    if (input === given && values.includes(undefined)) throw new TypeError();
    const json = 'llm_request' in input ? encodeInput(input) : Buffer.from(JSON.stringify(input));
    // Each level takes two characters, so that most inputs are too short to be nested too deeply.
    const isShort = json.byteLength <= 2 * MAX_NESTING;
    if (isShort || !values.some((value) => isTooDeep(value))) return json;
    throw new TypeError();
  } catch (cause) {
    return new Error(`its input cannot be written as JSON: ${findUnwritable(input)}`, { cause });
  }
}

/** How long a hook may run. */
export interface Deadline {
  /** At most 2^31 - 1. */
  readonly timeoutMs: number;
  /** A sentence for a warning, where the hook's own `timeout` cannot be used. */
  readonly problem?: string;
}

/**
 * How long a hook may run at an event: what its settings say, else the default of the agent that it was written for. The one
 * place that knows: whoever runs, lists or waits for a hook calls it.
 */
export function deadlineOf(
  { timeout, dialect }: Pick<CommandHookConfig, 'timeout' | 'dialect'>,
  event: HookEventName,
): Deadline {
  if (typeof timeout === 'number' && timeout > 0 && timeout < Infinity)
    return { timeoutMs: Math.min(timeout, MAX_TIMEOUT_MS) };
  const limits = dialect && dialects[dialect].defaultTimeoutMs;
  const timeoutMs = limits ? (limits[event] ?? limits.otherwise) : DEFAULT_TIMEOUT_MS;
  return timeout === undefined
    ? { timeoutMs }
    : {
        timeoutMs,
        // A host that gives its hooks in code may give anything.
        problem: `timeout is ${describe(timeout)}, and ${timeoutMs} ms are used instead: write a number of milliseconds above 0`,
      };
}

/** What is started for a hook, now or ahead of its event. */
export function startOptions(
  hook: CommandHookConfig,
  prepared: { readonly input: SessionFields } & Pick<PreparedInput, 'env' | 'directory'>,
): StartOptions {
  const { directory } = prepared;
  const own = ownVariables(hook, directory);
  const extraEnv = hook.dialect ? { ...own, ...variablesOf(hook.dialect, prepared) } : own;
  const hasReferences = hook.args || hook.command.includes('$');
  return {
    cwd: directory,
    env: prepared.env,
    extraEnv,
    ...(hasReferences ? withReferences(hook, prepared, extraEnv) : { command: hook.command }),
  };
}

/** A command, or the words of a program, in which references to the project are found again by their names. */
function withReferences(
  { command, args, extensionPath }: CommandHookConfig,
  prepared: Pick<PreparedInput, 'env'>,
  extraEnv: Readonly<Record<string, string>>,
): Pick<StartOptions, 'command' | 'args'> {
  const scope = extensionPath === undefined ? 'project' : 'extension';
  if (!args) return { command: expandCommand(command, scope) };
  const variables = { ...prepared.env, ...extraEnv };
  const expand = (word: string) => expandWord(word, scope, variables);
  return { command: expand(command), args: args.map(expand) };
}

/** A host may use any session id, and a variable cannot hold one character. */
function variablesOf(
  dialect: DialectName,
  { input, directory }: { readonly input: { session_id: unknown }; readonly directory: string },
): Readonly<Record<string, string>> {
  const sessionId = String(input.session_id).replaceAll('\0', '');
  return dialects[dialect].environment({ cwd: directory, session_id: sessionId });
}

/** Counts how deep a hook is nested in hooks: 1 in a hook, 2 in a hook of an agent that a hook started. */
export const DEPTH_VARIABLE = 'HOOKSTACK_DEPTH';

/** At this depth no further hook is started: an agent whose hook starts an agent would never end. */
export const MAX_HOOK_DEPTH = 3;

/** How deep the hooks of this process are nested in other hooks; 0 for a host that no hook started. */
export function hookDepth(env: NodeJS.ProcessEnv = process.env): number {
  const depth = Number(env[DEPTH_VARIABLE]);
  return Number.isSafeInteger(depth) && depth > 0 ? depth : 0;
}

/**
 * The environment that all hooks of an event have in common: the same object as before, as long as nothing of it has
 * changed.
 *
 * @param cwd the project's directory, which hooks find under three names
 */
export function buildHookEnvironment(
  policy: HookEnvironmentPolicy,
  cwd: string,
  host = policy.host ?? process.env,
): Readonly<NodeJS.ProcessEnv> {
  if (last?.policy !== policy || last.cwd !== cwd || !isLike(last, host)) {
    const copy = { ...host };
    const [names, values] = [Object.keys(copy), Object.values(copy)];
    last = { policy, cwd, names, values, env: build(policy, cwd, copy) };
  }
  return last.env;
}

let last:
  | {
      readonly policy: HookEnvironmentPolicy;
      readonly cwd: string;
      readonly names: readonly string[];
      readonly values: readonly (string | undefined)[];
      readonly env: NodeJS.ProcessEnv;
    }
  | undefined;

/** Faster than another copy: the names and values of `process.env` are read from the system each time. */
function isLike(
  { names, values }: { names: readonly string[]; values: readonly (string | undefined)[] },
  host: NodeJS.ProcessEnv,
): boolean {
  for (const [at, name] of names.entries()) if (host[name] !== values[at]) return false;
  return names.length === Object.getOwnPropertyNames(host).length;
}

function build(
  policy: HookEnvironmentPolicy,
  cwd: string,
  host: NodeJS.ProcessEnv,
): NodeJS.ProcessEnv {
  const env: NodeJS.ProcessEnv = { ...inherited(policy, host), ...factsOf(cwd, host) };
  // A host that is itself a persistent hook has it; its own hooks must not take themselves for one.
  delete env[PERSISTENT_VARIABLE];
  const searchPath = env['PATH'];
  if (searchPath !== undefined) env['PATH'] = safeSearchPath(searchPath, cwd);
  return env;
}

/**
 * The variables of a hook's own entry in the settings, without those that are not its to say, and for one of an
 * extension, where that and the project are.
 */
export function ownVariables(
  {
    command,
    args = [],
    env = {},
    extensionPath,
    scope,
  }: Pick<CommandHookConfig, 'command' | 'args' | 'env' | 'extensionPath' | 'scope'>,
  cwd: string,
): Record<string, string> {
  const runsPython = RUNS_PYTHON_CODE.test([command, ...args].join(' '));
  const own: Record<string, string> = {};
  if (scope !== 'project' && runsPython) own['PYTHONSAFEPATH'] = '1';
  for (const [name, value] of Object.entries(env)) if (!OWN_NAMES.has(name)) own[name] = value;
  if (extensionPath !== undefined) Object.assign(own, { extensionPath, workspacePath: cwd });
  if (scope === 'project') own['PYTHONPYCACHEPREFIX'] = compiledFolder();
  return own;
}

/**
 * Code that Python gets from its words or from stdin finds modules in the directory where it runs, and so in whatever
 * project is open; a `json.py` there would take the place of the library's. (A script finds those beside it.) An
 * expression, since it has to find Python in pipes and before here-documents, too, which no simple command has.
 */
const RUNS_PYTHON_CODE = new RegExp(
  String.raw`\bpython[\d.]*(?:[ \t]+-[A-Za-z]+)*` +
    // Redirections of its output, and then no script.
    String.raw`(?:[ \t]+-(?:[A-Za-z]*c\b|[ \t]|$)|(?:[ \t]+\d?>>?&?[ \t]*[^\s|&;()<>]+)*[ \t]*(?:<<|[|&;)\n]|$))`,
);

/**
 * Where Python keeps what it compiles for hooks of projects. Compiled files in the project are never read, since nobody
 * has reviewed them.
 */
function compiledFolder(): string {
  const home = findHome();
  // Nothing can be kept in /dev/null, which costs time only.
  return home === undefined ? '/dev/null' : join(home, '.llxprt', 'pycache');
}

function factsOf(cwd: string, host: NodeJS.ProcessEnv) {
  return {
    LLXPRT_PROJECT_DIR: cwd,
    GEMINI_PROJECT_DIR: cwd,
    CLAUDE_PROJECT_DIR: cwd,
    [DEPTH_VARIABLE]: String(hookDepth(host) + 1),
  };
}

/** Variables that no hook sets itself. */
const OWN_NAMES = new Set([...Object.keys(factsOf('', {})), PERSISTENT_VARIABLE]);
