import { mkdir, rm } from 'node:fs/promises';
import { constants } from 'node:os';
import path from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { describe, expect, vi } from 'vitest';
import type { HookDefinitions } from '../../src/protocol/types.js';
import { hook } from '../helpers/hooks.js';
import { isRunning } from '../process/helpers.js';
import { fault, TIMED, type Host, STARTS } from './helpers/host.js';
import { commandOf } from './helpers/leftovers.js';

const DENY = `echo '{"decision":"deny","reason":"no"}'`;
const TIMEOUT_MS = 300;

/** One warning about a run, of this kind. */
function warningOf(kind: string) {
  return [expect.objectContaining({ details: expect.objectContaining({ kind }) })];
}

/** Beside a spawner that was started meanwhile, and what waits in it. */
function sleepers(host: Host): number[] {
  return host.leftovers().filter((pid) => commandOf(pid).includes('sleep'));
}

const DEADLY_SIGNALS = Object.entries(constants.signals).filter(
  ([name]) => !/CHLD|CONT|STOP|TSTP|TTIN|TTOU|URG|WINCH|UNUSED|IOT|POLL/.test(name),
);

/** The call goes on, without a process, and one warning says what to do. */
async function expectNotStarted(host: Host, command: string, advice: RegExp, cwd?: string) {
  const workingDir = cwd ?? host.directory;
  const hooks = { BeforeTool: [{ hooks: [hook(command, { name: 'guard' })] }] };
  const answer = await host.callToolOf(host.createConfig({ hooks, workingDir }));
  expect(answer.verdict).toBe('allowed');
  expect(answer.hooks).toMatchObject([{ success: false, duration: expect.any(Number) }]);
  expect(answer.hooks[0]).not.toHaveProperty('exitCode');
  expect(host.runWarnings).toEqual(warningOf('spawn'));
  expect(host.warnings).toEqual([expect.stringMatching(/"guard" could not be started/)]);
  expect(host.warnings).toEqual([expect.stringMatching(advice)]);
}

