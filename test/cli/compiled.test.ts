import {
  chmod,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  utimes,
  writeFile,
} from 'node:fs/promises';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { Cli, group } from './helpers.js';

const cli = new Cli();
const GUARD = group('if grep -q forbidden; then echo no >&2; exit 2; fi', { onFailure: 'deny' });
const OLD = new Date(Date.now() - 40 * 24 * 3600 * 1000);

beforeEach(async () => {
  await cli.userSettings({ BeforeTool: GUARD });
});

function folder(): string {
  return join(cli.home, '.llxprt/compiled');
}

async function kept(): Promise<string[]> {
  const names = await readdir(folder()).catch(() => []);
  return names.map((name) => join(folder(), name));
}

async function ask(command = 'forbidden') {
  const input = JSON.stringify({
    session_id: 's1',
    cwd: cli.project,
    hook_event_name: 'PreToolUse',
    tool_name: 'Bash',
    tool_input: { command },
  });
  const { exitCode, stdout, stderr } = await cli.runProgram(['hook', '--from', 'claude'], {
    input,
  });
  expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
  return stdout.includes('"deny"');
}

describe('the compiled code of `hookstack hook`', () => {
  it('is kept after the first event, for the user alone, and left as it is by the next one', async () => {
    expect(await ask()).toBe(true);
    const [file = '', ...others] = await kept();
    expect(others).toEqual([]);
    const { mode, mtimeMs, size } = await stat(file);
    expect(mode & 0o777).toBe(0o600);
    expect((await stat(folder())).mode & 0o777).toBe(0o700);
    expect(size).toBeGreaterThan(100_000);
    expect(await ask()).toBe(true);
    expect(await ask('true')).toBe(false);
    expect((await stat(file)).mtimeMs).toBe(mtimeMs);
  });

  it.each<[string, (file: string) => Promise<unknown>]>([
    ['is empty', (file) => truncate(file, 0)],
    ['is cut off', (file) => truncate(file, 100_000)],
    [
      'is damaged in its midst',
      async (file) => {
        const bytes = await readFile(file);
        bytes.fill(0, 200_000, 204_096);
        await writeFile(file, bytes);
      },
    ],
    ['is something else', (file) => writeFile(file, 'no code')],
    ['may be written by others', (file) => chmod(file, 0o666)],
    ['cannot be read', async (file) => rm(file).then(() => symlink('/nowhere', file))],
  ])('is made anew where it %s', async (_what, spoil) => {
    await ask();
    const [file = ''] = await kept();
    const good = await readFile(file);
    await spoil(file);
    expect(await ask()).toBe(true);
    expect(await kept()).toEqual([file]);
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    expect(Math.abs((await stat(file)).size - good.length)).toBeLessThan(good.length / 2);
  });

  it.each<[string, () => Promise<unknown>]>([
    ['a link is in the place of its folder', () => symlink('/tmp', folder())],
    ['a file is in the place of its folder', () => writeFile(folder(), '')],
  ])('is not kept where %s', async (_what, spoil) => {
    await spoil();
    expect(await ask()).toBe(true);
    expect(await ask()).toBe(true);
    expect((await kept()).filter((file) => file.endsWith('.code'))).toEqual([]);
  });

  it('is not kept for somebody who has no settings', async () => {
    await rm(join(cli.home, '.llxprt'), { recursive: true });
    expect(await ask()).toBe(false);
    expect(await readdir(cli.home)).not.toContain('.llxprt');
  });

  it('goes where another one comes, once it is a month old', async () => {
    await ask();
    const [file = ''] = await kept();
    const [old, young] = ['1-old.code.12ab-3.tmp', '1-young.code'].map((name) =>
      join(folder(), name),
    );
    for (const each of [old, young]) await writeFile(String(each), '');
    await utimes(String(old), OLD, OLD);
    await rm(file);
    await ask();
    expect(new Set(await kept())).toEqual(new Set([file, young]));
  });

  it('is one, of many that begin at once', async () => {
    const answers = await Promise.all(Array.from({ length: 6 }, () => ask()));
    expect(answers).toEqual(Array.from({ length: 6 }, () => true));
    expect(await kept()).toHaveLength(1);
  });
});
