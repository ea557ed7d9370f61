import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import type { Turn } from '../conformance/conformance.js';
import { execa } from 'execa';
import { MAIN } from '../cli/helpers.js';

/** What an agent gets of a hook, as its documentation says: JSON of exit code 0, and a denial of exit code 2. */
export interface HookRun {
  readonly blocked: string | undefined;
  readonly json: Readonly<Record<string, unknown>>;
}

const NOTHING: HookRun = { blocked: undefined, json: {} };

const OUR_EVENTS: Readonly<Record<string, string>> = {
  PreToolUse: 'BeforeTool',
  PostToolUse: 'AfterTool',
  PostToolUseFailure: 'AfterTool',
  PostToolBatch: 'ToolBatchEnd',
  StopFailure: 'ModelError',
};

/**
 * Runs `hookstack hook` as an agent does that has it in its settings.
 *
 * @returns a function that sends an event
 */
export async function hookCommand(turn: Turn, from: 'claude' | 'gemini') {
  const settings = path.join(turn.workingDir, 'settings.json');
  await writeFile(settings, JSON.stringify(turn.settings));
  const { sessionId: session_id } = turn.session;
  const transcript_path = path.join(turn.workingDir, 'transcript.jsonl');
  const mode = from === 'claude' && { permission_mode: 'default' };
  const common = { session_id, transcript_path, cwd: turn.workingDir, ...mode };
  return async (event: string, fields: object): Promise<HookRun> => {
    // Without hooks for an event, the answer is empty: that needs no process here.
    if (!Object.hasOwn(turn.settings.hooks, OUR_EVENTS[event] ?? event)) return NOTHING;
    const input = { ...common, hook_event_name: event, ...fields };
    const args = [MAIN, 'hook', '--from', from, '--settings', settings];
    const { exitCode, stdout, stderr } = await execa(process.execPath, args, {
      cwd: turn.workingDir,
      env: { HOME: turn.workingDir, PATH: process.env['PATH'], HOOKSTACK_PERSON: '1' },
      extendEnv: false,
      input: JSON.stringify(input),
      reject: false,
      cancelSignal: turn.signal,
    });
    turn.signal.throwIfAborted();
    if (exitCode === 2) return { blocked: stderr, json: {} };
    return stdout === '' ? NOTHING : { ...NOTHING, json: JSON.parse(stdout) as HookRun['json'] };
  };
}
