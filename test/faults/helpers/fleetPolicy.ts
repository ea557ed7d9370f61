import { expect } from 'vitest';
import type { Config } from '../../../src/config/config.js';
import type { HookDefinition } from '../../../src/protocol/types.js';
import { fixture } from './childHost.js';
import { callTool, type Called } from './fleet.js';

/** A guard of the server that stays, of all calls of `write_file`. */
export const POLICY: readonly HookDefinition[] = [
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

/** Asks in another process. */
export type Caller = (tool: string, input: Record<string, unknown>) => Promise<Called>;

/** Of all questions, each tenth is put to hooks, and each twentieth is denied. */
export function askNumber(asker: Config | Caller, n: number): Promise<Called> {
  const ask: Caller =
    typeof asker === 'function' ? asker : (tool, input) => callTool(asker, tool, input);
  if (n % 10 !== 0) return ask('read_file', { n });
  return ask('write_file', { n, deny: n % 20 === 0 });
}

/** Whether it failed, once it is sure that nothing was allowed that must not be. */
export function hasFailed(n: number, { ran, text }: Called): boolean {
  const isForbidden = n % 20 === 0;
  if (ran) {
    expect({ n, isForbidden }).toEqual({ n, isForbidden: false });
    return false;
  }
  if (isForbidden && text.includes(`the policy forbids ${n} to acme/one`)) return false;
  expect(text).toMatch(FAILED);
  return true;
}

const FAILED = /got no answer|could not ask|timed out|lost its connection|status 5\d\d/u;
