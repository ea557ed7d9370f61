import { once } from 'node:events';
import { chmod } from 'node:fs/promises';
import { createInterface } from 'node:readline';
import { execa, type ResultPromise } from 'execa';
import { afterAll, beforeAll, describe, expect, vi } from 'vitest';
import { makeTempDir } from '../process/helpers.js';
import { compilePackage, fixture, type CompiledPackage } from './helpers/childHost.js';
import { fault, TIMED } from './helpers/host.js';
import { commandOf } from './helpers/leftovers.js';
import { limitedUser, readProcessLimit, setProcessLimit } from './helpers/processLimit.js';

let compiled: CompiledPackage;
let removePackage: () => Promise<void>;

beforeAll(async () => {
  const { directory, remove } = await makeTempDir();
  removePackage = remove;
  compiled = await compilePackage(directory);
});
afterAll(() => removePackage());

/** What a host says of one call of a tool. */
interface ChildAnswer {
  readonly verdict: string;
  readonly text: string;
  readonly warnings: readonly string[];
  readonly answerMs: number;
  readonly grownMb?: number;
}

describe.each([
  ['', '0'],
  [', through the spawner', '1'],
])('a gigabyte%s', (_how, spawner) => {
  fault.for([
    ['12 1 GB of stdout, then exit 2: blocks', 'head -c 1000000000 /dev/zero; echo no >&2; exit 2'],
    ['14 1 GB of stderr, then exit 2: blocks', 'yes | head -c 1000000000 >&2; exit 2'],
  ] as const)('%s, and the host grows by 80 MB at most', async ([, command], { host }) => {
    const { stdout } = await execa('node', [fixture('flood.mjs'), compiled.index, command], {
      cwd: host.directory,
      env: { HOOKSTACK_SPAWNER: spawner },
    });
    const answer = JSON.parse(stdout) as ChildAnswer;
    host.measure('memory', answer.grownMb ?? NaN, 'MB');
    host.measure('answer', answer.answerMs, 'ms');
    expect(answer.verdict).toBe('blocked');
    expect(answer.text.length).toBeLessThan(11_000);
    expect(answer.grownMb).toBeLessThan(80);
  });
});

describe('a host that has run out', () => {
  fault.for([
    ['24 no file descriptors left', '0', '0', { verdict: 'allowed', warnings: ['spawn'] }],
    ['24 but a spawner', '0', '1', { verdict: 'blocked', warnings: [] }],
  ] as const)('%s', async ([, shells, spawner, expected], { host: { directory: cwd } }) => {
    const host = [process.execPath, fixture('descriptors.mjs'), compiled.index];
    const { stdout } = await execa('bash', ['-c', 'ulimit -n 200 && exec "$@"', 'bash', ...host], {
      cwd,
      env: { HOOKSTACK_WARM_SHELLS: shells, HOOKSTACK_SPAWNER: spawner },
    });
    const answers = JSON.parse(stdout) as ChildAnswer[];
    expect(answers).toHaveLength(18);
    expect(answers[0]).toMatchObject(expected);
    expect(answers.at(-1)).toMatchObject({ verdict: 'blocked', warnings: [] });
    for (const { verdict, warnings } of answers) {
      expect(warnings).toEqual(verdict === 'blocked' ? [] : ['spawn']);
    }
  });

  fault.for([
    ['25 no processes left', '0'],
    ['25 no processes left, for the spawner either', '1'],
  ] as const)('%s', async ([, spawner], { host }) => {
    await chmod(host.directory, 0o777);
    const child = execa('node', [fixture('onRequest.mjs'), compiled.index], {
      ...limitedUser(),
      cwd: host.directory,
      env: { HOOKSTACK_WARM_SHELLS: '0', HOOKSTACK_SPAWNER: spawner },
      reject: false,
    });
    const lines = createInterface({ input: child.stdout })[Symbol.asyncIterator]();
    const ask = async () => {
      child.stdin.write('\n');
      return JSON.parse(String((await lines.next()).value)) as ChildAnswer;
    };

    expect(await lines.next()).toMatchObject({ value: 'ready' });
    const limit = await readProcessLimit(child);
    const all = [child, ...host.leftovers().map((pid) => ({ pid }))];
    expect(all).toHaveLength(1 + Number(spawner));
    for (const each of all) await setProcessLimit(each, '0');
    const starved = await ask();
    for (const each of all) await setProcessLimit(each, limit);
    const recovered = await ask();
    child.stdin.end();
    expect(await child).toMatchObject({ exitCode: 0 });
    expect(starved).toMatchObject({ verdict: 'allowed', warnings: ['spawn'] });
    expect(recovered).toMatchObject({ verdict: 'blocked', warnings: [] });
  });
});

fault('58 a policy that never settles, in a host that has nothing else to do', async () => {
  const { stdout } = await execa('node', [fixture('hangingMiddleware.mjs'), compiled.index]);
  expect(JSON.parse(stdout)).toEqual({
    llmContent: expect.stringContaining('"hanging" took longer than 1 ms') as string,
    isHeld: false,
  });
});

describe('30 the host ends', TIMED, () => {
  const command =
    ': > started; sleep 300 & setsid sleep 300 & ' +
    `sh -c 'trap "" TERM INT HUP; while :; do sleep 1; done' & wait`;

  const ways = [
    ['INT', [null, 'SIGINT'], (child: ResultPromise) => child.kill('SIGINT')],
    ['TERM', [null, 'SIGTERM'], (child: ResultPromise) => child.kill('SIGTERM')],
    ['HUP', [null, 'SIGHUP'], (child: ResultPromise) => child.kill('SIGHUP')],
    ['exit', [0, null], (child: ResultPromise) => child.stdin?.write('exit')],
    ['throw', [1, null], (child: ResultPromise) => child.stdin?.write('throw')],
  ] as const;

  describe.each(['cold', 'spawner'])('during a %s hook', (start) => {
    fault.for(ways)('30 by %s: no child left 0.5 s later', async ([, ending, end], { host }) => {
      const child = execa('node', [fixture('ending.mjs'), compiled.index, command, start], {
        cwd: host.directory,
        env: { HOOKSTACK_SPAWNER: start === 'spawner' ? '1' : '0' },
        reject: false,
      });
      const exited = once(child, 'exit');
      await host.waitForFile('started');
      // The hook's shell, two sleepers, the third one's shell and its sleeper.
      const ofHook = () => host.leftovers().filter((pid) => /sleep/.test(commandOf(pid)));
      await vi.waitFor(() => expect(ofHook()).toHaveLength(5), { timeout: 5_000 });

      end(child);
      expect(await exited).toEqual(ending);
      const endedAt = performance.now();
      await host.expectNoLeftovers(500);
      host.measure(`clean (${start})`, performance.now() - endedAt, 'ms after the end');
    });
  });
});
