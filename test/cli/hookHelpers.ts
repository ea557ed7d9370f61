import { join } from 'node:path';
import { answerEvent } from '../../src/cli/hook/answerEvent.js';
import { parseInput, projectDirectory, readEvent, senderOf } from '../../src/cli/hook/event.js';
import { openWorkspace } from '../../src/cli/shared/workspace.js';
import { onBehalfOf } from '../../src/util/requester.js';
import { HookEventName, type DialectName } from '../../src/protocol/types.js';
import type { Cli } from './helpers.js';

/** Answers every event with what the test has written to `said.json`, and keeps what it read. */
const SAYS = 'cat > "$LLXPRT_PROJECT_DIR/seen.json"; cat "$LLXPRT_PROJECT_DIR/said.json"';

const OUR_EVENTS = Object.values(HookEventName);

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

/** Sends an event to `hookstack hook` as an agent does, to a process of its own. */
export async function sendToProgram(
  cli: Cli,
  agent: DialectName,
  event: object | string,
  said: object | string = {},
  env: NodeJS.ProcessEnv = {},
) {
  const input = await prepare(cli, event, said);
  const answered = await cli.runProgram(['hook', '--from', agent], { input, env });
  const json = answered.stdout === '' ? undefined : (JSON.parse(answered.stdout) as object);
  return { ...answered, json };
}

/** Has this process answer an event, by what answers in `hookstack hook` and in the process that stays. */
export async function send(
  cli: Cli,
  from: DialectName,
  event: object | string,
  said: object | string = {},
  env: NodeJS.ProcessEnv = {},
) {
  return sendAsIs(cli, from, await prepare(cli, event, said), env);
}

/** The same, of what an agent sends as it stands. */
export async function sendAsIs(
  cli: Cli,
  from: DialectName,
  sent: string,
  env: NodeJS.ProcessEnv = {},
) {
  const reading = parseInput(Buffer.from(sent));
  let stderr = '';
  const write = (text: string) => void (stderr += text);
  const answer = await onBehalfOf({ env: { ...cli.env, ...env }, stderr: { write } }, () => {
    const sender = senderOf({ from }, reading);
    const { directory, source } = projectDirectory(sender, reading, cli.project);
    const options = { ...sender, cwd: directory, cwdSource: source };
    return answerEvent(options, readEvent(options, reading), {
      signal: new AbortController().signal,
      passes: () => undefined,
      withholds: () => undefined,
      openWorkspace,
    });
  });
  if ('blocked' in answer) {
    return { exitCode: 2, stderr: (stderr + answer.blocked).trimEnd(), json: undefined };
  }
  return {
    exitCode: 0,
    stderr: stderr.trimEnd(),
    json: answer.out === '' ? {} : (JSON.parse(answer.out) as object),
  };
}

/** @returns what the agent writes */
async function prepare(cli: Cli, event: object | string, said: object | string): Promise<string> {
  await cli.write('said.json', said);
  return typeof event === 'string' ? event : JSON.stringify({ ...common(cli), ...event });
}

export function common(cli: Cli): Record<string, string> {
  return { session_id: 's1', transcript_path: join(cli.project, 't.jsonl'), cwd: cli.project };
}

/** What the hook has read. */
export async function seen(cli: Cli): Promise<Record<string, unknown>> {
  return JSON.parse(await cli.read('seen.json')) as Record<string, unknown>;
}
