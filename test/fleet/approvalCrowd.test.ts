import { writeFile } from 'node:fs/promises';
import path from 'node:path';
import { expect, it, vi } from 'vitest';
import { fleetApprover } from '../../src/fleet/fleetApprover.js';
import { startNats } from '../helpers/natsServer.js';
import { useTempDir } from '../helpers/tempDir.js';
import { requestOf, startServer } from './approvalHelpers.js';

const directory = useTempDir();

it('puts questions again that had no room, until people have answered all of them', async () => {
  const config = path.join(directory.path, 'nats.conf');
  await writeFile(config, 'jetstream { store_dir: $FLEET_STORE }');
  vi.stubEnv('CROWD_SECRET', 'agent:anybody may ask here');
  const nats = await startNats(config);
  const server = await startServer(nats);
  const { board } = server;
  // Long enough for people, on a machine with much else to do.
  const expiresAt = Date.now() + 60_000;
  const asked = ['a', 'b', 'c', 'd'].flatMap((agent) => {
    const fleet = { url: `${nats.url}/acme/${agent}`, tokenVariable: 'CROWD_SECRET' };
    const approve = fleetApprover({ ...fleet, approvals: true });
    return Array.from({ length: 50 }, async () =>
      approve?.(requestOf({ expiresAt }), new AbortController()),
    );
  });
  let outcomes: unknown;
  void Promise.allSettled(asked).then((all) => (outcomes = all));
  // There is room for 20 of each.
  await vi.waitFor(() => expect(board.list()).toHaveLength(80), { timeout: 15_000 });
  const given = { decision: 'allow', by: 'anna' } as const;
  await vi.waitFor(
    async () => {
      const open = board.list().map(({ key, revision }) => board.answer(key, revision, given));
      await Promise.all(open);
      expect(outcomes).toBeDefined();
    },
    { timeout: 40_000 },
  );
  expect(outcomes).toEqual(asked.map(() => ({ status: 'fulfilled', value: given })));
  await server.kill();
  await nats.dispose();
}, 60_000);
