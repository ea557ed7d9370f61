import { describe, expect, it } from 'vitest';
import { Config } from '../../src/config/config.js';
import { HookAggregator } from '../../src/hooks/hookAggregator.js';
import { HookEventHandler } from '../../src/hooks/hookEventHandler.js';
import { HookPlanner } from '../../src/hooks/hookPlanner.js';
import { HookRegistry } from '../../src/hooks/hookRegistry.js';
import { HookRunner } from '../../src/hooks/hookRunner.js';
import { HookSystem } from '../../src/hooks/hookSystem.js';
import * as hooks from '../../src/hooks/index.js';
import { HookType } from '../../src/protocol/types.js';

function membersOf(type: { prototype: object }): string[] {
  return Object.getOwnPropertyNames(type.prototype).filter((name) => name !== 'constructor');
}

describe('HookSystem', () => {
  it('has its accessors, its life cycle, and nothing else', () => {
    expect(membersOf(HookSystem).toSorted()).toEqual([
      'dispose',
      'getAllHooks',
      'getEventHandler',
      'getRegistry',
      'getStatus',
      'initialize',
      'isInitialized',
      'reload',
      'setHookEnabled',
    ]);
  });

  it('hands out its registry and event handler, and neither planner, runner nor aggregator', async () => {
    const system = new HookSystem(new Config({ enableHooks: true }));
    await system.initialize();
    expect(system.getRegistry()).toBeInstanceOf(HookRegistry);
    expect(system.getEventHandler()).toBeInstanceOf(HookEventHandler);
    for (const part of Object.values(system)) {
      for (const hidden of [HookPlanner, HookRunner, HookAggregator]) {
        expect(part).not.toBeInstanceOf(hidden);
      }
    }
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
