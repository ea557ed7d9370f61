import { once } from 'node:events';
import { copyFile, mkdir, symlink } from 'node:fs/promises';
import path from 'node:path';
import { fileURLToPath } from 'node:url';
import { execa, type ResultPromise } from 'execa';
import { afterAll, beforeAll, describe, expect, vi } from 'vitest';
import { hook } from '../helpers/hooks.js';
import { makeTempDir } from '../process/helpers.js';
import { compilePackage, fixture, type CompiledPackage } from './helpers/childHost.js';
import { fault, TIMED, type Host } from './helpers/host.js';
import { commandOf } from './helpers/leftovers.js';

const PUPPET = fileURLToPath(new URL('../fixtures/persistent/puppet.mjs', import.meta.url));
const ROOT = fileURLToPath(new URL('../..', import.meta.url));
const WAIT = { timeout: 10_000, interval: 10 };

let compiled: CompiledPackage;
let removePackage: () => Promise<void>;

beforeAll(async () => {
  const { directory, remove } = await makeTempDir();
  removePackage = remove;
  compiled = await compilePackage(directory);
});
afterAll(() => removePackage());

const wordsOf = (mode: string) => [fixture('keptHost.mjs'), compiled.index, PUPPET, mode];

/** @param more the word `spawner`, where another process starts hooks that do not stay */
function start(mode: string, ...more: string[]): ResultPromise<{ reject: false }> {
  return execa(process.execPath, [...wordsOf(mode), ...more], { reject: false });
}

const BASH = `echo '{"hookstack":1}'
while IFS= read -r line; do id=\${line#*:}; echo "{\\"id\\":\${id%%,*}}"; done
`;

/** A hook that stays and allows everything, by what authors use in each language. */
async function writeHook(host: Host, extension: string): Promise<string> {
  await mkdir(path.join(host.directory, 'node_modules'));
  await symlink(ROOT, path.join(host.directory, 'node_modules/hookstack'));
  await copyFile(path.join(ROOT, 'python/hookstack.py'), path.join(host.directory, 'hookstack.py'));
  const scripts: Record<string, string> = {
    mjs: `import { defineHook } from 'hookstack/author';\ndefineHook('BeforeTool', () => {});\n`,
    py: 'from hookstack import define_hook\ndefine_hook("BeforeTool", lambda event: None)\n',
    sh: BASH,
  };
  return host.write(`hook.${extension}`, scripts[extension] ?? '');
}

/** The process of the hook that the host has told of. */
async function asked(host: Host, child: ResultPromise<{ reject: false }>): Promise<void> {
  await once(child.stdout, 'data');
  expect(host.leftovers()).toHaveLength(1);
}

/** Waits until the hook has answered, and the spawner was told of it. */
async function watched(host: Host, child: ResultPromise<{ reject: false }>): Promise<void> {
  let told = '';
  child.stdout.on('data', (chunk) => (told += String(chunk)));
  await expect.poll(() => told, WAIT).toContain('watched');
  expect(host.leftovers()).toHaveLength(2);
}

