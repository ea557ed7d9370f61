import * as fc from 'fast-check';
import { it } from 'vitest';
import { Cli } from '../cli/helpers.js';
import { expectNoWayPast, haveGuards, hostilePayload, RULE } from './hostile/payloads.js';

const cli = new Cli();

it('leaves no way past a guard in 10,000 payloads', { timeout: 900_000 }, async () => {
  await haveGuards(cli, { guard: RULE });
  const property = fc.asyncProperty(hostilePayload, ({ from, sent }) =>
    expectNoWayPast(cli, from, sent),
  );
  await fc.assert(property, { numRuns: 10_000 });
});
