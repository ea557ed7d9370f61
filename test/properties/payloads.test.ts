import * as fc from 'fast-check';
import { it } from 'vitest';
import { Cli } from '../cli/helpers.js';
import { expectNoWayPast, haveGuards, hostileCommand, hostilePayload } from './hostile/payloads.js';

const cli = new Cli();

it('leaves no way past a guard, whatever an agent sends', { timeout: 60_000 }, async () => {
  await haveGuards(cli);
  const property = fc.asyncProperty(hostilePayload, ({ from, sent }) =>
    expectNoWayPast(cli, from, sent),
  );
  await fc.assert(property, { numRuns: 1000 });
});

it('leaves no way past a guard of shell commands', { timeout: 60_000 }, async () => {
  await haveGuards(cli, { matcher: '^run_shell_command$' });
  const property = fc.asyncProperty(hostileCommand, ({ from, sent }) =>
    expectNoWayPast(cli, from, sent),
  );
  await fc.assert(property, { numRuns: 300 });
});
