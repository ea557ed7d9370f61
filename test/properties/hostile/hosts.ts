import { mkdtemp, realpath, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import path from 'node:path';
import * as fc from 'fast-check';
import { afterAll, beforeAll, describe, it } from 'vitest';
import { runs } from '../arbitraries.js';
import { checkBus } from './bus.js';
import { checkAgent, checkModel, checkTool } from './engine.js';
import { checkMcp } from './mcp.js';
import { checkClaude, checkGemini, checkGeminiModel } from './otherAgents.js';
import { AGENT_EVENTS, hostileSet, MODEL_EVENTS, TOOL_EVENTS, type HostileSet } from './sets.js';
import { World, type Shape } from './worlds.js';

/** How a set is tried in a host, which events it is about, and how many sets for each shape. */
export type Host = readonly [
  check: (world: World, set: HostileSet) => Promise<void>,
  events: readonly string[],
  numRuns: number,
  /** Whether one that fails is told as it is, as it takes long. */
  endOnFailure?: boolean,
];

/** For each of eight shapes 1200 sets; with the 400 for a policy server, 10,000. */
const HOSTS: Readonly<Record<string, Host>> = {
  'a tool': [checkTool, TOOL_EVENTS, 275],
  'the model': [checkModel, MODEL_EVENTS, 250],
  'the agent': [checkAgent, AGENT_EVENTS, 125],
  'a tool of Claude Code': [checkClaude, TOOL_EVENTS, 150],
  'a tool of Gemini CLI': [checkGemini, TOOL_EVENTS, 125],
  'the model of Gemini CLI': [checkGeminiModel, MODEL_EVENTS, 100],
  'the message bus': [checkBus, [...TOOL_EVENTS, 'BeforeToolSelection'], 75],
  'a tool of an MCP server': [checkMcp, [...TOOL_EVENTS, 'BeforeToolSelection'], 100],
};

/** Tries sets in a world, and says from which seed those come that fail. */
export async function assertFor(
  world: World,
  [check, events, numRuns, endOnFailure = false]: Host,
): Promise<void> {
  const { users, others } = world.shape;
  const sets = hostileSet(users.length, others.length, events);
  await fc.assert(
    fc.asyncProperty(sets, (set) => check(world, set)),
    { ...runs(numRuns), endOnFailure },
  );
}

/** One test for each host, with hooks of these shapes. */
export function testShapes(
  shapes: Readonly<Record<string, Shape>>,
  hosts: Readonly<Record<string, Host>> = HOSTS,
): void {
  describe.each(Object.entries(shapes))('whatever others say: %s', (_name, shape) => {
    let directory: string;
    let world: World;
    beforeAll(async () => {
      directory = await realpath(await mkdtemp(path.join(tmpdir(), 'hookstack-test-')));
      world = await World.open(shape, directory);
    });
    afterAll(async () => {
      await world.close();
      await rm(directory, { recursive: true, force: true });
    });
    it.each(Object.entries(hosts))(
      'nothing gets past the hooks of the user around %s',
      (_host, host) => assertFor(world, host),
      120_000,
    );
  });
}
