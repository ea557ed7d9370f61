import { mkdir, mkdtemp, readdir, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { setTimeout as sleep } from 'node:timers/promises';
import { Config } from '../../src/config/config.js';
import type { HookDefinitions } from '../../src/protocol/types.js';
import { DebugLogger } from '../../src/util/debugLogger.js';
import { readText } from '../../src/util/guardedRead.js';
import { Abortion, outlives } from './abortion.js';
import { READ_DIR, WAITING_FILE } from './scenarioHooks.js';
import { makeTools, toAnswer } from './script.js';
import { SESSION } from './session.js';
import type { Harness, Scenario, Seen, Turn } from './types.js';

/** Ms that a turn may take before it counts as one that hangs. */
const TURN_MS = 30_000;

/** Ms for what is not to come any more: one can only wait for it. */
const QUIET_MS = 300;

/** Runs one turn of the harness, and tells what was seen. */
export async function stage(harness: Harness, scenario: Scenario): Promise<Seen> {
  const directory = await realpath(await mkdtemp(path.join(tmpdir(), 'hookstack-conformance-')));
  const [workingDir, readDir] = [path.join(directory, 'project'), path.join(directory, 'read')];
  const ended = new AbortController();
  const closers: Parameters<Turn['onEnd']>[0][] = [];
  try {
    await Promise.all([mkdir(workingDir), mkdir(readDir)]);
    const { turn, notes, abortion } = prepare(scenario, workingDir, readDir, closers);
    const beginning =
      scenario.aborts === 'hook' ? abortOnceRead(readDir, abortion, ended.signal) : undefined;
    const result = await settle(harness.run(turn));
    const endedAt = performance.now();
    ended.abort();
    await beginning;
    const { abortedAt } = abortion;
    if (abortedAt !== undefined) await sleep(QUIET_MS);
    return {
      ...notes,
      ...result,
      read: await readAll(readDir),
      endedAfterAbort: abortedAt === undefined ? undefined : endedAt - abortedAt,
      wasToldOfAbort: abortion.wasTold,
      hookIsLeft: await outlives(path.join(directory, WAITING_FILE)),
    };
  } finally {
    ended.abort();
    await Promise.allSettled(closers.map(async (close) => close()));
    await rm(directory, { recursive: true, force: true });
  }
}

function prepare(
  scenario: Scenario,
  workingDir: string,
  readDir: string,
  closers: Parameters<Turn['onEnd']>[0][],
) {
  const notes = {
    shown: [] as string[],
    shownAt: undefined as number | undefined,
    sent: [] as Seen['sent'][number][],
    runs: [] as Seen['runs'][number][],
    asked: [] as Seen['asked'][number][],
    warnings: [] as string[],
  };
  const abortion = new Abortion(scenario.aborts);
  const afterModelDisplay = scenario.hold ? 'hold' : 'stream';
  const hooks = noting(scenario.hooks, readDir);
  const settings = { enableHooks: true, hooks, afterModelDisplay } as const;
  const people = [...(scenario.person ?? [])];
  const approver: Turn['approver'] = async (request) => {
    notes.asked.push(request);
    const decision = people.shift() ?? 'deny';
    return decision === 'allow' ? { decision } : { decision, reason: 'Nope.' };
  };
  const config = new Config({
    ...settings,
    workingDir,
    approver,
    sessionId: 'session-of-the-config',
    debugLogger: new NotingLogger('hookstack:conformance', notes.warnings),
  });
  const answers = [...(scenario.answers ?? [])];
  let failures = scenario.modelFails ?? 0;
  const turn: Turn = {
    config,
    settings,
    workingDir,
    approver,
    tools: makeTools(notes.runs, abortion, scenario.toolThrows ?? false),
    subagent: scenario.subagent,
    prompt: 'Go.',
    systemInstruction: 'You are an agent.',
    stream: scenario.stream ?? false,
    signal: abortion.signal,
    session: SESSION,
    async model(request, signal) {
      const count = notes.sent.push(structuredClone(request));
      if (failures-- > 0) throw new Error('The model is overloaded.');
      const answer = toAnswer(answers.shift() ?? 'Done.', count, () =>
        abortion.work('stream', signal),
      );
      await abortion.work('model', signal);
      return answer;
    },
    show(text) {
      notes.shownAt ??= Date.now();
      notes.shown.push(text);
      abortion.begun('stream');
    },
    onEnd: (close) => void closers.push(close),
  };
  return { turn, notes, abortion };
}

/** Scenarios are about hooks that fail, too: what would be logged of them is expected. */
class NotingLogger extends DebugLogger {
  readonly #warnings: string[];

  constructor(namespace: string, warnings: string[]) {
    super(namespace);
    this.#warnings = warnings;
  }

  override warn(message: string): void {
    this.#warnings.push(message);
  }

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

async function abortOnceRead(directory: string, abortion: Abortion, ended: AbortSignal) {
  while (!ended.aborted) {
    if ((await readAll(directory)).length > 0) return abortion.begun('hook');
    await sleep(10);
  }
}

/** What hooks have noted completely. */
async function readAll(directory: string): Promise<Seen['read']> {
  const files = await readdir(directory);
  const texts = await Promise.all(files.map((file) => readText(path.join(directory, file))));
  const inputs = texts.flatMap((text) => {
    try {
      return JSON.parse(text) as Seen['read'][number];
    } catch {
      return [];
    }
  });
  return inputs.toSorted((a, b) => a.timestamp.localeCompare(b.timestamp));
}