describe('a host with a hook that stays', () => {
  fault('ends by itself, at once, and with it the hook', TIMED, async ({ host }) => {
    const child = start('end');
    await asked(host, child);
    const startedAt = performance.now();
    expect(await child).toMatchObject({ exitCode: 0, stdout: '"asked"' });
    expect(performance.now() - startedAt).toBeLessThan(1_000);
    expect(host.leftovers()).toEqual([]);
  });

  fault.for(['wait', 'ask'])('that is terminated leaves none, mode %s', async (mode, { host }) => {
    const child = start(mode);
    await asked(host, child);
    child.kill('SIGTERM');
    expect(await child).toMatchObject({ signal: 'SIGTERM' });
    await vi.waitFor(() => expect(host.leftovers()).toEqual([]), WAIT);
  });

  fault('that is killed leaves none, as its stdin ends', async ({ host }) => {
    const child = start('wait');
    await asked(host, child);
    child.kill('SIGKILL');
    expect(await child).toMatchObject({ signal: 'SIGKILL' });
    await vi.waitFor(() => expect(host.leftovers()).toEqual([]), WAIT);
  });

  fault.for(['stubborn', 'ask'])(
    '30 and is killed leaves none that ignores the end of its stdin, mode %s',
    TIMED,
    async (mode, { host }) => {
      const child = start(mode, 'spawner');
      await watched(host, child);
      child.kill('SIGKILL');
      expect(await child).toMatchObject({ signal: 'SIGKILL' });
      await vi.waitFor(() => expect(host.leftovers()).toEqual([]), { timeout: 1_000 });
    },
  );

  fault.for(['mjs', 'py', 'sh'])(
    '30 and is killed with its spawner leaves none that reads its stdin to the end: hook.%s',
    async (extension, { host }) => {
      const script = await writeHook(host, extension);
      const words = [fixture('keptHost.mjs'), compiled.index, script, 'wait', 'spawner'];
      const child = execa(process.execPath, words, { reject: false });
      await watched(host, child);
      const spawner = host.leftovers().find((pid) => /spawner.cjs/.test(commandOf(pid)));
      for (const pid of [spawner ?? 0, child.pid ?? 0]) process.kill(pid, 'SIGKILL');
      await child;
      await vi.waitFor(() => expect(host.leftovers()).toEqual([]), WAIT);
    },
  );

  fault.for(['mjs', 'py', 'sh'])(
    '30 whose hooks all stay starts no spawner, and is killed: hook.%s ends with its stdin',
    async (extension, { host }) => {
      const script = await writeHook(host, extension);
      const words = [fixture('keptHost.mjs'), compiled.index, script, 'wait', 'alone'];
      const child = execa(process.execPath, words, { reject: false });
      let told = '';
      child.stdout.on('data', (chunk) => (told += String(chunk)));
      await expect.poll(() => told, WAIT).toBe('"asked"\n1\n');
      expect(host.leftovers()).toHaveLength(1);
      child.kill('SIGKILL');
      expect(await child).toMatchObject({ signal: 'SIGKILL' });
      await vi.waitFor(() => expect(host.leftovers()).toEqual([]), WAIT);
    },
  );

  fault('keeps the hook where its spawner is ended', TIMED, async ({ host }) => {
    const child = start('wait', 'spawner');
    await watched(host, child);
    const spawner = host.leftovers().find((pid) => /spawner.cjs/.test(commandOf(pid)));
    process.kill(spawner ?? 0, 'SIGTERM');
    await expect.poll(() => host.leftovers().length, WAIT).toBe(1);
    expect(commandOf(host.leftovers()[0] ?? 0)).toContain(PUPPET);
    child.kill('SIGTERM');
    await child;
    await vi.waitFor(() => expect(host.leftovers()).toEqual([]), { timeout: 500 });
  });

  const ways = [
    ['INT', [null, 'SIGINT'], (child: ResultPromise) => child.kill('SIGINT')],
    ['TERM', [null, 'SIGTERM'], (child: ResultPromise) => child.kill('SIGTERM')],
    ['HUP', [null, 'SIGHUP'], (child: ResultPromise) => child.kill('SIGHUP')],
    ['exit', [0, null], (child: ResultPromise) => child.stdin?.write('\n')],
    ['throw', [1, null], (child: ResultPromise) => child.stdin?.write('\n')],
  ] as const;
  for (const mode of ['stubborn', 'ask']) {
    fault.for(ways)(
      `30 and ends by %s: no hook left 0.5 s later, mode ${mode}`,
      TIMED,
      async ([how, ending, end], { host }) => {
        const words = ['exit', 'throw'].includes(how) ? [mode, how] : [mode];
        const child = execa(process.execPath, [...wordsOf(words[0] ?? ''), words[1] ?? ''], {
          reject: false,
        });
        const exited = once(child, 'exit');
        await asked(host, child);
        end(child);
        expect(await exited).toEqual(ending);
        await host.expectNoLeftovers(500);
      },
    );
  }

  fault('24 without descriptors gives up idle ones for another hook', async () => {
    const words = [process.execPath, ...wordsOf('room')];
    const limited = ['-c', 'ulimit -n 200 && exec "$@"', 'bash', ...words];
    const { stdout } = await execa('bash', limited);
    expect(JSON.parse(stdout)).toEqual({ exitCode: 2, again: 6, kinds: [] });
  });

  fault('24 without descriptors asks one that runs, and starts none', async () => {
    const words = [process.execPath, ...wordsOf('descriptors')];
    const limited = ['-c', 'ulimit -n 200 && exec "$@"', 'bash', ...words];
    const { stdout } = await execa('bash', limited);
    expect(JSON.parse(stdout)).toEqual({ told: ['', '{}', '{}'], kinds: ['spawn'] });
  });

  fault('may be a hook of another one, that stays itself', async ({ host }) => {
    const nested = hook(process.execPath, {
      args: wordsOf('hook'),
      persistent: true,
      timeout: 5_000,
    });
    const hooksRunner = { warmShells: 0, spawner: false };
    const hooks = { BeforeTool: [{ hooks: [nested] }] };
    const config = host.createConfig({ hooks, hooksRunner });
    const call = (...steps: object[]) => host.callToolOf(config, { toolInput: { steps } });
    expect(await call({ tell: 'HOOKSTACK_DEPTH' })).toMatchObject({
      verdict: 'blocked',
      text: expect.stringMatching(/^within: .*"variable":"2"/),
    });
    const processes = host.leftovers().length;
    expect(await call({ answer: { stdout: 'again' } })).toMatchObject({ text: 'within: again' });
    expect(host.leftovers()).toHaveLength(processes);
    const stubborn = [
      { ignore: 'SIGTERM' },
      { fork: 'trap "" TERM; sleep 300' },
      { sleep: 60_000 },
    ];
    expect(await call(...stubborn)).toMatchObject({ verdict: 'allowed' });
    expect(host.runWarnings).toMatchObject([{ details: { kind: 'timeout' } }]);
  });

  fault('is not one too deep', async ({ host }) => {
    vi.stubEnv('HOOKSTACK_DEPTH', '3');
    const deep = hook(process.execPath, { args: [PUPPET], persistent: true, prestart: true });
    expect(await host.callTool([deep])).toMatchObject({ verdict: 'allowed' });
    expect(host.runWarnings).toMatchObject([{ details: { kind: 'refused' } }]);
    expect(host.leftovers()).toEqual([]);
  });
});
