import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { CurrentPolicy } from '../../../src/cli/policy/currentPolicy.js';
import { hook } from '../../helpers/hooks.js';
import { useTempDir } from '../../helpers/tempDir.js';

const temp = useTempDir();
let current: CurrentPolicy;

const write = (text: string) => writeFile(path.join(temp.path, 'policy.json'), text);
const writeHook = (name: string) =>
  write(JSON.stringify({ enableHooks: true, hooks: { BeforeTool: [{ hooks: [hook(name)] }] } }));

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
