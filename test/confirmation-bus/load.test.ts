import * as fc from 'fast-check';
import { expect, it, vi } from 'vitest';
import { HookPlanner } from '../../src/hooks/hookPlanner.js';
import { HookRegistry } from '../../src/hooks/hookRegistry.js';
import { Config, type ConfigOptions } from '../../src/config/config.js';
import type { Planner } from '../../middleware/planner.js';
import type { HookExecutionResponse } from '../../src/confirmation-bus/types.js';
import { HookEventName } from '../../src/protocol/types.js';
import { blocking } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import {
  createRequest,
  HOOK_EXECUTION_REQUEST,
  HOOK_EXECUTION_RESPONSE,
  inputs,
  startHandler,
  type RequestFields,
} from './helpers.js';

const COUNT = 10_000;

type Code = string | undefined;

/** What is sent, and the code that answers it. */
interface Sent {
  readonly fields: RequestFields;
  readonly code: Code;
  readonly isDuplicate?: boolean;
}

const tool = (tool_name: string): RequestFields => ({ input: { tool_name, tool_input: {} } });

const sent: fc.Arbitrary<Sent> = fc.oneof(
  {
    weight: 500,
    arbitrary: fc
      .constantFrom(...Object.values(HookEventName))
      .map((eventName) => ({ fields: { eventName, input: inputs[eventName] }, code: undefined })),
  },
  { weight: 2, arbitrary: fc.constant({ fields: tool('guarded'), code: undefined }) },
  {
    weight: 100,
    arbitrary: fc.string().map((name) => ({
      fields: { eventName: `${name}?` },
      code: 'HOOK_UNKNOWN_EVENT',
    })),
  },
  {
    weight: 100,
    arbitrary: fc
      .tuple(fc.constantFrom(...Object.values(HookEventName)), fc.jsonValue())
      .map(([eventName, junk]) => ({
        fields: { eventName, input: [junk] },
        code: 'HOOK_INVALID_PAYLOAD',
      })),
  },
  {
    weight: 100,
    arbitrary: fc.constant({ fields: tool('unplannable'), code: 'HOOK_PLANNING_FAILED' }),
  },
  {
    weight: 50,
    arbitrary: fc
      .constantFrom<unknown>(1, true, {})
      .map((correlationId) => ({ fields: { correlationId }, code: 'HOOK_INVALID_PAYLOAD' })),
  },
  {
    weight: 50,
    arbitrary: fc
      .constantFrom(undefined, null)
      .map((correlationId) => ({ fields: { correlationId }, code: undefined })),
  },
  {
    weight: 100,
    arbitrary: fc.constant({ fields: {}, code: 'HOOK_CORRELATION_REFUSED', isDuplicate: true }),
  },
);

/** A planner that fails for one tool. */
function createPlanner(options: ConfigOptions): { plans: Planner; ready: Promise<void> } {
  const logger = new RecordingLogger();
  const registry = new HookRegistry(new Config(options), logger);
  const planner = new HookPlanner(registry, logger);
  const plans: Planner = {
    createExecutionPlan(event, context) {
      if (context?.toolName === 'unplannable') throw new Error('no plan');
      return planner.createExecutionPlan(event, context);
    },
  };
  return { plans, ready: registry.initialize() };
}

function sorted(codes: readonly Code[]): string[] {
  return codes.map((code) => code ?? 'answered').toSorted();
}

async function sendAll(all: readonly Sent[]): Promise<void> {
  const options = { hooks: { BeforeTool: [{ matcher: '^guarded$', hooks: [blocking('no')] }] } };
  const { plans, ready } = createPlanner(options);
  await ready;
  const { bus, handler } = startHandler(options, { plans });
  const responses: HookExecutionResponse[] = [];
  const end = bus.subscribe(HOOK_EXECUTION_RESPONSE, (response) => void responses.push(response));

  const expected = new Map<string, Code[]>();
  const madeUp: Code[] = [];
  let last = 'first';
  for (const [index, { fields, code, isDuplicate }] of all.entries()) {
    // A duplicate of nothing is a request like any other.
    const isOpening = !expected.has(last);
    const correlationId = isDuplicate ? last : `request-${index}`;
    const request = createRequest({ correlationId, ...fields });
    if ('correlationId' in fields) {
      madeUp.push(code);
    } else {
      last = correlationId;
      const codes = expected.get(last) ?? [];
      expected.set(last, [...codes, isDuplicate && isOpening ? undefined : code]);
    }
    bus.publish(request);
  }
  await vi.waitFor(() => expect(responses.length).toBe(all.length), { timeout: 30_000 });

  const answered = new Map<string, Code[]>();
  for (const { correlationId, error } of responses) {
    answered.set(correlationId, [...(answered.get(correlationId) ?? []), error?.code]);
  }
  for (const [correlationId, codes] of expected) {
    expect(sorted(answered.get(correlationId) ?? []), correlationId).toEqual(sorted(codes));
    answered.delete(correlationId);
  }
  // What is left was answered under ids that were made up, each for one request.
  expect(answered.size).toBe(madeUp.length);
  expect(sorted([...answered.values()].flat())).toEqual(sorted(madeUp));

  await handler.dispose();
  await end();
  expect(bus.listenerCount(HOOK_EXECUTION_REQUEST)).toBe(0);
  expect(bus.listenerCount(HOOK_EXECUTION_RESPONSE)).toBe(0);
}

it(`answers each of ${COUNT} requests, good and bad, once and under its own id`, async () => {
  const many = fc.array(sent, { minLength: COUNT, maxLength: COUNT, size: 'max' });
  await fc.assert(fc.asyncProperty(many, sendAll), { numRuns: 1, endOnFailure: true });
}, 60_000);
