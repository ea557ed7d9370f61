import { describe, expect, it } from 'vitest';
import { Config } from '../../src/config/config.js';
import * as firing from '../../src/hooks/fireHook.js';
import { HookAggregator } from '../../src/hooks/hookAggregator.js';
import { HookEventHandler } from '../../src/hooks/hookEventHandler.js';
import { HookPlanner } from '../../src/hooks/hookPlanner.js';
import { HookRegistry } from '../../src/hooks/hookRegistry.js';
import { HookRunner } from '../../src/hooks/hookRunner.js';
import { HookSystem } from '../../src/hooks/hookSystem.js';
import * as hooks from '../../src/hooks/index.js';
import * as everything from '../../src/index.js';
import { HookType } from '../../src/protocol/types.js';
import { hook } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';

function membersOf(type: { prototype: object }): string[] {
  return Object.getOwnPropertyNames(type.prototype).filter((name) => name !== 'constructor');
}

function openSystem() {
  const host = new Config({
    enableHooks: true,
    hooks: { BeforeTool: [{ hooks: [hook('true')] }] },
    debugLogger: new RecordingLogger(),
  });
  return { host, system: new HookSystem(host) };
}

/** By what each part of a hook system is known, whatever class it is of. */
const PARTS = {
  HookAggregator: 'aggregateResults',
  HookEngine: 'open',
  HookEventHandler: 'fireBeforeToolEvent',
  HookPlanner: 'createExecutionPlan',
  HookRegistry: 'getHooksForEvent',
  HookRunner: 'executeHooksParallel',
};

/** Which parts can be reached from an object, through what it holds and what it gives; not through `host`. */
function partsWithin(start: object, host?: object): string[] {
  const reached = new Set<unknown>([start]);
  for (const each of reached) {
    if (typeof each !== 'object' || each === null || each === host) continue;
    for (const value of valuesOf(each)) reached.add(value);
  }
  const has = (value: unknown, method: string) =>
    typeof value === 'object' && value !== null && value !== host && method in value;
  return Object.entries(PARTS).flatMap(([part, method]) =>
    [...reached].some((value) => has(value, method)) ? part : [],
  );
}

/** What the fields of an object hold, and what its getters and methods named `get…` give that want nothing. */
function valuesOf(object: object): unknown[] {
  const found: unknown[] = [];
  for (let at: object | null = object; at && at !== Object.prototype; at = protoOf(at)) {
    for (const key of Reflect.ownKeys(at)) {
      try {
        const value: unknown = Reflect.get(at, key, object);
        const isAsked = typeof value === 'function' && String(key).startsWith('get');
        found.push(isAsked && value.length === 0 ? Reflect.apply(value, object, []) : value);
      } catch {
        // It is not handed out.
      }
    }
  }
  return found;
}

function protoOf(object: object): object | null {
  return Object.getPrototypeOf(object) as object | null;
}

describe('HookSystem', () => {
  it('has its accessors, its life cycle, what hosts ask of async hooks, and nothing else', () => {
    const ofAsyncHooks = [
      'endSession',
      'giveBackLate',
      'lookForLate',
      'takeLate',
      'untilAsyncEnded',
      'untilWoken',
    ];
    const others = membersOf(HookSystem).filter((name) => !ofAsyncHooks.includes(name));
    expect(membersOf(HookSystem)).toEqual(expect.arrayContaining(ofAsyncHooks));
    expect(others.toSorted()).toEqual([
      'continueFrom',
      'dispose',
      'getAllHooks',
      'getEventHandler',
      'getRegistry',
      'getStatus',
      'initialize',
      'isInitialized',
      'reload',
      'setHookEnabled',
      'watch',
    ]);
  });

  it('hands out its registry and event handler, and neither planner, runner nor aggregator', async () => {
    const { system, host } = openSystem();
    await system.initialize();
    expect(system.getRegistry()).toBeInstanceOf(HookRegistry);
    expect(system.getEventHandler()).toBeInstanceOf(HookEventHandler);
    await system.getEventHandler().fireBeforeToolEvent('x', {});
    expect(partsWithin(system, host)).toEqual(['HookEventHandler', 'HookRegistry']);
  });

  it('hands out no part before it is initialized', () => {
    const { system, host } = openSystem();
    expect(partsWithin(system, host)).toEqual([]);
  });

  it.each<[string, (part: object) => object]>([
    ['in a field', (part) => ({ engine: { stages: [part] } })],
    ['in a hidden field', (part) => Object.defineProperty({}, Symbol('x'), { value: part })],
    [
      'behind a getter',
      (part) =>
        new (class {
          get engine() {
            return { part };
          }
        })(),
    ],
    [
      'behind a method',
      (part) =>
        new (class {
          getEngine() {
            return part;
          }
        })(),
    ],
  ])('would be seen to hand out a part %s', (_, hold) => {
    const host = new Config();
    const registry = new HookRegistry(host);
    for (const part of [
      new HookPlanner(registry),
      new HookRunner(),
      new HookAggregator(),
      registry,
    ]) {
      expect(partsWithin(hold(part), host)).toContain(part.constructor.name);
    }
    expect(partsWithin(hold({ createExecutionPlan: () => null }))).toEqual(['HookPlanner']);
  });

  it('is the only way from the package to what events are fired through', () => {
    const exported = new Set<unknown>(Object.values(everything));
    const kept = Object.values(firing).filter((each) => exported.has(each));
    expect(kept).toEqual([]);
  });
});

describe('HookEventHandler', () => {
  it('has one method for each event', () => {
    expect(membersOf(HookEventHandler)).toEqual(
      expect.arrayContaining(
        Object.values(hooks.HookEventName).map((event) => `fire${event}Event`),
      ),
    );
  });
});

describe('the index of the hooks', () => {
  it('exports the hook system and its event handler', () => {
    expect(hooks.HookSystem).toBe(HookSystem);
    expect(hooks.HookEventHandler).toBe(HookEventHandler);
  });
});

describe('HookType', () => {
  it('knows commands only', () => {
    expect(Object.values(HookType)).toEqual(['command']);
  });
});