describe.each(STARTS)('started %s', (start) => {
  fault.override({ start });

  describe('after the exit', TIMED, () => {
    fault(
      '1 prints a deny, leaves a background job holding the pipe, exits 0',
      async ({ host }) => {
        const { verdict, text, answerMs } = await host.callTool([hook(`${DENY}; sleep 300 &`)]);
        expect({ verdict, text }).toEqual({ verdict: 'blocked', text: 'no' });
        expect(answerMs).toBeLessThan(300);
        expect(host.warnings).toEqual([expect.stringContaining('sleep 300')]);
      },
    );

    fault('2 the same with exit 2', async ({ host }) => {
      const command = 'sleep 300 & echo no >&2; exit 2';
      const { verdict, text, answerMs } = await host.callTool([hook(command)]);
      expect({ verdict, text }).toEqual({ verdict: 'blocked', text: 'no' });
      expect(answerMs).toBeLessThan(300);
      expect(host.warnings).toEqual([expect.stringContaining('sleep 300')]);
    });

    fault('31 a background job that released the pipes is left alone', async ({ host }) => {
      host.tolerateLeftovers();
      const job = 'sleep 300 >/dev/null 2>&1 & setsid sleep 300 >/dev/null 2>&1 </dev/null &';
      const { verdict, answerMs } = await host.callTool([hook(`${job} ${DENY}`)]);
      expect(verdict).toBe('blocked');
      expect(answerMs).toBeLessThan(1_000);
      expect(host.warnings).toEqual([]);

      const jobs = sleepers(host);
      expect(jobs).toHaveLength(2);
      // Whatever would be ended is ended before a job is that holds the pipes, and came later.
      await host.callTool([hook('sleep 300 &')]);
      const straggler = sleepers(host).find((pid) => !jobs.includes(pid));
      await vi.waitFor(() => expect(isRunning(straggler ?? 0)).toBe(false), { timeout: 3_000 });
      expect(sleepers(host)).toEqual(jobs);
    });
  });

  describe('at the deadline', TIMED, () => {
    fault('3 ignores TERM with a child: the whole group is dead at T+5 s', async ({ host }) => {
      const command = `trap '' TERM; sleep 300 & wait; sleep 300`;
      const { verdict, answerMs } = await host.callTool([hook(command, { timeout: TIMEOUT_MS })]);
      expect(host.leftovers()).toEqual([]);
      expect(verdict).toBe('allowed');
      expect(answerMs).toBeGreaterThanOrEqual(TIMEOUT_MS + 5_000);
      expect(answerMs).toBeLessThan(TIMEOUT_MS + 6_000);
      expect(host.runWarnings).toEqual(warningOf('timeout'));
    });

    fault('4 shell plus child at the deadline: no orphan at T+0.2 s', async ({ host }) => {
      const command = `${DENY}; sleep 300 & sleep 300`;
      const { verdict, answerMs } = await host.callTool([hook(command, { timeout: TIMEOUT_MS })]);
      expect(host.leftovers()).toEqual([]);
      expect(verdict).toBe('allowed');
      expect(answerMs).toBeGreaterThanOrEqual(TIMEOUT_MS);
      expect(answerMs).toBeLessThan(TIMEOUT_MS + 200);
      expect(host.runWarnings).toEqual(warningOf('timeout'));
    });

    fault('5 setsid escapee holding the pipe, at the deadline', async ({ host }) => {
      const escapee = `setsid sh -c 'trap "" TERM; : > escaped; while :; do sleep 1; done'`;
      const command = `${escapee} & until [ -e escaped ]; do sleep 0.01; done; wait`;
      const { verdict, answerMs } = await host.callTool([hook(command, { timeout: TIMEOUT_MS })]);
      expect(host.exists('escaped')).toBe(true);
      expect(verdict).toBe('allowed');
      expect(answerMs).toBeLessThan(TIMEOUT_MS + 500);
      expect(host.runWarnings).toEqual(warningOf('timeout'));
      await vi.waitFor(() => expect(host.leftovers()).toEqual([]), { timeout: 2_500 });
    });

    fault('5 setsid escapee holding the pipe, after the exit', async ({ host }) => {
      const { verdict, answerMs } = await host.callTool([hook(`${DENY}; setsid sleep 300 &`)]);
      expect(verdict).toBe('blocked');
      expect(answerMs).toBeLessThan(300);
      await vi.waitFor(() => expect(sleepers(host)).toEqual([]), { timeout: 2_500 });
    });

    fault('6 stops itself', async ({ host }) => {
      const command = `${DENY}; kill -STOP $$; sleep 300`;
      const { verdict, answerMs } = await host.callTool([hook(command, { timeout: TIMEOUT_MS })]);
      expect(host.leftovers()).toEqual([]);
      expect(verdict).toBe('allowed');
      expect(answerMs).toBeLessThan(TIMEOUT_MS + 500);
      expect(host.runWarnings).toEqual(warningOf('timeout'));
    });

    fault('7 zombies do not count as alive', async ({ host }) => {
      // The child stays in the hook's group, and the parent that leaves it never reaps.
      const command = '(sleep 300 & exec setsid sleep 300) & wait';
      const { verdict, answerMs } = await host.callTool([hook(command, { timeout: TIMEOUT_MS })]);
      expect(verdict).toBe('allowed');
      expect(answerMs).toBeLessThan(TIMEOUT_MS + 500);
      expect(host.runWarnings).toEqual(warningOf('timeout'));
    });

    fault('29 host busy past the deadline, hook long done: its answer wins', async ({ host }) => {
      const command = ': > started; sleep 0.1; echo no >&2; exit 2';
      const calling = host.callTool([hook(command, { timeout: TIMEOUT_MS })]);
      await host.waitForFile('started');
      // Busy from here on, a host sees that its timers are due before it sees what else has happened.
      await setImmediate();
      const end = performance.now() + 2 * TIMEOUT_MS;
      while (performance.now() < end);
      const { verdict, text, hooks } = await calling;
      expect({ verdict, text }).toEqual({ verdict: 'blocked', text: 'no' });
      // The process that starts hooks is not busy, and sees both at once.
      if (start !== 'spawner') expect(hooks[0]?.duration).toBeGreaterThan(TIMEOUT_MS);
      expect(host.runWarnings).toEqual([]);
    });
  });

  describe('an end that is no answer', () => {
    fault('21 killed by each signal', async ({ host }) => {
      // Not by bash itself, which ignores SIGQUIT.
      const hooks = DEADLY_SIGNALS.map(([, number]) =>
        hook(`${DENY}; ulimit -c 0; exec sh -c 'kill -${number} $$; sleep 300'`),
      );
      const answer = await host.callTool(hooks);
      expect(answer.verdict).toBe('allowed');
      expect(answer.hooks.map(({ signal }) => signal)).toEqual(
        DEADLY_SIGNALS.map(([name]) => name),
      );
      expect(host.warnings).toHaveLength(DEADLY_SIGNALS.length);
      for (const [name] of DEADLY_SIGNALS) {
        expect(host.warnings).toContainEqual(expect.stringContaining(name));
      }
    });

    fault.for([
      ['exit 126', DENY.concat('; exit 126'), 126],
      ['exit 127', DENY.concat('; exit 127'), 127],
      ['a program that does not exist (ENOENT)', 'no-such-program-anywhere', 127],
      ['an interpreter that does not exist (ENOENT)', './orphan.sh', 127],
      ['a file that may not be executed (EACCES)', './plain.sh', 126],
      ['an interpreter that may not be executed (EACCES)', './forbidden.sh', 126],
      ['a directory (EACCES)', './', 126],
    ] as const)('22 %s', async ([, command, exitCode], { host }) => {
      const plain = await host.write('plain.sh', 'exit 2\n', 0o644);
      await host.write('orphan.sh', '#!/no/such/interpreter\n', 0o755);
      await host.write('forbidden.sh', `#!${plain}\n`, 0o755);
      const { verdict, hooks } = await host.callTool([hook(command)]);
      expect(verdict).toBe('allowed');
      expect(hooks).toMatchObject([{ success: false, exitCode }]);
      expect(host.runWarnings).toEqual(warningOf('exit'));
    });
  });

  describe('a command that cannot be started', () => {
    fault('23 argument list too long', ({ host }) =>
      expectNotStarted(host, `: ${'x'.repeat(200_000)}; exit 2`, /E2BIG.*into a script file/),
    );

    fault('26 cwd deleted', async ({ host }) => {
      const cwd = path.join(host.directory, 'gone');
      await mkdir(cwd);
      await rm(cwd, { recursive: true });
      await expectNotStarted(host, 'exit 2', /gone.*ENOENT.*no such directory/, cwd);
    });

    fault('26 cwd is a file', async ({ host }) => {
      const cwd = await host.write('file', '');
      await expectNotStarted(host, 'exit 2', /file.*ENOTDIR.*no such directory/, cwd);
    });

    fault('26 cwd holds a NUL', ({ host }) =>
      expectNotStarted(host, 'exit 2', /NUL character. Remove it/, `${host.directory}\0`),
    );

    fault('27 NUL in the command', ({ host }) =>
      expectNotStarted(host, 'exit 2 \0', /NUL character. Remove it/),
    );
  });

  describe('28 a timeout', () => {
    /** Runs long enough for a timer that fires at once to end it. */
    const command = 'sleep 0.3; exit 2';

    fault.for([2 ** 31 - 1, 2 ** 31, Number.MAX_VALUE])(
      '28 of %s ms is as long as there can be',
      async (timeout, { host }) => {
        const { verdict } = await host.callTool([hook(command, { timeout })]);
        expect(verdict).toBe('blocked');
        expect(host.warnings).toEqual([]);
      },
    );

    fault.for([0, -1, Number.NaN, Number.POSITIVE_INFINITY])(
      '28 of %s gives way to the default',
      async (timeout, { host }) => {
        const hooks = { BeforeTool: [{ hooks: [hook(command, { timeout })] }] };
        const config = host.createChangingConfig(hooks);
        expect((await host.callToolOf(config)).verdict).toBe('blocked');
        expect(host.warnings).toEqual([
          expect.stringMatching(/BeforeTool\[0\].hooks\[0\].timeout: .*above 0/),
        ]);
      },
    );

    fault.for(['"1000"', 'null'])(
      '28 of %s in a settings file gives way to the default',
      async (timeout, { host }) => {
        const entry = `{ "type": "command", "command": "${command}", "timeout": ${timeout} }`;
        await host.write(
          '.llxprt/settings.json',
          `{ "hooks": { "BeforeTool": [{ "hooks": [${entry}] }] } }`,
        );
        const { settings, problems } = await host.loadSettings();
        expect(problems).toMatchObject([{ path: 'hooks.BeforeTool[0].hooks[0].timeout' }]);
        const hooks: HookDefinitions = settings.hooks;
        expect(
          (await host.callToolOf(host.createConfig({ hooks, trustedFolder: true }))).verdict,
        ).toBe('blocked');
        expect(host.warnings).toEqual([]);
      },
    );
  });
});
