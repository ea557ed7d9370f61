import { once } from 'node:events';
import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect } from 'vitest';
import { makeTempDir } from '../process/helpers.js';
import { compilePackage, fixture, type CompiledPackage } from './helpers/childHost.js';
import { fault, TIMED, type Host } from './helpers/host.js';

let compiled: CompiledPackage;
let removePackage: () => Promise<void>;

beforeAll(async () => {
  const { directory, remove } = await makeTempDir();
  removePackage = remove;
  compiled = await compilePackage(directory);
});
afterAll(() => removePackage());

/** What a host says of its calls. */
interface Said {
  /** What the model reads, with the type of the error. */
  readonly texts: readonly string[];
  /** Codes of the answers that did not count. */
  readonly refused: readonly string[];
}

/** A host whose calls are all asked about. */
function start(host: Host, approver: string, calls: number, env: Record<string, string> = {}) {
  const args = [fixture('asking.mjs'), compiled.index, approver, String(calls)];
  const child = execa('node', args, { cwd: host.directory, env, reject: false });
  const said = async () => JSON.parse((await child).stdout) as Said;
  return { child, said };
}

const isAllowed = (number: number) => number % 2 === 0;
const NO_CONSENT = 'blocked_by_hook: It needs the consent of a person, which was not given: ';

describe('an approver', () => {
  fault.for([
    ['never answers', 'never', 'nobody answered within 1 s'],
    ['throws', 'throws', 'the question could not be put (no screen)'],
  ] as const)('that %s: no tool runs, and the host ends', async ([, approver, why], { host }) => {
    const { child, said } = start(host, approver, 3, { ASK_MS: '300' });
    expect((await said()).texts).toEqual(Array.from({ length: 3 }, () => NO_CONSENT + why));
    expect(await child).toMatchObject({ exitCode: 0 });
    expect(host.exists('ran')).toBe(false);
  });

  fault('that answers twice: the first answer counts, each of its own call', async ({ host }) => {
    const { texts, refused } = await start(host, 'twice', 60).said();
    const numbers = texts.map((_, number) => number);
    expect(texts).toEqual(
      numbers.map((number) =>
        isAllowed(number) ? 'done' : 'blocked_by_hook: A person was asked, and said no',
      ),
    );
    const ran = host.lines('ran').map(Number);
    expect(ran.toSorted((a, b) => a - b)).toEqual(numbers.filter(isAllowed));
    expect(refused).toEqual(numbers.map(() => 'CONFIRMATION_ANSWERED'));
  });
});

describe('while a person is asked', TIMED, () => {
  fault.for(['SIGKILL', 'SIGTERM', 'SIGINT', 'SIGHUP'] as const)(
    'the host is ended by %s: nothing runs afterwards, and no process is left',
    async (signal, { host }) => {
      const { child } = start(host, 'never', 20);
      const exited = once(child, 'exit');
      await host.waitForFile('asked');
      child.kill(signal);
      expect(await exited).toEqual([null, signal]);
      await host.expectNoLeftovers(1_000);
      expect(host.exists('ran')).toBe(false);
    },
  );

  fault('the calls are given up: all questions are taken back', async ({ host }) => {
    const { child, said } = start(host, 'never', 20);
    await host.waitForFile('asked');
    child.stdin.write('abort');
    const { texts } = await said();
    expect(new Set(texts.map((text) => text.split(':')[0]))).toEqual(new Set(['cancelled']));
    expect(await child).toMatchObject({ exitCode: 0 });
    expect(host.exists('ran')).toBe(false);
  });
});
