import { describe, expect } from 'vitest';
import type { Config } from '../../src/config/config.js';
import type { HookDefinition } from '../../src/protocol/types.js';
import { fixture } from './helpers/childHost.js';
import { callTool, fleetFault, forEachOf, type Called } from './helpers/fleet.js';

/** A guard of the server that stays, of all calls of `write_file`. */
const POLICY: readonly HookDefinition[] = [
  {
    matcher: '^write_file$',
    hooks: [
      {
        type: 'command',
        command: process.execPath,
        args: [fixture('fleetPolicy.mjs')],
        name: 'policy',
        persistent: true,
        timeout: 10_000,
        onFailure: 'deny',
      },
    ],
  },
];

const FAILED = /got no answer|could not ask|timed out|lost its connection|status 5\d\d/u;

/** Of all questions, each tenth is put to hooks, and each twentieth is denied. */
function askNumber(config: Config, n: number): Promise<Called> {
  if (n % 10 !== 0) return callTool(config, 'read_file', { n });
  return callTool(config, 'write_file', { n, deny: n % 20 === 0 });
}

/** Whether it failed, once it is sure that nothing was allowed that must not be. */
function hasFailed(n: number, { ran, text }: Called): boolean {
  const isForbidden = n % 20 === 0;
  if (ran) {
    expect({ n, isForbidden }).toEqual({ n, isForbidden: false });
    return false;
  }
  if (isForbidden && text.includes(`the policy forbids ${n}`)) return false;
  expect(text).toMatch(FAILED);
  return true;
}

describe('a policy server', () => {
  fleetFault(
    '99 killed, one of three, in the middle of 10,000 questions',
    async ({ fleet, host }) => {
      const servers = await Promise.all([1, 2, 3].map(() => fleet.serve(POLICY)));
      const agent = fleet.agent();
      const total = 10_000;
      let [failed, failedLate, longest] = [0, 0, 0];
      let killed = false;
      const startedAt = performance.now();
      await forEachOf(total, 64, async (n) => {
        if (n === 4000) {
          await servers[0]!.server.kill();
          killed = true;
        }
        const isLate = killed;
        const called = await askNumber(agent, n);
        longest = Math.max(longest, called.ms);
        if (!hasFailed(n, called)) return;
        failed += 1;
        if (isLate) failedLate += 1;
      });
      host.measure('failed closed', failed, `of ${total}`);
      host.measure('longest', longest, 'ms');
      host.measure('all', performance.now() - startedAt, 'ms');
      expect(failed).toBeLessThanOrEqual(64);
      // Who asks once it is gone is answered by another one.
      expect(failedLate).toBe(0);
    },
  );
});
