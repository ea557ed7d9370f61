import { execFileSync } from 'node:child_process';
import { mkdir, rename, rm, truncate, writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { CurrentPolicy } from '../../../src/cli/policy/currentPolicy.js';
import { fireHook } from '../../../src/hooks/fireHook.js';
import { HookEventName } from '../../../src/protocol/types.js';
import { hook } from '../../helpers/hooks.js';
import { startModel } from '../../helpers/modelServer.js';
import { useTempDir } from '../../helpers/tempDir.js';

const temp = useTempDir();
let current: CurrentPolicy;

const at = (name: string) => path.join(temp.path, name);
const textOf = (hooks: readonly object[], others = {}) =>
  JSON.stringify({ enableHooks: true, hooks: { BeforeTool: [{ hooks }] }, ...others });
const write = (text: string) => writeFile(at('policy.json'), text);
const writeHook = (name: string) => write(textOf([hook(name)]));
async function replace(text: string): Promise<void> {
  await writeFile(at('next.json'), text);
  await rename(at('next.json'), at('policy.json'));
}
const fire = () =>
  fireHook(
    current.now.config,
    HookEventName.BeforeTool,
    { toolName: 'x', toolInput: {} },
    { session: { sessionId: 's' } },
  );

beforeEach(async () => {
  await writeHook('first');
  const file = path.join(temp.path, 'policy.json');
  current = await CurrentPolicy.open(file, { cwd: temp.path, watch: false });
});
afterEach(() => current.close());

it('says which policy counts, and that the file does not say so any more', async () => {
  const { version } = current.now;
  expect(current.state).toEqual({ version });
  await write('{ "enableHooks": ');
  await current.reload();
  expect(current.state).toEqual({ version, note: expect.stringContaining('log') as string });
  await writeHook('first');
  await current.reload();
  expect(current.state).toEqual({ version });
});

it('keeps one policy that is replaced until nobody holds it any more', async () => {
  const { now: before } = current;
  before.hold();
  await writeHook('second');
  await current.reload();
  expect(current.now.version).not.toBe(before.version);
  let isOver = false;
  const dispose = before.config.dispose.bind(before.config);
  before.config.dispose = async () => {
    isOver = true;
    await dispose();
  };
  expect(isOver).toBe(false);
  await before.release();
  expect(isOver).toBe(true);
});

it('reads one after the other, and the last counts', async () => {
  const readings = [];
  for (const name of ['one', 'two', 'three']) {
    await writeHook(name);
    readings.push(current.reload());
  }
  await Promise.all(readings);
  const hooks = current.now.config.getHookSystem()?.getAllHooks() ?? [];
  expect(hooks.map(({ config }) => config.command)).toEqual(['three']);
});

it('reads once more for all who ask while it reads', async () => {
  const versions = new Set<object>();
  const readings = Array.from({ length: 50 }, async () => {
    await current.reload();
    versions.add(current.now);
  });
  await Promise.all(readings);
  expect(versions.size).toBeLessThanOrEqual(2);
});

const judge = (prompt: string) => ({ type: 'prompt', name: 'judge', prompt });

it('goes on with what a session has used of its budget, and with what a model has said', async () => {
  const { baseUrl, seen } = await startModel('{"decision": "deny", "reason": "no"}', 6000);
  process.env['JUDGE_KEY'] = 'k';
  const others = {
    promptModel: { model: 'gemini-test', baseUrl, apiKeyEnv: 'JUDGE_KEY' },
    promptBudget: { tokens: 10_000 },
  };
  await write(textOf([judge('Safe?')], others));
  await current.reload();
  await fire();
  expect(seen).toHaveLength(1);
  await write(textOf([judge('Safe?'), hook('true')], others));
  await current.reload();
  expect((await fire())?.aggregated.finalOutput?.reason).toBe('no');
  expect(seen).toHaveLength(1);
  await write(textOf([judge('Is this safe?')], others));
  await current.reload();
  const [result] = (await fire())?.aggregated.results ?? [];
  expect(result?.error?.message).toContain('4000 of 10000 are left for this session');
  expect(seen).toHaveLength(1);
});

it('ends a process that a policy has kept, once its questions are answered', async () => {
  const kept = `echo '{"hookstack":1}'; echo $$ > pid; read -r _; echo '{"id":1}'; read -r _ || touch ended`;
  await write(textOf([hook(kept, { persistent: true })]));
  await current.reload();
  const { now: before } = current;
  before.hold();
  await fire();
  const pid = Number(await temp.readJson('pid'));
  await writeHook('true');
  await current.reload();
  expect(() => process.kill(pid, 0)).not.toThrow();
  await before.release();
  await vi.waitFor(() => expect(temp.readLines('ended')).resolves.toEqual([]));
});

describe('a file that is watched', () => {
  let watched: CurrentPolicy;
  const failed = vi.fn<() => void>();
  const names = () => watched.now.config.getHookSystem()?.getAllHooks()[0]?.config.command;

  beforeEach(async () => {
    failed.mockClear();
    watched = await CurrentPolicy.open(at('policy.json'), { cwd: temp.path, watch: true });
    watched.onFailure = failed;
  });
  afterEach(() => watched.close());

  it.each([
    ['removed', () => rm(at('policy.json'))],
    ['cut off', () => truncate(at('policy.json'), 20)],
    ['empty', () => write('')],
    [
      'a directory',
      async () => {
        await rm(at('policy.json'));
        await mkdir(at('policy.json'));
      },
    ],
    [
      'a pipe that nobody writes to',
      async () => {
        await rm(at('policy.json'));
        execFileSync('mkfifo', [at('policy.json')]);
      },
    ],
  ])('leaves its policy in force once it is %s, until it is one again', async (_what, spoil) => {
    await spoil();
    await vi.waitFor(() => expect(failed).toHaveBeenCalledTimes(1));
    expect(names()).toBe('first');
    expect(watched.state.note).toBeDefined();
    await rm(at('policy.json'), { recursive: true, force: true });
    await replace(textOf([hook('second')]));
    await vi.waitFor(() => expect(names()).toBe('second'));
    expect(failed).toHaveBeenCalledTimes(1);
    expect(watched.state.note).toBeUndefined();
  });

  it('counts as it was changed right after it was read', async () => {
    await watched.close();
    const opening = CurrentPolicy.open(at('policy.json'), { cwd: temp.path, watch: true });
    await replace(textOf([hook('at once')]));
    watched = await opening;
    await vi.waitFor(() => expect(names()).toBe('at once'));
  });
});
