import { randomUUID } from 'node:crypto';
import { createHookContext, type HookContext } from '../../src/context.js';
import {
  HookEventName,
  HookType,
  type CommandHookConfig,
  type HookDefinition,
  type HookDefinitions,
  type HookEventInput,
  type HookExecutionResult,
  type HookOutput,
  type HookPayload,
} from '../../src/protocol/types.js';

type HookSettings = Partial<Omit<CommandHookConfig, 'type' | 'command'>>;

/** A hook that runs a shell command. */
export function hook(command: string, settings: HookSettings = {}): CommandHookConfig {
  return { type: HookType.Command, command, ...settings };
}

/** A hook that prints a value as JSON; with `before`, after it has run that command. */
export function saying(output: unknown, settings: HookSettings & { before?: string } = {}) {
  const { before = 'true', ...rest } = settings;
  return hook(`${before}; cat <<'END'\n${JSON.stringify(output)}\nEND`, rest);
}

/** A hook that blocks by exit code 2. */
export function blocking(reason: string): CommandHookConfig {
  return hook(`cat <<'END' >&2\n${reason}\nEND\nexit 2`);
}

/** A command that keeps a copy of what the hook reads in `file`, in the hook's directory. */
export function keepInput(file: string): string {
  return `cat > ${file}`;
}

/** Hooks as they are once they have been read from the user's file: what is wrong in them was told then. */
export function asLoaded(hooks: HookDefinitions): HookDefinitions {
  const origin = { scope: 'user' } as const;
  return Object.fromEntries(
    Object.entries(hooks).map(([event, groups]) => [
      event,
      groups?.map((group) => ({ ...group, origin })),
    ]),
  );
}

/** Hooks that run one after the other. */
export function chain(...hooks: CommandHookConfig[]): HookDefinition {
  return { sequential: true, hooks };
}

/** What scripts read besides the event's own fields. */
export function commonInput<E extends HookEventName>(event: E, cwd: string) {
  return {
    session_id: 'session',
    cwd,
    timestamp: '2026-01-01T00:00:00.000Z',
    hook_event_name: event,
    transcript_path: '',
  };
}

export function beforeToolInput(
  cwd: string,
  toolInput: Record<string, unknown> = {},
): HookEventInput<HookEventName.BeforeTool> {
  return {
    ...commonInput(HookEventName.BeforeTool, cwd),
    tool_name: 'write_file',
    tool_input: toolInput,
  };
}

/** A context at the beginning of the hook stack, with nothing in its slots but what is given. */
export function hookContext<E extends HookEventName>(
  event: E,
  payload: HookPayload<E>,
  slots: Partial<HookContext<E>> = {},
): HookContext<E> {
  return Object.assign(createHookContext(event, payload), slots);
}

/** The result of a hook that ran to its end with exit code 0. */
export function healthy(
  output: HookOutput | undefined,
  fields: Partial<HookExecutionResult> = {},
): HookExecutionResult {
  return {
    hookConfig: hook(`hook-${randomUUID()}`),
    eventName: HookEventName.BeforeTool,
    success: true,
    exitCode: 0,
    duration: 1,
    ...(output && { output }),
    ...fields,
  };
}

/** The result of a hook that exited with another code. */
export function failed(exitCode: number, output?: HookOutput): HookExecutionResult {
  return healthy(output, { success: false, exitCode });
}
