import { randomUUID } from 'node:crypto';
import { fileURLToPath } from 'node:url';
import * as fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { HookRunner } from '../../src/hooks/hookRunner.js';
import { PERSISTENT_LIMITS } from '../../src/process/command/limits.js';
import { PersistentHooks } from '../../src/process/persistent/persistentHooks.js';
import { HookEventName } from '../../src/protocol/types.js';
import { findProcesses } from '../faults/helpers/leftovers.js';
import { beforeToolInput, hook } from '../helpers/hooks.js';
import { RecordingLogger } from '../helpers/recordingLogger.js';
import { useTempDir } from '../helpers/tempDir.js';

const PUPPET = fileURLToPath(new URL('../fixtures/persistent/puppet.mjs', import.meta.url));
const temp = useTempDir();
let runId: string;

beforeEach(() => {
  runId = `test-${randomUUID()}`;
  vi.stubEnv('HOOKSTACK_RUN_ID', runId);
});
afterEach(() => void vi.unstubAllEnvs());

/** What a hook may do with an event, and what it means. */
interface Deed {
  readonly steps: readonly object[];
  readonly says: 'allow' | 'deny' | 'nothing';
  /** Whether it may spoil what comes next. */
  readonly spoils?: true;
}

const DENY = { answer: { output: { decision: 'deny', reason: 'no' } } };
const ALLOW = { answer: { output: { decision: 'allow' } } };
const BAD = [{ exit: 0 }, { exit: 3 }, { kill: 'SIGKILL' }, { write: '{' }, { write: 'allow\n' }];

const deeds: readonly Deed[] = [
  { steps: [DENY], says: 'deny' },
  { steps: [{ answer: { exitCode: 2, stderr: 'no' } }], says: 'deny' },
  { steps: [{ write: '{"id":$ID,' }, { sleep: 5 }, { write: '"exitCode":2}\n' }], says: 'deny' },
  { steps: [{ stderr: 'noise' }, ALLOW], says: 'allow' },
  { steps: [{ write: '\n\r\n{"id":$ID}\r\n\n' }], says: 'allow' },
  { steps: [ALLOW, ALLOW], says: 'allow', spoils: true },
  { steps: [{ write: '{"id":$ID}\n{"id":$ID,"exitCode":2}\n' }], says: 'nothing' },
  { steps: [{ write: '{"id":0}\n' }], says: 'nothing' },
  { steps: [{ write: '{"id":$ID,"exitCode":-1}\n' }], says: 'nothing' },
  { steps: [{ answer: { decision: 'deny' } }], says: 'nothing' },
  { steps: [{ write: '{"hookstack":1}\n' }], says: 'nothing' },
  ...BAD.slice(0, 3).map((step) => ({ steps: [step], says: 'nothing' }) as const),
  ...BAD.map((step) => ({
    steps: [DENY, { later: { ms: 1, steps: [step] } }],
    says: 'deny' as const,
    spoils: true as const,
  })),
  ...BAD.map((step) => ({
    steps: [ALLOW, { later: { ms: 1, steps: [step] } }],
    says: 'allow' as const,
    spoils: true as const,
  })),
];

it('no deny of a guard that stays is lost, whatever it does, and nothing is left over', async () => {
  const events = fc.array(fc.constantFrom(...deeds), { minLength: 1, maxLength: 8 });
  await fc.assert(
    fc.asyncProperty(
      events,
      fc.integer({ min: 1, max: 3 }),
      fc.boolean(),
      async (all, n, atOnce) => {
        const limits = { ...PERSISTENT_LIMITS, pauseMs: 0, maxFaults: Infinity, quietMs: 50 };
        const persistent = new PersistentHooks(limits);
        const runner = new HookRunner(new RecordingLogger(), { persistent });
        const guard = hook(process.execPath, {
          args: [PUPPET],
          persistent: { processes: n },
          onFailure: 'deny',
        });
        const fire = async ({ steps }: Deed) => {
          const input = beforeToolInput(temp.path, { steps });
          const { output } = await runner.executeHook(guard, HookEventName.BeforeTool, input);
          return output?.decision === 'deny' || output?.decision === 'block';
        };
        try {
          const isDenied: boolean[] = [];
          if (atOnce) isDenied.push(...(await Promise.all(all.map(fire))));
          else for (const deed of all) isDenied.push(await fire(deed));
          const isSpoilt = all.some(({ spoils }) => spoils);
          for (const [index, { says }] of all.entries()) {
            if (says !== 'allow') expect(isDenied[index]).toBe(true);
            else if (!isSpoilt) expect(isDenied[index]).toBe(false);
          }
        } finally {
          persistent.stop();
        }
        await vi.waitFor(() => expect(findProcesses(runId)).toEqual([]), { timeout: 10_000 });
      },
    ),
    { numRuns: 8 },
  );
}, 120_000);
