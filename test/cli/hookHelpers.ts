import { join } from 'node:path';
import type { Cli } from './helpers.js';

/** Answers every event with what the test has written to `said.json`, and keeps what it read. */
const SAYS = 'cat > "$LLXPRT_PROJECT_DIR/seen.json"; cat "$LLXPRT_PROJECT_DIR/said.json"';

const OUR_EVENTS = [
  'BeforeTool',
  'AfterTool',
  'BeforeModel',
  'AfterModel',
  'BeforeToolSelection',
  'BeforeAgent',
  'AfterAgent',
  'SessionStart',
  'SessionEnd',
  'PreCompress',
  'Notification',
];

/** What hooks of our own format say. */
export const SAID = {
  allow: { decision: 'allow', reason: 'fine' },
  block: { decision: 'block', reason: 'no' },
  stop: { continue: false, stopReason: 'end' },
  ask: { decision: 'ask', reason: 'sure?' },
  texts: { systemMessage: 'note', hookSpecificOutput: { additionalContext: 'context' } },
} as const;

export type Saying = keyof typeof SAID;

/** One hook for all events, which is the user's own and needs no consent. */
export async function haveHook(cli: Cli, options: object = {}): Promise<void> {
  const groups = [{ hooks: [{ type: 'command', name: 'hook', command: SAYS, ...options }] }];
  await cli.userSettings(Object.fromEntries(OUR_EVENTS.map((event) => [event, groups])) as never);
}

/** Hooks that were written for an agent, under its own names of events. */
export async function haveForeignHook(cli: Cli, dialect: string, event: string): Promise<void> {
  const hooks = [{ type: 'command', name: 'hook', command: SAYS }];
  await cli.userSettings({ [event]: [{ dialect, hooks }] } as never);
}

/** Sends an event to `hookstack hook`, as an agent does. */
export async function send(
  cli: Cli,
  agent: 'claude' | 'gemini',
  event: object | string,
  said: object | string = {},
  env: NodeJS.ProcessEnv = {},
) {
  await cli.write('said.json', said);
  const input = typeof event === 'string' ? event : JSON.stringify({ ...common(cli), ...event });
  const answered = await cli.run(['hook', '--from', agent], { input, env });
  const json = answered.stdout === '' ? undefined : (JSON.parse(answered.stdout) as object);
  return { ...answered, json };
}

export function common(cli: Cli): Record<string, string> {
  return { session_id: 's1', transcript_path: join(cli.project, 't.jsonl'), cwd: cli.project };
}

/** What the hook has read. */
export async function seen(cli: Cli): Promise<Record<string, unknown>> {
  return JSON.parse(await cli.read('seen.json')) as Record<string, unknown>;
}
