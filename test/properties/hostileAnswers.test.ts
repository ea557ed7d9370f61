import { it } from 'vitest';
import { useTempDir } from '../helpers/tempDir.js';
import { assertFor, testShapes } from './hostile/hosts.js';
import { PolicyServer } from './hostile/policyServer.js';
import { TOOL_EVENTS } from './hostile/sets.js';
import { FORMATS, World, type Shape } from './hostile/worlds.js';

const temp = useTempDir();

testShapes(FORMATS);

it('whatever a server says that is no answer, nothing gets past the guard that asks it', async () => {
  const server = new PolicyServer();
  const url = await server.listen();
  const shape: Shape = {
    users: [{ at: 'user', isGuard: true, url }],
    others: [{ at: 'project' }, { at: 'project', dialect: 'claude' }],
  };
  const world = await World.open(shape, temp.path);
  try {
    await assertFor(world, [server.check, TOOL_EVENTS, 400]);
  } finally {
    await world.close();
    server.close();
  }
}, 120_000);
