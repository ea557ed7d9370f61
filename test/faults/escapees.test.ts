import { execa } from 'execa';
import { afterAll, beforeAll, describe, expect, vi } from 'vitest';
import { hook } from '../helpers/hooks.js';
import { isRunning, makeTempDir, readPids } from '../process/helpers.js';
import { compilePackage, fixture, type CompiledPackage } from './helpers/childHost.js';
import { fault, TIMED, STARTS } from './helpers/host.js';

/** Leaves group, session and mark behind, and tells its pid. */
const ESCAPEE = `env -i setsid sh -c 'echo $$ >> pids; exec sleep 300'`;
const ESCAPED = 'until [ -s pids ]; do sleep 0.01; done';

describe.each(STARTS)('a process with an empty environment, started %s', (start) => {
  fault.override({ start });

  fault.for([
    ['93 that holds the stdout of its hook', `${ESCAPEE} & ${ESCAPED}`],
    ['93 that holds the stderr of its hook', `${ESCAPEE} >/dev/null & ${ESCAPED}`],
    [
      '93 behind a shell that left the group, too',
      `setsid sh -c "${ESCAPEE.replaceAll('$', '\\$')} & wait" & ${ESCAPED}`,
    ],
  ] as const)(
    '%s is ended, and the message says what is known',
    TIMED,
    async ([, command], { host }) => {
      expect(await host.callTool([hook(command)])).toMatchObject({ verdict: 'allowed' });
      expect(host.warnings).toEqual([
        expect.stringMatching(/held its stdout or stderr, and that is ended where it can be found/),
      ]);
      const pids = await readPids(`${host.directory}/pids`, 1);
      await vi.waitFor(() => expect(pids.filter(isRunning)).toEqual([]), { timeout: 2_500 });
    },
  );

  fault('93 is ended at the deadline, whatever it holds', TIMED, async ({ host }) => {
    const command = `${ESCAPEE} >/dev/null 2>&1 </dev/null & ${ESCAPED}; wait`;
    await host.callTool([hook(command, { timeout: 1_000 })]);
    const pids = await readPids(`${host.directory}/pids`, 1);
    await vi.waitFor(() => expect(pids.filter(isRunning)).toEqual([]), { timeout: 2_500 });
  });
});

/** Runs a program where `/proc` is an empty directory; not everywhere is that allowed. */
function withEmptyProc(program: readonly string[], cwd?: string) {
  const script = 'mount -t tmpfs none /proc && exec "$@"';
  const options = { reject: false, ...(cwd && { cwd }) };
  return execa('unshare', ['-rm', 'sh', '-c', script, 'sh', ...program], options);
}

describe('without a process table', async () => {
  let compiled: CompiledPackage;
  let removePackage: () => Promise<void>;

  beforeAll(async () => {
    const { directory, remove } = await makeTempDir();
    removePackage = remove;
    compiled = await compilePackage(directory);
  });
  afterAll(() => removePackage());

  const isAllowed = (await withEmptyProc(['true'])).exitCode === 0;

  fault.skipIf(!isAllowed)(
    '93 a hook has the time for its clean-up all the same',
    async ({ host }) => {
      const command = `trap 'sleep 0.5; : > cleaned; exit' TERM; while :; do sleep 0.05; done`;
      const program = [process.execPath, fixture('timeLimit.mjs'), compiled.index, command];
      const { stdout } = await withEmptyProc(program, host.directory);
      expect(JSON.parse(stdout)).toMatchObject({ warnings: ['timeout'] });
      expect(host.exists('cleaned')).toBe(true);
    },
  );
});
