import { describe, expect, it } from 'vitest';
import { enablementGate } from '../../middleware/enablementGate.js';
import { HookEventName } from '../../src/protocol/types.js';
import { hookContext } from '../helpers/hooks.js';
import { countingNext, failingNext } from '../helpers/next.js';

const ctx = hookContext(HookEventName.BeforeAgent, { prompt: 'hi' });

describe('enablementGate', () => {
  it.each([
    { enabled: true, hooks: true, calls: 1 },
    { enabled: true, hooks: false, calls: 0 },
    { enabled: false, hooks: true, calls: 0 },
  ])('enabled $enabled, hooks $hooks: calls next $calls times', async (scenario) => {
    const gate = enablementGate({
      isEnabled: () => scenario.enabled,
      hasHooksFor: () => scenario.hooks,
    });
    const next = countingNext();
    await gate(ctx, next);
    expect(next.calls).toBe(scenario.calls);
  });

  it('asks for the hooks of the fired event', async () => {
    const asked: HookEventName[] = [];
    const gate = enablementGate({
      isEnabled: () => true,
      hasHooksFor: (event) => {
        asked.push(event);
        return true;
      },
    });
    await gate(ctx, countingNext());
    expect(asked).toEqual([HookEventName.BeforeAgent]);
  });

  it('does not ask for hooks while they are off', async () => {
    const gate = enablementGate({
      isEnabled: () => false,
      hasHooksFor: () => {
        throw new Error('asked');
      },
    });
    await expect(gate(ctx, countingNext())).resolves.toBeUndefined();
  });

  it('does not ask for hooks that are planned already', async () => {
    const gate = enablementGate({
      isEnabled: () => true,
      hasHooksFor: () => {
        throw new Error('asked');
      },
    });
    const planned = hookContext(HookEventName.BeforeAgent, { prompt: 'hi' });
    planned.plan = { eventName: planned.event, hookConfigs: [], sequential: false };
    const next = countingNext();
    await gate(planned, next);
    expect(next.calls).toBe(1);
  });

  it('passes an error from next on untouched', async () => {
    const { next, error } = failingNext();
    const gate = enablementGate({ isEnabled: () => true, hasHooksFor: () => true });
    await expect(gate(ctx, next)).rejects.toBe(error);
  });
});
