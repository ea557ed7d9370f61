import { mkdir, mkdtemp, readdir, readFile, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Config } from '../../config/config.js';
import type { ApprovalRequest } from '../../protocol/approval.js';
import type { HookDefinitions } from '../../protocol/types.js';
import { DebugLogger } from '../../util/debugLogger.js';
import { READ_DIR } from './scenarioHooks.js';
import { SESSION } from './session.js';
import type {
  Harness,
  ModelAnswer,
  Scenario,
  ScenarioTool,
  ScriptedAnswer,
  Seen,
  Turn,
} from './types.js';

/** Ms that a turn may take before it counts as one that hangs. */
const TURN_MS = 30_000;

/** Runs one turn of the harness, and tells what was seen. */
export async function stage(harness: Harness, scenario: Scenario): Promise<Seen> {
  const directory = await realpath(await mkdtemp(path.join(tmpdir(), 'hookstack-conformance-')));
  const [workingDir, readDir] = [path.join(directory, 'project'), path.join(directory, 'read')];
  const ended = new AbortController();
  try {
    await Promise.all([mkdir(workingDir), mkdir(readDir)]);
    const { turn, notes, abort } = prepare(scenario, workingDir, readDir);
    const aborted = scenario.aborts ? abortOnceRead(readDir, abort, ended.signal) : undefined;
    const result = await settle(harness.run(turn));
    const endedAt = performance.now();
    ended.abort();
    const abortedAt = await aborted;
    return {
      ...notes,
      ...result,
      read: await readAll(readDir),
      endedAfterAbort: abortedAt === undefined ? undefined : endedAt - abortedAt,
    };
  } finally {
    ended.abort();
    await rm(directory, { recursive: true, force: true });
  }
}

function prepare(scenario: Scenario, workingDir: string, readDir: string) {
  const notes = {
    shown: [] as string[],
    shownAt: undefined as number | undefined,
    sent: [] as Seen['sent'][number][],
    runs: [] as Seen['runs'][number][],
    asked: [] as ApprovalRequest[],
  };
  const abort = new AbortController();
  const settings = { enableHooks: true, hooks: noting(scenario.hooks, readDir) } as const;
  const people = [...(scenario.person ?? [])];
  const approver = (request: ApprovalRequest) => {
    notes.asked.push(request);
    const decision = people.shift() ?? 'deny';
    return decision === 'allow' ? { decision } : { decision, reason: 'Nope.' };
  };
  const config = new Config({
    ...settings,
    workingDir,
    approver,
    sessionId: 'session-of-the-config',
    afterModelDisplay: scenario.hold ? 'hold' : 'stream',
    debugLogger: new QuietLogger('hookstack:conformance'),
  });
  const answers = (scenario.answers ?? []).map(toAnswer);
  const turn: Turn = {
    config,
    settings,
    workingDir,
    approver,
    tools: makeTools(notes.runs, scenario.toolThrows ?? false),
    prompt: 'Go.',
    systemInstruction: 'You are an agent.',
    stream: scenario.stream ?? false,
    signal: abort.signal,
    session: SESSION,
    model(request) {
      notes.sent.push(structuredClone(request));
      return answers.shift() ?? toAnswer('Done.', notes.sent.length);
    },
    show(text) {
      notes.shownAt ??= Date.now();
      notes.shown.push(text);
    },
  };
  return { turn, notes, abort };
}

/** Scenarios are about hooks that fail, too: what would be logged of them is expected. */
class QuietLogger extends DebugLogger {
  override warn(): void {}
  override error(): void {}
}

/** The hooks, told where to note what they read. */
function noting(hooks: HookDefinitions, directory: string): HookDefinitions {
  const entries = Object.entries(hooks).map(([event, groups]) => [
    event,
    groups?.map((group) => ({
      ...group,
      hooks: group.hooks.map((hook) => ({ ...hook, env: { ...hook.env, [READ_DIR]: directory } })),
    })),
  ]);
  return Object.fromEntries(entries) as HookDefinitions;
}

function toAnswer(said: ScriptedAnswer, turn: number): ModelAnswer {
  if (typeof said === 'string') return { text: said, chunks: [said], calls: [] };
  if (!('calls' in said)) return { text: said.join(''), chunks: said, calls: [] };
  const calls = said.calls.map((call, position) => ({ id: `call_${turn}_${position}`, ...call }));
  return { text: '', chunks: [], calls };
}

function makeTools(runs: Seen['runs'][number][], throws: boolean): ScenarioTool[] {
  const make = (
    name: string,
    fields: string[],
    run: (args: Record<string, unknown>) => string,
  ) => ({
    name,
    description: `Can ${name} files.`,
    parameters: {
      type: 'object' as const,
      properties: Object.fromEntries(fields.map((field) => [field, { type: 'string' as const }])),
      required: fields,
      additionalProperties: false as const,
    },
    async execute(args: Record<string, unknown>) {
      runs.push({ name, args: { ...args } });
      if (throws) throw new Error('The disk is full.');
      return run(args);
    },
  });
  return [
    make('write', ['path', 'text'], ({ path: file }) => `Wrote ${String(file)}.`),
    make('read', ['path'], () => 'The password is hunter2.'),
  ];
}

async function settle(running: ReturnType<Harness['run']>) {
  const limit = new AbortController();
  const late = sleep(TURN_MS, undefined, { signal: limit.signal }).then(() => {
    throw new Error(`The turn did not end within ${TURN_MS / 1000} s`);
  });
  try {
    const { text, stopped } = await Promise.race([running, late]);
    return { text, stopped, error: undefined };
  } catch (error) {
    return { text: '', stopped: undefined, error };
  } finally {
    limit.abort();
    late.catch(() => undefined);
  }
}

/** Resolves to when it was, once a hook has read something. */
async function abortOnceRead(directory: string, abort: AbortController, ended: AbortSignal) {
  while (!ended.aborted) {
    if ((await readAll(directory)).length > 0) {
      const abortedAt = performance.now();
      abort.abort();
      return abortedAt;
    }
    await sleep(10);
  }
  return undefined;
}

/** What hooks have noted completely. */
async function readAll(directory: string): Promise<Seen['read']> {
  const files = await readdir(directory);
  const texts = await Promise.all(
    files.map((file) => readFile(path.join(directory, file), 'utf8')),
  );
  const inputs = texts.flatMap((text) => {
    try {
      return JSON.parse(text) as Seen['read'][number];
    } catch {
      return [];
    }
  });
  return inputs.toSorted((a, b) => a.timestamp.localeCompare(b.timestamp));
}
